"""Pages of results as they were shown, reconstructed from the events of a click log, and the clicks on each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Codes, Event

Events = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Marks:
    """Positions on pages, one an entry: its view, position and document; `NOT_SAID` where unknown."""

    view: NDArray[np.int32]
    position: Codes
    docno: Codes


def marks_of(log: ClickLog, view: NDArray[np.int32], events: Events) -> Marks:
    """Return the marks of events as logged; `view` has the view of each event of the log."""
    return Marks(view[events], log.position[events], log.docno[events])


def completed(clicked: Marks, shown: Marks) -> Marks:
    """Fill in the position of a document, or the document at a position, from the results shown by the same view."""
    position = _looked_up(clicked.position, (clicked.view, clicked.docno), (shown.view, shown.docno), shown.position)
    docno = _looked_up(clicked.docno, (clicked.view, position), (shown.view, shown.position), shown.docno)
    return Marks(clicked.view, position, docno)


def _looked_up(said: Codes, wanted: tuple[Codes, Codes], known: tuple[Codes, Codes], values: Codes) -> Codes:
    """Return the value of each entry, a missing one looked up by its key."""
    lacks = np.flatnonzero((said == NOT_SAID) & (wanted[1] != NOT_SAID))
    if not (lacks.size and known[0].size):
        return said
    is_sought = np.zeros(max(int(wanted[0].max()), int(known[0].max())) + 1, np.bool_)
    is_sought[wanted[0][lacks]] = True  # restrict to the wanted views, so that not all impressions are searched
    tells = np.flatnonzero(is_sought[known[0]] & (values != NOT_SAID) & (known[1] != NOT_SAID))
    if not tells.size:
        return said
    keys, first = np.unique(_joined(known, tells), return_index=True)
    sought = _joined(wanted, lacks)
    place = np.minimum(np.searchsorted(keys, sought), keys.size - 1)
    is_found = keys[place] == sought
    filled = said.copy()
    filled[lacks[is_found]] = values[tells[first[place[is_found]]]]
    return filled


def _joined(columns: tuple[Codes, Codes], entries: Events) -> NDArray[np.int64]:
    joined: NDArray[np.int64] = (columns[0][entries].astype(np.int64) << 32) + columns[1][entries]
    return joined


LONG_DWELL = 30.0  # seconds


def satisfied_clicks(log: ClickLog, view: NDArray[np.int32], clicks: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which clicks, given by their events, were satisfied; shape (clicks,).

    The dwell time was 30 seconds or more, or it was the last click of the session (Fox et al. 2005). `view`
    has the view of each event of the log, `NOT_SAID` for none; a dwell belongs to the click on
    the same document in the same view, or if either has no document at the same position.
    """
    satisfied: NDArray[np.bool_] = _is_last_of_session(log, clicks) | _has_long_dwell(log, view, clicks)
    return satisfied


def _is_last_of_session(log: ClickLog, clicks: NDArray[np.intp]) -> NDArray[np.bool_]:
    last = np.full(log.sessions + 1, NOT_SAID, np.intp)
    last[log.session[clicks]] = clicks  # NumPy keeps the last of several values at one index
    last[NOT_SAID] = NOT_SAID  # the index of events without session
    is_last: NDArray[np.bool_] = last[log.session[clicks]] == clicks
    return is_last


def _has_long_dwell(log: ClickLog, view: NDArray[np.int32], clicks: NDArray[np.intp]) -> NDArray[np.bool_]:
    is_long = (log.event == Event.DWELL) & (view != NOT_SAID)
    is_long[is_long] = log.value[is_long] >= LONG_DWELL
    dwells = np.flatnonzero(is_long)
    satisfied = np.zeros(clicks.size, np.bool_)
    if not dwells.size:
        return satisfied
    for codes in (log.docno, log.position):
        said = dwells[codes[dwells] != NOT_SAID]
        satisfied |= np.isin(_joined_codes(view, codes, clicks), _joined_codes(view, codes, said))
    says_nothing = dwells[(log.docno[dwells] == NOT_SAID) & (log.position[dwells] == NOT_SAID)]
    satisfied |= np.isin(view[clicks], view[says_nothing])
    return satisfied


def _joined_codes(view: NDArray[np.int32], codes: NDArray[np.int32], events: NDArray[np.intp]) -> NDArray[np.int64]:
    joined: NDArray[np.int64] = (view[events].astype(np.int64) << 32) + codes[events]
    return joined


Flags = NDArray[np.bool_]
Places = NDArray[np.intp]
Keys = NDArray[np.int64]
MICROSECONDS = 1e6  # of a second


class Outside(StrEnum):
    """Events outside any shown page, which no measure of pages counts."""

    CLICK = "click on no page shown"
    DWELL = "dwell on no page shown"


@dataclass(frozen=True, eq=False)
class PageViews:
    """Views in order of time, every array of shape (views,); codes as in the log.

    A view begins with an impression at a position that its page has already shown (of a document, in a log without
    positions), or with one that has neither, which is a whole page. If user, session or query are
    unknown, or each line is a result by itself, each impression is a view.
    """

    variant: Codes
    user: Codes
    session: Codes
    query: Codes
    page: Codes
    time: NDArray[np.int64]  # start time; empty when the log has no times
    results: NDArray[np.int64]  # results shown one by one; 0 for a page that is logged as a whole
    has_top: Flags  # whether the result at position 1 was shown
    clicks: NDArray[np.int64]
    top_clicks: NDArray[np.int64]  # clicks on the result at position 1
    first_click: Codes  # position of the first click; 0 without
    seconds_to_first: NDArray[np.float64]  # seconds to the first click; NaN without a click, and without times
    is_satisfied: Flags  # whether some click was satisfied
    shown: Marks
    clicked: Marks
    outside: Mapping[Outside, int]  # number of events; reasons without any are left out

    @property
    def is_first_page(self) -> Flags:
        """Whether each view is of a first page; a view without page number counts as one."""
        first: Flags = self.page <= 1
        return first


def page_views(log: ClickLog) -> PageViews:
    """Reconstruct the pages; an action belongs to the latest view of its page."""
    view, begins = _views(log)
    is_whole = (log.position == NOT_SAID) & (log.docno == NOT_SAID)
    clicks = np.flatnonzero((log.event == Event.CLICK) & (view != NOT_SAID))
    shown = np.flatnonzero(log.event == Event.IMPRESSION)
    count = begins.size
    shown_marks = marks_of(log, view, shown)
    clicked = completed(marks_of(log, view, clicks), shown_marks)
    first = _first(view[clicks], count)
    tops = shown[(log.position[shown] == 1) | is_whole[shown]]
    satisfied = clicks[satisfied_clicks(log, view, clicks)]
    return PageViews(
        variant=log.variant[begins],
        user=log.user[begins],
        session=log.session[begins],
        query=log.query[begins],
        page=log.page[begins],
        time=log.times[begins] if log.has_times else log.times,
        results=_count(view[shown[~is_whole[shown]]], count),
        has_top=_count(view[tops], count) > 0,
        clicks=_count(view[clicks], count),
        top_clicks=_count(view[clicks[clicked.position == 1]], count),
        first_click=np.append(clicked.position, np.int32(0))[first],  # the last entry is for views without click
        seconds_to_first=_seconds_to_first(log, begins, clicks, first),
        is_satisfied=_count(view[satisfied], count) > 0,
        shown=shown_marks,
        clicked=clicked,
        outside=_outside(log, view),
    )


def _views(log: ClickLog) -> tuple[Codes, Codes]:
    """Return the view of each event, `NOT_SAID` for none, and the event that begins each view."""
    order, is_new_page = _pages(log)
    place = np.cumsum(is_new_page, dtype=np.int32)  # by page, in the order of pages
    shown = np.flatnonzero(log.event[order] == Event.IMPRESSION).astype(np.int32)
    is_start = np.zeros(order.size, np.bool_)
    is_start[shown[_first_of_views(place[shown], log, order[shown])]] = True
    starts = np.flatnonzero(is_start)
    number = np.cumsum(is_start, dtype=np.int32) - np.int32(1)
    has_view = number >= 0
    has_view[has_view] = place[starts[number[has_view]]] == place[has_view]
    # Renumber the views by time; so far they are numbered by page.
    begins = order[starts]
    by_time = np.argsort(begins)
    rank = np.empty(begins.size, np.int32)
    rank[by_time] = np.arange(begins.size, dtype=np.int32)
    view = np.full(order.size, NOT_SAID, np.int32)
    view[order[has_view]] = rank[number[has_view]]
    return view, begins[by_time]


def _pages(log: ClickLog) -> tuple[Codes, Flags]:
    """Return events sorted by page and time, and where in that order another page begins."""
    if log.is_line_a_result:
        order = np.arange(log.event.size, dtype=np.int32)
        return order, log.event == Event.IMPRESSION
    who = np.where(log.session == NOT_SAID, log.user + np.int32(log.sessions + 1), log.session)
    keys = (_known_pages(log, who), log.variant, log.query, who)
    order = np.lexsort(keys).astype(np.int32)  # int32 halves the memory, which matters for ten million events
    return order, _is_another(order, keys)


def _known_pages(log: ClickLog, who: Codes) -> Codes:
    """Return the page of each event; an event without page number is on the page shown last."""
    is_unsaid = (log.page == NOT_SAID) & (log.event != Event.IMPRESSION)
    if not is_unsaid.any() or (log.page == NOT_SAID).all():
        return log.page
    keys = (log.variant, log.query, who)
    order = np.lexsort(keys).astype(np.int32)
    search = np.cumsum(_is_another(order, keys))
    place = np.arange(order.size)
    latest = np.maximum.accumulate(np.where(log.event[order] == Event.IMPRESSION, place, 0))
    fills = is_unsaid[order] & (search[latest] == search)
    page = log.page.copy()
    page[order[fills]] = log.page[order[latest[fills]]]
    return page


def _is_another(order: Places | Codes, keys: Iterable[Keys | Codes]) -> Flags:
    """Return where an event differs from the one before it in any key; True for the first one."""
    is_another = np.zeros(order.size, np.bool_)
    is_another[:1] = True
    for key in keys:
        ordered = key[order]
        is_another[1:] |= ordered[1:] != ordered[:-1]
    return is_another


def _results(log: ClickLog, shown: Codes) -> Keys | Codes:
    """Return what each impression showed: its position, or its document in a log without positions."""
    position = log.position[shown]
    if (position != NOT_SAID).all():
        return position
    return np.where(position == NOT_SAID, (1 << 32) + log.docno[shown].astype(np.int64), position)


def _is_alone(log: ClickLog, shown: Codes) -> Flags:
    """Whether an impression is a view by itself."""
    if log.is_line_a_result:
        return np.ones(shown.size, np.bool_)
    is_anonymous = (log.user[shown] == NOT_SAID) & (log.session[shown] == NOT_SAID) & (log.query[shown] == NOT_SAID)
    is_whole = (log.position[shown] == NOT_SAID) & (log.docno[shown] == NOT_SAID)
    alone: Flags = is_anonymous | is_whole
    return alone


def _first_of_views(place: Codes, log: ClickLog, shown: Codes) -> Places:
    """Return which impressions begin a view; impressions are sorted by page, numbered `place`, and time.

    The view that begins at s ends before the first impression whose result was last shown at s or after.
    """
    forced = _is_alone(log, shown)
    forced[:1] = True
    forced[1:] |= place[1:] != place[:-1]
    stretch = np.cumsum(forced, dtype=np.int32)
    latest = _last_shown(stretch, _results(log, shown))
    starts = [np.flatnonzero(forced)]
    latest[starts[0]] = starts[0] - 1
    latest = np.maximum.accumulate(latest)
    # All pages at once: the number of steps is the largest number of views of a page.
    while starts[-1].size:
        step = np.searchsorted(latest, starts[-1])
        is_inside = step < place.size
        is_inside[is_inside] = stretch[step[is_inside]] == stretch[starts[-1][is_inside]]
        starts.append(step[is_inside])
    return np.concatenate(starts)


def _last_shown(stretch: Codes, result: Keys | Codes) -> Codes:
    """Return the previous impression of the same result within a stretch; `NOT_SAID` if there is none."""
    order = np.lexsort((result, stretch)).astype(np.int32)
    is_again = ~_is_another(order, (stretch, result))
    before = np.full(stretch.size, NOT_SAID, np.int32)
    before[order[is_again]] = order[np.flatnonzero(is_again) - 1]
    return before


def _count(view: NDArray[np.int32], views: int) -> NDArray[np.int64]:
    return np.bincount(view, minlength=views)


def _first(view: NDArray[np.int32], views: int) -> Places:
    """Return the index of the first entry of each view; `NOT_SAID` for a view without entries."""
    first = np.full(views, NOT_SAID, np.intp)
    first[view[::-1]] = np.arange(view.size)[::-1]  # NumPy keeps the last of several values at one index
    return first


def _seconds_to_first(log: ClickLog, begins: Codes, clicks: Places, first: Places) -> NDArray[np.float64]:
    seconds = np.full(begins.size, np.nan)
    if log.has_times:
        has_click = first != NOT_SAID
        seconds[has_click] = (log.times[clicks[first[has_click]]] - log.times[begins[has_click]]) / MICROSECONDS
    return seconds


def _outside(log: ClickLog, view: NDArray[np.int32]) -> dict[Outside, int]:
    of_no_view = log.event[view == NOT_SAID]
    counts = {
        Outside.CLICK: int((of_no_view == Event.CLICK).sum()),
        Outside.DWELL: int((of_no_view == Event.DWELL).sum()),
    }
    return {reason: count for reason, count in counts.items() if count}
