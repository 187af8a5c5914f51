"""Replacement of people's names in texts and JSON values."""

import re
from collections.abc import Iterable, Mapping
from functools import partial
from hashlib import sha256

JUDGE = "judge:"
# For letters whose case mapping has several forms, such as ß and SS.
HIDDEN = "…"


def pseudonyms_of(persons: Iterable[str], secret: str) -> dict[str, str]:
    """A pseudonym for each person; neither it nor the order reveals the name."""
    ordered = sorted(persons, key=lambda name: sha256(f"{secret} {name}".encode()).digest())
    return {name: f"person-{number}-{secret}" for number, name in enumerate(ordered, start=1)}


def policy_without_names(policy: str, names: Mapping[str, str]) -> str:
    """Replace the judge's name in the policy `judge:NAME`; other policies do not change."""
    name = policy.removeprefix(JUDGE)
    return JUDGE + names.get(name, name) if policy.startswith(JUDGE) else policy


def names_somebody(text: str, name: str) -> bool:
    """Whether a text contains a name as a whole word, such as in a file name: `jo_labels.txt`, not `journal`."""
    return name_pattern([name]).search(text) is not None


def without_names(value: object, names: Mapping[str, str]) -> object:
    """Replace names that are whole words in a JSON value."""
    if not names:
        return value
    by_key = {name.casefold(): other for name, other in names.items()}
    return _without(value, name_pattern(names), by_key)


def without_names_in(values: Mapping[str, object], keys: Iterable[str], names: Mapping[str, str]) -> dict[str, object]:
    """Replace names in the values of these keys, if present."""
    return {key: without_names(values[key], names) for key in keys if key in values}


def name_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds these names as whole words, whatever their case, the longest first."""
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest_first))})(?![^\W_])", re.IGNORECASE)


def _without(value: object, pattern: re.Pattern[str], names: Mapping[str, str]) -> object:
    inner = partial(_without, pattern=pattern, names=names)
    match value:
        case str():
            return pattern.sub(lambda found: names.get(found[0].casefold(), HIDDEN), value)
        case dict():
            return {inner(key): inner(one) for key, one in value.items()}
        case list():
            return [inner(one) for one in value]
        case _:
            return value
