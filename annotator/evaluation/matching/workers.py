"""Matches many runs, or ranges of a large one, in several processes; imported only for large inputs."""

import multiprocessing
import signal
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from dataclasses import dataclass

from annotator.errors import AnnotatorError, Problems
from annotator.evaluation.formats.table_stream import chunks_of, is_packed, stretches_of
from annotator.evaluation.formats.table_tokens import UnusualError
from annotator.evaluation.matching.files import (
    NamedFile,
    is_beyond_limit,
    match_columns,
    match_run,
    match_with_care,
    within_reach,
)
from annotator.evaluation.matching.index import QrelsIndex
from annotator.evaluation.matching.matched_runs import MatchedPart, MatchedRun, joined_run

STRETCH_BYTES = 16 << 20


@dataclass(frozen=True)
class _Piece:
    """A file, or the range of a plain one from `start` to `end`."""

    file: NamedFile
    start: int = 0
    end: int | None = None


@dataclass(frozen=True, eq=False)
class _Outcome:
    """The result for a piece: a run or problems for a file, a part for a range, or None when it is unusual."""

    run: MatchedRun | None = None
    part: MatchedPart | None = None
    problems: Problems | None = None


@dataclass(frozen=True)
class _Setting:
    """The arguments common to all pieces."""

    index: QrelsIndex
    single_precision: bool

    def match(self, piece: _Piece) -> _Outcome:
        name, source = piece.file
        if piece.end is None:
            problems = Problems()
            run = match_run(name, source, self.index, problems, single_precision=self.single_precision)
            return _Outcome(run=run, problems=problems)
        try:
            chunks = chunks_of(source, piece.start, piece.end)
            return _Outcome(part=match_columns(chunks, self.index, single_precision=self.single_precision))
        except (UnusualError, OSError):
            return _Outcome()  # problems are found when the whole file is parsed with care


_settings: list[_Setting] = []  # in a worker: the setting it was started with


def _begin(setting: _Setting) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches all processes; only the first reports it
    _settings[:] = [setting]


def _match_in_worker(piece: _Piece) -> _Outcome:
    return _settings[0].match(piece)


def match_in_processes(
    files: Sequence[NamedFile], index: QrelsIndex, problems: Problems, *, workers: int, single_precision: bool
) -> list[MatchedRun | None]:
    """Match each file as `match_run` does, in up to `workers` processes, including this one.

    Problems are noted file by file. Raises `AnnotatorError` when a process ends before its work.
    """
    setting = _Setting(index, single_precision)
    pieces = [_pieces_of(file) for file in files]
    outcomes = iter(_outcomes(setting, [piece for of_file in pieces for piece in of_file], workers))
    return [_run_of(setting, of_file, [next(outcomes) for _ in of_file], problems) for of_file in pieces]


def _outcomes(setting: _Setting, pieces: Sequence[_Piece], workers: int) -> list[_Outcome]:
    """Match the pieces; workers take them from the first on, this process, which needs no start, from the last."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers - 1, spawn, _begin, (setting,)) as pool:
        try:
            futures = [pool.submit(_match_in_worker, piece) for piece in pieces]
            ours = {
                place: setting.match(pieces[place]) for place in reversed(range(len(pieces))) if futures[place].cancel()
            }
            return [ours[place] if place in ours else _result(future) for place, future in enumerate(futures)]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _result(future: "Future[_Outcome]") -> _Outcome:
    try:
        return future.result()
    except BrokenExecutor as error:
        raise AnnotatorError(
            "A process that read runs was killed, perhaps because memory ran out. Try again with one worker."
        ) from error


def _run_of(
    setting: _Setting, pieces: Sequence[_Piece], outcomes: Sequence[_Outcome], problems: Problems
) -> MatchedRun | None:
    if len(pieces) == 1:
        problems.add_all(outcomes[0].problems or Problems())
        return outcomes[0].run
    parts = [outcome.part for outcome in outcomes if outcome.part is not None]
    run = joined_run(setting.index, parts) if len(parts) == len(pieces) else None
    name, source = pieces[0].file
    return run or match_with_care(name, source, setting.index, problems, single_precision=setting.single_precision)


def _pieces_of(file: NamedFile) -> list[_Piece]:
    name, source = file
    try:
        source = within_reach(source)
        # Check the size of the whole file, which its ranges cannot.
        if isinstance(source, bytes) or is_packed(source) or is_beyond_limit(source):
            return [_Piece((name, source))]
        bounds = stretches_of(source, STRETCH_BYTES)
    except OSError:
        return [_Piece(file)]  # reported when it is matched
    if len(bounds) == 1:
        return [_Piece(file)]
    return [_Piece(file, start, end) for start, end in bounds]
