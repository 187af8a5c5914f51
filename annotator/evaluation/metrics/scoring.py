"""Scores of whole runs: every measure for every run and topic, and summarised over the topics of the qrels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.join_qrels import JudgedBatch, judge_batch
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.setting import Compat, Values
from annotator.evaluation.qrels.samples import NO_SAMPLES, Samples

NOTHING_RETRIEVED = np.empty(0, np.int32)

Number = int | float


@dataclass(frozen=True, eq=False)
class Scores:
    """The values of some measures for some runs over all topics of the qrels, as trec_eval -c takes them."""

    measures: tuple[Measure, ...]
    topics: tuple[str, ...]  # in byte order
    values: Values  # shape: runs, topics, measures
    means: Values  # shape: runs, measures; for counts the sum, for GMAP the geometric mean
    retrieved: NDArray[np.intp]  # shape: runs, topics; 0 where the run has no list
    relevant: NDArray[np.intp]  # of each topic: how many relevant documents the qrels have
    judged: JudgedRankings  # the scored batch: a ranking for each run and topic, topics within runs
    judged_only: bool  # whether unjudged documents were removed from all rankings

    def by_topic(self, run: int) -> dict[str, tuple[Number, ...]]:
        """Return one run's values by topic number, in the order of the measures; counts are integers."""
        return dict(zip(self.topics, map(self._numbers, self.values[run].tolist()), strict=True))

    def over_topics(self, run: int) -> tuple[Number, ...]:
        """Return one run's values over all topics, in the order of the measures; counts are integers."""
        return self._numbers(self.means[run].tolist())

    def missing(self, run: int) -> tuple[str, ...]:
        """Return the topics of the qrels for which the run returned nothing; they count as empty lists."""
        return tuple(self.topics[index] for index in np.flatnonzero(self.retrieved[run] == 0).tolist())

    @cached_property
    def without_relevant(self) -> tuple[str, ...]:
        """Return the topics without relevant documents, which count in the means although no run can find any."""
        return tuple(self.topics[index] for index in np.flatnonzero(self.relevant == 0).tolist())

    def _numbers(self, values: Sequence[float]) -> tuple[Number, ...]:
        pairs = zip(self.measures, values, strict=True)
        return tuple(int(value) if measure.definition.is_count else value for measure, value in pairs)


def score(
    judged: JudgedRankings,
    topics: Sequence[str],
    measures: Sequence[Measure],
    relevant_from: int,
    *,
    judged_only: bool = False,
    compat: Compat = Compat.TREC_EVAL_10,
    best_grade: int | None = None,
    sampled: JudgedRankings | None = None,
) -> Scores:
    """Score a batch that has a ranking for each run and topic, topics within runs.

    `topics` are their numbers in byte order, in which the means are summed; `best_grade` is that of the
    scale. `sampled` is the same batch for the measures that estimate from a sample, if the pool is one. Raises
    `InvalidValueError` when there is no topic.
    """
    batch = JudgedBatch(judged, judged if sampled is None else sampled)
    runs = judged.retrieved.size // max(len(topics), 1)
    # Shape: measures, runs, topics.
    values = np.empty((len(measures), runs, len(topics)))
    means = np.empty((len(measures), runs))
    for place, measure in enumerate(measures):
        of_rankings = measure.values(
            batch.of(measure), relevant_from, judged_only=judged_only, compat=compat, best_grade=best_grade
        )
        values[place] = of_rankings.reshape(runs, len(topics))
        means[place] = measure.over_topics(values[place])
    return Scores(
        measures=tuple(measures),
        topics=tuple(topics),
        values=values.transpose(1, 2, 0),
        means=means.transpose(),
        retrieved=judged.retrieved.reshape(runs, len(topics)),
        relevant=judged.existing(relevant_from),
        judged=judged.judged_only if judged_only else judged,
        judged_only=judged_only,
    )


def score_runs(
    runs: Sequence[Mapping[int, NDArray[np.int32]]],
    qrels: Mapping[int, Mapping[int, int]],
    numbers: Mapping[int, str],
    measures: Sequence[Measure],
    relevant_from: int,
    best_grade: int | None = None,
    samples: Samples = NO_SAMPLES,
) -> Scores:
    """Score runs, each {topic key: document numbers best first}, over all topics of the qrels as trec_eval -c does.

    `numbers` are the topics' numbers, `samples` the samples of their pools. A run without a list for a topic
    is scored there as an empty list. Raises `InvalidValueError` when the qrels have no topic.
    """
    topics = sorted(qrels, key=lambda topic: numbers[topic].encode())
    rankings = [(topic, run.get(topic, NOTHING_RETRIEVED)) for run in runs for topic in topics]
    batch = judge_batch(rankings, qrels, samples, measures)
    return score(
        batch.settled,
        [numbers[topic] for topic in topics],
        measures,
        relevant_from,
        best_grade=best_grade,
        sampled=batch.sampled,
    )
