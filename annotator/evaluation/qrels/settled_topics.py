"""The current opinions of whole topics, settled at once into each topic's grades and lines of the qrels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Protocol

import numpy as np

from annotator.evaluation.qrels.consensus import Opinions
from annotator.evaluation.qrels.graded_topic import GradedTopic, grades_of_16_bits
from annotator.evaluation.qrels.settling import Rules, SettledItems, settle_columns
from annotator.evaluation.qrels.topic_judgements import (
    ADJUDICATES,
    CURRENT,
    Ids,
    JudgementColumns,
    begins_of,
)

NOBODY = 0  # the owner of a topic without one


class Judge(Protocol):
    """An account of a judge."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def is_machine(self) -> bool:
        """Whether the judge is a machine."""


@dataclass(frozen=True, eq=False)
class CurrentOpinions:
    """Judges' current grades: the judgements, and what policies ask of them, element by element."""

    judgements: JudgementColumns
    opinions: Opinions

    def settle(self, rules: Rules) -> SettledItems:
        """Compute the consensus; raises `InvalidValueError` for an unknown policy."""
        return settle_columns(self.opinions, rules)

    def of_items(self, column: Ids) -> Ids:
        """A column of the judgements that is the same for all judgements of an item, one element an item."""
        return column[self.opinions.first]


def current_opinions(
    judgements: JudgementColumns, judges: Mapping[int, Judge], owners: Mapping[int, int | None], *, machines: bool
) -> CurrentOpinions:
    """Select the grades that count now; those of machines only with `machines`. `owners` is by topic.

    Adjudications come last among the opinions on an item, ordered by their present judgement.
    """
    counts = judgements.have(CURRENT) & judgements.is_graded
    of_machines = [id_ for id_, judge in judges.items() if judge.is_machine]
    if of_machines and not machines:
        counts &= ~judgements.by(of_machines)
    kept = judgements.where(counts)
    begins = begins_of(kept.item)
    place = np.arange(kept.item.size) - np.flatnonzero(begins)[np.cumsum(begins) - 1] + 1
    adjudicates = kept.have(ADJUDICATES)
    if adjudicates.any():
        order = np.lexsort((np.where(adjudicates, kept.id, 0), np.cumsum(begins)))
        kept, place, adjudicates = kept.take(order), place[order], adjudicates[order]
    topics = np.flatnonzero(begins_of(kept.topic))
    owner = np.array([owners.get(topic) or NOBODY for topic in kept.topic[topics].tolist()], np.int64)
    owner_of = np.repeat(owner, np.diff(topics, append=kept.topic.size))
    opinions = Opinions(
        item=kept.item,
        grade=kept.grade,
        judge=kept.judge,
        place=place,
        by_owner=np.asarray(kept.judge == owner_of, np.bool_),
        adjudicates=adjudicates,
        is_machine=kept.by(of_machines) if of_machines else np.zeros(place.size, np.bool_),
        judges={judge.name: id_ for id_, judge in judges.items()},
    )
    return CurrentOpinions(kept, opinions)


def graded_topics(current: CurrentOpinions, rules: Rules, numbers: Mapping[int, str]) -> dict[int, GradedTopic]:
    """Settle these topics, {id: number}, ascending: their grades, judges, disputes and lines of the qrels.

    Raises `InvalidValueError` for an unknown policy, and for a grade that 16 bits cannot hold.
    """
    settled = current.settle(rules)
    topic, document, place = map(
        current.of_items, (current.judgements.topic, current.judgements.document, current.judgements.place)
    )
    has_grade = settled.has_grade
    documents, grades, places = document[has_grade].astype(np.int32), settled.grade[has_grade], place[has_grade]
    of_16_bits = grades_of_16_bits(grades)
    ends = np.searchsorted(topic[has_grade], np.array(list(numbers), np.int64), side="right").tolist()
    starts = np.searchsorted(topic[has_grade], np.array(list(numbers), np.int64)).tolist()
    judges = _judges_by_topic(current.judgements)
    disputed = _by_topic(topic[settled.is_left_out], document[settled.is_left_out])
    docnos = current.judgements.docnos
    return {
        id_: GradedTopic(
            documents[start:end],
            of_16_bits[start:end],
            _lines(number, [docnos[place] for place in places[start:end].tolist()], grades[start:end].tolist()),
            frozenset(judges.get(id_, ())),
            frozenset(disputed.get(id_, ())),
        )
        for (id_, number), start, end in zip(numbers.items(), starts, ends, strict=True)
    }


def _lines(number: str, docnos: Sequence[bytes], grades: Sequence[int]) -> bytes:
    tails = {grade: b" %d\n" % grade for grade in set(grades)}
    head = f"{number} 0 ".encode()
    return b"".join(chain.from_iterable(zip(repeat(head), docnos, map(tails.__getitem__, grades), strict=False)))


def _judges_by_topic(judgements: JudgementColumns) -> dict[int, list[int]]:
    """Topic → its judges."""
    changes = begins_of(judgements.topic) | begins_of(judgements.judge)
    return _by_topic(judgements.topic[changes], judgements.judge[changes])


def _by_topic(topics: Ids, values: Ids) -> dict[int, list[int]]:
    """Topic → values, from columns that are sorted by topic."""
    starts = np.flatnonzero(begins_of(topics))
    several = np.split(values, starts[1:]) if starts.size else []
    return {topic: of_topic.tolist() for topic, of_topic in zip(topics[starts].tolist(), several, strict=True)}
