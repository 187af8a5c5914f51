"""The two shapes of a log, comma-separated with a heading or JSON Lines, told apart by how the text begins."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from annotator.clicks.evaluation.logs.column_mapping import CLICK, EVENT, LogMapping
from annotator.clicks.evaluation.logs.log_records import Record, csv_records, json_records
from annotator.clicks.evaluation.logs.log_tables import Columns, Heading, csv_columns, json_columns
from annotator.errors import Problems

SEPARATORS = ",;\t"
MOST_SHOWN = 500


@dataclass(frozen=True)
class CsvSource:
    """Comma-separated; commas, semicolons or tabs, as the heading shows."""

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
    """An object a line."""

    name: str
    keys: Mapping[str, str]  # by what the format calls them
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
    """Tell the shape of a log by its first stretch, and return it with what of that stretch are lines of data.

    None when it is no log, which is noted.
    """
    if not chunk:
        return None  # which has been noted
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
    """What a heading has, as far as it can be said and stored: a file that is no log may have anything."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in columns[:MOST_SHOWN])
