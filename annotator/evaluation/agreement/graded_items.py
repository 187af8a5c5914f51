"""The items that two judges or more graded, with their lowest and highest grade."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.evaluation.qrels.topic_judgements import (
    ADJUDICATES,
    CARRIED,
    CURRENT,
    Flags,
    Ids,
    JudgementColumns,
    begins_of,
)

SEVERAL = 2


@dataclass(frozen=True, eq=False)
class GradedItems:
    """Items as columns: their ids, the ids of their topics, and their lowest and highest grade."""

    item: Ids
    topic: Ids
    low: Ids
    high: Ids

    @property
    def distance(self) -> Ids:
        """How many grades apart the judges are."""
        return self.high - self.low

    def is_across(self, relevant_from: int) -> Flags:
        """Which items have grades on both sides of the relevance threshold."""
        return np.asarray((self.low < relevant_from) & (relevant_from <= self.high))

    def are_of(self, items: Collection[int]) -> Flags:
        """Which are among these items."""
        return np.isin(self.item, list(items))

    def are_of_topics(self, topics: Collection[int]) -> Flags:
        """Which are of these topics."""
        return np.isin(self.topic, list(topics))

    def where(self, which: Flags) -> "GradedItems":
        """Some of the items."""
        return GradedItems(self.item[which], self.topic[which], self.low[which], self.high[which])

    def worst_first(self, relevant_from: int, topics: Sequence[int]) -> "GradedItems":
        """Order by crossing of the relevance threshold, then by distance of the grades, then by topics as listed."""
        place: Mapping[int, int] = {topic: place for place, topic in enumerate(topics)}
        of_topic = np.array([place[topic] for topic in self.topic.tolist()], np.int64)
        order = np.lexsort((self.item, of_topic, -self.distance, ~self.is_across(relevant_from)))
        return GradedItems(self.item[order], self.topic[order], self.low[order], self.high[order])


def grades_of_people(judgements: JudgementColumns, people: Collection[int]) -> JudgementColumns:
    """Select the current grades of these people, decisions of adjudicators included."""
    return judgements.where(judgements.have(CURRENT) & judgements.is_graded & judgements.by(list(people)))


def graded_items(grades: JudgementColumns) -> list[int]:
    """The ids of the items that were graded, apart from adjudicators' decisions."""
    ids: list[int] = grades.item[~grades.have(ADJUDICATES)].tolist()
    return ids


def multiply_graded(grades: JudgementColumns) -> GradedItems:
    """Return the items with two grades or more, at least one by somebody who was shown the item itself.

    Adjudicators' decisions, and what was carried over from them, are no grades of their own.
    """
    given = grades.where(~grades.have(ADJUDICATES))
    first = np.flatnonzero(begins_of(given.item))
    if not first.size:
        return GradedItems(given.item, given.topic, given.grade, given.grade)
    several = np.diff(first, append=given.item.size) >= SEVERAL
    was_shown = np.logical_or.reduceat(~given.have(CARRIED), first)
    low, high = np.minimum.reduceat(given.grade, first), np.maximum.reduceat(given.grade, first)
    return GradedItems(given.item[first], given.topic[first], low, high).where(several & was_shown)
