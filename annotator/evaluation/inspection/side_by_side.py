"""Two runs side by side: the conclusion in one sentence, their precision-recall curves, the lists of one topic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.inspection.scored_runs import ScoredRuns
from annotator.evaluation.inspection.two_runs import PairByMeasure
from annotator.evaluation.metrics.interpolated import LEVELS, mean_eleven_points
from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.significance.results import ALPHA


@dataclass(frozen=True)
class Conclusion:
    """Which of two runs leads, by how much, and on how many topics; without a test `p` and the interval are None.

    When the measure has no direction, the run with the higher mean leads.
    """

    leader: str
    other: str
    lead: float  # mean over topics, at least 0
    low: float | None  # 95 % interval of the lead
    high: float | None
    p: float | None  # two-sided paired t test
    won: int  # topics on which the leader is better
    lost: int
    tied: int

    @property
    def is_significant(self) -> bool:
        """Whether the paired t test rejects equality at 5 %."""
        return self.p is not None and self.p <= ALPHA

    @property
    def is_tie(self) -> bool:
        """Whether neither run leads."""
        return self.lead == 0


def conclude(first: str, second: str, by_measure: PairByMeasure) -> Conclusion:
    """Summarise the comparison of two runs by one measure; of two equal runs the first is called the leader."""
    sign = -1.0 if by_measure.better is Better.LESS else 1.0
    tests = by_measure.tests.t
    difference = sign * (tests.difference.value or 0.0)
    bounds = sorted(sign * bound for bound in tests.interval.bounds or ())
    over = by_measure.differences
    wins = (over.second_higher, over.first_higher) if sign > 0 else (over.first_higher, over.second_higher)
    if difference <= 0:
        bounds = [-bound for bound in reversed(bounds)]
        wins = wins[::-1]
    leader, other = (second, first) if difference > 0 else (first, second)
    low, high = bounds or (None, None)
    return Conclusion(leader, other, abs(difference), low, high, tests.p.value, *wins, over.equal)


@dataclass(frozen=True)
class TwoCurves:
    """Interpolated precision at the eleven levels of recall, averaged over topics, of two runs."""

    levels: tuple[float, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]


def two_curves(scored: ScoredRuns, first: str, second: str) -> TwoCurves:
    """Compute the precision-recall curves of two runs."""
    runs = (scored.run(first), scored.run(second))
    lists = [(id_, scored.ranking(run, place)) for run in runs for place, id_ in enumerate(scored.topics)]
    points = mean_eleven_points(judge_rankings(lists, scored.qrels), len(runs), scored.state.relevant_from)
    return TwoCurves(LEVELS, *(tuple(row) for row in points.tolist()))


@dataclass(frozen=True)
class ListedDocument:
    """A document of one list, with its rank in the other list."""

    document: int
    rank: int  # from 1
    other_rank: int | None  # None when the other list does not have it
    grade: int | None  # None when it is unjudged

    @property
    def moved(self) -> int | None:
        """By how many ranks this list has it higher; None when the other list does not have it."""
        return None if self.other_rank is None else self.other_rank - self.rank


@dataclass(frozen=True)
class TwoLists:
    """The tops of two runs' lists for one topic."""

    topic: str
    first: tuple[ListedDocument, ...]
    second: tuple[ListedDocument, ...]

    @property
    def shared(self) -> int:
        """The number of documents in both tops."""
        return len({one.document for one in self.first} & {one.document for one in self.second})


def listed_documents(
    ranking: NDArray[np.int32], other: NDArray[np.int32], grades: Mapping[int, int], *, top: int
) -> tuple[ListedDocument, ...]:
    """List the top of one ranking with the ranks in another; a negative or missing grade is unjudged."""
    other_ranks = dict(zip(other.tolist(), range(1, other.size + 1), strict=True))
    known = ((document, grades.get(document, -1)) for document in ranking[:top].tolist())
    return tuple(
        ListedDocument(document, rank, other_ranks.get(document), grade if grade >= 0 else None)
        for rank, (document, grade) in enumerate(known, start=1)
    )


def two_lists(scored: ScoredRuns, first: str, second: str, number: str, *, top: int) -> TwoLists:
    """Return the tops of two runs' lists for a topic; raises `NotFoundError` when it is not scored."""
    topic = scored.topic(number)
    grades = scored.qrels[scored.topics[topic]]
    one, other = (scored.ranking(scored.run(tag), topic) for tag in (first, second))
    return TwoLists(
        number, listed_documents(one, other, grades, top=top), listed_documents(other, one, grades, top=top)
    )


def documents_of(lists: Sequence[TwoLists]) -> set[int]:
    """Return every document in the tops."""
    return {one.document for both in lists for side in (both.first, both.second) for one in side}
