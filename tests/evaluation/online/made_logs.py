"""Click logs made by hand, for tests of what is taken of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Event

SECOND = 1_000_000  # in microseconds
HOUR = 3600
DAY = 24 * HOUR
BEGINNING = 1_767_225_600  # 2026-01-01T00:00:00Z


@dataclass(frozen=True)
class Line:
    """One event; what is None the line does not say. `at` is in seconds after the beginning of 2026."""

    event: Event
    variant: str | None = None
    user: str | None = None
    session: str | None = None
    query: str | None = None
    page: int | None = None
    position: int | None = None
    docno: str | None = None
    value: float | None = None
    at: float | None = None


def shown(
    variant: str,
    user: str | None = None,
    *,
    clicks: Sequence[int] = (),
    results: int = 3,
    query: str | None = "q",
    session: str | None = None,
    page: int | None = 1,
    at: float | None = None,
) -> list[Line]:
    """A page of documents d1, d2 and so on, and clicks on positions, the first after 10 s and each 10 s later."""
    said = Line(Event.IMPRESSION, variant, user, session, query, page, at=at)
    lines = [replace(said, position=rank, docno=f"d{rank}") for rank in range(1, results + 1)]
    for place, rank in enumerate(clicks, start=1):
        when = None if at is None else at + 10 * place
        lines.append(replace(said, event=Event.CLICK, position=rank, docno=f"d{rank}", at=when))
    return lines


def log_of(lines: Iterable[Line], *, is_line_a_result: bool = False) -> ClickLog:
    """Make a log as the reader does: codes in the order of first appearance, events by time."""
    every = list(lines)
    columns = {field.name: [getattr(line, field.name) for line in every] for field in fields(Line)}
    has_times = any(at is not None for at in columns["at"])
    seconds = [BEGINNING + (at or 0) for at in columns["at"]] if has_times else []
    times = np.array([round(second * SECOND) for second in seconds], np.int64)
    order = np.argsort(times, kind="stable") if has_times else np.arange(len(every))
    names = {name: _names(columns[name]) for name in ("variant", "user", "session", "query", "docno")}
    codes = {name: _codes(columns[name], known)[order] for name, known in names.items()}
    numbers = {name: _numbers(columns[name])[order] for name in ("page", "position")}
    return ClickLog(
        variants=names["variant"],
        queries=names["query"],
        docnos=names["docno"],
        users=len(names["user"]),
        sessions=len(names["session"]),
        times=times[order] if has_times else times,
        **codes,
        **numbers,
        event=np.array(columns["event"], np.int8)[order],
        value=np.array([np.nan if value is None else value for value in columns["value"]], np.float64)[order],
        dropped={},
        lines=len(every),
        is_line_a_result=is_line_a_result,
    )


def pages(*views: list[Line]) -> list[Line]:
    """Join the lines of pages."""
    return [line for view in views for line in view]


def _names(column: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in column if name is not None))


def _codes(column: Sequence[str | None], names: tuple[str, ...]) -> NDArray[np.int32]:
    return np.array([NOT_SAID if name is None else names.index(name) for name in column], np.int32)


def _numbers(column: Sequence[int | None]) -> NDArray[np.int32]:
    return np.array([NOT_SAID if number is None else number for number in column], np.int32)
