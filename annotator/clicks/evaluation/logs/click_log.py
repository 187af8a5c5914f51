"""A click log in memory: who was shown what by which variant, and what they did, one row an event."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

NOT_SAID = -1  # the code where a line does not say


class Event(IntEnum):
    """What happened; a log names it in small letters."""

    IMPRESSION = 0  # a result was shown, or without document and position a page of them
    CLICK = 1
    DWELL = 2  # `value` has the seconds somebody stayed with the document
    RATING = 3  # `value` has it, of a document or without one of the page
    CONVERSION = 4  # somebody bought, or did what else they were to do


class Dropped(StrEnum):
    """Why an event that could be read does not count."""

    DUPLICATE = "duplicate"
    CLICK_WITHOUT_IMPRESSION = "click without impression"
    DWELL_WITHOUT_IMPRESSION = "dwell without impression"
    BAD_LINE = "bad line"  # only where bad lines are to be dropped, and not the file refused


Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ClickLog:
    """Events in order of time, those of one time in the order of the files; every array has shape (events,).

    Codes are from 0, and `NOT_SAID` where a line does not say. Users and sessions are only codes: what they were called
    is nowhere kept. A session has one user, whatever sessions are called in the files. Without times the order is that
    of the files.
    """

    variants: tuple[str, ...]  # by code, as are the next two
    queries: tuple[str, ...]
    docnos: tuple[str, ...]
    users: int  # how many; 0 when the log does not say, as of sessions
    sessions: int
    times: NDArray[np.int64]  # microseconds since the beginning of 1970 in UTC; empty when the log does not say
    user: Codes
    session: Codes
    query: Codes
    variant: Codes
    page: Codes  # from 1, as positions
    position: Codes
    docno: Codes
    event: NDArray[np.int8]
    value: NDArray[np.float64]  # seconds of a dwell, or a rating; NaN otherwise
    dropped: Mapping[Dropped, int]  # how many do not count; reasons without any are left out
    lines: int  # of data, in all files
    # Each line was a result that was shown, with 0 or 1 click: such a click is the event right after its impression,
    # whatever else the two have in common with others.
    is_line_a_result: bool = False

    @property
    def has_times(self) -> bool:
        """Tell whether the log says when things happened."""
        return self.times.size > 0
