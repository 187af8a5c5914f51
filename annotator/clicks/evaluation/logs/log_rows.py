"""The events of a stretch of a log as arrays, before all stretches are brought together."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import Codes, Event

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of `ClickLog`, and of each event the line it is on, counted from 1 in its file."""

    times: NDArray[np.int64]  # empty when the log does not say
    user: Codes
    session: Codes
    query: Codes
    variant: Codes
    page: Codes
    position: Codes
    docno: Codes
    event: NDArray[np.int8]
    value: NDArray[np.float64]
    line: NDArray[np.int64]

    def with_each(self, change: Callable[[Array], Array]) -> "Rows":
        """Change every column alike; without times there are none to change."""
        changed = {one.name: change(column) for one in fields(self) if (column := getattr(self, one.name)).size}
        return replace(self, **changed)

    def kept(self, which: NDArray[np.bool_]) -> "Rows":
        """Leave out the others."""
        return self.with_each(lambda column: column[which])


COLUMNS = tuple(one.name for one in fields(Rows) if one.name != "line")
NO_TIMES = np.empty(0, np.int64)
FIRST_ROOM = 1 << 16  # events


def with_clicks(rows: Rows, is_clicked: NDArray[np.bool_]) -> Rows:
    """Make lines that are each a result that was shown into impressions, with a click right after where there was."""
    doubled = rows.with_each(lambda column: np.repeat(column, 1 + is_clicked))
    event = np.full(doubled.line.size, Event.IMPRESSION, np.int8)
    event[np.flatnonzero(is_clicked) + np.cumsum(is_clicked)[is_clicked]] = Event.CLICK
    return replace(doubled, event=event)


class Collected:
    """All rows so far, column by column, each in one array with room behind: room costs no memory until it is used."""

    def __init__(self) -> None:
        """Begin with none."""
        self.count = 0
        self._columns: dict[str, Array] = {}

    def take(self, stretches: Iterable[Rows]) -> None:
        """Add rows; on what line they are is known by then, and needed no more."""
        for rows in stretches:
            end = self.count + rows.line.size
            for name in COLUMNS:
                column: Array = getattr(rows, name)
                if column.size:  # all but the times of a log that has none
                    self._with_room(name, column.dtype, end)[self.count : end] = column
            self.count = end

    def columns(self) -> dict[str, Array]:
        """Return the columns by name, and know nothing of them any more."""
        columns = {name: self._columns.pop(name, NO_TIMES)[: self.count] for name in COLUMNS}
        self.count = 0
        return columns

    def _with_room(self, name: str, dtype: np.dtype[Any], end: int) -> Array:
        column = self._columns.get(name)
        if column is None or column.size < end:
            grown = np.empty(max(FIRST_ROOM, 2 * end), dtype)
            if column is not None:
                grown[: self.count] = column[: self.count]
            self._columns[name] = column = grown
        return column
