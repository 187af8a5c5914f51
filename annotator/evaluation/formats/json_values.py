"""JSON files read value by value, each with its line, so that only one record at a time is in memory."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from annotator.errors import Problems

BLANKS = re.compile(r"[ \t\r\n]*")
DECODER = json.JSONDecoder()
UNTERMINATED = "Unterminated string"  # as json says of a string that the text ends in


class BrokenJsonError(Exception):
    """The text is no JSON from this offset on."""

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at, self.reason = at, reason


class JsonCursor:
    """A place in the text of a JSON file; what is read there moves it. Raises `BrokenJsonError`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._counted, self._line = 0, 1
        self.skip_blanks()

    @property
    def line(self) -> int:
        """The line of the place, from 1."""
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    @property
    def next(self) -> str:
        """The character at the place; empty at the end."""
        return self.text[self.at : self.at + 1]

    def skip_blanks(self) -> None:
        """Move to the next character that is not blank."""
        found = BLANKS.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def value(self) -> object:
        """Read a value."""
        try:
            value, self.at = DECODER.raw_decode(self.text, self.at)
        except json.JSONDecodeError as error:
            raise BrokenJsonError(error.pos, error.msg) from None
        except (ValueError, RecursionError):  # numbers of thousands of digits, brackets nested thousands deep
            raise BrokenJsonError(self.at, "nested too deep, or too long a number") from None
        self.skip_blanks()
        return value

    def items(self) -> Iterator[None]:
        """Stop at each value of the list that begins here; the caller reads it."""
        self._take("[")
        while self.next != "]":
            yield
            if self.next != "]":
                self._take(",")
        self._take("]")

    def members(self) -> Iterator[str]:
        """Yield each key of the object that begins here and stop at its value; the caller reads it."""
        self._take("{")
        while self.next != "}":
            key = self.value()
            if not isinstance(key, str):
                raise BrokenJsonError(self.at, "Expecting property name enclosed in double quotes")
            self._take(":")
            yield key
            if self.next != "}":
                self._take(",")
        self._take("}")

    def end(self) -> None:
        """Raise when anything follows."""
        if self.next:
            raise BrokenJsonError(self.at, "Extra data")

    def _take(self, delimiter: str) -> None:
        if self.next != delimiter:
            raise BrokenJsonError(self.at, f"Expecting '{delimiter}' delimiter")
        self.at += 1
        self.skip_blanks()


@contextmanager
def noting_broken_json(name: str, text: str, problems: Problems) -> Iterator[None]:
    """Note where the JSON is broken, and continue after the block."""
    try:
        yield
    except BrokenJsonError as error:
        end = len(text.rstrip())
        is_cut_off = error.at >= end or error.reason.startswith(UNTERMINATED)
        at = end if is_cut_off else error.at
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        if is_cut_off:
            told = "The JSON ends too early, at column %(column)d: the file was cut off. Send it again."
            problems.add(name, line, told, column=column)
        else:
            reason = error.reason.removesuffix(" at")  # the place follows in the messages of json
            told = "The JSON is broken at column %(column)d: %(reason)s."
            problems.add(name, line, told, column=column, reason=reason)


def list_objects(name: str, text: bytes, problems: Problems) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield line and content of each object of a file that is one JSON list, or objects over several lines."""
    decoded = text.decode()
    with noting_broken_json(name, decoded, problems):
        cursor = JsonCursor(decoded)
        for line in _places(cursor):
            record = cursor.value()
            if isinstance(record, dict):
                yield line, record
            else:
                problems.add(name, line, "An entry of the list is no JSON object; each must be one: {…}.")


def _places(cursor: JsonCursor) -> Iterator[int]:
    """The line of each entry, at which the cursor stops."""
    if cursor.next == "[":
        for _ in cursor.items():
            yield cursor.line
        cursor.end()
    while cursor.next:
        yield cursor.line
