"""Files of training documents: lines of topic, tab, docno, tab, correct grade, tab, explanation."""

from dataclasses import dataclass

from annotator.errors import Problems
from annotator.evaluation.formats.file_kinds import QRELS_HEADINGS, WHOLE_GRADE, is_heading, note_heading
from annotator.evaluation.formats.identifiers import UNSTORABLE, is_one_word
from annotator.evaluation.formats.table_lines import check_words, counted_fields, shown

LEAST_FIELDS = 3
MOST_FIELDS = 4
LONGEST_EXPLANATION = 10_000


@dataclass(frozen=True, slots=True)
class QualifyingRow:
    """A document with its correct grade for a topic, and an explanation; `line` counts from 1."""

    topic: str
    docno: str
    grade: int
    explanation: str
    line: int


def parse_qualifying(name: str, text: bytes, problems: Problems) -> list[QualifyingRow]:
    """Read the valid rows, in the file's order, and note every problem with its line.

    `text` is what `unpack` returns. Empty lines and lines that begin with `#` are skipped; the explanation is
    optional.
    """
    before = problems.total
    rows: dict[tuple[str, str], QualifyingRow] = {}
    seen = False
    for line, content in enumerate(text.decode().split("\n"), start=1):
        if not content.strip() or content.startswith("#"):
            continue
        fields = content.rstrip("\r").split("\t")
        is_first, seen = not seen, True
        if is_first and is_heading(fields, QRELS_HEADINGS):
            note_heading(problems, name, line, fields)
            continue
        row = _row(name, line, fields, problems)
        first = rows.setdefault((row.topic, row.docno), row) if row else row
        if row is not None and first is not None and first is not row:
            problems.add(
                name,
                line,
                "Document %(docno)s of topic %(topic)s is graded twice; it is on line %(first_line)d already.",
                docno=shown(row.docno.encode()),
                topic=shown(row.topic.encode()),
                first_line=first.line,
            )
    if not rows and problems.total == before:
        problems.add(name, None, "The file has no line of data.")
    return list(rows.values())


def _row(name: str, line: int, fields: list[str], problems: Problems) -> QualifyingRow | None:
    if not LEAST_FIELDS <= len(fields) <= MOST_FIELDS:
        problems.add(
            name,
            line,
            "The line has %(fields)s between tabs; it needs topic, docno, grade and, optionally, an explanation.",
            fields=counted_fields(len(fields)),
        )
        return None
    topic, docno, grade, explanation = (field.strip() for field in [*fields, ""][:MOST_FIELDS])
    if not _are_words(name, line, (topic, docno), problems):
        return None
    if not WHOLE_GRADE.fullmatch(grade.encode()):
        problems.add(
            name,
            line,
            "The grade %(grade)s is not a whole number of at most four digits.",
            grade=repr(shown(grade.encode())),
        )
        return None
    if len(explanation) > LONGEST_EXPLANATION or UNSTORABLE.search(explanation):
        problems.add(
            name,
            line,
            "The explanation is longer than %(most)d characters, or has one that cannot be stored.",
            most=LONGEST_EXPLANATION,
        )
        return None
    return QualifyingRow(topic, docno, int(grade), explanation, line)


def _are_words(name: str, line: int, words: tuple[str, ...], problems: Problems) -> bool:
    """Note the first of these words that is no identifier; True when there is none."""
    if not check_words(name, line, [word.encode() for word in words], problems):
        return False
    # Only tabs separate fields, which may contain blanks.
    divided = next((word for word in words if not is_one_word(word)), None)
    if divided is not None:
        problems.add(
            name, line, "%(word)s has blanks or control characters inside; it must be one word.", word=repr(divided)
        )
    return divided is None
