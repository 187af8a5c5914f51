"""Analysis of a click log from its files to the results, for comparisons and interleavings."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from annotator.clicks.evaluation.comparison.comparison import USUAL_WANTED, ComparisonWanted, compare_clicks
from annotator.clicks.evaluation.interleaving.interleaving import InterleavedLists, parse_lists
from annotator.clicks.evaluation.interleaving.interleaving_clicks import credited_by_lists, credited_by_variant
from annotator.clicks.evaluation.interleaving.interleaving_scores import score_interleaving
from annotator.clicks.evaluation.judgements.together import folded, topics_of_queries
from annotator.clicks.evaluation.logs.click_format import read_click_log
from annotator.clicks.evaluation.logs.click_log import ClickLog
from annotator.clicks.evaluation.logs.column_mapping import USUAL_MAPPING, LogMapping
from annotator.clicks.evaluation.logs.log_findings import LogFindings, LogKind
from annotator.clicks.evaluation.logs.log_sources import Advance, LogFile
from annotator.errors import FileRefusedError, InvalidValueError, Problems
from annotator.evaluation.formats.unpacking import UNPACKED_LIMIT, unpack_into

HASHED_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class LogRequest:
    """How to read and analyse a log; no variants means the only two, or all of an interleaving.

    `lists` is the name and the content of a file of interleaved lists, with the team of each document.
    """

    name: str
    kind: LogKind = LogKind.COMPARISON
    mapping: LogMapping = USUAL_MAPPING
    wanted: ComparisonWanted = USUAL_WANTED
    lists: tuple[str, bytes] | None = None
    unpacked_limit: int | None = None  # of each file, in bytes


@dataclass(frozen=True, eq=False)
class StudiedLog:
    """The results for a log and how it was read; `options` is a JSON value."""

    name: str
    checksum: str
    options: dict[str, Any]
    findings: LogFindings
    lines: int


def study_log(
    files: Sequence[LogFile], request: LogRequest, titles: Mapping[str, str], *, advance: Advance = lambda _bytes: None
) -> StudiedLog:
    """Read files as one log and analyse it; only queries that match a topic of {number: title} are kept.

    `advance` is called with the numbers of bytes read. Raises `FileRefusedError` with every bad line,
    `InvalidValueError` for files that must be read twice and cannot be, and what the two analyses raise.
    """
    checksum = _checksum(files)
    log = read_click_log(files, request.mapping, advance=advance, unpacked_limit=request.unpacked_limit)
    if request.kind is LogKind.INTERLEAVING:
        found = _interleaving(log, request)
    else:
        known = topics_of_queries(titles)
        wanted = replace(request.wanted, is_wanted=lambda query: folded(query) in known)
        found = LogFindings(comparison=compare_clicks(log, wanted))
    return StudiedLog(request.name, checksum, _options(files, request, found), found.only_of_topics(titles), log.lines)


def _interleaving(log: ClickLog, request: LogRequest) -> LogFindings:
    if request.lists is not None:
        credited = credited_by_lists(log, _read_lists(*request.lists))
    else:
        credited = credited_by_variant(log, request.wanted.variants or ())
    seed = request.wanted.seed if request.wanted.bootstraps else None
    left_out = {reason.value: count for reason, count in log.dropped.items()}
    return LogFindings(interleaving=score_interleaving(log, credited, seed=seed), left_out=left_out)


def _read_lists(name: str, content: bytes) -> InterleavedLists:
    problems = Problems()
    text = unpack_into(problems, name, content, UNPACKED_LIMIT)
    lists = None if text is None else parse_lists(name, text, problems)
    if lists is None:
        raise FileRefusedError(problems)
    return lists


def _checksum(files: Sequence[LogFile]) -> str:
    """The SHA-256 of the concatenated files."""
    checksum = hashlib.sha256()
    for name, source in files:
        match source:
            case bytes():
                checksum.update(source)
            case Path():
                _update_from(checksum, name, source)
            case _:
                raise InvalidValueError("A log that is to be kept is read from files, not from “%(name)s”.", name=name)
    return checksum.hexdigest()


def _update_from(checksum: "hashlib._Hash", name: str, path: Path) -> None:
    try:
        with path.open("rb") as file:
            while piece := file.read(HASHED_AT_ONCE):
                checksum.update(piece)
    except OSError as error:
        problems = Problems()
        problems.add(name, None, "The file cannot be read: %(reason)s.", reason=error.strerror)
        raise FileRefusedError(problems) from error


def _options(files: Sequence[LogFile], request: LogRequest, found: LogFindings) -> dict[str, Any]:
    wanted = request.wanted
    return {
        "kind": request.kind.value,
        "files": [name for name, _ in files],
        "lists": None if request.lists is None else request.lists[0],
        "variants": list(found.variants),
        "mapping": {**asdict(request.mapping)},
        "bootstrap": wanted.bootstraps,
        "return_days": wanted.return_days,
        "first_share": wanted.expected.first_share,
        "leaves_bots_out": wanted.expected.leaves_bots_out,
    }
