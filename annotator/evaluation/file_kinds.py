"""Tells runs, qrels and comma-separated files apart, so that a mix-up is one problem and not one on every line."""

import re
from collections.abc import Callable

from annotator.errors import Problems
from annotator.evaluation.run_lines import COLUMNS as RUN_COLUMNS
from annotator.evaluation.run_lines import DECIMAL_NUMBER, SCORE
from annotator.evaluation.table_lines import data_lines

QRELS_COLUMNS = 4
SAMPLED_COLUMNS = 5  # a stratum stands before the grade
ITERATION = 1  # which column it is, from 0
# Stored in 16 bits, which hold every number of four digits.
WHOLE_GRADE = re.compile(rb"[+-]?[0-9]{1,4}")


def note_no_qrels(name: str, text: bytes, problems: Problems) -> bool:
    """Note that a file meant to be qrels is a run or comma-separated as a whole; False when it is neither."""
    if _every_line(text, _is_of_run):
        problems.add(
            name,
            None,
            "This is a run, not qrels: every line has six columns, the fifth a score. "
            "Where both are asked for, the qrels come first.",
        )
        return True
    return _note_commas(name, text, problems, QRELS_COLUMNS)


def note_no_run(name: str, text: bytes, problems: Problems) -> bool:
    """Note that a file meant to be a run is qrels or comma-separated as a whole; False when it is neither."""
    if _every_line(text, _is_of_qrels):
        problems.add(
            name,
            None,
            "This is a file of qrels, not a run: every line has four columns, or five of a sample, the last a grade. "
            "Where both are asked for, the qrels come first.",
        )
        return True
    return _note_commas(name, text, problems, RUN_COLUMNS)


def _note_commas(name: str, text: bytes, problems: Problems, columns: int) -> bool:
    if not _every_line(text, lambda words: len(words) == 1 and words[0].count(b",") >= columns - 1):
        return False
    problems.add(name, None, "The columns are separated by commas; they must be separated by blanks or tabs.")
    return True


def _is_of_run(words: list[bytes]) -> bool:
    return len(words) == RUN_COLUMNS and DECIMAL_NUMBER.fullmatch(words[SCORE]) is not None


def _is_of_qrels(words: list[bytes]) -> bool:
    """Tell whether it has an iteration and a grade; a run that lacks columns has Q0 or a document there, or a score."""
    return (
        len(words) in {QRELS_COLUMNS, SAMPLED_COLUMNS}
        and DECIMAL_NUMBER.fullmatch(words[ITERATION]) is not None
        and WHOLE_GRADE.fullmatch(words[-1]) is not None
    )


def _every_line(text: bytes, fits: Callable[[list[bytes]], bool]) -> bool:
    """Tell whether there is a line of data, and all of them fit; reading ends at the first that does not."""
    others = Problems()
    lines = 0
    for lines, (_, words) in enumerate(data_lines("", text, others), start=1):  # noqa: B007 - their number is wanted
        if not fits(words):
            return False
    return lines > 0 and not others.total
