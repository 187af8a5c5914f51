"""Which of the lists shown each click was on, for lists that were made of several runs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Codes, Event

MOST_KEY = int(np.iinfo(np.int64).max)

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ListClicks:
    """Clicks, one an entry of `rows` and `of_list`, and the lists with clicks, one an entry of `query` and `unit`.

    A list is what one session saw for one query, or without sessions one user. A result that was clicked again on its
    list has one click.
    """

    rows: NDArray[np.intp]  # which events of the log they are
    of_list: Places  # from 0
    query: Codes
    unit: Places  # the same for lists of one user, or without users of one session
    shown: int | None  # lists in all, with those without a click; None when the log has no impressions
    nobody: int  # clicks by no user and in no session, whose list cannot be told
    repeated: int  # clicks again on the same result


def list_clicks(log: ClickLog, *, variant_is_list: bool) -> ListClicks:
    """Tell lists apart by session and query, and where variants are the numbers of lists, by these as well."""
    who = _codes_or(log.session, log.user, log.sessions)
    is_click, is_known = log.event == Event.CLICK, who != NOT_SAID
    shown = _count_shown(log, who, variant_is_list=variant_is_list)
    clicks = np.flatnonzero(is_click & is_known)
    keys = _keys(log, who, clicks, variant_is_list=variant_is_list)
    lists, first, of_list = np.unique(keys, return_index=True, return_inverse=True)
    kept = _first_on_result(log, clicks, of_list)
    begins = clicks[first]
    return ListClicks(
        rows=clicks[kept],
        of_list=of_list[kept],
        query=log.query[begins],
        unit=_codes_or(log.user[begins], log.session[begins], log.users),
        shown=None if shown is None else max(shown, lists.size),
        nobody=int(np.count_nonzero(is_click & ~is_known)),
        repeated=int(clicks.size - kept.size),
    )


def _codes_or(codes: Codes, others: Codes, past: int) -> Places:
    """Take the other code where one is not said, past all that there are of the first kind."""
    taken = codes.astype(np.int64)
    is_other = (codes == NOT_SAID) & (others != NOT_SAID)
    taken[is_other] = others[is_other].astype(np.int64) + past
    return taken


def _keys(log: ClickLog, who: Places, events: NDArray[np.intp], *, variant_is_list: bool) -> Places:
    """Numbers that are equal for events of one list; every factor is one more than its codes, which begin at -1."""
    keys = who[events]
    keys *= len(log.queries) + 1
    keys += log.query[events] + 1
    if variant_is_list:
        lists = len(log.variants) + 1
        if int(keys.max(initial=0)) >= MOST_KEY // lists:
            # Numbered anew, which takes memory but keeps them within 64 bits.
            _, keys = np.unique(keys, return_inverse=True)
        keys *= lists
        keys += log.variant[events] + 1
    return keys


def _count_shown(log: ClickLog, who: Places, *, variant_is_list: bool) -> int | None:
    """How many lists have an impression or a click; None when nothing has an impression."""
    if not (log.event == Event.IMPRESSION).any():
        return None
    seen = np.flatnonzero((log.event <= Event.CLICK) & (who != NOT_SAID))
    keys = _keys(log, who, seen, variant_is_list=variant_is_list)
    keys.sort()  # in place, as a log may have many millions
    return int(np.count_nonzero(keys[1:] != keys[:-1])) + bool(keys.size)


def _first_on_result(log: ClickLog, clicks: NDArray[np.intp], of_list: Places) -> NDArray[np.intp]:
    """Which clicks are the first on their result: the same document, or where none is named the same position.

    A click that names neither is one of its own.
    """
    docno, position = log.docno[clicks].astype(np.int64), log.position[clicks].astype(np.int64)
    result = np.where(docno != NOT_SAID, docno * 2, position * 2 + 1)
    order = np.lexsort((result, of_list))  # stable: of equals the first stands first
    repeats = np.zeros(clicks.size, np.bool_)
    repeats[order[1:]] = (np.diff(of_list[order]) == 0) & (np.diff(result[order]) == 0)
    return np.flatnonzero(~repeats | ((docno == NOT_SAID) & (position == NOT_SAID)))
