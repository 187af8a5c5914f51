"""Scores of runs on topics as a two-way layout without repetition: what runs, topics and the rest contribute."""

from dataclasses import dataclass

import numpy as np

from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.shared_topics import SharedTopics


@dataclass(frozen=True, eq=False)
class TwoWay:
    """The mean squares of a two-way analysis of variance (Fisher 1925), of two runs and two topics or more."""

    run_means: Values
    of_runs: float
    of_topics: float
    of_rest: float  # interaction of runs and topics, and error, which one score of each cannot tell apart
    degrees: int  # of freedom, of the rest


def two_way(shared: SharedTopics) -> TwoWay:
    """Analyse the scores; a mean square that is rounding alone is 0."""
    scores, runs, topics = shared.scores, shared.runs, shared.topics
    run_means, topic_means, mean = scores.mean(axis=1), scores.mean(axis=0), scores.mean()
    rest = scores - run_means[:, None] - topic_means + mean
    degrees = (runs - 1) * (topics - 1)
    return TwoWay(
        run_means,
        of_runs=_mean_square(run_means - mean, topics / (runs - 1), shared),
        of_topics=_mean_square(topic_means - mean, runs / (topics - 1), shared),
        of_rest=_mean_square(rest, 1 / degrees, shared),
        degrees=degrees,
    )


def _mean_square(deviations: Values, times: float, shared: SharedTopics) -> float:
    if (np.abs(deviations) <= shared.least_spread).all():
        return 0.0
    return times * float((deviations**2).sum())
