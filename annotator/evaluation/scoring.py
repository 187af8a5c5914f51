"""Scores whole runs: every measure for every run and topic, and the mean over the topics of the qrels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.rankings import judge_rankings

NOTHING_RETRIEVED = np.empty(0, np.int32)


@dataclass(frozen=True)
class RunScores:
    """One run's values in the order of the measures: over all topics, and by topic number."""

    means: tuple[float, ...]
    by_topic: Mapping[str, tuple[float, ...]]


def score_runs(
    runs: Sequence[Mapping[int, NDArray[np.int32]]],
    qrels: Mapping[int, Mapping[int, int]],
    numbers: Mapping[int, str],
    measures: Sequence[Measure],
    relevant_from: int,
) -> list[RunScores]:
    """Score runs, each {topic key: document numbers best first}, over all topics of the qrels as trec_eval -c does.

    `numbers` gives the topics' numbers, in whose byte order the means are summed. A run without a list for a topic
    scores there as one that retrieved nothing. Raises `InvalidValueError` when the qrels have no topic.
    """
    topics = sorted(qrels, key=lambda topic: numbers[topic].encode())
    judged = judge_rankings([(topic, run.get(topic, NOTHING_RETRIEVED)) for run in runs for topic in topics], qrels)
    # Shape: measures x runs x topics.
    values = np.stack([measure.values(judged, relevant_from).reshape(len(runs), len(topics)) for measure in measures])
    means = np.stack([measure.over_topics(value) for measure, value in zip(measures, values, strict=True)])
    return [
        RunScores(
            tuple(means[:, index].tolist()),
            {numbers[topic]: tuple(values[:, index, column].tolist()) for column, topic in enumerate(topics)},
        )
        for index in range(len(runs))
    ]
