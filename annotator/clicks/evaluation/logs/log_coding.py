"""What is known while a log is read: the codes given so far, whether there are times, where each session's clock is."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID
from annotator.clicks.evaluation.logs.log_codes import Names, Pairs, Texts
from annotator.clicks.evaluation.logs.log_rows import Rows

LONG_AGO = np.iinfo(np.int64).min


@dataclass
class Coding:
    """One for all files of a log."""

    users: Names = field(default_factory=Names)
    session_names: Names = field(default_factory=Names)  # those of different users may be called alike
    sessions: Pairs = field(default_factory=Pairs)
    queries: Texts = field(default_factory=Texts)
    variants: Texts = field(default_factory=Texts)
    docnos: Names = field(default_factory=Names)
    has_times: bool | None = None  # None until the first line, as also the next
    has_zones: bool | None = None


class Clocks:
    """The time of the last event of each session of a file."""

    def __init__(self) -> None:
        """Begin before all times."""
        self._last = np.full(1, LONG_AGO, np.int64)

    def set_back(self, rows: Rows) -> NDArray[np.int64]:
        """By how many microseconds each event is before the one above it of the same session; 0 where it is not."""
        back = np.zeros(rows.line.size, np.int64)
        if not rows.times.size or not (rows.session != NOT_SAID).any():
            return back
        places = np.flatnonzero(rows.session != NOT_SAID)
        places = places[np.argsort(rows.session[places], kind="stable")]
        session, times = rows.session[places], rows.times[places]
        self._make_room(int(session[-1]) + 1)
        is_first = np.append(True, session[1:] != session[:-1])
        before = np.where(is_first, self._last[session], np.append(0, times[:-1]))
        back[places] = np.where(times < before, before - times, 0)
        is_last = np.append(is_first[1:], True)
        self._last[session[is_last]] = times[is_last]
        return back

    def _make_room(self, sessions: int) -> None:
        if sessions > self._last.size:
            more = max(sessions, 2 * self._last.size) - self._last.size
            self._last = np.concatenate((self._last, np.full(more, LONG_AGO, np.int64)))
