"""Texts and values without the names of people."""

import re
from collections.abc import Iterable, Mapping
from functools import partial

JUDGE = "judge:"
# For what is the same but for its case in a way of which there are several, such as ß and SS.
HIDDEN = "…"


def policy_without_names(policy: str, names: Mapping[str, str]) -> str:
    """A consensus policy under a judge's other name, when it is one judge's word."""
    name = policy.removeprefix(JUDGE)
    return JUDGE + names.get(name, name) if policy.startswith(JUDGE) else policy


def names_somebody(text: str, name: str) -> bool:
    """Whether a name is in a text as a word of its own, such as that of a file: `jo_labels.txt`, not `journal`."""
    return _pattern([name]).search(text) is not None


def without_names(value: object, names: Mapping[str, str]) -> object:
    """What JSON holds, with another name wherever a name is a word of its own."""
    if not names:
        return value
    by_key = {name.casefold(): other for name, other in names.items()}
    return _without(value, _pattern(names), by_key)


def without_names_in(values: Mapping[str, object], keys: Iterable[str], names: Mapping[str, str]) -> dict[str, object]:
    """The values of these keys, where there are any, without the names."""
    return {key: without_names(values[key], names) for key in keys if key in values}


def _pattern(names: Iterable[str]) -> re.Pattern[str]:
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
