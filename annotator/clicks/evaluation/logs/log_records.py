"""What each line of a log says, field by field; and what is wrong with lines that say nothing clearly."""

import csv
import json
from collections.abc import Iterator, Mapping

from annotator.clicks.evaluation.logs.log_tables import CONTROL, Heading
from annotator.errors import Problems
from annotator.evaluation.formats.table_lines import MAX_LINE_BYTES, counted_fields

BLANKS = " \t"  # around a field, to which they do not belong

# By what the format calls it; empty where the line does not say, and without what the log does not have.
Record = Mapping[str, str]


def csv_records(
    name: str, chunk: bytes, first_line: int, heading: Heading, problems: Problems
) -> Iterator[tuple[int, Record]]:
    """Yield number and fields of each comma-separated line that is not blank, and note what is wrong with others."""
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
    """Yield number and values of each line that is a JSON object, and note what is wrong with others."""
    for line, text in _lines(name, chunk, first_line, problems):
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            problems.add(name, line, "The line is not valid JSON: look at column %(column)d.", column=error.colno)
            continue
        except (ValueError, RecursionError):  # a number of thousands of digits, brackets nested thousands deep
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
    """Note that a line has not as many fields as the heading."""
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
    """A value as text, a truth as 1 or 0; None when it is neither text nor a number."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value)
    return value.strip(BLANKS) if isinstance(value, str) else None
