"""Vectorised reading of the columns and times of a chunk of a log, for ordinary lines."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.log_rows import MOST_TEXT_BYTES
from annotator.evaluation.formats.file_kinds import DECIMAL_NUMBER
from annotator.evaluation.formats.table_lines import MAX_LINE_BYTES
from annotator.evaluation.formats.table_tokens import FRONT, NEWLINE, SPACE, Bytes, Offsets, UnusualError
from annotator.evaluation.runs.run_scores import scores_of

BACK = b"\n" * (MOST_TEXT_BYTES + 8)  # padding: a window of any width may begin at the last field
QUOTE_BYTES = b'"'
QUOTE = QUOTE_BYTES[0]
TAB = "\t"
BETWEEN = b"-31415.92653589793e-42"  # a number that no log has
BETWEEN_LINES = f",{BETWEEN.decode()},"
MAX_UTF8_BYTES = 4  # of a character
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")  # other than tab and newline, which separate fields and lines


@dataclass(frozen=True, eq=False)
class Column:
    """One column of the lines: `data[starts:ends]`, empty where they are equal."""

    data: Bytes
    starts: Offsets
    ends: Offsets

    @property
    def is_present(self) -> NDArray[np.bool_]:
        """Whether each line has a value."""
        said: NDArray[np.bool_] = self.ends > self.starts
        return said

    def of_rows(self, rows: NDArray[np.intp]) -> "Column":
        """Select lines."""
        return Column(self.data, self.starts[rows], self.ends[rows])


# By the column of the format; without columns that the log does not have.
Columns = Mapping[str, Column]


@dataclass(frozen=True)
class Heading:
    """{column of the format: index from 0} in a comma-separated log."""

    separator: str
    places: Mapping[str, int]
    width: int


def csv_columns(chunk: bytes, heading: Heading) -> Columns:
    """Find the fields of whole lines.

    Raises `UnusualError` for lines of another width, blank lines, blanks around fields, quotes within them, invalid
    UTF-8, and control characters.
    """
    chunk = _with_plain_ends(chunk)
    _check_characters(chunk, but=heading.separator)
    data = np.frombuffer(b"".join((FRONT, chunk, BACK)), np.uint8)
    text = data[len(FRONT) : len(FRONT) + len(chunk)]
    is_edge = (text == ord(heading.separator)) | (text == NEWLINE)
    has_quotes = QUOTE_BYTES in chunk
    if has_quotes:
        is_edge &= np.bitwise_xor.accumulate((text == QUOTE).view(np.uint8)) == 0
    edges = np.flatnonzero(is_edge)
    if edges.size % heading.width or edges.size // heading.width != chunk.count(b"\n"):
        raise UnusualError
    edges += len(FRONT)
    starts = np.empty_like(edges)
    starts[0] = len(FRONT)
    np.add(edges[:-1], 1, out=starts[1:])
    bounds = starts.reshape(-1, heading.width), edges.reshape(-1, heading.width)
    _check_lines(data, *bounds)
    if has_quotes:
        bounds = _without_quotes(data, *bounds, chunk.count(QUOTE_BYTES))
    columns = {field: Column(data, bounds[0][:, place], bounds[1][:, place]) for field, place in heading.places.items()}
    for column in columns.values():
        _check_blanks(column)
    return columns


def json_columns(chunk: bytes, keys: Mapping[str, str]) -> Columns:
    """Find the values of these keys; raises `UnusualError` unless each line is an object of texts and whole numbers."""
    chunk = _with_plain_ends(chunk)
    _check_characters(chunk, but=TAB)
    records = _json_records(chunk)
    return {field: _json_column([record.get(key) for record in records]) for field, key in keys.items()}


def _json_records(chunk: bytes) -> Sequence[Mapping[str, object]]:
    """Parse all lines by one call, separated by a number that occurs in none of them, so that lines cannot merge."""
    try:
        lines = chunk.decode().split("\n")[:-1]
        parsed = [] if BETWEEN in chunk else json.loads(f"[{BETWEEN_LINES.join(lines)}]")
    except (ValueError, RecursionError):
        raise UnusualError from None
    is_one_each = len(parsed) == 2 * len(lines) - 1 and parsed[1::2].count(float(BETWEEN)) == len(lines) - 1
    records: Sequence[Mapping[str, object]] = parsed[::2]
    if not is_one_each or set(map(type, records)) != {dict} or max(map(len, lines)) * MAX_UTF8_BYTES > MAX_LINE_BYTES:
        raise UnusualError
    return records


def _json_column(values: Sequence[object]) -> Column:
    texts = _texts(values)
    try:
        packed = "\n".join(texts).encode()
    except UnicodeEncodeError:
        raise UnusualError from None
    _check_characters(packed)
    data = np.frombuffer(b"".join((FRONT, packed, BACK)), np.uint8)
    ends = np.flatnonzero(data[len(FRONT) : len(FRONT) + len(packed) + 1] == NEWLINE) + len(FRONT)
    if ends.size != len(texts):
        raise UnusualError
    starts = np.concatenate(([len(FRONT)], ends[:-1] + 1))
    column = Column(data, starts, ends)
    _check_blanks(column)
    return column


def _texts(values: Sequence[object]) -> Sequence[str]:
    """Convert all values to texts, None to an empty one; nearly always they have one type."""
    kinds = set(map(type, values))
    if kinds == {str}:
        return values  # type: ignore[return-value]  # all of them are
    if kinds == {int}:
        return list(map(str, values))
    return ["" if value is None else value if type(value) is str else _number_text(value) for value in values]


def _number_text(value: object) -> str:
    """Write a number as JSON does; booleans as 1 or 0."""
    if type(value) is bool:
        return str(int(value))
    if type(value) in {int, float}:
        return repr(value)
    raise UnusualError


def _with_plain_ends(chunk: bytes) -> bytes:
    return chunk.replace(b"\r\n", b"\n") if b"\r" in chunk else chunk


def _check_characters(chunk: bytes, but: str = "") -> None:
    if CONTROL.search(chunk) or (but != TAB and TAB.encode() in chunk):
        raise UnusualError
    if not chunk.isascii():
        try:
            chunk.decode()
        except UnicodeDecodeError:
            raise UnusualError from None


def _check_lines(data: Bytes, starts: Offsets, ends: Offsets) -> None:
    is_end_of_line = data[ends] == NEWLINE
    if not is_end_of_line[:, -1].all() or is_end_of_line[:, :-1].any():
        raise UnusualError
    lengths = ends[:, -1] - starts[:, 0]
    if lengths.max() >= MAX_LINE_BYTES or (starts.shape[1] == 1 and lengths.min() == 0):
        raise UnusualError


def _without_quotes(data: Bytes, starts: Offsets, ends: Offsets, quotes: int) -> tuple[Offsets, Offsets]:
    is_quoted = data[starts] == QUOTE
    is_closed = (data[ends - 1] == QUOTE) & (ends - starts > 1)
    if np.any(is_quoted != (is_quoted & is_closed)) or quotes != 2 * np.count_nonzero(is_quoted):
        raise UnusualError
    return starts + is_quoted, ends - is_quoted


def _check_blanks(column: Column) -> None:
    """Raise `UnusualError` for a field with leading or trailing blanks, which are to be stripped."""
    said = column.is_present
    first, last = column.data[column.starts], column.data[column.ends - 1]
    if np.any(((first <= SPACE) | (last <= SPACE)) & said):
        raise UnusualError


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
    """A time in microseconds since 1970; without a zone it is taken as UTC."""

    microseconds: int
    has_zone: bool


def read_time(text: bytes) -> Moment | None:
    """Parse a time of the years 1970 to 2199; None if malformed. Seconds since 1970 have a zone, UTC."""
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
    """Parse one time a token, and return whether they have zones; tokens must not be empty, and there must be one.

    Raises `UnusualError` for a malformed time, for mixed zones, and for rare notations.
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
    """Parse times of equal length, in the notation of the first."""
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
    """Raise `UnusualError` when separators differ from those of the first time; + and - of a zone are equivalent."""
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
    """Parse at most nine digits."""
    digits = rows[:, start:end] - ZERO  # a byte below "0" wraps around to a large number
    if digits.max() > NINE:
        raise UnusualError
    number = np.zeros(len(rows), np.int64)
    for place in range(digits.shape[1]):
        number = number * 10 + digits[:, place]
    return number


def _days(year: Times, month: Times, day: Times) -> Times:
    """Count days since 1970; raises `UnusualError` for an invalid date."""
    if year.min() < FIRST_YEAR or year.max() > LAST_YEAR or month.min() < 1 or month.max() > 12:  # noqa: PLR2004
        raise UnusualError
    months = (year - FIRST_YEAR) * 12 + month - 1
    first, next_first = (_first_days(months), _first_days(months + 1))
    if day.min() < 1 or np.any(day > next_first - first):
        raise UnusualError
    return first + day - 1


def _first_days(months: Times) -> Times:
    """Return the days from 1970 to the first of each month, months counted from January 1970."""
    days: Times = months.view("<M8[M]").astype("M8[D]").astype(np.int64)
    return days
