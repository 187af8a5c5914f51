"""How much of the variance of scores lies in the topics, how much in the runs, and how much between them."""

from dataclasses import dataclass

import numpy as np

from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.results import SharedTopics, Undefined, shared_topics


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


@dataclass(frozen=True)
class Component:
    """One part: its variance, and its share of all from 0 to 1.

    An estimate below 0 counts as 0, and `reason` says so; where there is no value it says why.
    """

    variance: float | None
    share: float | None
    estimate: float | None  # as it came out
    reason: Undefined | None = None


@dataclass(frozen=True)
class VarianceShares:
    """The parts; the last is interaction of topics and runs and error, which one score of each cannot tell apart."""

    topics: int  # on which all runs have a score
    left_out: int  # the others
    of_topics: Component
    of_runs: Component
    of_interaction: Component


def variance_shares(scores: Values) -> VarianceShares:
    """Share out the variance of scores, (runs, topics), NaN where there is none.

    Components of the two-way model with random runs and topics, from the mean squares (Tague-Sutcliffe and Blustein,
    TREC-3; Bodoff and Li, SIGIR 2007).
    """
    shared = shared_topics(scores)
    reason = shared.too_small
    layout = None if reason else two_way(shared)
    estimates = _estimates(layout, shared.runs, shared.topics) if layout else []
    total = sum(max(estimate, 0) for estimate in estimates)
    if not total:
        nothing = Component(None, None, None, reason or Undefined.ALL_EQUAL)
        return VarianceShares(shared.topics, shared.left_out, nothing, nothing, nothing)
    return VarianceShares(shared.topics, shared.left_out, *(_component(estimate, total) for estimate in estimates))


def deviation_of_differences(scores: Values) -> Figure:
    """How far differences of two runs spread over topics, all pairs taken together: the root of their mean variance.

    It is the root of twice the mean square of what neither runs nor topics explain.
    """
    shared = shared_topics(scores)
    reason = shared.too_small
    return Figure(None, reason) if reason else Figure((2 * two_way(shared).of_rest) ** 0.5)


def _estimates(layout: TwoWay, runs: int, topics: int) -> list[float]:
    """Of topics, runs and the rest: what mean squares exceed that of the rest by, of one score."""
    return [(layout.of_topics - layout.of_rest) / runs, (layout.of_runs - layout.of_rest) / topics, layout.of_rest]


def _component(estimate: float, total: float) -> Component:
    variance = max(estimate, 0.0)
    return Component(variance, variance / total, estimate, Undefined.NEGATIVE_ESTIMATE if estimate < 0 else None)
