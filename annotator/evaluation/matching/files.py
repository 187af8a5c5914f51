"""Matches a run file: as a stream of columns when it is as runs are, else with care, which also says what is wrong."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from annotator.errors import Problems
from annotator.evaluation.formats.table_stream import chunks_of, is_packed
from annotator.evaluation.formats.table_tokens import UnusualError
from annotator.evaluation.formats.unpacking import UNPACKED_LIMIT, is_too_large, read_stream, read_text
from annotator.evaluation.matching.columns import match_columns
from annotator.evaluation.matching.index import QrelsIndex
from annotator.evaluation.matching.lists import match_parsed
from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.matching.parts import joined_run
from annotator.evaluation.runs.run_format import parse_run

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

    That a file is qrels, or that commas part its columns, is one problem. The source may be packed with gzip. Scores
    are compared in double precision as by trec_eval 10, or with `single_precision` as by trec_eval 9. A file takes a
    few megabytes of memory; one that is unusual (a topic's lines are not together) or wrong takes what `parse_run`
    does.
    """
    try:
        source = within_reach(source)
        chunks = iter(()) if is_beyond_limit(source) else chunks_of(source)
        part = match_columns(chunks, index, single_precision=single_precision)
    except (OSError, UnusualError):
        return match_with_care(name, source, index, problems, single_precision=single_precision)
    return joined_run(index, [part])


def match_with_care(
    name: str, source: Path | bytes, index: QrelsIndex, problems: Problems, *, single_precision: bool
) -> MatchedRun | None:
    """Do as `match_run`, but read the whole file first."""
    text = read_text(problems, name, source, UNPACKED_LIMIT)
    run = None if text is None else parse_run(name, text, problems)
    return None if run is None else match_parsed(index, run, single_precision=single_precision)


def within_reach(source: Path | bytes) -> Path | bytes:
    """Read a pipe, which gives its bytes once and to one process; a file may be read again. Raises `OSError`."""
    if isinstance(source, bytes) or source.is_file():
        return source
    with source.open("rb", buffering=0) as stream:
        return read_stream(stream, UNPACKED_LIMIT)


def is_beyond_limit(source: Path | bytes) -> bool:
    """Tell what is plain and too large before any of it is matched. Raises `OSError`."""
    if isinstance(source, bytes):
        return len(source) > UNPACKED_LIMIT and not is_packed(source)
    return is_too_large(source, UNPACKED_LIMIT)


def _bytes_of(file: NamedFile) -> int:
    """Say how many bytes there are to match, about; none of what is refused by its size."""
    _, source = file
    try:
        if (isinstance(source, Path) and not source.is_file()) or is_beyond_limit(source):
            return 0
        size = len(source) if isinstance(source, bytes) else source.stat().st_size
        return size * (PACKED_TIMES if isinstance(source, Path) and is_packed(source) else 1)
    except OSError:
        return 0
