"""JSON Lines: one object a line, its values read as text."""

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence

from annotator.errors import Problems

MOST_PARSED = 1 << 16  # bytes of a line, only to see whether it is JSON

LIST_BEGINNING = re.compile(rb"\[\s*(?:\{|$)")
# The first key of an object, perhaps of the first object of a list.
OBJECT_BEGINNING = re.compile(rb'\[?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:')
UNSTORABLE_CHARACTER = re.compile("[\x00\ud800-\udfff]")


def json_objects(name: str, text: bytes, problems: Problems) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield number (from 1) and object of each line that is not blank."""
    beginning = first_line_of(text)
    if LIST_BEGINNING.match(beginning):
        problems.add(name, None, "The file is one JSON list. Write each object on a line of its own, without the list.")
        return
    if beginning == b"{":
        problems.add(name, None, "The file is JSON over several lines. Write each object on one line of its own.")
        return
    for line, content in enumerate(io.BytesIO(text), start=1):
        if not content.strip():
            continue
        try:
            record = json.loads(content.rstrip())
        except json.JSONDecodeError as error:
            problems.add(name, line, "The line is not valid JSON: look at column %(column)d.", column=error.colno)
        except (ValueError, RecursionError):  # a number of thousands of digits, brackets nested thousands deep
            problems.add(name, line, "The line is JSON nested too deep, or with too long a number.")
        else:
            if isinstance(record, dict):
                yield line, record
            else:
                problems.add(name, line, "The line is not a JSON object; each line must be one: {…}.")


def first_line_of(text: bytes) -> bytes:
    """The first line that is not blank, without the blanks around it."""
    return next((line.strip() for line in io.BytesIO(text) if line.strip()), b"")


def is_json(first_line: bytes) -> bool:
    """Whether a file whose first line this is, is JSON: an object or list a line, or one over many lines."""
    if first_line in {b"{", b"[", b"[{"}:
        return True
    if not first_line.startswith((b"{", b"[")) or len(first_line) > MOST_PARSED:
        return OBJECT_BEGINNING.match(first_line) is not None
    try:
        return isinstance(json.loads(first_line), dict | list)
    except (ValueError, RecursionError):
        return OBJECT_BEGINNING.match(first_line) is not None


def text_of(name: str, line: int, record: Mapping[str, object], keys: Sequence[str], problems: Problems) -> str | None:
    """Return the first of these keys that has a value, None when none has or the value is no text (noted)."""
    for key in keys:
        value = record.get(key)
        if value is None:
            continue
        if not isinstance(value, str):
            problems.add(name, line, "The value of %(key)s is not text.", key=key)
            return None
        if unstorable := UNSTORABLE_CHARACTER.search(value):
            problems.add(
                name,
                line,
                "The value of %(key)s has the character U+%(code)s, which no text can hold.",
                key=key,
                code=f"{ord(unstorable[0]):04X}",
            )
            return None
        return value
    return None


def identifier_of(
    name: str, line: int, record: Mapping[str, object], keys: Sequence[str], problems: Problems
) -> str | None:
    """Do as `text_of`, but take a whole number for its digits, as many files write ids."""
    digits = {key: str(value) for key, value in record.items() if type(value) is int and key in keys}
    return text_of(name, line, {**record, **digits} if digits else record, keys, problems)
