"""Files of test questions: topic, docno and the grade that is right, three columns a line."""

from collections.abc import Collection
from dataclasses import dataclass

from annotator.errors import Problems
from annotator.evaluation.formats.headings import QRELS_COLUMNS, lines_below_heading
from annotator.evaluation.formats.table_lines import check_words, counted_columns, shown
from annotator.evaluation.qrels.qrels_format import whole_grade
from annotator.evaluation.qrels.scale import note_outside_scale

COLUMNS = 3


@dataclass(frozen=True, slots=True)
class KnownGrade:
    """The grade that is known to be right for a document; `line` counts from 1, None outside of a file."""

    topic: str
    docno: str
    grade: int
    line: int | None = None


def readable_known_grades(name: str, text: bytes, problems: Problems, *, scale: Collection[int]) -> list[KnownGrade]:
    """Read the rows that can be read and note every problem of the others, so that more can be checked at once.

    `text` is what `unpack` returns. Columns are set apart by tabs or blanks; blank lines and those that begin with `#`
    count for nothing. A grade outside the scale is a problem, and so is a pair of topic and docno that comes twice.
    """
    rows: list[KnownGrade] = []
    first_lines: dict[tuple[bytes, bytes], int] = {}
    before = problems.total
    for line, columns in lines_below_heading(name, text, problems, QRELS_COLUMNS):
        if len(columns) != COLUMNS:
            problems.add(
                name,
                line,
                "The line has %(columns)s; test questions have three: topic, document, grade.",
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
    grade = whole_grade(line, written)
    if grade is None:
        problems.add(
            name,
            line,
            "The grade %(grade)s is not a whole number of at most four digits.",
            grade=shown(written),
        )
    elif grade not in scale:
        note_outside_scale(name, line, grade, scale, problems)
        return None
    return grade
