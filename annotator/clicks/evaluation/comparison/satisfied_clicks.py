"""Which clicks seem to have satisfied: those somebody stayed with, and the last of a session."""

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Event

LONG_DWELL = 30.0  # seconds


def satisfied_clicks(log: ClickLog, view: NDArray[np.int32], clicks: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Tell of each click, given by its event, whether it satisfied: shape (clicks,).

    Somebody stayed with the document for 30 seconds or more, or clicked on nothing else for the rest of the session
    (Fox et al. 2005). `view` has the view of each event of the log, `NOT_SAID` of none; a dwell is of the click on the
    same document, or where one of the two does not say at the same position, in the same view.
    """
    satisfied: NDArray[np.bool_] = _is_last_of_session(log, clicks) | _has_long_dwell(log, view, clicks)
    return satisfied


def _is_last_of_session(log: ClickLog, clicks: NDArray[np.intp]) -> NDArray[np.bool_]:
    last = np.full(log.sessions + 1, NOT_SAID, np.intp)
    last[log.session[clicks]] = clicks  # of several values for one place NumPy keeps the last
    last[NOT_SAID] = NOT_SAID  # where events go that are of no session
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
        satisfied |= np.isin(_joined(view, codes, clicks), _joined(view, codes, said))
    says_nothing = dwells[(log.docno[dwells] == NOT_SAID) & (log.position[dwells] == NOT_SAID)]
    satisfied |= np.isin(view[clicks], view[says_nothing])
    return satisfied


def _joined(view: NDArray[np.int32], codes: NDArray[np.int32], events: NDArray[np.intp]) -> NDArray[np.int64]:
    joined: NDArray[np.int64] = (view[events].astype(np.int64) << 32) + codes[events]
    return joined
