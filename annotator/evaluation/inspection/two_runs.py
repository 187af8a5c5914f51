"""Two runs beside each other: where their values differ, and which documents one has high and the other low."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.setting import Values


@dataclass(frozen=True)
class TopicDifference:
    """Two runs' values for a topic."""

    topic: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        """The second less the first."""
        return self.second - self.first


@dataclass(frozen=True)
class TopicDifferences:
    """The topics from where the second run's value is the furthest above the first's to where it is the furthest below.

    Equal differences stand in the order in which the topics were given.
    """

    topics: tuple[TopicDifference, ...]

    @property
    def first_higher(self) -> int:
        """Of how many topics the first run has the greater value."""
        return sum(one.difference < 0 for one in self.topics)

    @property
    def equal(self) -> int:
        """Of how many both have the same."""
        return sum(one.difference == 0 for one in self.topics)

    @property
    def second_higher(self) -> int:
        """Of how many the second has the greater."""
        return sum(one.difference > 0 for one in self.topics)


@dataclass(frozen=True)
class MovedDocument:
    """A document of a topic that stands in the top of one run or of both, and elsewhere in the other."""

    document: int
    grade: int | None  # None when it is unjudged
    first_rank: int | None  # from 1; None when the run does not have it
    second_rank: int | None
    gap: int  # the second rank less the first; a run that lacks the document has it right after its last

    @property
    def first_has_it_higher(self) -> bool:
        """In which of the two it stands higher."""
        return self.gap > 0


def topic_differences(topics: Sequence[str], first: Values, second: Values) -> TopicDifferences:
    """Sort the topics by the difference of two runs' values, one a topic."""
    rows = zip(topics, first.tolist(), second.tolist(), strict=True)
    by_difference = sorted((TopicDifference(*row) for row in rows), key=lambda one: -one.difference)
    return TopicDifferences(tuple(by_difference))


def moved_documents(
    first: NDArray[np.int32], second: NDArray[np.int32], grades: Mapping[int, int], *, top: int
) -> tuple[MovedDocument, ...]:
    """List the documents of the top of either run that are not at the same rank in the other, greatest gap first.

    The runs are document numbers of one topic, best first; a negative grade is none. Above 0 is the gap of a document
    that the first run has higher. Equal gaps stand by the better of the two ranks, then by document.
    """
    ranks = [dict(zip(run.tolist(), range(1, run.size + 1), strict=True)) for run in (first, second)]
    either = {*first[:top].tolist(), *second[:top].tolist()}
    found = (_moved(document, grades, *ranks) for document in either)
    differing = (one for one in found if one.gap)
    return tuple(sorted(differing, key=lambda one: (-abs(one.gap), _better_rank(one), one.document)))


def _moved(
    document: int, grades: Mapping[int, int], first: Mapping[int, int], second: Mapping[int, int]
) -> MovedDocument:
    grade = grades.get(document, -1)
    gap = second.get(document, len(second) + 1) - first.get(document, len(first) + 1)
    return MovedDocument(document, grade if grade >= 0 else None, first.get(document), second.get(document), gap)


def _better_rank(one: MovedDocument) -> int:
    return min(rank for rank in (one.first_rank, one.second_rank) if rank is not None)
