"""Which users search again on a later visit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID
from annotator.clicks.evaluation.logs.page_views import PageViews

RETURN_DAYS = 7
MICROSECONDS_OF_DAY = 86_400_000_000
LONGEST_PAUSE = (
    1_800_000_000  # microseconds, half an hour: after a longer one a visit is another (Catledge, Pitkow 1995)
)


@dataclass(frozen=True, eq=False)
class Returns:
    """Users of a variant who were observed long enough, by the view with which each began."""

    first_view: NDArray[np.intp]
    came_back: NDArray[np.bool_]


def returns(views: PageViews, end: int, days: int) -> Returns:
    """Find who came back within so many days after the first view; `end` is when the log ends, in its microseconds.

    Another visit is another session, or where sessions are not known what follows half an hour without a page. Users
    who began less than so many days before the end are left out: what they did later is not known.
    """
    known = np.flatnonzero(views.user != NOT_SAID)
    order = known[np.lexsort((views.variant[known], views.user[known]))]  # stable: of each user by time
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
    """Whether a view is of another visit than the one before it, views of each user by time."""
    is_another = np.zeros(session.size, np.bool_)
    known = (session[1:] != NOT_SAID) & (session[:-1] != NOT_SAID)
    is_another[1:] = np.where(known, session[1:] != session[:-1], time[1:] - time[:-1] > LONGEST_PAUSE)
    return is_another
