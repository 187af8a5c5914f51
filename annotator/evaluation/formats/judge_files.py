"""Files of one judge's labels with the judge's confidence: topic, Q0, document, grade, confidence, judge."""

import math
import re
from collections.abc import Iterable, Iterator

from annotator.errors import Problems
from annotator.evaluation.formats.foreign_rows import LabelRow
from annotator.evaluation.formats.table_lines import counted_columns, data_lines, shown

JUDGE_COLUMNS = 6
GRADE, CONFIDENCE, JUDGE = 3, 4, 5  # column indices
NO_CONFIDENCE = b"-"
DECIMAL = re.compile(rb"\+?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def is_judge_file(head: bytes) -> bool:
    """Whether most lines have six columns, the fifth from 0 to 1, and some grade is repeated in a topic.

    A run has ranks in the column of the grades, each once in a topic. Lines that do not fit are mistakes, to be named
    with their numbers. The end of the last line may be missing.
    """
    lines = [line for line in head.split(b"\n") if line.strip() and not line.startswith(b"#")]
    whole = [line.split() for line in (lines if head.endswith(b"\n") else lines[:-1] or lines)]
    fitting = [words for words in whole if len(words) == JUDGE_COLUMNS and confidence_of(words[CONFIDENCE]) is not None]
    is_repeated = len({(words[0], words[GRADE]) for words in fitting}) < len(fitting)
    return is_repeated and 2 * len(fitting) > len(whole)


def confidence_of(written: bytes) -> float | None:
    """The confidence from 0 to 1, NaN for none (a dash); None for anything else."""
    if written == NO_CONFIDENCE:
        return float("nan")
    value = float(written) if DECIMAL.fullmatch(written) else None
    return value if value is not None and 0 <= value <= 1 else None


def judge_rows(name: str, text: bytes, problems: Problems) -> Iterator[LabelRow]:
    """The rows; notes lines with other columns, values that are no confidence, and labels of further judges."""
    judge: tuple[bytes, int] | None = None
    for line, words in data_lines(name, text, problems):
        if len(words) != JUDGE_COLUMNS:
            problems.add(
                name,
                line,
                "The line has %(columns)s; labels with a confidence have six: topic, Q0, document, grade, confidence, "
                "judge.",
                columns=counted_columns(len(words)),
            )
            continue
        judge = judge or (words[JUDGE], line)
        if words[JUDGE] != judge[0]:
            problems.add(
                name,
                line,
                "The label is of the judge %(judge)s, and line %(first_line)d of %(first)s: a file has the labels of "
                "one judge.",
                judge=shown(words[JUDGE]),
                first=shown(judge[0]),
                first_line=judge[1],
            )
        elif confidence_of(words[CONFIDENCE]) is None:
            problems.add(
                name,
                line,
                "The confidence %(confidence)s is not a number from 0 to 1; a dash means none.",
                confidence=shown(words[CONFIDENCE]),
            )
        else:
            yield LabelRow(line, words[0].decode(), words[2].decode(), words[GRADE].decode())


def judge_lines(judge: str, topic: str, rows: Iterable[tuple[str, str, float]]) -> bytes:
    """Lines of rows of document, label and confidence, NaN for none; blanks in labels become underscores."""
    named = _word(judge)
    return "".join(
        f"{topic} Q0 {docno} {_word(label)} {_written(confidence)} {named}\n" for docno, label, confidence in rows
    ).encode()


def _word(text: str) -> str:
    return "_".join(text.split()) or NO_CONFIDENCE.decode()


def _written(confidence: float) -> str:
    return NO_CONFIDENCE.decode() if math.isnan(confidence) else f"{confidence:.7g}"
