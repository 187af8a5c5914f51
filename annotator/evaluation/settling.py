"""One grade for each pool item: what its judges say, settled by the rules of its collection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from annotator.evaluation.consensus import (
    THIRD,
    Opinion,
    Policy,
    disputed_items,
    parse_policy,
    settle_grades,
    settle_opinions,
)


class Said(Protocol):
    """A judge's grade of something, and who they are to it."""

    @property
    def grade(self) -> int:
        """The grade."""

    @property
    def judge(self) -> str:
        """The judge's name."""

    @property
    def by_owner(self) -> bool:
        """Whether the judge owns the topic."""

    @property
    def adjudicates(self) -> bool:
        """Whether it was said to decide."""

    @property
    def is_machine(self) -> bool:
        """Whether a machine says it."""


class Voice(Said, Protocol):
    """What a judge says of a pool item; `place` is 1 of the judge who was first to grade it."""

    @property
    def pool_item_id(self) -> int:
        """The item."""

    @property
    def place(self) -> int:
        """The judge's place."""


class NamedVoice(Said, Protocol):
    """What a judge says of a topic and docno; of the judges of one, who was first has the lowest `first`."""

    @property
    def topic(self) -> str:
        """The number of the topic."""

    @property
    def docno(self) -> str:
        """The document."""

    @property
    def first(self) -> int:
        """A number that orders the judges."""


@dataclass(frozen=True)
class Rules:
    """A policy as it is written in commands, the least relevant grade, and whether what is in dispute stays out."""

    policy: str
    relevant_from: int
    leaves_out_disputed: bool = False


@dataclass(frozen=True)
class Settlement:
    """The settled grades by item, and what else is to be told of the items.

    In dispute are those whose people differ and that no adjudicator has decided; they have a grade unless the rules
    leave them out. Unheard are those on which nobody has spoken whom the policy hears.
    """

    grades: Mapping[int, int]
    disputed: frozenset[int]
    left_out: frozenset[int]
    decided: frozenset[int]
    unheard: frozenset[int]


def settle_voices(voices: Sequence[Voice], rules: Rules) -> Settlement:
    """Settle what judges say, at most one voice a judge and item; raises `InvalidValueError` for an unknown policy."""
    policy = parse_policy(rules.policy)
    agreed, contested = _agreed_and_contested(voices)
    people = [voice for voice in voices if not voice.is_machine]
    decided = {voice.pool_item_id for voice in people if voice.adjudicates}
    disputed = (contested if len(people) == len(voices) else _agreed_and_contested(people)[1]) - decided
    if policy.asks_for_somebody:
        grades = _settle(policy, voices, rules)
    else:
        # Of most items there is one opinion, or several that are the same.
        grades = agreed | _settle(policy, [voice for voice in voices if voice.pool_item_id in contested], rules)
    left_out = disputed & grades.keys() if rules.leaves_out_disputed else set()
    return Settlement(
        {item: grade for item, grade in grades.items() if item not in left_out},
        frozenset(disputed),
        frozenset(left_out),
        frozenset(decided),
        frozenset(agreed.keys() - grades.keys()),
    )


def settle_by_name(voices: Sequence[NamedVoice], rules: Rules) -> dict[tuple[str, str], int]:
    """Settle the same, said of topic numbers and docnos; nothing is taken for settled before it is."""
    numbers: dict[tuple[str, str], int] = {}
    places: dict[int, int] = {}
    said, by_people = [], []
    for voice in sorted(voices, key=lambda voice: voice.first):
        item = numbers.setdefault((voice.topic, voice.docno), len(numbers))
        places[item] = places.get(item, 0) + 1
        opinion = Opinion(item, voice.grade, voice.judge, places[item], voice.by_owner, voice.adjudicates)
        said.append(opinion)
        if not voice.is_machine:
            by_people.append(opinion)
    settled = settle_opinions(parse_policy(rules.policy), said, rules.relevant_from)
    left_out = disputed_items(by_people) if rules.leaves_out_disputed else set()
    return {pair: settled[item] for pair, item in numbers.items() if item in settled and item not in left_out}


def _agreed_and_contested(voices: Sequence[Voice]) -> tuple[dict[int, int], set[int]]:
    """Item → the first grade given, and the items of which another one was given, too."""
    agreed: dict[int, int] = {}
    contested = {
        voice.pool_item_id for voice in voices if agreed.setdefault(voice.pool_item_id, voice.grade) != voice.grade
    }
    return agreed, contested


def _settle(policy: Policy, voices: Sequence[Voice], rules: Rules) -> dict[int, int]:
    if policy.heard is not None:
        opinions = [
            Opinion(one.pool_item_id, one.grade, one.judge, one.place, one.by_owner, one.adjudicates) for one in voices
        ]
        return settle_opinions(policy, opinions, rules.relevant_from)
    # The same without an object for each of what may be hundreds of thousands.
    by_third = [voice.place == THIRD for voice in voices]
    return settle_grades(policy, [voice.pool_item_id for voice in voices], [voice.grade for voice in voices], by_third)
