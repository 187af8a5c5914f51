"""Clicks and dwells of a log on what it nowhere says to have been shown."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, Dropped, Event
from annotator.clicks.evaluation.logs.log_duplicates import Columns, blocks_of

Flags = NDArray[np.bool_]
Keys = NDArray[np.int64]
Places = NDArray[np.intp]
CODE_BITS = 32
NEEDS_IMPRESSION: Mapping[Event, Dropped] = {
    Event.CLICK: Dropped.CLICK_WITHOUT_IMPRESSION,
    Event.DWELL: Dropped.DWELL_WITHOUT_IMPRESSION,
}


def never_shown(columns: Columns) -> Flags:
    """Tell which clicks and dwells are on a result that the log nowhere says to have been shown to that user.

    A result is told by its document, or by its position where either line names none; an impression with neither is of
    a whole page of results. It must be of the same user, session and query. In a log without impressions nothing can
    be told.
    """
    event = columns["event"]
    needs = np.flatnonzero((event == Event.CLICK) | (event == Event.DWELL))
    shown = np.flatnonzero(event == Event.IMPRESSION)
    is_unshown = np.zeros(event.size, np.bool_)
    if needs.size and shown.size:
        clicked = _Clicked(columns, needs)
        for block in blocks_of(shown.size):
            clicked.show(columns, shown[block])
        is_unshown[needs[~clicked.was_shown()]] = True
    return is_unshown


class _Sought:
    """Keys that are looked for, and whether they have been seen."""

    def __init__(self, keys: Keys) -> None:
        self._ordered = np.sort(keys)
        self._is_seen = np.zeros(keys.size, np.bool_)

    def places(self, keys: Keys) -> Places:
        """Where keys stand in order; anywhere for those that are not looked for."""
        return np.minimum(np.searchsorted(self._ordered, keys), self._ordered.size - 1)

    def are_looked_for(self, keys: Keys) -> Flags:
        found: Flags = self._ordered[self.places(keys)] == keys
        return found

    def see(self, keys: Keys) -> None:
        self._is_seen[self.places(keys[self.are_looked_for(keys)])] = True

    def were_seen(self, keys: Keys) -> Flags:
        seen: Flags = self._is_seen[self.places(keys)]
        return seen


class _Clicked:
    """What clicks and dwells are on, and whether it was shown."""

    def __init__(self, columns: Columns, needs: Places) -> None:
        self._context = _contexts(columns, needs)
        self._anything, self._pages = _Sought(self._context), _Sought(self._context)
        docno, position = columns["docno"][needs], columns["position"][needs]
        self._asks_document, self._asks_position = docno != NOT_SAID, position != NOT_SAID
        place = self._anything.places(self._context)
        self._document, self._position = _joined(place, docno), _joined(place, position)
        self._documents = _Sought(self._document)
        # At a position, any result; and those whose document is not said.
        self._positions, self._unnamed = _Sought(self._position), _Sought(self._position)

    def show(self, columns: Columns, shown: Places) -> None:
        """Note what is said to have been shown."""
        context = _contexts(columns, shown)
        is_near = self._anything.are_looked_for(context)
        context, shown = context[is_near], shown[is_near]
        docno, position = columns["docno"][shown], columns["position"][shown]
        names_document, has_position = docno != NOT_SAID, position != NOT_SAID
        place = self._anything.places(context)
        self._anything.see(context)
        self._pages.see(context[~names_document & ~has_position])
        self._documents.see(_joined(place, docno)[names_document])
        self._positions.see(_joined(place, position)[has_position])
        self._unnamed.see(_joined(place, position)[has_position & ~names_document])

    def was_shown(self) -> Flags:
        """Tell of each click or dwell whether what it is on was shown."""
        at_position = np.where(
            self._asks_document, self._unnamed.were_seen(self._position), self._positions.were_seen(self._position)
        )
        shown: Flags = self._pages.were_seen(self._context)
        shown |= self._asks_document & self._documents.were_seen(self._document)
        shown |= self._asks_position & at_position
        shown |= ~self._asks_document & ~self._asks_position & self._anything.were_seen(self._context)
        return shown


def _contexts(columns: Columns, rows: Places) -> Keys:
    """One number for user, session and query; a session is of one user."""
    session, user = columns["session"][rows].astype(np.int64), columns["user"][rows].astype(np.int64)
    who = np.where(session == NOT_SAID, 2 * user + 2, 2 * session + 3)
    return _joined(who, columns["query"][rows])


def _joined(first: Keys, code: NDArray[np.int32]) -> Keys:
    """One number for two, of which the second is a code."""
    return (first << CODE_BITS) | (code.astype(np.int64) + 1)
