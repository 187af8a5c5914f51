"""Reads a log in chunks, decompressing gzip: comma-separated with a heading, or JSON Lines."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from annotator.clicks.evaluation.logs.column_mapping import CLICK, EVENT, LogMapping
from annotator.clicks.evaluation.logs.log_tables import CONTROL, Columns, Heading, csv_columns, json_columns
from annotator.errors import Problems
from annotator.evaluation.formats.table_lines import MAX_LINE_BYTES, counted_fields
from annotator.evaluation.formats.table_stream import beginning_of, whole_lines, within
from annotator.evaluation.formats.table_tokens import UnusualError
from annotator.evaluation.formats.unpacking import UTF8_MARK, note_no_text, noting_damage
from annotator.packing import packing_of, unpacked

BLANKS = " \t"  # blanks around a field, which are stripped

# {column of the format: value}; empty for a missing value, without columns that the log does not have.
Record = Mapping[str, str]


def csv_records(
    name: str, chunk: bytes, first_line: int, heading: Heading, problems: Problems
) -> Iterator[tuple[int, Record]]:
    """Yield number and fields of each comma-separated line that is not blank, and note the problems of other lines."""
    for line, text in _lines(name, chunk, first_line, problems):
        try:
            fields = next(csv.reader([text], delimiter=heading.separator, strict=True))
        except csv.Error as error:
            problems.add(name, line, "The line is no comma-separated text: %(reason)s.", reason=str(error))
            continue
        if len(fields) == heading.width:
            yield line, {field: fields[place].strip(BLANKS) for field, place in heading.places.items()}
        else:
            note_width(problems, name, line, len(fields), heading.width)


def json_records(
    name: str, chunk: bytes, first_line: int, keys: Mapping[str, str], problems: Problems
) -> Iterator[tuple[int, Record]]:
    """Yield number and values of each line that is a JSON object, and note the problems of other lines."""
    for line, text in _lines(name, chunk, first_line, problems):
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            problems.add(name, line, "The line is not valid JSON: look at column %(column)d.", column=error.colno)
            continue
        except (ValueError, RecursionError):  # numbers of thousands of digits, brackets nested thousands deep
            problems.add(name, line, "The line is JSON nested too deep, or with too long a number.")
            continue
        if not isinstance(record, dict):
            problems.add(name, line, "The line is not a JSON object; each line must be one: {…}.")
            continue
        values = {field: _value_text(record.get(key)) for field, key in keys.items()}
        odd = next((field for field, value in values.items() if value is None), None)
        if odd is None:
            yield line, {field: value for field, value in values.items() if value is not None}
        else:
            problems.add(name, line, "The value of %(key)s is neither text nor a number.", key=keys[odd])


def note_width(problems: Problems, name: str, line: int, fields: int, columns: int) -> None:
    """Note that the number of fields on a line differs from the heading."""
    problems.add(
        name,
        line,
        "The line has %(fields)s, and the heading %(columns)d. A field with a separator inside needs quotes.",
        fields=counted_fields(fields),
        columns=columns,
    )


def _lines(name: str, chunk: bytes, first_line: int, problems: Problems) -> Iterator[tuple[int, str]]:
    for line, content in enumerate(chunk.split(b"\n")[:-1], start=first_line):
        stripped = content.removesuffix(b"\r")
        if not stripped.strip():
            continue
        if len(content) >= MAX_LINE_BYTES:
            problems.add(name, line, "The line is longer than %(limit)d bytes.", limit=MAX_LINE_BYTES)
        elif control := CONTROL.search(stripped):
            problems.add(name, line, "Byte %(byte)d of the line is a control character.", byte=control.start() + 1)
        else:
            try:
                yield line, stripped.decode()
            except UnicodeDecodeError as error:
                problems.add(name, line, "Byte %(byte)d is not UTF-8. Save the file as UTF-8.", byte=error.start + 1)


def _value_text(value: object) -> str | None:
    """Return a value as text, booleans as 1 or 0; None when it is neither text nor a number."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value)
    return value.strip(BLANKS) if isinstance(value, str) else None


SEPARATORS = ",;\t"
MOST_SHOWN = 500


@dataclass(frozen=True)
class CsvSource:
    """A comma-separated log; commas, semicolons or tabs, as in the heading."""

    name: str
    heading: Heading
    first_line = 2

    def columns(self, chunk: bytes) -> Columns:
        """See `csv_columns`."""
        return csv_columns(chunk, self.heading)

    def records(self, chunk: bytes, line: int, problems: Problems) -> Iterator[tuple[int, Record]]:
        """See `csv_records`."""
        return csv_records(self.name, chunk, line, self.heading, problems)


@dataclass(frozen=True)
class JsonSource:
    """A log with one JSON object a line."""

    name: str
    keys: Mapping[str, str]  # {column of the format: key}
    first_line = 1

    def columns(self, chunk: bytes) -> Columns:
        """See `json_columns`."""
        return json_columns(chunk, self.keys)

    def records(self, chunk: bytes, line: int, problems: Problems) -> Iterator[tuple[int, Record]]:
        """See `json_records`."""
        return json_records(self.name, chunk, line, self.keys, problems)


def source_of(
    name: str, chunk: bytes, mapping: LogMapping, problems: Problems
) -> tuple[CsvSource | JsonSource, bytes] | None:
    """Detect the format of a log by its first chunk; return the source and the lines of data of that chunk.

    None, with a problem noted, when it is no log.
    """
    if not chunk:
        return None  # its problem has been noted
    beginning = chunk.lstrip()[:1]
    if beginning == b"{":
        return JsonSource(name, mapping.fields()), chunk
    if beginning == b"[":
        problems.add(name, None, "The file is one JSON list. Write each object on a line of its own, without the list.")
        return None
    first, _, rest = chunk.partition(b"\n")
    heading = _heading(name, first.decode(errors="replace").removesuffix("\r"), mapping, problems)
    return None if heading is None else (CsvSource(name, heading), rest)


def _heading(name: str, line: str, mapping: LogMapping, problems: Problems) -> Heading | None:
    separator = max(SEPARATORS, key=line.count)
    try:
        fields = next(csv.reader(io.StringIO(line), delimiter=separator, strict=True), [])
    except csv.Error as error:
        problems.add(name, 1, "The line is no comma-separated text: %(reason)s.", reason=str(error))
        return None
    names = [field.strip().casefold() for field in fields]
    wanted = {field: column for field, column in mapping.fields().items() if column.casefold() in names}
    before = problems.total
    for field, column in mapping.fields().items():
        if field in wanted and names.count(column.casefold()) > 1:
            problems.add(name, 1, "The heading has the column “%(column)s” twice.", column=column)
        elif field not in wanted and (field in {EVENT, CLICK} or field in mapping.columns):
            problems.add(
                name,
                1,
                "The heading has no column “%(column)s”, which is to be read as %(field)s. It has: %(columns)s.",
                column=column,
                field=field,
                columns=_shown(", ".join(fields)),
            )
    if problems.total > before:
        return None
    return Heading(separator, {field: names.index(column.casefold()) for field, column in wanted.items()}, len(names))


def _shown(columns: str) -> str:
    """Shorten a heading to be shown and stored: a file that is no log may contain anything."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in columns[:MOST_SHOWN])


CHUNK_BYTES = 1 << 20

# The displayed name, and where the bytes are.
Source = Path | bytes | BinaryIO
LogFile = tuple[str, Source]
Advance = Callable[[int], None]


def size_of(file: LogFile) -> int:
    """The number of bytes to read; 0 for a file that is not plain or does not exist."""
    _, source = file
    if isinstance(source, bytes):
        return len(source)
    return source.stat().st_size if isinstance(source, Path) and source.is_file() else 0


def chunks_of_log(
    file: LogFile, problems: Problems, advance: Advance, unpacked_limit: int | None = None
) -> Iterator[bytes]:
    """Yield the text in chunks that end with a line, a missing last line end added, without byte order mark.

    `advance` is called with the numbers of bytes read. Problems of the file as a whole are noted and end the
    iteration.
    """
    name, source = file
    with noting_damage(problems, name, unpacked_limit or 0):
        pieces = _pieces(source, advance)
        first = beginning_of(pieces)
        pieces = chain((first,), pieces)
        if packing := packing_of(first):
            pieces = unpacked(pieces, packing, CHUNK_BYTES)
        if unpacked_limit is not None:
            pieces = within(pieces, unpacked_limit)
        first = beginning_of(pieces).removeprefix(UTF8_MARK)
        if not first:
            problems.add(name, None, "The file is empty.")
        elif not note_no_text(problems, name, first):
            yield from _noting_long_line(name, chain((first,), pieces), problems)


def _pieces(source: Source, advance: Advance) -> Iterator[bytes]:
    if isinstance(source, Path):
        with source.open("rb") as file:
            yield from _pieces(file, advance)
        return
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    while piece := stream.read(CHUNK_BYTES):
        advance(len(piece))
        yield piece


def _noting_long_line(name: str, pieces: Iterable[bytes], problems: Problems) -> Iterator[bytes]:
    lines = 0
    try:
        for text in whole_lines(pieces):
            lines += text.count(b"\n")
            yield text if text.endswith(b"\n") else text + b"\n"
    except UnusualError:
        problems.add(name, lines + 1, "The line is longer than %(limit)d bytes.", limit=MAX_LINE_BYTES)
