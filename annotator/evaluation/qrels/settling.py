"""One grade for each pool item: the judges' grades combined by the rules of the collection."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Protocol

import numpy as np

from annotator.evaluation.qrels.consensus import (
    Opinions,
    decided_items,
    disputed_items,
    judge_of,
    parse_policy,
    settle_opinions,
)
from annotator.evaluation.qrels.graded_topic import GradedTopic, NewGrade
from annotator.evaluation.qrels.topic_judgements import Flags, Ids


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


@dataclass(frozen=True, eq=False)
class SettledItems:
    """A settlement as columns, one element an item in the order of the opinions; `grade` is 0 where there is none."""

    opinions: Opinions
    is_counted: Flags
    grade: Ids
    is_left_out: Flags

    @cached_property
    def item(self) -> Ids:
        """The items."""
        return self.opinions.item[self.opinions.first]

    @property
    def has_grade(self) -> Flags:
        """Whether the item has a grade that is not left out."""
        return self.is_counted & ~self.is_left_out

    def count(self, flags: Flags) -> int:
        """How many items have a flag."""
        return int(np.count_nonzero(flags))

    def counts(self) -> dict[int, int]:
        """How many items have each grade, from the lowest."""
        grades, counts = np.unique(self.grade[self.has_grade], return_counts=True)
        return dict(zip(grades.tolist(), counts.tolist(), strict=True))

    @property
    def grades(self) -> dict[int, int]:
        """The grades by item."""
        return dict(zip(self.item[self.has_grade].tolist(), self.grade[self.has_grade].tolist(), strict=True))

    @cached_property
    def settlement(self) -> Settlement:
        """The settlement by item."""

        def chosen(flags: Flags) -> frozenset[int]:
            return frozenset(self.item[flags].tolist())

        return Settlement(
            self.grades,
            chosen(disputed_items(self.opinions)),
            chosen(self.is_left_out),
            chosen(decided_items(self.opinions)),
            chosen(~self.is_counted),
        )


def settle_columns(opinions: Opinions, rules: Rules) -> SettledItems:
    """Compute the consensus of opinions; raises `InvalidValueError` for an unknown policy."""
    is_counted, grade = settle_opinions(parse_policy(rules.policy), opinions, rules.relevant_from)
    leaves_out = is_counted & disputed_items(opinions) if rules.leaves_out_disputed else np.zeros_like(is_counted)
    return SettledItems(opinions, is_counted, grade, leaves_out)


def opinions_of(judgements: Sequence[ItemGrade]) -> Opinions:
    """Return the judgements as columns, at most one a judge and item."""
    return Opinions.of(
        [one.pool_item_id for one in judgements],
        [one.grade for one in judgements],
        [one.judge for one in judgements],
        [one.place for one in judgements],
        [one.by_owner for one in judgements],
        [one.adjudicates for one in judgements],
        [one.is_machine for one in judgements],
    )


def settle_items(judgements: Sequence[ItemGrade], rules: Rules) -> Settlement:
    """Compute the consensus of judgements, at most one a judge and item; `InvalidValueError` for an unknown policy."""
    return settle_columns(opinions_of(judgements), rules).settlement


def settle_by_name(judgements: Sequence[NamedGrade], rules: Rules) -> dict[tuple[str, str], int]:
    """Compute the consensus of grades by topic number and docno."""
    in_order = sorted(judgements, key=lambda one: one.first)
    numbers: dict[tuple[str, str], int] = {}
    places: dict[int, int] = {}
    columns = []
    for one in in_order:
        item = numbers.setdefault((one.topic, one.docno), len(numbers))
        places[item] = places.get(item, 0) + 1
        latest = one.latest if one.adjudicates else 0
        columns.append(
            (latest, item, one.grade, one.judge, places[item], one.by_owner, one.adjudicates, one.is_machine)
        )
    columns.sort(key=itemgetter(0))
    _, *rest = zip(*columns, strict=True) if columns else ((),) * 8
    settled = settle_columns(Opinions.of(*rest), rules).grades
    return {pair: settled[item] for pair, item in numbers.items() if item in settled}


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
