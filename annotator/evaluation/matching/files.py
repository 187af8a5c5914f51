"""Matches a run file: as a stream of columns when it is as runs are, else with care, which also says what is wrong."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from annotator.errors import Problems
from annotator.evaluation.matching.columns import match_columns
from annotator.evaluation.matching.index import QrelsIndex
from annotator.evaluation.matching.lists import match_lists
from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.matching.parts import joined_run
from annotator.evaluation.parsed_runs import ParsedList
from annotator.evaluation.rankings import trec_order
from annotator.evaluation.run_format import parse_run
from annotator.evaluation.run_scores import in_single_precision
from annotator.evaluation.table_stream import chunks_of, is_packed
from annotator.evaluation.table_tokens import UnusualError
from annotator.evaluation.unpacking import UNPACKED_LIMIT, unpack_into

LEAST_BYTES = 48 << 20  # a process takes 0.3 s to start, in which one reads as much
PACKED_TIMES = 4  # gzip makes of a run about a quarter

NamedFile = tuple[str, Path | bytes]


def match_runs(
    files: Sequence[NamedFile],
    index: QrelsIndex,
    problems: Problems,
    *,
    workers: int,
    single_precision: bool = False,
) -> list[MatchedRun | None]:
    """Match each file as `match_run` does, in as many as `workers` processes, this one among them.

    Others are started only for enough to read, and by the spawn method: a script that calls this must guard its own
    work by `if __name__ == "__main__"`. Problems are noted file by file. Raises `AnnotatorError` when a process ends
    before its work.
    """
    if workers > 1 and sum(map(_bytes_of, files)) >= LEAST_BYTES:
        # To import what starts processes takes longer than to match a run.
        several = import_module("annotator.evaluation.matching.workers").match_in_processes
        runs: list[MatchedRun | None] = several(
            files, index, problems, workers=workers, single_precision=single_precision
        )
        return runs
    return [match_run(name, source, index, problems, single_precision=single_precision) for name, source in files]


def match_run(
    name: str, source: Path | bytes, index: QrelsIndex, problems: Problems, *, single_precision: bool = False
) -> MatchedRun | None:
    """Read a run and match it, or return None and note every problem of the file with its line, as `parse_run` does.

    The source may be packed with gzip. Scores are compared in double precision as by trec_eval 10, or with
    `single_precision` as by trec_eval 9. A file takes a few megabytes of memory; one that is unusual (a topic's lines
    are not together) or wrong takes what `parse_run` does.
    """
    try:
        if isinstance(source, Path) and not source.is_file():
            source = source.read_bytes()  # a pipe gives its bytes once, and they may be needed again
        part = match_columns(chunks_of(source), index, single_precision=single_precision)
    except OSError as error:
        problems.add(name, None, "The file cannot be read: %(reason)s.", reason=error.strerror)
        return None
    except UnusualError:
        return match_with_care(name, source, index, problems, single_precision=single_precision)
    return joined_run(index, [part])


def match_with_care(
    name: str, source: Path | bytes, index: QrelsIndex, problems: Problems, *, single_precision: bool
) -> MatchedRun | None:
    """Do as `match_run`, but read the whole file first."""
    try:
        content = source if isinstance(source, bytes) else _beginning(source)
    except OSError as error:
        problems.add(name, None, "The file cannot be read: %(reason)s.", reason=error.strerror)
        return None
    text = unpack_into(problems, name, content)
    run = None if text is None else parse_run(name, text, problems)
    if run is None:
        return None
    lists = {topic: _in_single(ranked) for topic, ranked in run.lists.items()} if single_precision else run.lists
    return match_lists(index, run.tag, lists)


def _beginning(path: Path) -> bytes:
    """Read the file, or as much of it as shows that it is too large."""
    with path.open("rb") as file:
        return file.read(UNPACKED_LIMIT + 1)


def _in_single(ranked: ParsedList) -> ParsedList:
    """Order anew by scores of single precision, in which more of them are equal."""
    scores = in_single_precision(ranked.scores)
    order = trec_order(ranked.docnos, scores)
    return ParsedList(ranked.docnos[order], scores[order])


def _bytes_of(file: NamedFile) -> int:
    _, source = file
    if isinstance(source, bytes):
        return len(source)
    try:
        return source.stat().st_size * (PACKED_TIMES if source.is_file() and is_packed(source) else 1)
    except OSError:
        return 0
