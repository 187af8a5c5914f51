"""JSON Lines: one object a line, its values read as text."""

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence

from annotator.errors import Problems

UNSTORABLE_CHARACTER = re.compile("[\x00\ud800-\udfff]")


def json_objects(name: str, text: bytes, problems: Problems) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield number (from 1) and object of each line that is not blank."""
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
