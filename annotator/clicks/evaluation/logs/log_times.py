"""When something happened: ISO 8601 or seconds since 1970, one by one or many at once, to the same microsecond."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.file_kinds import DECIMAL_NUMBER
from annotator.evaluation.formats.table_tokens import Bytes, Offsets, UnusualError
from annotator.evaluation.runs.run_scores import scores_of

ISO_TIME = re.compile(
    rb"(\d{4})-(\d\d)-(\d\d)([T ])(\d\d):(\d\d)(?::(\d\d)(?:([.,])(\d{1,9}))?)?(?:(Z)|([+-])(\d\d)(?::?(\d\d))?)?"
)
YEAR, MONTH, DAY, _BLANK, HOUR, MINUTE, SECOND, _MARK, FRACTION, ZULU, SIGN, ZONE_HOURS, ZONE_MINUTES = range(1, 14)
MICROSECONDS = 1_000_000
MINUTE_SECONDS, HOUR_SECONDS, DAY_SECONDS = 60, 3_600, 86_400
FIRST_YEAR, LAST_YEAR = 1970, 2199
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
END = int(datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC).timestamp())
FRACTION_DIGITS = 6
YEAR_BYTES = 4
ZERO, PLUS, MINUS = b"0+-"
NINE = 9

Times = NDArray[np.int64]


@dataclass(frozen=True)
class Moment:
    """A time in microseconds since 1970; without a zone it is taken for one in UTC."""

    microseconds: int
    has_zone: bool


def read_time(text: bytes) -> Moment | None:
    """Read a time of the years 1970 to 2199; None when it is none. Seconds since 1970 have a zone, which is UTC."""
    found = ISO_TIME.fullmatch(text)
    if found is not None:
        return _iso_moment(found)
    seconds = float(text) if DECIMAL_NUMBER.fullmatch(text) else -1.0
    return Moment(round(seconds * MICROSECONDS), has_zone=True) if 0 <= seconds < END else None


def _iso_moment(found: re.Match[bytes]) -> Moment | None:
    year, month, day, hour, minute, second, zone_hours, zone_minutes = (
        int(found[group] or 0) for group in (YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, ZONE_HOURS, ZONE_MINUTES)
    )
    has_zone = found[ZULU] is not None or found[SIGN] is not None
    if not FIRST_YEAR <= year <= LAST_YEAR or zone_minutes >= MINUTE_SECONDS:
        return None
    offset = timedelta(hours=zone_hours, minutes=zone_minutes) * (-1 if found[SIGN] == b"-" else 1)
    microseconds = int((found[FRACTION] or b"").ljust(FRACTION_DIGITS, b"0")[:FRACTION_DIGITS])
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=timezone(offset))
    except ValueError:
        return None
    return Moment((moment - EPOCH) // timedelta(seconds=1) * MICROSECONDS + microseconds, has_zone)


def times_of(data: Bytes, starts: Offsets, ends: Offsets) -> tuple[Times, bool]:
    """Read one time a token, and tell whether they have zones; there must be a token, and none may be empty.

    Raises `UnusualError` when one is none, when some have zones and others not, and for rare ways to write one.
    """
    is_iso = data[starts + YEAR_BYTES] == MINUS
    if not is_iso.any():
        seconds = scores_of(data, starts, ends)
        if not np.all((seconds >= 0) & (seconds < END)):
            raise UnusualError
        return np.rint(seconds * MICROSECONDS).astype(np.int64), True
    times = np.empty(starts.size, np.int64)
    lengths = ends - starts
    zoned = set()
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        rows = np.flatnonzero(lengths == length)
        times[rows], has_zone = _iso_times(_bytes_of(data, starts[rows], length))
        zoned.add(has_zone)
    if len(zoned) > 1:
        raise UnusualError
    return times, zoned.pop()


def _bytes_of(data: Bytes, starts: Offsets, length: int) -> Bytes:
    windows = np.ndarray((data.size - length + 1,), f"V{length}", data, strides=(1,))
    gathered: Bytes = windows[starts].view(np.uint8).reshape(-1, length)
    return gathered


def _iso_times(rows: Bytes) -> tuple[Times, bool]:
    """Read times of one length, written in the way of the first."""
    layout = ISO_TIME.fullmatch(rows[0].tobytes())
    if layout is None:
        raise UnusualError
    _check_signs(rows, layout)
    parts = {group: _number(rows, *layout.span(group)) for group in _number_groups(layout)}
    nothing = np.zeros(len(rows), np.int64)
    hour, minute, second = (parts.get(group, nothing) for group in (HOUR, MINUTE, SECOND))
    zone_hours, zone_minutes = (parts.get(group, nothing) for group in (ZONE_HOURS, ZONE_MINUTES))
    if max(hour.max(), zone_hours.max()) > 23 or max(minute.max(), second.max(), zone_minutes.max()) > 59:  # noqa: PLR2004
        raise UnusualError
    offset = zone_hours * HOUR_SECONDS + zone_minutes * MINUTE_SECONDS
    if layout[SIGN] is not None:
        offset = np.where(rows[:, layout.start(SIGN)] == MINUS, -offset, offset)
    days = _days(parts[YEAR], parts[MONTH], parts[DAY])
    if layout[FRACTION] is not None:
        parts[FRACTION] = parts[FRACTION] * MICROSECONDS // 10 ** len(layout[FRACTION])
    seconds = days * DAY_SECONDS + hour * HOUR_SECONDS + minute * MINUTE_SECONDS + second - offset
    has_zone = layout[ZULU] is not None or layout[SIGN] is not None
    return seconds * MICROSECONDS + parts.get(FRACTION, nothing), has_zone


def _number_groups(layout: re.Match[bytes]) -> Iterator[int]:
    groups = (YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, FRACTION, ZONE_HOURS, ZONE_MINUTES)
    return (group for group in groups if layout[group] is not None)


def _check_signs(rows: Bytes, layout: re.Match[bytes]) -> None:
    """Raise `UnusualError` when the signs between the numbers are not the first one's; of a zone + and - are alike."""
    for place, byte in enumerate(layout[0]):
        if chr(byte).isdigit():
            continue
        column = rows[:, place]
        is_same = column == byte
        if layout[SIGN] is not None and place == layout.start(SIGN):
            is_same |= (column == PLUS) | (column == MINUS)
        if not is_same.all():
            raise UnusualError


def _number(rows: Bytes, start: int, end: int) -> Times:
    """Read digits, at most nine."""
    digits = rows[:, start:end] - ZERO  # a byte below "0" wraps round to a large number
    if digits.max() > NINE:
        raise UnusualError
    number = np.zeros(len(rows), np.int64)
    for place in range(digits.shape[1]):
        number = number * 10 + digits[:, place]
    return number


def _days(year: Times, month: Times, day: Times) -> Times:
    """Count days since 1970; raises `UnusualError` for a day that is in no calendar."""
    if year.min() < FIRST_YEAR or year.max() > LAST_YEAR or month.min() < 1 or month.max() > 12:  # noqa: PLR2004
        raise UnusualError
    months = (year - FIRST_YEAR) * 12 + month - 1
    first, next_first = (_first_days(months), _first_days(months + 1))
    if day.min() < 1 or np.any(day > next_first - first):
        raise UnusualError
    return first + day - 1


def _first_days(months: Times) -> Times:
    """Days from the beginning of 1970 to that of months counted from there."""
    days: Times = months.view("<M8[M]").astype("M8[D]").astype(np.int64)
    return days
