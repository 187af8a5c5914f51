"""Files of gold questions: topic, document and the grade that is known to be right."""

from collections.abc import Collection
from dataclasses import dataclass

from annotator.errors import Problems
from annotator.evaluation.formats.file_kinds import QRELS_HEADINGS, lines_below_heading
from annotator.evaluation.formats.table_lines import check_words, counted_columns, shown
from annotator.evaluation.qrels.qrels_format import WHOLE_GRADES
from annotator.evaluation.qrels.scale import note_outside_scale

COLUMNS = 3


@dataclass(frozen=True, slots=True)
class KnownGrade:
    """The known correct grade of a document; `line` counts from 1, None outside a file."""

    topic: str
    docno: str
    grade: int
    line: int | None = None


def readable_known_grades(name: str, text: bytes, problems: Problems, *, scale: Collection[int]) -> list[KnownGrade]:
    """Read the rows that can be read and note every problem of the others, so that more can be checked at once.

    `text` is what `unpack` returns. Columns are separated by tabs or blanks; blank lines and those that begin with `#`
    are ignored. A grade outside the scale is a problem, and so is a duplicate pair of topic and docno.
    """
    rows: list[KnownGrade] = []
    first_lines: dict[tuple[bytes, bytes], int] = {}
    before = problems.total
    for line, columns in lines_below_heading(name, text, problems, QRELS_HEADINGS):
        if len(columns) != COLUMNS:
            problems.add(
                name,
                line,
                "The line has %(columns)s; gold questions have three: topic, document, grade.",
                columns=counted_columns(len(columns)),
            )
            continue
        topic, docno, written = columns
        if not check_words(name, line, (topic, docno), problems):
            continue
        first_line = first_lines.setdefault((topic, docno), line)
        if first_line != line:
            problems.add(
                name,
                line,
                "Document %(docno)s of topic %(topic)s is graded twice; it is on line %(first_line)d already.",
                docno=shown(docno),
                topic=shown(topic),
                first_line=first_line,
            )
            continue
        grade = _grade(name, line, written, problems, scale)
        if grade is not None:
            rows.append(KnownGrade(topic.decode(), docno.decode(), grade, line))
    if not rows and problems.total == before:
        problems.add(name, None, "The file has no line of data.")
    return rows


def _grade(name: str, line: int, written: bytes, problems: Problems, scale: Collection[int]) -> int | None:
    grade = WHOLE_GRADES.read(line, written)
    if grade is None:
        problems.add(name, line, WHOLE_GRADES.refusal.template, grade=shown(written))
    elif grade not in scale:
        note_outside_scale(name, line, grade, scale, problems)
        return None
    return grade
