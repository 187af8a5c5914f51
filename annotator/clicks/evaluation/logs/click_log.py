"""A click log in memory: impressions and user actions with their variant, one row an event."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

NOT_SAID = -1  # code of a missing value


class Event(IntEnum):
    """The kinds of events; a log names them in lower case."""

    IMPRESSION = 0  # impression of a result, or without document and position of a whole page
    CLICK = 1
    DWELL = 2  # `value` is the dwell time in seconds
    RATING = 3  # `value` is the rating, of a document or without one of the page
    CONVERSION = 4  # a purchase, or another goal


class Dropped(StrEnum):
    """The reason why a valid event is not counted."""

    DUPLICATE = "duplicate"
    CLICK_WITHOUT_IMPRESSION = "click without impression"
    DWELL_WITHOUT_IMPRESSION = "dwell without impression"
    BAD_LINE = "bad line"  # only if the mapping drops bad lines instead of refusing the file


Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ClickLog:
    """Events in order of time, ties in the order of the files; every array has shape (events,).

    Codes count from 0; `NOT_SAID` is a missing value. Users and sessions are codes only: their names are not
    stored. A session belongs to one user, even if files reuse its name. Without times the order is that
    of the files.
    """

    variants: tuple[str, ...]  # names by code; also the next two
    queries: tuple[str, ...]
    docnos: tuple[str, ...]
    users: int  # number of users; 0 when the log has none; also sessions
    sessions: int
    times: NDArray[np.int64]  # microseconds since 1970 in UTC; empty when the log has no times
    user: Codes
    session: Codes
    query: Codes
    variant: Codes
    page: Codes  # from 1; also positions
    position: Codes
    docno: Codes
    event: NDArray[np.int8]
    value: NDArray[np.float64]  # dwell time in seconds, or a rating; NaN otherwise
    dropped: Mapping[Dropped, int]  # number of events not counted; reasons without any are left out
    lines: int  # lines of data in all files
    # Each line was an impression with 0 or 1 click: the click is the event right after its impression,
    # regardless of other equal events.
    is_line_a_result: bool = False

    @property
    def has_times(self) -> bool:
        """Whether the log has times."""
        return self.times.size > 0
