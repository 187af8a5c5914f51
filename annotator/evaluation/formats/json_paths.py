"""Paths into JSON values, such as `hit.fields[0].text`, and the text that is found there."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from annotator.errors import InvalidValueError

LONGEST_PATH = 200
ALL = None  # a step into each value of a list
STEP = re.compile(r"""(?P<key>[^.\[\]"'*]+)|\["(?P<quoted>[^"]+)"\]|\[(?P<number>\d{1,6})\]|\[(?P<all>\*)\]""")


@dataclass(frozen=True)
class JsonPath:
    """A path: keys of objects, positions in lists (from 0), and `ALL` for each value of a list; empty: the whole."""

    steps: tuple[str | int | None, ...]
    written: str

    def values(self, value: object) -> Iterator[object]:
        """Yield the values at the path; none where a key or a position is missing."""
        yield from _values(value, self.steps)


def parse_path(written: str) -> JsonPath:
    """Parse a path; raises `InvalidValueError` when it is malformed.

    `$` or `$.` may come first; a key that contains dots, brackets, asterisks or quotes is quoted: `a["b.c"]`.
    """
    rest = written.removeprefix("$")
    steps: list[str | int | None] = []
    at = 0
    while at < len(rest):
        # A key follows a dot, except at the beginning.
        has_dot = rest[at] == "."
        found = STEP.match(rest, at + has_dot)
        is_key = found is not None and found["key"] is not None
        if found is None or (is_key and at > 0 and not has_dot) or (has_dot and not is_key):
            break
        if found["number"] is not None:
            steps.append(int(found["number"]))
        else:
            steps.append(ALL if found["all"] else found["key"] or found["quoted"])
        at = found.end()
    if at < len(rest) or len(written) > LONGEST_PATH:
        raise InvalidValueError(
            "“%(path)s” is not a path into JSON: write keys with dots between them and positions in brackets, such as "
            "hits[0].title.",
            path=written[:LONGEST_PATH],
        )
    return JsonPath(tuple(steps), written)


def text_of_value(value: object) -> str | None:
    """The text of a value: strings, numbers, and lists of these, a line each; None for anything else."""
    match value:
        case str():
            return value
        case bool() | None:
            return None
        case int() | float():
            return str(value)
        case list():
            parts = [text_of_value(part) for part in value]
            return "\n".join(part for part in parts if part) if any(parts) else None
    return None


def _values(value: object, steps: tuple[str | int | None, ...]) -> Iterator[object]:
    if not steps:
        yield value
        return
    step, *rest = steps
    further = tuple(rest)
    match step, value:
        case str(), Mapping() if step in value:
            yield from _values(value[step], further)
        case int(), list() if step < len(value):
            yield from _values(value[step], further)
        case None, list():
            for part in value:
                yield from _values(part, further)
