"""The rows of a log during reading: codes of users, documents and queries, clocks of sessions, events as arrays."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, Codes, Event
from annotator.evaluation.formats.identifiers import MAX_IDENTIFIER_BYTES
from annotator.evaluation.formats.table_tokens import WORD_BYTES, Bytes, Offsets, UnusualError, Words, hashes_of, masks
from annotator.evaluation.runs.docno_numbers import DocnoNumbers

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of `ClickLog`, and the line number of each event in its file, from 1."""

    times: NDArray[np.int64]  # empty when the log has no times
    user: Codes
    session: Codes
    query: Codes
    variant: Codes
    page: Codes
    position: Codes
    docno: Codes
    event: NDArray[np.int8]
    value: NDArray[np.float64]
    line: NDArray[np.int64]

    def with_each(self, change: Callable[[Array], Array]) -> "Rows":
        """Apply `change` to every column; without times the empty column stays."""
        changed = {one.name: change(column) for one in fields(self) if (column := getattr(self, one.name)).size}
        return replace(self, **changed)

    def kept(self, which: NDArray[np.bool_]) -> "Rows":
        """Select rows."""
        return self.with_each(lambda column: column[which])


COLUMNS = tuple(one.name for one in fields(Rows) if one.name != "line")
NO_TIMES = np.empty(0, np.int64)
FIRST_ROOM = 1 << 16  # events


def with_clicks(rows: Rows, is_clicked: NDArray[np.bool_]) -> Rows:
    """Turn lines that are impressions into events, with a click right after each clicked one."""
    doubled = rows.with_each(lambda column: np.repeat(column, 1 + is_clicked))
    event = np.full(doubled.line.size, Event.IMPRESSION, np.int8)
    event[np.flatnonzero(is_clicked) + np.cumsum(is_clicked)[is_clicked]] = Event.CLICK
    return replace(doubled, event=event)


class Collected:
    """All rows so far, by column, in arrays with spare capacity, which takes no memory until it is used."""

    def __init__(self) -> None:
        self.count = 0
        self._columns: dict[str, Array] = {}

    def take(self, stretches: Iterable[Rows]) -> None:
        """Append rows, without their line numbers, which are no longer needed."""
        for rows in stretches:
            end = self.count + rows.line.size
            for name in COLUMNS:
                column: Array = getattr(rows, name)
                if column.size:  # all but times in a log without times
                    self._with_room(name, column.dtype, end)[self.count : end] = column
            self.count = end

    def columns(self) -> dict[str, Array]:
        """Return the columns by name, and release them."""
        columns = {name: self._columns.pop(name, NO_TIMES)[: self.count] for name in COLUMNS}
        self.count = 0
        return columns

    def _with_room(self, name: str, dtype: np.dtype[Any], end: int) -> Array:
        column = self._columns.get(name)
        if column is None or column.size < end:
            grown = np.empty(max(FIRST_ROOM, 2 * end), dtype)
            if column is not None:
                grown[: self.count] = column[: self.count]
            self._columns[name] = column = grown
        return column


MOST_NAME_BYTES = MAX_IDENTIFIER_BYTES  # maximum bytes of a user, a session, a document, a variant
MOST_TEXT_BYTES = 1000  # maximum bytes of a query
SHIFT = np.uint64(32)


def words_up_to(most_bytes: int, data: Bytes, starts: Offsets, ends: Offsets) -> Words:
    """Gather tokens as `table_tokens.words_of` does, up to this length; the data need that much padding.

    Raises `UnusualError` for a longer one.
    """
    lengths = ends - starts
    longest = int(lengths.max(initial=1))
    if longest > most_bytes:
        raise UnusualError
    count = max(1, -(-longest // WORD_BYTES))
    windows = np.ndarray((data.size - count * WORD_BYTES + 1,), f"V{count * WORD_BYTES}", data, strides=(1,))
    words: Words = windows[starts].view("<u8").reshape(-1, count)
    words &= masks(count)[lengths]
    return words


class Names:
    """Assigns codes to many different short names, such as users or documents."""

    def __init__(self) -> None:
        self._numbers = DocnoNumbers()

    @property
    def count(self) -> int:
        """The number of codes."""
        return self._numbers.count

    def codes_of(self, words: Words) -> Codes:
        """Return the codes of names, shape (names, words); `NOT_SAID` for the empty name."""
        is_present = words[:, 0] != 0
        if is_present.all():
            return self._numbers.numbers_of(words)
        codes = np.full(len(words), NOT_SAID, np.int32)
        if is_present.any():
            codes[is_present] = self._numbers.numbers_of(words[is_present])
        return codes

    def texts(self) -> tuple[str, ...]:
        """Return the names in the order of their codes; they must not contain blanks."""
        return tuple(self._numbers.docnos_of(np.arange(self.count, dtype=np.int32)))


class Pairs:
    """Assigns codes to pairs of codes, such as a user and the name of a session."""

    def __init__(self) -> None:
        self._numbers = DocnoNumbers()

    @property
    def count(self) -> int:
        """The number of codes."""
        return self._numbers.count

    def codes_of(self, firsts: Codes, seconds: Codes) -> Codes:
        """Return the codes of pairs; `NOT_SAID` where the second is missing."""
        codes = np.full(firsts.size, NOT_SAID, np.int32)
        rows = np.flatnonzero(seconds != NOT_SAID)
        if rows.size:
            # One more than each code, as no word may be zero.
            high, low = ((half[rows].astype(np.int64) + 2).view(np.uint64) for half in (firsts, seconds))
            codes[rows] = self._numbers.numbers_of(((high << SHIFT) | low)[:, np.newaxis])
        return codes


class Texts:
    """Assigns codes to texts that repeat often, such as queries."""

    def __init__(self) -> None:
        self._codes: dict[bytes, int] = {b"": NOT_SAID}

    def codes_of(self, words: Words) -> Codes:
        """Return the codes of texts, shape (texts, words); `NOT_SAID` for the empty text.

        Raises `UnusualError` for a hash collision, which `code_of` resolves.
        """
        first, inverse = _distinct(words)
        texts = words[first].view(f"S{words.shape[1] * WORD_BYTES}").ravel().tolist()
        codes = [self._codes.setdefault(text, len(self._codes) - 1) for text in texts]
        return np.array(codes, np.int32)[inverse]

    def code_of(self, text: bytes) -> int:
        """Return the code of one text."""
        return self._codes.setdefault(text, len(self._codes) - 1)

    def texts(self) -> tuple[str, ...]:
        """Return the texts in the order of their codes."""
        return tuple(text.decode() for text in self._codes if text)


def _distinct(words: Words) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first index of each distinct text, and for each row the number of its text; hashes are verified."""
    hashes = hashes_of(words)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    if not np.array_equal(words[first[inverse]], words):
        raise UnusualError
    order = np.argsort(first)  # number texts by first occurrence, not by hash
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    return first[order], places[inverse]


LONG_AGO = np.iinfo(np.int64).min


@dataclass
class Coding:
    """The codes shared by all files of a log."""

    users: Names = field(default_factory=Names)
    session_names: Names = field(default_factory=Names)  # sessions of different users may share a name
    sessions: Pairs = field(default_factory=Pairs)
    queries: Texts = field(default_factory=Texts)
    variants: Texts = field(default_factory=Texts)
    docnos: Names = field(default_factory=Names)
    has_times: bool | None = None  # None until the first line; also the next
    has_zones: bool | None = None


class Clocks:
    """The time of the last event of each session of a file."""

    def __init__(self) -> None:
        self._last = np.full(1, LONG_AGO, np.int64)

    def set_back(self, rows: Rows) -> NDArray[np.int64]:
        """Return by how many microseconds each event precedes the one above it in its session; 0 if it does not."""
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
