"""Assembles a log from its rows: sorted by time, without duplicates and clicks on results that were never shown."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Dropped, Event
from annotator.clicks.evaluation.logs.log_rows import Coding, Collected
from annotator.evaluation.formats.table_tokens import LAST_FACTOR, WORD_FACTOR, Hashes

Columns = Mapping[str, NDArray[Any]]
BLOCK = 1 << 20  # events processed at a time, which bounds memory
SHIFT = np.uint64(29)


def duplicates(columns: Columns) -> NDArray[np.bool_]:
    """Return which events equal an earlier one in all columns.

    Only events with a time and a user or session: otherwise two people may have done the same.
    """
    is_duplicate = np.zeros(columns["event"].size, np.bool_)
    says_who = (columns["user"] != NOT_SAID) | (columns["session"] != NOT_SAID)
    if not columns["times"].size or not says_who.any():
        return is_duplicate
    rows = _of_one_hash(_hashes(columns))
    later, earlier = rows[1:], rows[:-1]
    # Equal hashes are candidates, which are compared by column.
    is_same = says_who[later]
    for column in columns.values():
        bits = column.view(np.int64) if column.dtype == np.float64 else column  # NaN is not equal to NaN
        is_same &= bits[later] == bits[earlier]
    is_duplicate[later[is_same]] = True
    return is_duplicate


def blocks_of(count: int) -> Iterator[slice]:
    """Yield slices of `BLOCK` events."""
    return (slice(begin, begin + BLOCK) for begin in range(0, count, BLOCK))


def _of_one_hash(hashes: Hashes) -> NDArray[np.intp]:
    """Return the events whose hash another event has, sorted by hash, ties in the order of events."""
    ordered = np.sort(hashes)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    del ordered
    if not repeated.size:
        return np.empty(0, np.intp)
    is_repeated = np.zeros(hashes.size, np.bool_)
    for block in blocks_of(hashes.size):
        places = np.minimum(np.searchsorted(repeated, hashes[block]), repeated.size - 1)
        is_repeated[block] = repeated[places] == hashes[block]
    rows = np.flatnonzero(is_repeated)
    return rows[np.argsort(hashes[rows], kind="stable")]


def _hashes(columns: Columns) -> Hashes:
    hashes = np.zeros(columns["event"].size, np.uint64)
    for block in blocks_of(hashes.size):
        part = hashes[block]
        for column in columns.values():
            part *= WORD_FACTOR
            part += (
                column[block].view(np.uint64) if column.itemsize == part.itemsize else column[block].astype(np.uint64)
            )
            part ^= part >> SHIFT
            part *= LAST_FACTOR
    return hashes


Flags = NDArray[np.bool_]
Keys = NDArray[np.int64]
Places = NDArray[np.intp]
CODE_BITS = 32
NEEDS_IMPRESSION: Mapping[Event, Dropped] = {
    Event.CLICK: Dropped.CLICK_WITHOUT_IMPRESSION,
    Event.DWELL: Dropped.DWELL_WITHOUT_IMPRESSION,
}


def never_shown(columns: Columns) -> Flags:
    """Return which clicks and dwells are on a result without an impression for that user.

    A result is identified by its document, or by its position if either line has no document; an impression with
    neither is of a whole page. It must have the same user, session and query. A log without impressions
    has no such clicks.
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
    """Sorted keys to look up, and whether each was found."""

    def __init__(self, keys: Keys) -> None:
        self._ordered = np.sort(keys)
        self._is_seen = np.zeros(keys.size, np.bool_)

    def places(self, keys: Keys) -> Places:
        """Return the index of each key in the sorted keys; meaningless for absent keys."""
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
    """The keys of clicks and dwells by document and by position, marked when an impression matches."""

    def __init__(self, columns: Columns, needs: Places) -> None:
        self._context = _contexts(columns, needs)
        self._anything, self._pages = _Sought(self._context), _Sought(self._context)
        docno, position = columns["docno"][needs], columns["position"][needs]
        self._asks_document, self._asks_position = docno != NOT_SAID, position != NOT_SAID
        place = self._anything.places(self._context)
        self._document, self._position = _joined(place, docno), _joined(place, position)
        self._documents = _Sought(self._document)
        # By position: any result; and results without a document.
        self._positions, self._unnamed = _Sought(self._position), _Sought(self._position)

    def show(self, columns: Columns, shown: Places) -> None:
        """Mark the results of these impressions as shown."""
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
        """Return whether the result of each click or dwell was shown."""
        at_position = np.where(
            self._asks_document, self._unnamed.were_seen(self._position), self._positions.were_seen(self._position)
        )
        shown: Flags = self._pages.were_seen(self._context)
        shown |= self._asks_document & self._documents.were_seen(self._document)
        shown |= self._asks_position & at_position
        shown |= ~self._asks_document & ~self._asks_position & self._anything.were_seen(self._context)
        return shown


def _contexts(columns: Columns, rows: Places) -> Keys:
    """Combine user, session and query into one key; a session belongs to one user."""
    session, user = columns["session"][rows].astype(np.int64), columns["user"][rows].astype(np.int64)
    who = np.where(session == NOT_SAID, 2 * user + 2, 2 * session + 3)
    return _joined(who, columns["query"][rows])


def _joined(first: Keys, code: NDArray[np.int32]) -> Keys:
    """Combine a number and a code into one key."""
    return (first << CODE_BITS) | (code.astype(np.int64) + 1)


Array = NDArray[Any]
CODED = ("user", "session", "query", "variant", "docno")


def assembled(collected: Collected, coding: Coding, *, bad_lines: int, lines: int, is_line_a_result: bool) -> ClickLog:
    """Build the log from all rows; there must be at least one."""
    columns = collected.columns()
    _order(columns)
    dropped = {Dropped.BAD_LINE: bad_lines, **_drop(columns, is_line_a_result=is_line_a_result)}
    return ClickLog(
        variants=_named(columns, "variant", coding.variants.texts()),
        queries=_named(columns, "query", coding.queries.texts()),
        docnos=_named(columns, "docno", coding.docnos.texts()),
        users=_counted(columns, "user", coding.users.count),
        sessions=_counted(columns, "session", coding.sessions.count),
        times=columns["times"],
        user=columns["user"],
        session=columns["session"],
        query=columns["query"],
        variant=columns["variant"],
        page=columns["page"],
        position=columns["position"],
        docno=columns["docno"],
        event=columns["event"],
        value=columns["value"],
        dropped={reason: count for reason, count in dropped.items() if count},
        lines=lines,
        is_line_a_result=is_line_a_result,
    )


def _order(columns: dict[str, Array]) -> None:
    """Sort by time; already sorted logs, the most frequent case, are not copied."""
    times = columns["times"]
    if np.any(times[1:] < times[:-1]):
        order = np.argsort(times, kind="stable").astype(np.int32)
        for name in columns:
            columns[name] = columns[name][order]


def _drop(columns: dict[str, Array], *, is_line_a_result: bool) -> Mapping[Dropped, int]:
    """Drop events that are not counted, and return their number by reason."""
    is_duplicate = duplicates(columns)
    dropped = {Dropped.DUPLICATE: int(np.count_nonzero(is_duplicate))}
    _leave_out(columns, is_duplicate)
    if not is_line_a_result:
        is_unshown = never_shown(columns)
        for event, reason in NEEDS_IMPRESSION.items():
            dropped[reason] = int(np.count_nonzero(is_unshown & (columns["event"] == event)))
        _leave_out(columns, is_unshown)
    return dropped


def _leave_out(columns: dict[str, Array], which: NDArray[np.bool_]) -> None:
    if which.any():
        for name, column in columns.items():
            if column.size:
                columns[name] = column[~which]


def _counted(columns: dict[str, Array], field: str, count: int) -> int:
    return len(_used(columns, field, count))


def _named(columns: dict[str, Array], field: str, names: tuple[str, ...]) -> tuple[str, ...]:
    used = _used(columns, field, len(names))
    return names if len(used) == len(names) else tuple(names[code] for code in used.tolist())


def _used(columns: dict[str, Array], field: str, count: int) -> NDArray[np.intp]:
    """Return the codes that a column still has, renumbered from 0 if some were dropped."""
    codes = columns[field]
    is_used = np.zeros(count + 1, np.bool_)  # one more for `NOT_SAID`, the last index
    is_used[codes] = True
    used = np.flatnonzero(is_used[:-1])
    if used.size < count:
        places = np.full(count + 1, NOT_SAID, np.int32)
        places[used] = np.arange(used.size)
        columns[field] = places[codes]
    return used
