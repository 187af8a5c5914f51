"""Variance components of scores by topics and runs, and the number of topics needed to separate two runs."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.figures import Figure, SentenceEnum
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.distributions import special
from annotator.evaluation.significance.results import ALPHA, SharedTopics, Undefined, shared_topics
from annotator.evaluation.significance.two_runs import paired_t


@dataclass(frozen=True, eq=False)
class TwoWay:
    """The mean squares of a two-way ANOVA (Fisher 1925) of at least two runs and two topics."""

    run_means: Values
    of_runs: float
    of_topics: float
    of_rest: float  # residual: interaction and error, which one score per cell cannot separate
    degrees: int  # of freedom of the residual


def two_way(shared: SharedTopics) -> TwoWay:
    """Compute the mean squares; one that is due to rounding alone is 0."""
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
    """A variance component and its share of the total, from 0 to 1.

    A negative estimate counts as 0; `reason` has this, or why there is no value.
    """

    variance: float | None
    share: float | None
    estimate: float | None  # before truncation at 0
    reason: Undefined | None = None


@dataclass(frozen=True)
class VarianceShares:
    """The components; the last is interaction and error, which one score per cell cannot separate."""

    topics: int  # with scores of all runs
    left_out: int  # the others
    of_topics: Component
    of_runs: Component
    of_interaction: Component


def variance_shares(scores: Values) -> VarianceShares:
    """Estimate the variance components of scores, (runs, topics), NaN where there is none.

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
    """Return the standard deviation over topics of the difference of two runs, pooled over all pairs.

    It is the root of twice the residual mean square.
    """
    shared = shared_topics(scores)
    reason = shared.too_small
    return Figure(None, reason) if reason else Figure((2 * two_way(shared).of_rest) ** 0.5)


def _estimates(layout: TwoWay, runs: int, topics: int) -> list[float]:
    """Estimate the components of topics, runs and residual from the mean squares."""
    return [(layout.of_topics - layout.of_rest) / runs, (layout.of_runs - layout.of_rest) / topics, layout.of_rest]


def _component(estimate: float, total: float) -> Component:
    variance = max(estimate, 0.0)
    return Component(variance, variance / total, estimate, Undefined.NEGATIVE_ESTIMATE if estimate < 0 else None)


POWER = 0.8
MOST_TOPICS = 1_000_000
# SciPy's noncentral t fails beyond these shifts; the probability of the wrong direction is then below 1e-11, and the
# power is 1.
MOST_SHIFT_BELOW, MOST_SHIFT = 5.0, 1e6


@dataclass(frozen=True)
class TopicsNeeded:
    """The least number of topics at which a true difference is found with probability `power`.

    `topics` is None exactly when `reason` is set.
    """

    topics: int | None
    reason: SentenceEnum | None
    difference: float | None  # to be detected, in absolute value
    deviation: float | None  # standard deviation of the differences over topics
    power: float
    alpha: float


def topics_to_tell_apart(
    first: Values, second: Values, difference: float | None = None, *, power: float = POWER, alpha: float = ALPHA
) -> TopicsNeeded:
    """Compute the topics needed from two runs' scores on the same topics, NaN where there is none.

    The difference to detect is `difference`, else that of the means; the standard deviation of differences is that on
    these topics. Raises `InvalidValueError` as `topics_needed`.
    """
    shared = shared_topics(np.stack([first, second]))
    tests = paired_t(shared.scores[1:] - shared.scores[:1], shared.least_spread)
    test = tests.of(0)
    observed = None if test.difference.value is None else abs(test.difference.value)
    wanted = observed if difference is None else difference
    reason = test.p.reason
    if reason is None and wanted is not None and wanted <= shared.least_spread and difference is None:
        reason = Undefined.SAME_MEAN
    if reason is not None or wanted is None or test.deviation.value is None:
        return TopicsNeeded(None, reason, wanted, test.deviation.value, power, alpha)
    return topics_needed(wanted, test.deviation.value, power=power, alpha=alpha)


def topics_needed(difference: float, deviation: float, *, power: float = POWER, alpha: float = ALPHA) -> TopicsNeeded:
    """Compute the topics needed for a difference and a standard deviation of differences, by the noncentral t.

    Cohen 1988; in retrieval Sakai 2018. Raises `InvalidValueError` when one of the two is not above 0, or power or
    alpha not between 0 and 1.
    """
    if not (difference > 0 and deviation > 0):
        raise InvalidValueError("The difference to be found and the standard deviation must be above 0.")
    if not (0 < power < 1 and 0 < alpha < 1):
        raise InvalidValueError("Power and error must be between 0 and 1.")
    effect = difference / deviation
    counts = range(2, MOST_TOPICS + 1)
    place = bisect_left(counts, power, key=lambda topics: power_of_paired_t(effect, topics, alpha))
    reason = Undefined.TOO_MANY_TOPICS if place == len(counts) else None
    return TopicsNeeded(None if reason else counts[place], reason, difference, deviation, power, alpha)


def power_of_paired_t(effect: float, topics: int, alpha: float = ALPHA) -> float:
    """Return the power of the two-sided test for a true effect (d_z, above 0) on `topics` topics, at least 2."""
    degrees, shift = topics - 1, min(effect * topics**0.5, MOST_SHIFT)
    critical = float(special().stdtrit(degrees, 1 - alpha / 2))
    opposite = float(special().nctdtr(degrees, shift, -critical)) if shift < MOST_SHIFT_BELOW else 0.0
    return 1 - float(special().nctdtr(degrees, shift, critical)) + opposite
