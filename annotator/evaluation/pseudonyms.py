"""Texts and values without the names of people."""

import re
from collections.abc import Mapping
from functools import partial

JUDGE = "judge:"


def policy_without_names(policy: str, names: Mapping[str, str]) -> str:
    """A consensus policy under a judge's other name, when it is one judge's word."""
    name = policy.removeprefix(JUDGE)
    return JUDGE + names.get(name, name) if policy.startswith(JUDGE) else policy


def without_names(value: object, names: Mapping[str, str]) -> object:
    """What JSON holds, with another name wherever a name stands as a word of its own."""
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    return _without(value, pattern, names) if names else value


def _without(value: object, pattern: re.Pattern[str], names: Mapping[str, str]) -> object:
    inner = partial(_without, pattern=pattern, names=names)
    match value:
        case str():
            return pattern.sub(lambda found: names[found[0]], value)
        case dict():
            return {inner(key): inner(one) for key, one in value.items()}
        case list():
            return [inner(one) for one in value]
        case _:
            return value
