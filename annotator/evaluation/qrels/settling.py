"""One grade for each pool item: the judges' grades combined by the rules of the collection."""

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
    """A judge's grade, and the role of the judge."""

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
    """A judge's grade of a pool item; `place` is 1 for the first judge of the item."""

    @property
    def pool_item_id(self) -> int:
        """The id of the pool item."""

    @property
    def place(self) -> int:
        """The position of the judge in the order of first judgement, from 1."""


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
        """A number that orders the judges by first judgement."""

    @property
    def latest(self) -> int:
        """A number that orders the judges' current judgements."""


class Settings(Protocol):
    """The settings of a collection that determine its consensus."""

    @property
    def consensus_policy(self) -> str:
        """The collection's policy."""

    @property
    def relevant_from(self) -> int:
        """The least relevant grade."""

    @property
    def leaves_out_disputed(self) -> bool:
        """Whether disputed items are left out."""

    @property
    def counts_machines(self) -> bool:
        """Whether machine labels count together with people's grades."""


@dataclass(frozen=True)
class Rules:
    """The parsed consensus rules: a policy by name, the least relevant grade, and whether disputed items are left out.

    `counts_machines` says whether judgements of machines count together with those of people.
    """

    policy: str
    relevant_from: int
    leaves_out_disputed: bool = False
    counts_machines: bool = False


def rules_of(settings: Settings, policy: str | None = None) -> Rules:
    """Return the consensus rules of a collection, with its own policy or another.

    With one judge alone nothing is disputed, and that judge may be a machine.
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
    """The consensus grades by item, and the items that are disputed or have no counted grade.

    Disputed are items whose human judges disagree and that are not adjudicated; they have a grade unless the rules
    leave them out. Uncounted are items without a judgement that the policy counts.
    """

    grades: Mapping[int, int]
    disputed: frozenset[int]
    left_out: frozenset[int]
    decided: frozenset[int]
    uncounted: frozenset[int]


def settle_items(judgements: Sequence[ItemGrade], rules: Rules) -> Settlement:
    """Compute the consensus of judgements, at most one a judge and item; `InvalidValueError` for an unknown policy."""
    return Settling(judgements, rules.relevant_from).settlement(rules)


class Settling:
    """Judgements, at most one a judge and item, prepared for one or several policies."""

    def __init__(self, judgements: Sequence[ItemGrade], relevant_from: int) -> None:
        """Separate the items on which all judges agree, which most are, from the others."""
        self._judgements, self._relevant_from = judgements, relevant_from
        self._agreed, self._contested = _agreed_and_contested(judgements)

    def settlement(self, rules: Rules) -> Settlement:
        """Return the consensus by these rules; raises `InvalidValueError` for an unknown policy."""
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
        """Return the grades by item, none left out; raises `InvalidValueError` for an unknown policy."""
        policy = parse_policy(policy_name)
        if policy.needs_its_judge:
            return settle_opinions(policy, self._all_opinions, self._relevant_from)
        if policy.counted is not None:
            return self._agreed | settle_opinions(policy, self._contested_opinions, self._relevant_from)
        # Avoids one object for each of possibly hundreds of thousands of items.
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
        """Return items, grades, and the position of the judge of each grade."""
        judgements = self._contested_judgements
        places = [judgement.place for judgement in judgements]
        return (
            [judgement.pool_item_id for judgement in judgements],
            [judgement.grade for judgement in judgements],
            places,
        )


def settle_by_name(judgements: Sequence[NamedGrade], rules: Rules) -> dict[tuple[str, str], int]:
    """Compute the consensus of grades by topic number and docno lazily, on first access."""
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
    """Return the first grade of each item, and the items that also have a different one."""
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
    """The grades of one topic, {document: grade}, its judges, and the disputed documents left out."""

    grades: dict[int, int]
    judges: frozenset[int]
    disputed: frozenset[int]


def settled_topics(judgements: Sequence[PlacedGrade], rules: Rules, topics: Collection[int]) -> dict[int, SettledTopic]:
    """Compute the consensus of these topics; `judgements` are all judgements of them."""
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
    """Return the topic with the new consensus of these documents; its other documents do not change."""
    changes = [NewGrade(one, docnos[one].encode(), settled.grades.get(one)) for one in documents]
    return known.changed(number, changes, judges=settled.judges, disputed=settled.disputed)
