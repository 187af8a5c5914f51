"""Qrels and runs as they are given, files or values, brought into the form that is scored."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from annotator.errors import Problems
from annotator.evaluation.lenient import Notice, read_qrels_leniently, read_run_leniently
from annotator.evaluation.matching import QrelsIndex, match_lists, match_runs
from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.parsed_runs import ParsedRun
from annotator.evaluation.qrels_table import QrelsTable, read_qrels, table_of
from annotator.evaluation.run_values import Scored, lists_of, ranked
from annotator.evaluation.unpacking import unpack_into

# A file: by its path, or by the name that people know it by and where its bytes are.
File = str | Path | tuple[str, Path | bytes]
# Grades by topic and docno.
QrelsInput = File | Mapping[str, Mapping[str, int]] | QrelsTable
# By name, each scores by topic and docno, or docnos and scores by topic.
RunValues = Mapping[str, Mapping[str, Scored]]
RunsInput = Sequence[File] | RunValues


def qrels_table(qrels: QrelsInput, problems: Problems, notices: list[Notice], *, lenient: bool) -> QrelsTable | None:
    """Read or take over the qrels; None when `problems` says why. Raises `InvalidValueError` for wrong values."""
    if isinstance(qrels, QrelsTable):
        return qrels
    if isinstance(qrels, Mapping):
        return table_of(qrels)
    name, source = named(qrels)
    text = _text(name, source, problems)
    if text is None:
        return None
    if not lenient:
        return read_qrels(name, text, problems)
    read = read_qrels_leniently(name, text, problems)
    if read is None:
        return None
    notices.extend(read[1])
    return read[0]


def matched(
    runs: RunsInput,
    table: QrelsTable,
    problems: Problems,
    notices: list[Notice],
    *,
    single_precision: bool,
    lenient: bool,
    workers: int,
) -> list[MatchedRun | None]:
    """Match the runs with the qrels; None for each of which `problems` says what is wrong.

    Raises `InvalidValueError` for wrong values.
    """
    index = QrelsIndex(table)
    if isinstance(runs, Mapping):
        values = {name: lists_of(run, single_precision=single_precision) for name, run in runs.items()}
        return [match_lists(index, name, lists) for name, lists in values.items()]
    files = [named(file) for file in runs]
    if not lenient:
        return match_runs(files, index, problems, workers=workers, single_precision=single_precision)
    read = [_read_leniently(name, source, problems, notices) for name, source in files]
    return [None if run is None else _match(run, index, single_precision=single_precision) for run in read]


def _match(run: ParsedRun, index: QrelsIndex, *, single_precision: bool) -> MatchedRun:
    lists = {
        topic: ranked(topic, one.docnos, one.scores, single_precision=single_precision)
        for topic, one in run.lists.items()
    }
    return match_lists(index, run.tag, lists)


def named(file: File) -> tuple[str, Path | bytes]:
    """Give a file's name and where its bytes are."""
    return file if isinstance(file, tuple) else (str(file), Path(file))


def _read_leniently(name: str, source: Path | bytes, problems: Problems, notices: list[Notice]) -> ParsedRun | None:
    text = _text(name, source, problems)
    read = read_run_leniently(name, text, problems) if text is not None else None
    if read is None:
        return None
    notices.extend(read[1])
    return read[0]


def _text(name: str, source: Path | bytes, problems: Problems) -> bytes | None:
    try:
        content = source.read_bytes() if isinstance(source, Path) else source
    except OSError as error:
        problems.add(name, None, "The file cannot be read: %(reason)s.", reason=error.strerror)
        return None
    return unpack_into(problems, name, content)
