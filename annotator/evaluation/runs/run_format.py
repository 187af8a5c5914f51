"""Runs as files: six columns a line, topic, Q0, document, rank, score and tag, as TREC has them."""

import io
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from itertools import islice

from annotator.errors import Problems, Sentence
from annotator.evaluation.formats.file_kinds import note_no_run
from annotator.evaluation.formats.headings import RUN_COLUMNS, is_heading
from annotator.evaluation.formats.table_lines import first_data_line
from annotator.evaluation.runs.parsed_runs import ParsedList as ParsedList
from annotator.evaluation.runs.parsed_runs import ParsedRun as ParsedRun
from annotator.evaluation.runs.run_columns import read_columns
from annotator.evaluation.runs.run_lines import UNKNOWN_TOPIC, read_lines

TAG = 5  # which column it is, from 0


def parse_run(
    name: str, text: bytes, problems: Problems, *, topics: Collection[str] | None = None, tag: str | None = None
) -> ParsedRun | None:
    """Read a run, or return None and note every problem of the file with its line.

    `text` is what `unpack` returns. Columns are set apart by blanks or tabs; blank lines and lines that begin with
    `#` count for nothing. The rank column is ignored, as trec_eval does. With `topics`, others are refused;
    a `tag` given stands for whatever tags the file has.
    """
    known = None if topics is None else frozenset(topics)
    return read_columns(text, known, tag) or read_carefully(name, text, problems, known, tag)


def read_carefully(
    name: str,
    text: bytes,
    problems: Problems,
    topics: AbstractSet[str] | None,
    tag: str | None,
    unknown_topic: Sentence = UNKNOWN_TOPIC,
) -> ParsedRun | None:
    """Do as `read_lines`, but note first whether the file is of another kind as a whole."""
    if note_no_run(name, text, problems):
        return None
    return read_lines(name, text, problems, topics, tag, unknown_topic)


def first_tag_of(text: bytes) -> tuple[int, str]:
    """The number of a run's first line of data and the tag on it; `(1, "")` when there is none to be had."""
    line = first_data_line(text)
    content = next(islice(io.BytesIO(text), line - 1, line), b"").split()
    words = [word.decode() for word in content]
    return line, words[TAG] if len(words) > TAG and not is_heading(words, RUN_COLUMNS) else ""


def format_run(parsed: ParsedRun) -> bytes:
    """Write the run, ranks from 1; scores as the shortest decimals that read back to the same number."""
    return b"".join(_format_list(topic, ranked, parsed.tag) for topic, ranked in parsed.lists.items())


def _format_list(topic: str, ranked: ParsedList, tag: str) -> bytes:
    docnos: list[bytes] = ranked.docnos.tolist()
    scores: list[float] = ranked.scores.tolist()
    return "".join(
        f"{topic} Q0 {docno.decode()} {rank} {score!r} {tag}\n"
        for rank, (docno, score) in enumerate(zip(docnos, scores, strict=True), start=1)
    ).encode()
