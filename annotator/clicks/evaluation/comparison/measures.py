"""The measures of a click log: each a mean over entries such as page views, or the reason why it is undefined."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Codes, Event
from annotator.clicks.evaluation.logs.page_views import Flags, PageViews
from annotator.errors import Sentence
from annotator.evaluation.metrics.figures import SentenceEnum
from annotator.evaluation.metrics.setting import Values


class Undefined(SentenceEnum):
    """The reason why there is no value, no interval or no test."""

    NO_PAGES = Sentence(
        "Not available: each line of the log is a result by itself, so it does not say what a page was."
    )
    NO_POSITIONS = Sentence("Not available: the log does not say at which positions results were shown and clicked.")
    NO_TIMES = Sentence("Not available: the log does not say when things happened.")
    NO_USERS = Sentence("Not available: the log does not say which user an event is of.")
    NO_SESSIONS = Sentence("Not available: the log does not say which session an event is of.")
    NO_QUERIES = Sentence("Not available: the log does not say what was searched for.")
    NO_SATISFACTION = Sentence(
        "Not available: the log says neither how long people stayed with a document nor which session a click is of."
    )
    NO_CONVERSIONS = Sentence("Not available: the log has no conversion of a user.")
    NO_RATINGS = Sentence("Not available: the log has no rating.")
    LOG_TOO_SHORT = Sentence(
        "Not available: no user was first seen long enough before the end of the log to have had the days to come back."
    )
    NO_ENTRY = Sentence("Not available: the log has nothing to count for this.")
    NO_ENTRY_OF_ONE = Sentence("No difference: one of the two variants has nothing to count.")
    NO_CLICK = Sentence("Not tested: nobody clicked on anything in either variant.")
    ALWAYS_THE_SAME = Sentence("Not tested: it is the same wherever it is counted, in both variants.")
    NO_SPREAD = Sentence(
        "Not tested: in each variant all users have the same value, and from that no spread can be estimated."
    )
    ONE_USER = Sentence(
        "Not tested: a variant has one user only, and from that no spread can be estimated; it takes two."
    )
    MEAN_WITHOUT_USERS = Sentence(
        "Not tested: this is a mean and no share, and its spread is told by users, which the log does not name."
    )


RETURN_DAYS = 7
MICROSECONDS_OF_DAY = 86_400_000_000
LONGEST_PAUSE = 1_800_000_000  # microseconds: half an hour without a page ends a visit (Catledge, Pitkow 1995)


@dataclass(frozen=True, eq=False)
class Returns:
    """Users of a variant who were observed long enough, each with their first view."""

    first_view: NDArray[np.intp]
    came_back: NDArray[np.bool_]


def returns(views: PageViews, end: int, days: int) -> Returns:
    """Find the users who came back within `days` after their first view; `end` is the end of the log in microseconds.

    A new visit is a new session, or without sessions a view after half an hour without a page. Users whose first view
    is less than `days` before the end of the log are left out, as they were not observed long enough.
    """
    known = np.flatnonzero(views.user != NOT_SAID)
    order = known[np.lexsort((views.variant[known], views.user[known]))]  # stable: sort by user, then by time
    user, variant, time = views.user[order], views.variant[order], views.time[order]
    is_first = np.ones(order.size, np.bool_)
    is_first[1:] = (user[1:] != user[:-1]) | (variant[1:] != variant[:-1])
    first = np.flatnonzero(is_first)
    person = np.cumsum(is_first) - 1
    allowed = days * MICROSECONDS_OF_DAY
    is_back = _is_another_visit(views.session[order], time) & ~is_first & (time - time[first[person]] <= allowed)
    came_back = np.bincount(person[is_back], minlength=first.size) > 0
    is_observed = time[first] <= end - allowed
    return Returns(order[first[is_observed]], came_back[is_observed])


def _is_another_visit(session: NDArray[np.int32], time: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a view begins another visit than the view before it; views are sorted by user and time."""
    is_another = np.zeros(session.size, np.bool_)
    known = (session[1:] != NOT_SAID) & (session[:-1] != NOT_SAID)
    is_another[1:] = np.where(known, session[1:] != session[:-1], time[1:] - time[:-1] > LONGEST_PAUSE)
    return is_another


NO_DAY = -1


class ClickMeasure(StrEnum):
    """The measures, in the order of display."""

    TOP_CTR = "CTR@1"
    FIRST_PAGE_CTR = "first_page_CTR"
    ABANDONMENT = "abandonment"
    CLICKS_A_PAGE = "clicks_per_page"
    RECIPROCAL_RANK = "MRR_first_click"
    SATISFIED = "satisfied_pages"
    SECONDS_TO_CLICK = "seconds_to_first_click"
    REFORMULATION = "reformulation_rate"
    RETURN = "return_rate"
    BUYERS = "buyers_per_searcher"
    RATING = "mean_rating"


@dataclass(frozen=True, eq=False)
class Counted:
    """A measure entry by entry, arrays of shape (entries,); its value is the mean over entries.

    An entry is a page view, a search, a rating, or a user. Entries of one unit (a user) are not independent;
    in a log without users each entry is its own unit.
    """

    variant: Codes
    unit: NDArray[np.int64]
    day: NDArray[np.int64]  # days since 1970 in UTC; `NO_DAY` throughout when the log has no times
    value: Values
    is_share: bool  # whether each value is 0 or 1
    has_users: bool


@dataclass(frozen=True)
class Source:
    """The input of measures: the log, its pages, and the days within which a user is to come back."""

    log: ClickLog
    views: PageViews
    return_days: int = RETURN_DAYS


def count_entries(measure: ClickMeasure, source: Source) -> Counted | Undefined:
    """Compute a measure entry by entry, or return the reason why the log does not support it."""
    counted = COUNTERS[measure](source)
    if isinstance(counted, Counted) and not counted.value.size:
        return Undefined.NO_ENTRY
    return counted


def _top_ctr(source: Source) -> Counted | Undefined:
    """Pages with a click on the top result, of the first pages that showed one."""
    if not _says_positions(source):
        return Undefined.NO_POSITIONS
    views = source.views
    return _share(source, views.is_first_page & views.has_top, views.top_clicks > 0)


def _first_page_ctr(source: Source) -> Counted | Undefined:
    """First pages with a click."""
    return _share(source, source.views.is_first_page, source.views.clicks > 0)


def _abandonment(source: Source) -> Counted | Undefined:
    """First pages without a click."""
    return _share(source, source.views.is_first_page, source.views.clicks == 0)


def _clicks_a_page(source: Source) -> Counted | Undefined:
    """Clicks per page, over all pages; repeated clicks on a document count each time."""
    if source.log.is_line_a_result:
        return Undefined.NO_PAGES
    clicks = source.views.clicks.astype(np.float64)
    return _of_views(source, np.ones(clicks.size, np.bool_), clicks)


def _reciprocal_rank(source: Source) -> Counted | Undefined:
    """One over the position of the first click on a first page; 0 for a page without clicks."""
    if source.log.is_line_a_result:
        return Undefined.NO_PAGES
    if not _says_positions(source):
        return Undefined.NO_POSITIONS
    first = source.views.first_click
    inverse = np.divide(1, first, out=np.zeros(first.size), where=first > 0)
    return _of_views(source, source.views.is_first_page & (first != NOT_SAID), inverse)


def _satisfied(source: Source) -> Counted | Undefined:
    """Pages with a satisfied click."""
    if not source.log.sessions and not (source.log.event == Event.DWELL).any():
        return Undefined.NO_SATISFACTION
    return _share(source, np.ones(source.views.variant.size, np.bool_), source.views.is_satisfied)


def _seconds_to_click(source: Source) -> Counted | Undefined:
    """Seconds from the display of a page to its first click, for pages with one."""
    if source.log.is_line_a_result:
        return Undefined.NO_PAGES
    if not source.log.has_times:
        return Undefined.NO_TIMES
    seconds = source.views.seconds_to_first
    return _of_views(source, ~np.isnan(seconds), seconds)


def _reformulation(source: Source) -> Counted | Undefined:
    """Searches after which another query followed in the same session; further pages of a query are one search."""
    if not source.log.sessions:
        return Undefined.NO_SESSIONS
    if not source.log.queries:
        return Undefined.NO_QUERIES
    views = source.views
    said = np.flatnonzero((views.session != NOT_SAID) & (views.query != NOT_SAID))
    order = said[np.lexsort((views.session[said], views.variant[said]))]  # stable: sort by session, then by time
    goes_on = np.zeros(order.size, np.bool_)
    goes_on[:-1] = (views.session[order][1:] == views.session[order][:-1]) & (
        views.variant[order][1:] == views.variant[order][:-1]
    )
    is_same_query = np.zeros(order.size, np.bool_)
    is_same_query[:-1] = views.query[order][1:] == views.query[order][:-1]
    # The last page of a search represents it.
    is_end, is_followed = np.zeros((2, views.variant.size), np.bool_)
    is_end[order] = ~(goes_on & is_same_query)
    is_followed[order] = goes_on & ~is_same_query
    return _share(source, is_end, is_followed)


def _return(source: Source) -> Counted | Undefined:
    """Users who searched again in another visit within `days`, of those observed for that long."""
    if not source.log.users:
        return Undefined.NO_USERS
    if not source.log.has_times:
        return Undefined.NO_TIMES
    found = returns(source.views, int(source.log.times.max(initial=0)), source.return_days)
    if not found.first_view.size:
        return Undefined.LOG_TOO_SHORT
    came_back = np.zeros(source.views.variant.size, np.bool_)
    came_back[found.first_view] = found.came_back
    is_first = np.zeros(source.views.variant.size, np.bool_)
    is_first[found.first_view] = True
    return _share(source, is_first, came_back)


def _buyers(source: Source) -> Counted | Undefined:
    """Users with a conversion, of those who were shown a page."""
    log, views = source.log, source.views
    if not log.users:
        return Undefined.NO_USERS
    bought = (log.event == Event.CONVERSION) & (log.user != NOT_SAID)
    if not bought.any():
        return Undefined.NO_CONVERSIONS
    known = np.flatnonzero(views.user != NOT_SAID)
    searchers, first = np.unique(_user_of(views.variant, views.user, known), return_index=True)
    buyers = _user_of(log.variant, log.user, np.flatnonzero(bought))
    is_searcher, is_buyer = np.zeros((2, views.variant.size), np.bool_)
    is_searcher[known[first]] = True
    is_buyer[known[first]] = np.isin(searchers, buyers)
    return _share(source, is_searcher, is_buyer)


def _rating(source: Source) -> Counted | Undefined:
    """Ratings, of documents and pages alike."""
    log = source.log
    rated = np.flatnonzero(log.event == Event.RATING)
    if not rated.size:
        return Undefined.NO_RATINGS
    times = log.times[rated] if log.has_times else log.times
    rating = log.value[rated]
    return _counted(log, (log.variant[rated], log.user[rated], times), rating, is_share=False)


def _says_positions(source: Source) -> bool:
    return bool((source.views.clicked.position != NOT_SAID).any() or (source.views.shown.position != NOT_SAID).any())


def _user_of(variant: Codes, user: Codes, entries: NDArray[np.intp]) -> NDArray[np.int64]:
    users: NDArray[np.int64] = (variant[entries].astype(np.int64) << 32) + user[entries]
    return users


def _share(source: Source, is_entry: Flags, is_in: Flags) -> Counted:
    return _of_views(source, is_entry, is_in.astype(np.float64), is_share=True)


def _of_views(source: Source, is_entry: Flags, value: Values, *, is_share: bool = False) -> Counted:
    views, entries = source.views, np.flatnonzero(is_entry)
    times = views.time[entries] if views.time.size else views.time
    whose = (views.variant[entries], views.user[entries], times)
    return _counted(source.log, whose, value[entries], is_share=is_share)


def _counted(log: ClickLog, whose: tuple[Codes, Codes, NDArray[np.int64]], value: Values, *, is_share: bool) -> Counted:
    """Build entries with variant, user and time; without users, each entry is its own unit."""
    variant, user, times = whose
    unit = np.where(user == NOT_SAID, log.users + np.arange(user.size), user)
    day = times // MICROSECONDS_OF_DAY if times.size else np.full(user.size, NO_DAY)
    return Counted(variant, unit, day, value, is_share, log.users > 0)


COUNTERS: Mapping[ClickMeasure, Callable[[Source], Counted | Undefined]] = {
    ClickMeasure.TOP_CTR: _top_ctr,
    ClickMeasure.FIRST_PAGE_CTR: _first_page_ctr,
    ClickMeasure.ABANDONMENT: _abandonment,
    ClickMeasure.CLICKS_A_PAGE: _clicks_a_page,
    ClickMeasure.RECIPROCAL_RANK: _reciprocal_rank,
    ClickMeasure.SATISFIED: _satisfied,
    ClickMeasure.SECONDS_TO_CLICK: _seconds_to_click,
    ClickMeasure.REFORMULATION: _reformulation,
    ClickMeasure.RETURN: _return,
    ClickMeasure.BUYERS: _buyers,
    ClickMeasure.RATING: _rating,
}
