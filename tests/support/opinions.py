"""Judges' grades one by one, settled by a policy."""

from collections.abc import Sequence
from typing import NamedTuple

from annotator.evaluation.qrels.consensus import Opinions, disputed_items, parse_policy, settle_opinions


class Opinion(NamedTuple):
    """A judge's grade of an item; of several adjudications of an item the last one in a list decides."""

    item: int
    grade: int
    judge: str
    place: int = 0
    by_owner: bool = False
    adjudicates: bool = False
    is_machine: bool = False


def columns(opinions: Sequence[Opinion]) -> Opinions:
    """The same as columns."""
    return Opinions.of(*(zip(*opinions, strict=True) if opinions else ((),) * len(Opinion._fields)))


def settle(policy: str, opinions: Sequence[Opinion], relevant_from: int = 1) -> dict[int, int]:
    """The settled grades by item."""
    given = columns(opinions)
    has_grade, grades = settle_opinions(parse_policy(policy), given, relevant_from)
    items = given.item[given.first]
    return dict(zip(items[has_grade].tolist(), grades[has_grade].tolist(), strict=True))


def disputed(opinions: Sequence[Opinion]) -> set[int]:
    """The items in dispute."""
    given = columns(opinions)
    return set(given.item[given.first][disputed_items(given)].tolist())
