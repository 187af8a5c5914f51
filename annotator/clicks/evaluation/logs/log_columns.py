"""Reads many lines of a log at once: either exactly what `log_lines` reads, or nothing."""

from collections.abc import Mapping

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
from annotator.clicks.evaluation.logs.log_tables import Column, Columns
from annotator.clicks.evaluation.logs.log_times import times_of
from annotator.evaluation.formats.identifiers import SPLITTING_PAST_ASCII
from annotator.evaluation.formats.table_tokens import SPACE, WORD_BYTES, UnusualError, Words
from annotator.evaluation.runs.run_scores import HIGHEST_BITS, LOWEST_BITS, scores_of, whole_numbers_of

ZERO, ONE = b"01"
BLANKS = LOWEST_BITS * np.uint64(SPACE)
NAMED = (USER, SESSION, DOCNO, VARIANT)


def rows_of(columns: Columns, lines: NDArray[np.int64], coding: Coding, events: Mapping[str, Event]) -> Rows:
    """Read the columns of these lines; `coding` is changed only when all of them can be read.

    Raises `UnusualError` when anything is wrong or only rare. The variant is what the column says, if there is one.
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
    is_said = column is not None and bool(column.is_said[0])
    if is_said != (coding.has_times if coding.has_times is not None else is_said):
        raise UnusualError
    if column is None or not is_said:
        if column is not None and column.is_said.any():
            raise UnusualError
        return nothing, coding.has_zones
    if not column.is_said.all():
        raise UnusualError
    times, has_zones = times_of(*_parts(column))
    if coding.has_zones not in {None, has_zones}:
        raise UnusualError
    return times, has_zones


def _events(
    columns: Columns, count: int, events: Mapping[str, Event]
) -> tuple[NDArray[np.int8], NDArray[np.bool_] | None]:
    """Read which event each line is; or whether it was clicked, where lines are results that were shown."""
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
    """Read what dwells and ratings must have."""
    values = np.full(event.size, np.nan)
    rows = np.flatnonzero((event == Event.DWELL) | (event == Event.RATING))
    if rows.size:
        if column is None or not column.is_said[rows].all():
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
    numbers[~column.is_said] = NOT_SAID
    if np.any((numbers < 1) & column.is_said):
        raise UnusualError
    return numbers


def _check_docnos(words: Words) -> None:
    """Raise `UnusualError` for one that is not one word."""
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
