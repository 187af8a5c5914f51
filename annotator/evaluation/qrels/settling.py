"""One grade for each pool item: the grades of its judges, settled by the rules of its collection."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from annotator.evaluation.qrels.consensus import (
    Opinion,
    disputed_items,
    judge_of,
    parse_policy,
    settle_grades,
    settle_opinions,
)
from annotator.evaluation.qrels.graded_topic import GradedTopic, NewGrade


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
    """What a judge says of a topic and docno; of the judges of one, who was first has the lowest `first`.

    Of those of them who adjudicate, the one whose present word has the highest `latest` decides.
    """

    @property
    def topic(self) -> str:
        """The number of the topic."""

    @property
    def docno(self) -> str:
        """The document."""

    @property
    def first(self) -> int:
        """A number that orders the judges."""

    @property
    def latest(self) -> int:
        """A number that orders their present words."""


class Settings(Protocol):
    """What a collection says of how its grades are settled."""

    @property
    def consensus_policy(self) -> str:
        """Its own policy."""

    @property
    def relevant_from(self) -> int:
        """The least relevant grade."""

    @property
    def leaves_out_disputed(self) -> bool:
        """Whether what is in dispute stays out."""

    @property
    def counts_machines(self) -> bool:
        """Whether labels of machines are settled with people's grades."""


@dataclass(frozen=True)
class Rules:
    """A policy as it is written in commands, the least relevant grade, and whether what is in dispute stays out.

    `hears_machines` says whose voices are to be read: only people's, or machines', too.
    """

    policy: str
    relevant_from: int
    leaves_out_disputed: bool = False
    hears_machines: bool = False


def rules_of(settings: Settings, policy: str | None = None) -> Rules:
    """The rules by which a collection's grades are settled, by its own policy or another.

    Of one judge alone nothing is in dispute, and that judge may be a machine.
    """
    policy = settings.consensus_policy if policy is None else policy
    one_judge = judge_of(policy) is not None
    return Rules(
        policy,
        settings.relevant_from,
        leaves_out_disputed=settings.leaves_out_disputed and not one_judge,
        hears_machines=settings.counts_machines or one_judge,
    )


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
    return Settling(voices, rules.relevant_from).settlement(rules)


class Settling:
    """What judges say, at most one voice a judge and item, ready to be settled by one policy or by several."""

    def __init__(self, voices: Sequence[Voice], relevant_from: int) -> None:
        """Tell apart the items on which all agree: most have one voice, or several that are the same."""
        self._voices, self._relevant_from = voices, relevant_from
        self._agreed, self._contested = _agreed_and_contested(voices)

    def settlement(self, rules: Rules) -> Settlement:
        """The grades by these rules, and what else is to be told; raises `InvalidValueError` for an unknown policy."""
        grades = self.grades(rules.policy)
        people = [voice for voice in self._voices if not voice.is_machine]
        decided = {voice.pool_item_id for voice in people if voice.adjudicates}
        contested = self._contested if len(people) == len(self._voices) else _agreed_and_contested(people)[1]
        disputed = contested - decided
        left_out = disputed & grades.keys() if rules.leaves_out_disputed else set()
        return Settlement(
            {item: grade for item, grade in grades.items() if item not in left_out} if left_out else grades,
            frozenset(disputed),
            frozenset(left_out),
            frozenset(decided),
            frozenset(self._agreed.keys() - grades.keys()),
        )

    def grades(self, policy_name: str) -> dict[int, int]:
        """The grades by item, none left out; raises `InvalidValueError` for an unknown policy."""
        policy = parse_policy(policy_name)
        if policy.asks_for_somebody:
            return settle_opinions(policy, self._all_opinions, self._relevant_from)
        if policy.heard is not None:
            return self._agreed | settle_opinions(policy, self._contested_opinions, self._relevant_from)
        # The same without an object for each of what may be hundreds of thousands.
        return self._agreed | settle_grades(policy, *self._contested_columns)

    @cached_property
    def _contested_voices(self) -> list[Voice]:
        return [voice for voice in self._voices if voice.pool_item_id in self._contested]

    @cached_property
    def _all_opinions(self) -> list[Opinion]:
        return _opinions(self._voices)

    @cached_property
    def _contested_opinions(self) -> list[Opinion]:
        return _opinions(self._contested_voices)

    @cached_property
    def _contested_columns(self) -> tuple[list[int], list[int], list[int]]:
        """Items, grades, and the place of the judge who gave each."""
        voices = self._contested_voices
        places = [voice.place for voice in voices]
        return [voice.pool_item_id for voice in voices], [voice.grade for voice in voices], places


def settle_by_name(voices: Sequence[NamedVoice], rules: Rules) -> dict[tuple[str, str], int]:
    """Settle the same, said of topic numbers and docnos; nothing is taken for settled before it is."""
    numbers: dict[tuple[str, str], int] = {}
    places: dict[int, int] = {}
    said, by_people, deciding = [], [], []
    for voice in sorted(voices, key=lambda voice: voice.first):
        item = numbers.setdefault((voice.topic, voice.docno), len(numbers))
        places[item] = places.get(item, 0) + 1
        opinion = Opinion(item, voice.grade, voice.judge, places[item], voice.by_owner, voice.adjudicates)
        if voice.adjudicates:
            deciding.append((voice.latest, opinion))
        else:
            said.append(opinion)
        if not voice.is_machine:
            by_people.append(opinion)
    said += [opinion for _, opinion in sorted(deciding)]
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


def _opinions(voices: Sequence[Voice]) -> list[Opinion]:
    return [Opinion(one.pool_item_id, one.grade, one.judge, one.place, one.by_owner, one.adjudicates) for one in voices]


class PlacedVoice(Voice, Protocol):
    """A voice with the topic and the document that it is of."""

    @property
    def topic_id(self) -> int:
        """The topic."""

    @property
    def document_id(self) -> int:
        """The document."""

    @property
    def judge_id(self) -> int:
        """Who says it."""


@dataclass(frozen=True)
class SettledTopic:
    """The grades of one topic, {document: grade}, its judges, and what is left out because they differ."""

    grades: dict[int, int]
    judges: frozenset[int]
    disputed: frozenset[int]


def settled_topics(said: Sequence[PlacedVoice], rules: Rules, topics: Collection[int]) -> dict[int, SettledTopic]:
    """The settled grades of these topics, of which this is all that is said."""
    settled = settle_voices(said, rules)
    pairs = {one.pool_item_id: (one.topic_id, one.document_id) for one in said}
    grades: dict[int, dict[int, int]] = {topic: {} for topic in topics}
    for item, grade in settled.grades.items():
        topic, document = pairs[item]
        grades[topic][document] = grade
    disputed: dict[int, set[int]] = {topic: set() for topic in topics}
    for item in settled.left_out:
        disputed[pairs[item][0]].add(pairs[item][1])
    judges: dict[int, set[int]] = {topic: set() for topic in topics}
    for topic, judge in {(one.topic_id, one.judge_id) for one in said}:
        judges[topic].add(judge)
    return {id_: SettledTopic(grades[id_], frozenset(judges[id_]), frozenset(disputed[id_])) for id_ in topics}


def with_new_grades(
    known: GradedTopic, number: str, settled: SettledTopic, documents: Iterable[int], docnos: Mapping[int, str]
) -> GradedTopic:
    """The topic with what is settled now of these documents, of which others are untouched."""
    changes = [NewGrade(one, docnos[one].encode(), settled.grades.get(one)) for one in documents]
    return known.changed(number, changes, judges=settled.judges, disputed=settled.disputed)
