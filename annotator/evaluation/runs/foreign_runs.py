"""Runs in other formats than TREC's, turned into TREC's lines."""

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import cast

from annotator.errors import Problems
from annotator.evaluation.formats.file_kinds import COLUMNS, DECIMAL_NUMBER, SCORE
from annotator.evaluation.formats.foreign_rows import NO_TITLES, Converted, RunRow, run_lines
from annotator.evaluation.formats.input_formats import choose
from annotator.evaluation.formats.row_formats import RUN_FORMATS
from annotator.evaluation.runs.tag_rules import composed

FIRST_DATA_LINE = re.compile(rb"^[^\S\n]*[^\s#].*", re.MULTILINE)
ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow", ".txt", ".run")
NOT_IN_A_TAG = re.compile(r"\s+")


def as_trec_run(
    name: str,
    text: bytes,
    problems: Problems,
    *,
    input_format: str | None = None,
    titles: Mapping[str, str] = NO_TITLES,
) -> Converted | None:
    """TREC's lines of a run in another format, with problems noted; None when it is read as it is.

    `text` is what `unpack` returns, `titles` maps queries (see `query_key`) to the numbers of their topics. A run
    without a tag gets the name of its file. Raises `InvalidValueError` when there is no such format.
    """
    if input_format is None and _is_usual(text):
        return None
    read = choose(RUN_FORMATS, text, input_format).read
    if read is None:
        return None
    return run_lines(name, cast("Iterable[RunRow]", read(name, text, problems)), plain_name(name), problems, titles)


def plain_name(name: str) -> str:
    """The name of a file without folder and endings, as a tag, with composed letters."""
    plain = composed(PurePath(name).name)
    while ending := next((ending for ending in ENDINGS if plain.endswith(ending) and plain != ending), None):
        plain = plain.removesuffix(ending)
    return NOT_IN_A_TAG.sub("_", plain)


def _is_usual(text: bytes) -> bool:
    """Whether the first line of data has six columns, the fifth a score."""
    first = FIRST_DATA_LINE.search(text)
    words = first[0].split(None, COLUMNS) if first else []
    return len(words) == COLUMNS and DECIMAL_NUMBER.fullmatch(words[SCORE]) is not None
