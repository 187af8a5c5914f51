"""A log from its rows: in order of time, without what does not count, and with codes for what is left alone."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Dropped
from annotator.clicks.evaluation.logs.log_coding import Coding
from annotator.clicks.evaluation.logs.log_duplicates import duplicates
from annotator.clicks.evaluation.logs.log_rows import Collected
from annotator.clicks.evaluation.logs.log_unshown import NEEDS_IMPRESSION, never_shown

Array = NDArray[Any]
CODED = ("user", "session", "query", "variant", "docno")


def assembled(collected: Collected, coding: Coding, *, bad_lines: int, lines: int, is_line_a_result: bool) -> ClickLog:
    """Make the log of all rows; there must be one."""
    columns = collected.columns()
    _order(columns)
    dropped = {Dropped.BAD_LINE: bad_lines, **_drop(columns, is_line_a_result=is_line_a_result)}
    return ClickLog(
        variants=_named(columns, "variant", coding.variants.texts()),
        queries=_named(columns, "query", coding.queries.texts()),
        docnos=_named(columns, "docno", coding.docnos.texts()),
        users=_counted(columns, "user", coding.users.count),
        sessions=_counted(columns, "session", coding.sessions.count),
        times=columns["times"],
        user=columns["user"],
        session=columns["session"],
        query=columns["query"],
        variant=columns["variant"],
        page=columns["page"],
        position=columns["position"],
        docno=columns["docno"],
        event=columns["event"],
        value=columns["value"],
        dropped={reason: count for reason, count in dropped.items() if count},
        lines=lines,
        is_line_a_result=is_line_a_result,
    )


def _order(columns: dict[str, Array]) -> None:
    """Sort by time; most logs are sorted, and then nothing is moved."""
    times = columns["times"]
    if np.any(times[1:] < times[:-1]):
        order = np.argsort(times, kind="stable").astype(np.int32)
        for name in columns:
            columns[name] = columns[name][order]


def _drop(columns: dict[str, Array], *, is_line_a_result: bool) -> Mapping[Dropped, int]:
    """Leave out what does not count, and say how much of it there was."""
    is_duplicate = duplicates(columns)
    dropped = {Dropped.DUPLICATE: int(np.count_nonzero(is_duplicate))}
    _leave_out(columns, is_duplicate)
    if not is_line_a_result:
        is_unshown = never_shown(columns)
        for event, reason in NEEDS_IMPRESSION.items():
            dropped[reason] = int(np.count_nonzero(is_unshown & (columns["event"] == event)))
        _leave_out(columns, is_unshown)
    return dropped


def _leave_out(columns: dict[str, Array], which: NDArray[np.bool_]) -> None:
    if which.any():
        for name, column in columns.items():
            if column.size:
                columns[name] = column[~which]


def _counted(columns: dict[str, Array], field: str, count: int) -> int:
    return len(_used(columns, field, count))


def _named(columns: dict[str, Array], field: str, names: tuple[str, ...]) -> tuple[str, ...]:
    used = _used(columns, field, len(names))
    return names if len(used) == len(names) else tuple(names[code] for code in used.tolist())


def _used(columns: dict[str, Array], field: str, count: int) -> NDArray[np.intp]:
    """Return the codes that a column still has, which are numbered anew from 0 where some are gone."""
    codes = columns[field]
    is_used = np.zeros(count + 1, np.bool_)  # one more for `NOT_SAID`, which is the last
    is_used[codes] = True
    used = np.flatnonzero(is_used[:-1])
    if used.size < count:
        places = np.full(count + 1, NOT_SAID, np.int32)
        places[used] = np.arange(used.size)
        columns[field] = places[codes]
    return used
