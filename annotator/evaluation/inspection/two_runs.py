"""Comparison of two runs: tests of their difference, topics that differ most, documents with different ranks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.inspection.scored_runs import ScoredRuns
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.scoring import Number, Scores
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.qrels.qrels_table import QrelsTable
from annotator.evaluation.significance.two_runs import FLIPS, TwoRuns, compare_two_runs


@dataclass(frozen=True)
class TopicDifference:
    """Two runs' values for a topic."""

    topic: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.second - self.first


@dataclass(frozen=True)
class TopicDifferences:
    """The topics in descending order of second minus first value.

    Ties are in the order in which the topics were given.
    """

    topics: tuple[TopicDifference, ...]

    @property
    def first_higher(self) -> int:
        """The number of topics on which the first run has the greater value."""
        return sum(one.difference < 0 for one in self.topics)

    @property
    def equal(self) -> int:
        """The number of topics with equal values."""
        return sum(one.difference == 0 for one in self.topics)

    @property
    def second_higher(self) -> int:
        """The number of topics on which the second run has the greater value."""
        return sum(one.difference > 0 for one in self.topics)


@dataclass(frozen=True)
class MovedDocument:
    """A document of a topic in the top of one run or both, at a different rank in the other."""

    document: int
    grade: int | None  # None when it is unjudged
    first_rank: int | None  # from 1; None when the run does not have it
    second_rank: int | None
    gap: int  # second rank minus first; a missing document has the rank after the run's last

    @property
    def first_has_it_higher(self) -> bool:
        """Whether the first run ranks it higher."""
        return self.gap > 0


def topic_differences(topics: Sequence[str], first: Values, second: Values) -> TopicDifferences:
    """Sort the topics by the difference of two runs' values, given one a topic."""
    rows = zip(topics, first.tolist(), second.tolist(), strict=True)
    by_difference = sorted((TopicDifference(*row) for row in rows), key=lambda one: -one.difference)
    return TopicDifferences(tuple(by_difference))


def differences_from(scored: ScoredRuns, tag: str, baseline: str | None) -> TopicDifferences:
    """Compare a run with a baseline by topic, without one with the median of all runs; raises `NotFoundError`."""
    reference = scored.values[scored.run(baseline)] if baseline else np.median(scored.values, axis=0)
    return topic_differences(scored.numbers, reference, scored.values[scored.run(tag)])


def moved_documents(
    first: NDArray[np.int32], second: NDArray[np.int32], grades: Mapping[int, int], *, top: int
) -> tuple[MovedDocument, ...]:
    """List the documents in the top of either run whose rank differs in the other, greatest gap first.

    The runs are document numbers of one topic, best first; a negative grade is unjudged. A gap above 0 is a document
    that the first run ranks higher. Ties are by the better of the two ranks, then by document.
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


@dataclass(frozen=True)
class PairByMeasure:
    """Two runs compared by one measure; differences are second minus first."""

    measure: str
    better: Better
    first: Number  # over all topics, as on the leaderboard
    second: Number
    tests: TwoRuns
    differences: TopicDifferences


@dataclass(frozen=True)
class MovedInTopic:
    """The documents of a topic in the top of one run and ranked lower, or absent, in the other."""

    topic: str
    documents: tuple[MovedDocument, ...]


@dataclass(frozen=True)
class PairLook:
    """The inspection of two runs."""

    first: str
    second: str
    first_judged: float  # mean judged share of the top ten
    second_judged: float
    by_measure: tuple[PairByMeasure, ...]
    moved: tuple[MovedInTopic, ...]


@dataclass(frozen=True, eq=False)
class RunValues:
    """A run's value over all topics by one measure, and those on each topic."""

    over_topics: Number
    by_topic: Values


def compare_values(
    measure: str,
    better: Better,
    topics: Sequence[str],
    first: RunValues,
    second: RunValues,
    *,
    seed: int,
    flips: int = FLIPS,
) -> PairByMeasure:
    """Compare two runs by their values of one measure on these topics; `flips` are those of the randomisation test."""
    return PairByMeasure(
        measure=measure,
        better=better,
        first=first.over_topics,
        second=second.over_topics,
        tests=compare_two_runs(first.by_topic, second.by_topic, seed=seed, flips=flips),
        differences=topic_differences(topics, first.by_topic, second.by_topic),
    )


def pair_by_measure(scores: Scores, first: int, second: int, measure: int, *, seed: int) -> PairByMeasure:
    """Compare two runs, given by index, by the measure with the index `measure`."""
    asked = scores.measures[measure]
    one, other = (
        RunValues(scores.over_topics(run)[measure], scores.values[run, :, measure]) for run in (first, second)
    )
    return compare_values(str(asked), asked.definition.better, scores.topics, one, other, seed=seed)


def look_at_pair(
    scored: ScoredRuns, first: str, second: str, *, seed: int, top: int, topics: Sequence[str] | None = None
) -> PairLook:
    """Inspect two runs; documents are those in the top of either, for these topics or for all.

    An empty list of topics selects the one with the largest difference by the first measure. `NotFoundError` for an
    unknown run or topic.
    """
    one, other = scored.run(first), scored.run(second)
    by_measure = tuple(
        pair_by_measure(scored.scores, one, other, place, seed=seed) for place in range(len(scored.measures))
    )
    wanted = sorted(scored.numbers, key=natural_order) if topics is None else topics or [_widest(by_measure[0])]
    return PairLook(
        first=first,
        second=second,
        first_judged=scored.judged_share(one),
        second_judged=scored.judged_share(other),
        by_measure=by_measure,
        moved=tuple(_moved_in_topics(scored, one, other, number, top) for number in wanted),
    )


def _widest(by_measure: PairByMeasure) -> str:
    return max(by_measure.differences.topics, key=lambda one: abs(one.difference)).topic


def _moved_in_topics(scored: ScoredRuns, first: int, second: int, number: str, top: int) -> MovedInTopic:
    topic = scored.topic(number)
    grades = scored.qrels[scored.topics[topic]]
    moved = moved_documents(scored.ranking(first, topic), scored.ranking(second, topic), grades, top=top)
    return MovedInTopic(number, moved)


NO_DOCNOS = np.empty(0, np.bytes_)


@dataclass(frozen=True, eq=False)
class RankedFile:
    """A run's docnos by topic, best first."""

    lists: Mapping[str, NDArray[np.bytes_]]

    def of(self, topic: str) -> list[bytes]:
        """Return a topic's docnos, none if the run has no list."""
        docnos: list[bytes] = self.lists.get(topic, NO_DOCNOS).tolist()
        return docnos


def moved_by_docno(
    table: QrelsTable, first: RankedFile, second: RankedFile, topics: Sequence[str], *, top: int
) -> tuple[tuple[MovedInTopic, ...], dict[int, str]]:
    """List the documents in the top of either of two runs whose rank in the other differs, with their docnos.

    Documents are numbered in byte order of their docnos, which breaks ties of gaps.
    """
    every = sorted({docno for run in (first, second) for topic in topics for docno in run.of(topic)})
    numbers = {docno: number for number, docno in enumerate(every)}
    moved = tuple(
        MovedInTopic(
            topic,
            moved_documents(
                _numbered(first.of(topic), numbers),
                _numbered(second.of(topic), numbers),
                _grades(table, topic, numbers),
                top=top,
            ),
        )
        for topic in topics
    )
    return moved, {number: docno.decode() for docno, number in numbers.items()}


def _numbered(docnos: Sequence[bytes], numbers: Mapping[bytes, int]) -> NDArray[np.int32]:
    return np.array([numbers[docno] for docno in docnos], np.int32)


def _grades(table: QrelsTable, topic: str, numbers: Mapping[bytes, int]) -> dict[int, int]:
    place = table.topics.index(topic)
    some = slice(int(table.first[place]), int(table.first[place + 1]))
    rows = zip(table.docnos[some].tolist(), table.grades[some].tolist(), strict=True)
    return {numbers[docno]: grade for docno, grade in rows if docno in numbers}
