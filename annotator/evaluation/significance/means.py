"""Mean scores of runs with 95 % confidence intervals, topics being a sample from a population."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.figures import Figure, Interval
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.distributions import special
from annotator.evaluation.significance.results import ALPHA, LEAST_SPREAD, Undefined

DRAWS = 10_000
UNBOUNDED = (-np.inf, np.inf)
MOST_CELLS = 1 << 20  # drawn at a time


class IntervalMethod(StrEnum):
    """How the confidence interval is computed."""

    T = "t"  # from Student's distribution and the standard deviation over topics
    BOOTSTRAP = "bootstrap"  # percentiles of the means of topics drawn with replacement


@dataclass(frozen=True)
class RunMean:
    """The mean of one run over the topics on which it has a score, and its confidence interval."""

    mean: Figure
    interval: Interval
    topics: int


def run_means(
    scores: Values,
    method: IntervalMethod = IntervalMethod.T,
    *,
    bounds: tuple[float, float] = UNBOUNDED,
    seed: int = 0,
    draws: int = DRAWS,
) -> tuple[RunMean, ...]:
    """Average every run's scores, (runs, topics), NaN where there is none; the seed is for the bootstrap.

    The same topics are drawn for all runs with scores on the same topics. Intervals are clipped to `bounds`, the
    least and the greatest possible score.
    """
    known = ~np.isnan(scores)
    if known.all():  # the usual case: no grouping by topics is needed
        return tuple(_means_of_block(scores, method, bounds, seed, draws))
    kinds, kind = np.unique(known, axis=0, return_inverse=True)
    means: list[RunMean | None] = [None] * len(scores)
    for number, topics in enumerate(kinds):
        runs = np.flatnonzero(kind == number)
        block = scores[np.ix_(runs, np.flatnonzero(topics))]
        for run, mean in zip(runs.tolist(), _means_of_block(block, method, bounds, seed, draws), strict=True):
            means[run] = mean
    return tuple(mean for mean in means if mean is not None)


def mean_intervals(
    scores: Values, method: IntervalMethod, *, bounds: tuple[float, float], seed: int = 0, draws: int = DRAWS
) -> list[Interval]:
    """Return the interval of every run's mean, as in `run_means`; scores, (runs, topics), are complete.

    A t interval is symmetric and may exceed the least or greatest possible mean. It is clipped there, which does not
    reduce its coverage.
    """
    runs, topics = scores.shape
    if topics == 1:
        return [Interval(None, Undefined.ONE_TOPIC)] * runs
    low, high = _ends(scores, method, seed, draws)
    ends = zip(np.maximum(low, bounds[0]).tolist(), np.minimum(high, bounds[1]).tolist(), strict=True)
    has_spread = np.ptp(scores, axis=1) > LEAST_SPREAD * np.abs(scores).max(axis=1)
    nothing = Interval(None, Undefined.NO_SPREAD)
    return [Interval(pair) if spread else nothing for pair, spread in zip(ends, has_spread.tolist(), strict=True)]


def _means_of_block(
    scores: Values, method: IntervalMethod, bounds: tuple[float, float], seed: int, draws: int
) -> list[RunMean]:
    runs, topics = scores.shape
    if not topics:
        nothing = RunMean(Figure(None, Undefined.NO_TOPIC), Interval(None, Undefined.NO_TOPIC), 0)
        return [nothing] * runs
    means = scores.mean(axis=1).tolist()
    intervals = mean_intervals(scores, method, bounds=bounds, seed=seed, draws=draws)
    return [RunMean(Figure(mean), interval, topics) for mean, interval in zip(means, intervals, strict=True)]


def _ends(scores: Values, method: IntervalMethod, seed: int, draws: int) -> tuple[Values, Values]:
    """Return the ends of the intervals before clipping."""
    topics = scores.shape[1]
    if method is IntervalMethod.T:
        means = scores.mean(axis=1)
        half = special().stdtrit(topics - 1, 1 - ALPHA / 2) * scores.std(axis=1, ddof=1) / np.sqrt(topics)
        return means - half, means + half
    low, high = np.percentile(_drawn_means(scores, seed, draws), (50 * ALPHA, 100 - 50 * ALPHA), axis=0)
    return low, high


def _drawn_means(scores: Values, seed: int, draws: int) -> Values:
    """Return the runs' means over topics drawn with replacement, (draws, runs)."""
    chance = np.random.default_rng(seed)
    topics = scores.shape[1]
    step = max(MOST_CELLS // topics, 1)
    means = np.empty((draws, len(scores)))
    for start in range(0, draws, step):
        times = _times_drawn(chance, min(step, draws - start), topics)
        means[start : start + len(times)] = times @ scores.T / topics
    return means


def _times_drawn(chance: np.random.Generator, draws: int, topics: int) -> NDArray[np.float64]:
    """Return how often each topic is drawn, (draws, topics)."""
    drawn = chance.integers(0, topics, (draws, topics)) + np.arange(draws)[:, np.newaxis] * topics
    return np.bincount(drawn.ravel(), minlength=draws * topics).reshape(draws, topics).astype(np.float64)
