"""Reads a log line by line, which defines the format, or vectorised: the same result, or `UnusualError`."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, Codes, Event
from annotator.clicks.evaluation.logs.column_mapping import (
    CLICK,
    DOCNO,
    EVENT,
    PAGE,
    POSITION,
    QUERY,
    SESSION,
    TIME,
    USER,
    VALUE,
    VARIANT,
)
from annotator.clicks.evaluation.logs.log_rows import (
    MOST_NAME_BYTES,
    MOST_TEXT_BYTES,
    Coding,
    Names,
    Rows,
    Texts,
    with_clicks,
    words_up_to,
)
from annotator.clicks.evaluation.logs.log_sources import Record
from annotator.clicks.evaluation.logs.log_tables import Column, Columns, read_time, times_of
from annotator.errors import Problems
from annotator.evaluation.formats.file_kinds import DECIMAL_NUMBER
from annotator.evaluation.formats.identifiers import SPLITTING_PAST_ASCII, is_one_word
from annotator.evaluation.formats.table_tokens import SPACE, WORD_BYTES, UnusualError, Words, words_of_docnos
from annotator.evaluation.runs.run_format import WHOLE_NUMBER
from annotator.evaluation.runs.run_scores import HIGHEST_BITS, LOWEST_BITS, scores_of, whole_numbers_of

ZERO, ONE = b"01"
BLANKS = LOWEST_BITS * np.uint64(SPACE)
NAMED = (USER, SESSION, DOCNO, VARIANT)


def rows_of(columns: Columns, lines: NDArray[np.int64], coding: Coding, events: Mapping[str, Event]) -> Rows:
    """Read the columns of these lines; `coding` changes only if all of them are valid.

    Raises `UnusualError` when a line is wrong or merely unusual. The variant is that of the column, if there is one.
    """
    times, has_zones = _times(columns.get(TIME), coding)
    event, is_clicked = _events(columns, lines.size, events)
    value = _values(columns.get(VALUE), event)
    page, position = (_places(columns.get(field), lines.size) for field in (PAGE, POSITION))
    words = {field: words_up_to(MOST_NAME_BYTES, *_parts(columns[field])) for field in NAMED if field in columns}
    if QUERY in columns:
        words[QUERY] = words_up_to(MOST_TEXT_BYTES, *_parts(columns[QUERY]))
    if DOCNO in words:
        _check_docnos(words[DOCNO])
    coding.has_times, coding.has_zones = times.size > 0, has_zones
    user, session, query, variant, docno = _codes(words, lines.size, coding)
    rows = Rows(times, user, session, query, variant, page, position, docno, event, value, lines)
    return rows if is_clicked is None else with_clicks(rows, is_clicked)


def _parts(column: Column) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    return column.data, column.starts, column.ends


def _times(column: Column | None, coding: Coding) -> tuple[NDArray[np.int64], bool | None]:
    nothing = np.empty(0, np.int64)
    is_present = column is not None and bool(column.is_present[0])
    if is_present != (coding.has_times if coding.has_times is not None else is_present):
        raise UnusualError
    if column is None or not is_present:
        if column is not None and column.is_present.any():
            raise UnusualError
        return nothing, coding.has_zones
    if not column.is_present.all():
        raise UnusualError
    times, has_zones = times_of(*_parts(column))
    if coding.has_zones not in {None, has_zones}:
        raise UnusualError
    return times, has_zones


def _events(
    columns: Columns, count: int, events: Mapping[str, Event]
) -> tuple[NDArray[np.int8], NDArray[np.bool_] | None]:
    """Read the event of each line, or whether it was clicked if lines are impressions."""
    if CLICK in columns:
        column = columns[CLICK]
        clicks = column.data[column.starts]
        if np.any((column.ends - column.starts != 1) | ((clicks != ZERO) & (clicks != ONE))):
            raise UnusualError
        return np.full(count, Event.IMPRESSION, np.int8), clicks == ONE
    words = words_up_to(MOST_NAME_BYTES, *_parts(columns[EVENT]))
    event = np.full(count, NOT_SAID, np.int8)
    for name, one in events.items():
        event[_are(words, name.encode())] = one
    if np.any(event == NOT_SAID):
        raise UnusualError
    return event, None


def _are(words: Words, name: bytes) -> NDArray[np.bool_]:
    width = words.shape[1] * WORD_BYTES
    if len(name) > width:
        return np.zeros(len(words), np.bool_)
    expected = np.frombuffer(name.ljust(width, b"\0"), "<u8")
    equal: NDArray[np.bool_] = words[:, 0] == expected[0]
    for place in range(1, expected.size):
        equal &= words[:, place] == expected[place]
    return equal


def _values(column: Column | None, event: NDArray[np.int8]) -> NDArray[np.float64]:
    """Read the values that dwells and ratings must have."""
    values = np.full(event.size, np.nan)
    rows = np.flatnonzero((event == Event.DWELL) | (event == Event.RATING))
    if rows.size:
        if column is None or not column.is_present[rows].all():
            raise UnusualError
        values[rows] = scores_of(*_parts(column.of_rows(rows)))
        if np.any(values[event == Event.DWELL] < 0):
            raise UnusualError
    return values


def _places(column: Column | None, count: int) -> Codes:
    """Read whole numbers from 1."""
    if column is None:
        return np.full(count, NOT_SAID, np.int32)
    numbers = whole_numbers_of(*_parts(column))
    numbers[~column.is_present] = NOT_SAID
    if np.any((numbers < 1) & column.is_present):
        raise UnusualError
    return numbers


def _check_docnos(words: Words) -> None:
    """Raise `UnusualError` for a docno that is not one word."""
    differing = words ^ BLANKS
    has_blank = (differing - LOWEST_BITS) & ~differing & HIGHEST_BITS
    if has_blank.any():
        raise UnusualError
    past_ascii = words[((words & HIGHEST_BITS) != 0).any(axis=1)]
    if past_ascii.size and SPLITTING_PAST_ASCII.search(b"".join(past_ascii.tobytes().split(b"\0")).decode()):
        raise UnusualError


def _codes(words: Mapping[str, Words], count: int, coding: Coding) -> tuple[Codes, Codes, Codes, Codes, Codes]:
    coders: Mapping[str, Names | Texts] = {
        USER: coding.users,
        SESSION: coding.session_names,
        QUERY: coding.queries,
        VARIANT: coding.variants,
        DOCNO: coding.docnos,
    }
    user, session, query, variant, docno = (
        coder.codes_of(words[field]) if field in words else np.full(count, NOT_SAID, np.int32)
        for field, coder in coders.items()
    )
    return user, coding.sessions.codes_of(user, session), query, variant, docno


CLICKED: Mapping[str, bool] = {"1": True, "0": False, "true": True, "false": False}
MOST_BYTES: Mapping[str, int] = {
    USER: MOST_NAME_BYTES,
    SESSION: MOST_NAME_BYTES,
    VARIANT: MOST_NAME_BYTES,
    DOCNO: MOST_NAME_BYTES,
    QUERY: MOST_TEXT_BYTES,
}
SHOWN_CHARACTERS = 60
NO_TEXT = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass
class _Line:
    """The values of a valid line."""

    number: int
    record: Record
    microseconds: int = 0
    event: Event = Event.IMPRESSION
    is_clicked: bool = False
    value: float = math.nan
    places: dict[str, int] = field(default_factory=dict)


class LineReader:
    """Reads the records of a file; the coding is shared by all files of the log."""

    def __init__(self, name: str, coding: Coding, events: Mapping[str, Event], problems: Problems) -> None:
        self._name = name
        self._coding = coding
        self._events = events
        self._problems = problems

    def rows(self, records: Iterable[tuple[int, Record]]) -> Rows | None:
        """Return the valid lines, None without any, and note the problems of the others."""
        lines = [line for number, record in records if (line := self._line(number, record)) is not None]
        return _rows_of(lines, self._coding) if lines else None

    def _line(self, number: int, record: Record) -> _Line | None:
        before = self._problems.total
        line = _Line(number, record)
        odd = next((column for column, text in record.items() if NO_TEXT.search(text)), None)
        if odd is not None:
            self._note(line, "The %(column)s has a control character inside.", column=odd)
            return None
        self._check_texts(line)
        self._take_event(line)
        for column in (PAGE, POSITION):
            self._take_place(line, column)
        if line.event in {Event.DWELL, Event.RATING}:
            self._take_value(line)
        self._take_time(line, is_good=self._problems.total == before)
        return line if self._problems.total == before else None

    def _note(self, line: _Line, template: str, /, **values: object) -> None:
        self._problems.add(self._name, line.number, template, **values)

    def _check_texts(self, line: _Line) -> None:
        for column, most in MOST_BYTES.items():
            if len(line.record.get(column, "").encode()) > most:
                self._note(line, "The %(column)s is longer than %(limit)d bytes.", column=column, limit=most)
        docno = line.record.get(DOCNO, "")
        if not is_one_word(docno):
            self._note(
                line,
                "The document id %(docno)s has blanks or control characters inside; it must be one word.",
                docno=repr(docno),
            )

    def _take_event(self, line: _Line) -> None:
        if CLICK in line.record:
            clicked = CLICKED.get(line.record[CLICK].lower())
            if clicked is None:
                self._note(line, "The click is “%(click)s”; it must be 1 or 0.", click=_shown(line.record[CLICK]))
            line.is_clicked = bool(clicked)
            return
        name = line.record[EVENT]
        if name in self._events:
            line.event = self._events[name]
        elif name:
            self._note(
                line,
                "There is no event “%(event)s”; there are %(events)s.",
                event=_shown(name),
                events=", ".join(self._events),
            )
        else:
            self._note(line, "The line names no event.")

    def _take_place(self, line: _Line, column: str) -> None:
        text = line.record.get(column, "")
        line.places[column] = NOT_SAID
        if not text:
            return
        if not WHOLE_NUMBER.fullmatch(text.encode()):
            self._note(
                line,
                "The %(column)s %(text)s is no whole number of at most eight digits.",
                column=column,
                text=_shown(text),
            )
        elif int(text) == 0:
            self._note(line, "The %(column)s is 0; pages and positions count from 1.", column=column)
        else:
            line.places[column] = int(text)

    def _take_value(self, line: _Line) -> None:
        text = line.record.get(VALUE, "")
        event = line.event.name.lower()
        line.value = float(text) if DECIMAL_NUMBER.fullmatch(text.encode()) else math.nan
        if not text:
            self._note(line, "A %(event)s needs a value, and the line has none.", event=event)
        elif not math.isfinite(line.value):
            self._note(line, "The value %(value)s of a %(event)s is no number.", value=_shown(text), event=event)
        elif line.event is Event.DWELL and line.value < 0:
            self._note(line, "A dwell of %(value)s seconds is less than none.", value=_shown(text))

    def _take_time(self, line: _Line, *, is_good: bool) -> None:
        """Read the time; the first valid line decides whether times and zones are required."""
        text = line.record.get(TIME, "")
        coding = self._coding
        if bool(text) != (bool(text) if coding.has_times is None else coding.has_times):
            if text:
                self._note(line, "The line has a time, and those before have none; give all a time, or none.")
            else:
                self._note(line, "The line has no time, and those before have one; give all a time, or none.")
            return
        moment = read_time(text.encode()) if text else None
        if moment is not None and coding.has_zones not in {None, moment.has_zone}:
            if moment.has_zone:
                self._note(line, "The time has a zone, and those before have none; give all a zone, or none.")
            else:
                self._note(line, "The time has no zone, and those before have one; give all a zone, or none.")
        elif text and moment is None:
            self._note(
                line,
                "The time %(time)s is neither like 2026-05-01T12:30:00Z nor in seconds since 1970, or is not from 1970 "
                "to 2199.",
                time=_shown(text),
            )
        elif is_good:
            coding.has_times = bool(text)
            if moment is not None:
                coding.has_zones = moment.has_zone
                line.microseconds = moment.microseconds


def _rows_of(lines: list[_Line], coding: Coding) -> Rows:
    user, session = (
        _names(lines, column, names) for column, names in ((USER, coding.users), (SESSION, coding.session_names))
    )
    rows = Rows(
        np.array([line.microseconds for line in lines] if coding.has_times else [], np.int64),
        user,
        coding.sessions.codes_of(user, session),
        _texts(lines, QUERY, coding.queries),
        _texts(lines, VARIANT, coding.variants),
        np.array([line.places[PAGE] for line in lines], np.int32),
        np.array([line.places[POSITION] for line in lines], np.int32),
        _names(lines, DOCNO, coding.docnos),
        np.array([line.event for line in lines], np.int8),
        np.array([line.value for line in lines], np.float64),
        np.array([line.number for line in lines], np.int64),
    )
    if CLICK not in lines[0].record:
        return rows
    return with_clicks(rows, np.array([line.is_clicked for line in lines], np.bool_))


def _names(lines: list[_Line], column: str, names: Names) -> Codes:
    return names.codes_of(
        words_of_docnos(np.array([line.record.get(column, "").encode() for line in lines], np.bytes_))
    )


def _texts(lines: list[_Line], column: str, texts: Texts) -> Codes:
    return np.array([texts.code_of(line.record.get(column, "").encode()) for line in lines], np.int32)


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
