"""Tables with a heading, separated by commas, semicolons or tabs, as spreadsheets write them."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from annotator.errors import Problems
from annotator.evaluation.formats.identifiers import UNSTORABLE
from annotator.evaluation.formats.table_lines import counted_fields

SEPARATORS = ",;\t"
LONGEST_HEADING = 1_000

# Our name of a column → the names that files give it; in a sequence the first of those that a heading has counts.
Columns = Mapping[str, AbstractSet[str] | Sequence[str]]


def is_table(text: bytes, columns: Columns, *, required: Sequence[str], separators: str = SEPARATORS) -> bool:
    """Whether the first line is a heading of two or more columns with all of these among them.

    `text` is what `unpack` returns.
    """
    first = text[:LONGEST_HEADING].partition(b"\n")[0].decode(errors="replace")
    separator = _separator(first, separators)
    if separator not in first:
        return False
    found = _places([field.strip().strip('"') for field in first.split(separator)], columns)
    return all(name in found for name in required)


def table_rows(name: str, text: bytes, columns: Columns, problems: Problems) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line and values, by our names, of each row below the heading; notes lines that cannot be read.

    Other columns are left out, missing values are empty, and rows without any value are skipped.
    """
    content = text.decode()
    lines = csv.reader(
        io.StringIO(content, newline=""), delimiter=_separator(content.partition("\n")[0], SEPARATORS), strict=True
    )
    try:
        heading = next(lines, [])
        places = _places(heading, columns)
        for fields in lines:
            if not any(field.strip() for field in fields):
                continue
            if len(fields) > len(heading) or UNSTORABLE.search("".join(fields)):
                problems.add(
                    name,
                    lines.line_num,
                    "The line has %(fields)s where the heading has %(columns)d, or a character that cannot be stored.",
                    fields=counted_fields(len(fields)),
                    columns=len(heading),
                )
                continue
            values = {ours: fields[at].strip() for ours, at in places.items() if at < len(fields)}
            yield lines.line_num, dict.fromkeys(columns, "") | values
    except csv.Error as error:
        problems.add(
            name, max(lines.line_num, 1), "The line is no comma-separated text: %(reason)s.", reason=str(error)
        )


def _separator(heading: str, separators: str) -> str:
    return max(separators, key=heading.count)


def _places(heading: Sequence[str], columns: Columns) -> dict[str, int]:
    """Our names of the columns, each with its place in the heading; the first name that fits counts."""
    names = [field.strip().casefold().replace("-", "_").replace(" ", "_") for field in heading]
    places: dict[str, int] = {}
    for ours, theirs in columns.items():
        fitting = [at for at, name in enumerate(names) if name in theirs and at not in places.values()]
        at = min(fitting, key=lambda at: theirs.index(names[at]) if isinstance(theirs, Sequence) else at, default=None)
        if at is not None:
            places[ours] = at
    return places
