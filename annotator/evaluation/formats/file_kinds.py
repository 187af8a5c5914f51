"""Tells runs, qrels, JSON and other files apart, so that a mix-up is one problem and not one on every line."""

import re
from collections.abc import Callable

from annotator.errors import Problems
from annotator.evaluation.formats.json_lines import first_line_of, is_json
from annotator.evaluation.formats.table_lines import data_lines

COLUMNS = 6

TOPIC, DOCNO, RANK, SCORE, TAG = 0, 2, 3, 4, 5  # which column each is, from 0

DECIMAL_NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


QRELS_COLUMNS = 4
SAMPLED_COLUMNS = 5  # a stratum stands before the grade
ITERATION = 1  # which column it is, from 0
LEAST_LINES = 2  # that show a separator
MARKUP = re.compile(rb"<(?:[!?]|/?[a-z][a-z0-9]*\b[^<>]*>)", re.IGNORECASE)
# Stored in 16 bits, which hold every number of four digits.
WHOLE_GRADE = re.compile(rb"[+-]?[0-9]{1,4}")


def note_no_qrels(name: str, text: bytes, problems: Problems) -> bool:
    """Note that a file meant to be qrels is a run, JSON, markup or comma-separated as a whole; False otherwise."""
    if _every_line(text, _is_of_run):
        problems.add(
            name,
            None,
            "This is a run, not qrels: every line has six columns, the fifth a score. "
            "Where both are asked for, the qrels come first.",
        )
        return True
    return _note_other(name, text, problems)


def note_no_run(name: str, text: bytes, problems: Problems) -> bool:
    """Note that a file meant to be a run is qrels, JSON, markup or comma-separated as a whole; False otherwise."""
    if _every_line(text, _is_of_qrels):
        problems.add(
            name,
            None,
            "This is a file of qrels, not a run: every line has four columns, or five of a sample, the last a grade. "
            "Where both are asked for, the qrels come first.",
        )
        return True
    return _note_other(name, text, problems)


def note_separator(name: str, text: bytes, problems: Problems) -> bool:
    """Note that the columns of a file that must have tabs are separated by something else; False when it has a tab."""
    if b"\t" in text:
        return False
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < LEAST_LINES or not all(b"," in line or b";" in line for line in lines):
        return False
    problems.add(name, None, "The columns are separated by commas or semicolons; they must be separated by tabs.")
    return True


def _note_other(name: str, text: bytes, problems: Problems) -> bool:
    """Note a file that is JSON, markup or comma-separated as a whole; False when it is none of it."""
    first = first_line_of(text)
    if is_json(first):
        problems.add(name, None, "The file is JSON; its columns must be separated by blanks or tabs.")
    elif MARKUP.match(first):
        problems.add(name, None, "The file is XML, HTML or SGML; its columns must be separated by blanks or tabs.")
    elif _every_line(text, lambda words: len(words) == 1 and b"," in words[0]):
        problems.add(name, None, "The columns are separated by commas; they must be separated by blanks or tabs.")
    elif _every_line(text, lambda words: len(words) == 1 and b";" in words[0]):
        problems.add(name, None, "The columns are separated by semicolons; they must be separated by blanks or tabs.")
    else:
        return False
    return True


def _is_of_run(words: list[bytes]) -> bool:
    return len(words) == COLUMNS and DECIMAL_NUMBER.fullmatch(words[SCORE]) is not None


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
