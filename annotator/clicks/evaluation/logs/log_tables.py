"""The columns of a stretch of a comma-separated or JSON Lines log, many lines at once, where nothing is unusual."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.logs.log_rows import MOST_TEXT_BYTES
from annotator.evaluation.formats.table_lines import MAX_LINE_BYTES
from annotator.evaluation.formats.table_tokens import FRONT, NEWLINE, SPACE, Bytes, Offsets, UnusualError

BACK = b"\n" * (MOST_TEXT_BYTES + 8)  # a window of any width may begin at the last field
QUOTE_BYTES = b'"'
QUOTE = QUOTE_BYTES[0]
TAB = "\t"
BETWEEN = b"-31415.92653589793e-42"  # no number that a log would have
BETWEEN_LINES = f",{BETWEEN.decode()},"
MAX_UTF8_BYTES = 4  # of a character
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")  # but tab and newline, which part fields and lines


@dataclass(frozen=True, eq=False)
class Column:
    """What each line says of one thing: `data[starts:ends]`, nothing where they are equal."""

    data: Bytes
    starts: Offsets
    ends: Offsets

    @property
    def is_said(self) -> NDArray[np.bool_]:
        """Tell of each line whether it says anything."""
        said: NDArray[np.bool_] = self.ends > self.starts
        return said

    def of_rows(self, rows: NDArray[np.intp]) -> "Column":
        """The column restricted to some lines."""
        return Column(self.data, self.starts[rows], self.ends[rows])


# By what the format calls it; without what the log does not have.
Columns = Mapping[str, Column]


@dataclass(frozen=True)
class Heading:
    """The index of each field of a comma-separated log, from 0, by the format's name of it."""

    separator: str
    places: Mapping[str, int]
    width: int


def csv_columns(chunk: bytes, heading: Heading) -> Columns:
    """Find the fields of whole lines.

    Raises `UnusualError` for lines of other widths, blank lines, blanks around fields, quotes within them, what is no
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
    """Find the values of these keys; raises `UnusualError` for what is no object a line of texts and whole numbers."""
    chunk = _with_plain_ends(chunk)
    _check_characters(chunk, but=TAB)
    records = _json_records(chunk)
    return {field: _json_column([record.get(key) for record in records]) for field, key in keys.items()}


def _json_records(chunk: bytes) -> Sequence[Mapping[str, object]]:
    """Parse all lines by one call, between them a number that is nowhere in them: so none can be a part of another."""
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
    """Write all values as texts, nothing for none; nearly always they are all of one kind."""
    kinds = set(map(type, values))
    if kinds == {str}:
        return values  # type: ignore[return-value]  # all of them are
    if kinds == {int}:
        return list(map(str, values))
    return ["" if value is None else value if type(value) is str else _number_text(value) for value in values]


def _number_text(value: object) -> str:
    """Write a number as JSON does; a truth is 1 or 0."""
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
    """Raise `UnusualError` for a field with a blank before or behind, which does not belong to it."""
    said = column.is_said
    first, last = column.data[column.starts], column.data[column.ends - 1]
    if np.any(((first <= SPACE) | (last <= SPACE)) & said):
        raise UnusualError
