"""Where on which page something was shown or clicked; what a click does not say is looked up among what was shown."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Codes

Events = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Marks:
    """Places on pages, an entry each: of which view, at which position, which document; `NOT_SAID` where unknown."""

    view: NDArray[np.int32]
    position: Codes
    docno: Codes


def marks_of(log: ClickLog, view: NDArray[np.int32], events: Events) -> Marks:
    """Take the places of events as they are said; `view` has the view of each event of the log."""
    return Marks(view[events], log.position[events], log.docno[events])


def completed(clicked: Marks, shown: Marks) -> Marks:
    """Fill in the position of a document, or the document at a position, as the same view showed it."""
    position = _looked_up(clicked.position, (clicked.view, clicked.docno), (shown.view, shown.docno), shown.position)
    docno = _looked_up(clicked.docno, (clicked.view, position), (shown.view, shown.position), shown.docno)
    return Marks(clicked.view, position, docno)


def _looked_up(said: Codes, wanted: tuple[Codes, Codes], known: tuple[Codes, Codes], values: Codes) -> Codes:
    """What is said, and where it is not the value under the same key."""
    lacks = np.flatnonzero((said == NOT_SAID) & (wanted[1] != NOT_SAID))
    if not (lacks.size and known[0].size):
        return said
    is_sought = np.zeros(max(int(wanted[0].max()), int(known[0].max())) + 1, np.bool_)
    is_sought[wanted[0][lacks]] = True  # of the views, so that not all that was shown is gone through
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
