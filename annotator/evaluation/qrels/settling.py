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


class GivenGrade(Protocol):
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
        """Whether the grade is an adjudication."""

    @property
    def is_machine(self) -> bool:
        """Whether the judge is a machine."""


class ItemGrade(GivenGrade, Protocol):
    """A judge's grade of a pool item; `place` is 1 for the judge who was first to grade it."""

    @property
    def pool_item_id(self) -> int:
        """The id of the pool item."""

    @property
    def place(self) -> int:
        """The place of the judge in order of first judgement, from 1."""


class NamedGrade(GivenGrade, Protocol):
    """A judge's grade of a topic and docno; `first` orders the judges of a document by their first judgement.

    Of several adjudications, the one with the highest `latest` decides.
    """

    @property
    def topic(self) -> str:
        """The number of the topic."""

    @property
    def docno(self) -> str:
        """The id of the document."""

    @property
    def first(self) -> int:
        """A number that orders the judges."""

    @property
    def latest(self) -> int:
        """A number that orders their current judgements."""


class Settings(Protocol):
    """The settings of a collection that settle its grades."""

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

    `counts_machines` says whether judgements of machines count beside those of people.
    """

    policy: str
    relevant_from: int
    leaves_out_disputed: bool = False
    counts_machines: bool = False


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
        counts_machines=settings.counts_machines or one_judge,
    )


@dataclass(frozen=True)
class Settlement:
    """The settled grades by item, and which items are disputed or have no grade that counts.

    Disputed are items whose human judges differ and that nobody has adjudicated; they have a grade unless the rules
    leave them out. Uncounted are items without a judgement that counts by the policy.
    """

    grades: Mapping[int, int]
    disputed: frozenset[int]
    left_out: frozenset[int]
    decided: frozenset[int]
    uncounted: frozenset[int]


def settle_items(judgements: Sequence[ItemGrade], rules: Rules) -> Settlement:
    """Settle judgements, at most one a judge and item; raises `InvalidValueError` for an unknown policy."""
    return Settling(judgements, rules.relevant_from).settlement(rules)


class Settling:
    """Judgements, at most one a judge and item, ready to be settled by one policy or by several."""

    def __init__(self, judgements: Sequence[ItemGrade], relevant_from: int) -> None:
        """Separate the items on which all agree, which most are, from the others."""
        self._judgements, self._relevant_from = judgements, relevant_from
        self._agreed, self._contested = _agreed_and_contested(judgements)

    def settlement(self, rules: Rules) -> Settlement:
        """The grades by these rules, and what is disputed; raises `InvalidValueError` for an unknown policy."""
        grades = self.grades(rules.policy)
        people = [judgement for judgement in self._judgements if not judgement.is_machine]
        decided = {judgement.pool_item_id for judgement in people if judgement.adjudicates}
        contested = self._contested if len(people) == len(self._judgements) else _agreed_and_contested(people)[1]
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
        if policy.needs_its_judge:
            return settle_opinions(policy, self._all_opinions, self._relevant_from)
        if policy.counted is not None:
            return self._agreed | settle_opinions(policy, self._contested_opinions, self._relevant_from)
        # Without an object for each of what may be hundreds of thousands.
        return self._agreed | settle_grades(policy, *self._contested_columns)

    @cached_property
    def _contested_judgements(self) -> list[ItemGrade]:
        return [judgement for judgement in self._judgements if judgement.pool_item_id in self._contested]

    @cached_property
    def _all_opinions(self) -> list[Opinion]:
        return _opinions(self._judgements)

    @cached_property
    def _contested_opinions(self) -> list[Opinion]:
        return _opinions(self._contested_judgements)

    @cached_property
    def _contested_columns(self) -> tuple[list[int], list[int], list[int]]:
        """Items, grades, and the place of the judge who gave each."""
        judgements = self._contested_judgements
        places = [judgement.place for judgement in judgements]
        return (
            [judgement.pool_item_id for judgement in judgements],
            [judgement.grade for judgement in judgements],
            places,
        )


def settle_by_name(judgements: Sequence[NamedGrade], rules: Rules) -> dict[tuple[str, str], int]:
    """Settle grades of topic numbers and docnos, lazily: nothing is settled before it is asked for."""
    numbers: dict[tuple[str, str], int] = {}
    places: dict[int, int] = {}
    opinions, by_people, deciding = [], [], []
    for judgement in sorted(judgements, key=lambda judgement: judgement.first):
        item = numbers.setdefault((judgement.topic, judgement.docno), len(numbers))
        places[item] = places.get(item, 0) + 1
        opinion = Opinion(
            item, judgement.grade, judgement.judge, places[item], judgement.by_owner, judgement.adjudicates
        )
        if judgement.adjudicates:
            deciding.append((judgement.latest, opinion))
        else:
            opinions.append(opinion)
        if not judgement.is_machine:
            by_people.append(opinion)
    opinions += [opinion for _, opinion in sorted(deciding)]
    settled = settle_opinions(parse_policy(rules.policy), opinions, rules.relevant_from)
    left_out = disputed_items(by_people) if rules.leaves_out_disputed else set()
    return {pair: settled[item] for pair, item in numbers.items() if item in settled and item not in left_out}


def _agreed_and_contested(judgements: Sequence[ItemGrade]) -> tuple[dict[int, int], set[int]]:
    """Item → the first grade given, and the items of which another one was given, too."""
    agreed: dict[int, int] = {}
    contested = {
        judgement.pool_item_id
        for judgement in judgements
        if agreed.setdefault(judgement.pool_item_id, judgement.grade) != judgement.grade
    }
    return agreed, contested


def _opinions(judgements: Sequence[ItemGrade]) -> list[Opinion]:
    return [
        Opinion(one.pool_item_id, one.grade, one.judge, one.place, one.by_owner, one.adjudicates) for one in judgements
    ]


class PlacedGrade(ItemGrade, Protocol):
    """A grade with its topic, document and judge."""

    @property
    def topic_id(self) -> int:
        """The id of the topic."""

    @property
    def document_id(self) -> int:
        """The id of the document."""

    @property
    def judge_id(self) -> int:
        """The id of the judge."""


@dataclass(frozen=True)
class SettledTopic:
    """The grades of one topic, {document: grade}, its judges, and what is left out because they differ."""

    grades: dict[int, int]
    judges: frozenset[int]
    disputed: frozenset[int]


def settled_topics(judgements: Sequence[PlacedGrade], rules: Rules, topics: Collection[int]) -> dict[int, SettledTopic]:
    """The settled grades of these topics; `judgements` are all that they have."""
    settled = settle_items(judgements, rules)
    pairs = {one.pool_item_id: (one.topic_id, one.document_id) for one in judgements}
    grades: dict[int, dict[int, int]] = {topic: {} for topic in topics}
    for item, grade in settled.grades.items():
        topic, document = pairs[item]
        grades[topic][document] = grade
    disputed: dict[int, set[int]] = {topic: set() for topic in topics}
    for item in settled.left_out:
        disputed[pairs[item][0]].add(pairs[item][1])
    judges: dict[int, set[int]] = {topic: set() for topic in topics}
    for topic, judge in {(one.topic_id, one.judge_id) for one in judgements}:
        judges[topic].add(judge)
    return {id_: SettledTopic(grades[id_], frozenset(judges[id_]), frozenset(disputed[id_])) for id_ in topics}


def with_new_grades(
    known: GradedTopic, number: str, settled: SettledTopic, documents: Iterable[int], docnos: Mapping[int, str]
) -> GradedTopic:
    """The topic with what is settled now of these documents, of which others are untouched."""
    changes = [NewGrade(one, docnos[one].encode(), settled.grades.get(one)) for one in documents]
    return known.changed(number, changes, judges=settled.judges, disputed=settled.disputed)
