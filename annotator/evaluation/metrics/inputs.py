"""Converts qrels and runs, files or values, to the form that is scored."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

from annotator.errors import FileRefusedError, InvalidValueError, Problems
from annotator.evaluation.formats.unpacking import read_text
from annotator.evaluation.matching import QrelsIndex, match_lists, match_parsed, match_runs
from annotator.evaluation.matching.files import match_with_care
from annotator.evaluation.matching.lenient import Notice, read_qrels_leniently, read_run_leniently
from annotator.evaluation.matching.matched_runs import MatchedRun
from annotator.evaluation.qrels.qrels_table import QrelsTable, read_qrels, table_of
from annotator.evaluation.qrels.subtopic_qrels import has_subtopics, read_subtopic_qrels
from annotator.evaluation.runs.run_values import Scored, lists_of

NO_UTF8 = re.compile("[\ud800-\udfff]")  # a lone surrogate

# A file: its path, or its displayed name and its path or bytes.
FileInput = str | Path | tuple[str, Path | bytes]
# Grades by topic and docno.
QrelsInput = FileInput | Mapping[str, Mapping[str, int]] | QrelsTable
# Scores by topic and docno, or docnos and scores by topic.
RunValues = Mapping[str, Scored]
# One file, several, or files and values by name.
RunsInput = FileInput | Sequence[FileInput] | Mapping[str, RunValues | FileInput]


@dataclass(frozen=True)
class FileFormats:
    """The names of the formats of files, as in the registry; None where they are to be detected."""

    qrels: str | None = None
    runs: str | None = None


DETECTED = FileFormats()


def qrels_table(
    qrels: QrelsInput,
    problems: Problems,
    notices: list[Notice],
    *,
    lenient: bool,
    by_subtopic: bool = False,
    input_format: str | None = None,
) -> QrelsTable | None:
    """Read or convert the qrels; None with noted `problems`. Raises `InvalidValueError` for invalid values.

    A file is read as qrels with subtopics if it has them and either is read `by_subtopic` or cannot be read otherwise,
    because it grades a document for several.
    """
    if isinstance(qrels, QrelsTable):
        return qrels
    if isinstance(qrels, Mapping):
        return table_of(qrels)
    name, source = named(qrels)
    text = read_text(problems, name, source)
    if text is None:
        return None
    if by_subtopic and has_subtopics(text):
        return read_subtopic_qrels(name, text, problems)
    own = Problems()
    try:
        table = _plain_table(name, text, own, notices, lenient=lenient, input_format=input_format)
    except FileRefusedError:  # a document that is graded for every subtopic is a problem on most lines
        if not has_subtopics(text):
            raise
        table = None
    if table is None and has_subtopics(text):
        return read_subtopic_qrels(name, text, problems)
    problems.add_all(own)
    return table


def _plain_table(
    name: str, text: bytes, problems: Problems, notices: list[Notice], *, lenient: bool, input_format: str | None
) -> QrelsTable | None:
    if not lenient:
        return read_qrels(name, text, problems, input_format)
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
    input_format: str | None = None,
) -> list[MatchedRun | None]:
    """Match the runs with the qrels; None for each run with problems, which are noted.

    A run given under a name has that name, whatever its tag. Raises `InvalidValueError` for invalid values.
    """
    index = QrelsIndex(table)

    def of_files(files: Iterable[FileInput]) -> list[MatchedRun | None]:
        sources = [named(file) for file in files]
        if input_format is not None:
            read = partial(match_with_care, single_precision=single_precision, input_format=input_format)
            return [read(name, source, index, problems) for name, source in sources]
        if not lenient:
            return match_runs(sources, index, problems, workers=workers, single_precision=single_precision)
        return [
            _match_leniently(name, source, index, problems, notices, single_precision=single_precision)
            for name, source in sources
        ]

    if not isinstance(runs, Mapping):
        return of_files(_several(runs))
    for name in runs:
        _require_name(name)
    values = {
        name: match_lists(index, name, lists_of(run, single_precision=single_precision))
        for name, run in runs.items()
        if isinstance(run, Mapping)
    }
    named_files = {name: run for name, run in runs.items() if not isinstance(run, Mapping)}
    read = dict(zip(named_files, of_files(named_files.values()), strict=True))
    return [values[name] if name in values else _renamed(read[name], name) for name in runs]


def named(file: FileInput) -> tuple[str, Path | bytes]:
    """Return a file's name and its path or bytes; raises `InvalidValueError` for anything else."""
    match file:
        case str(name), Path() as source:
            return name, _path(source)
        case str(name), bytes() as source:
            return name, source
        case str() | os.PathLike():
            return os.fsdecode(file), _path(file)
    raise InvalidValueError(
        "A file is given by its path, or by its name and bytes; values are given as a dict, runs under their names, "
        "as in {'bm25': {'401': {'FT911-3': 12.5}}}. Neither is %(given)s.",
        given=type(file).__name__,
    )


def _path(file: str | os.PathLike[str]) -> Path:
    path = os.fsdecode(file)
    try:
        can_be = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        can_be = False
    if not can_be:
        raise InvalidValueError("%(path)s cannot be the path of a file.", path=repr(path))
    return Path(path)


def _require_name(name: object) -> None:
    if not isinstance(name, str) or NO_UTF8.search(name):
        raise InvalidValueError(
            "Runs are given under their names, which are text: {name: {topic: {docno: score}}}. %(name)s is no name.",
            name=repr(name),
        )


def _several(runs: FileInput | Sequence[FileInput]) -> Sequence[FileInput]:
    """Wrap a single file in a list; a name and a path, not in a list, are two files."""
    is_named = isinstance(runs, tuple) and len(runs) > 1 and isinstance(runs[1], bytes)
    is_one = is_named or isinstance(runs, str | bytes | os.PathLike) or not isinstance(runs, Iterable)
    return cast("Sequence[FileInput]", [runs] if is_one else runs)


def _renamed(run: MatchedRun | None, name: str) -> MatchedRun | None:
    return None if run is None else replace(run, tag=name)


def _match_leniently(
    name: str,
    source: Path | bytes,
    index: QrelsIndex,
    problems: Problems,
    notices: list[Notice],
    *,
    single_precision: bool,
) -> MatchedRun | None:
    text = read_text(problems, name, source)
    read = read_run_leniently(name, text, problems, topics=index.topics.keys()) if text is not None else None
    if read is None:
        return None
    run, found = read
    notices.extend(found)
    return match_parsed(index, run, single_precision=single_precision)
