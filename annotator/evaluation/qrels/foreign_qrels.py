"""Qrels and labels in other formats than TREC's, turned into TREC's lines."""

import re
from collections.abc import Iterable, Mapping
from typing import cast

from annotator.errors import Problems
from annotator.evaluation.formats.foreign_rows import NO_TITLES, Converted, LabelRow, label_lines
from annotator.evaluation.formats.input_formats import choose
from annotator.evaluation.formats.row_formats import FEWEST_LINES, LABEL_FORMATS

FRACTION = re.compile(rb" ([+-]?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?)$", re.MULTILINE)


def as_trec_qrels(
    name: str,
    text: bytes,
    problems: Problems,
    *,
    input_format: str | None = None,
    titles: Mapping[str, str] = NO_TITLES,
) -> Converted | None:
    """TREC's lines of qrels in another format, with problems noted; None when they are read as they are.

    `text` is what `unpack` returns, `titles` maps queries (see `query_key`) to the numbers of their topics. Raises
    `InvalidValueError` when there is no such format.
    """
    read = choose(LABEL_FORMATS, text, input_format).read
    if read is None:
        return None
    return label_lines(name, cast("Iterable[LabelRow]", read(name, text, problems)), problems, titles)


def note_scores(name: str, converted: Converted, problems: Problems) -> bool:
    """Note that most of what should be grades are fractions, and so the scores of a run; False otherwise."""
    fractions = FRACTION.findall(converted.text)
    if len(fractions) < FEWEST_LINES or 2 * len(fractions) <= len(converted.lines):
        return False
    problems.add(
        name,
        None,
        "This is a run, not qrels: most of its numbers are no grades but scores, such as %(score)s. "
        "Where both are asked for, the qrels come first.",
        score=fractions[0].decode(),
    )
    return True
