"""Tukey's honestly significant difference of all pairs of runs, and the studentised range behind it.

The family-wise error over all pairs is that of one test. The model pools the variance of all runs, so two similar
runs may differ by a paired test and not by this one: look at both. The studentised range sums positive terms only, so
that small p values are as accurate as large ones; SciPy's own takes some milliseconds per value, and there are
thousands of pairs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import lgamma, log

import numpy as np
from numpy.polynomial.chebyshev import Chebyshev

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.distributions import special
from annotator.evaluation.significance.results import ALPHA, PairFigures, SharedTopics, Undefined, shared_topics
from annotator.evaluation.significance.variance import two_way

# Trapezoids over functions that are smooth and vanish at both ends: the error falls exponentially with the step.
STEP_OF_MEAN = 0.125
LOWEST_MEAN = -9.0
MOST_RANGE = 60.0  # of standard normals; larger ones have a probability below 1e-390
STEP_OF_SCALE = 0.1
NEGLIGIBLE = 40.0  # exp of -40
LEAST_LOGARITHM = -750  # exp of less is 0
NODES = 128  # of the polynomial that interpolates many values
MOST_POINTS = 1 << 20
BISECTIONS = 60


def studentised_range_p(ranges: Values, means: int, degrees: int) -> Values:
    """Return the probability that the studentised range of `means` means is at least each of `ranges`.

    The error has `degrees` degrees of freedom, at least 1; there are at least two means; ranges are 0 or more.
    """
    distinct, place = np.unique(ranges, return_inverse=True)
    if distinct.size <= NODES:
        p = np.exp(_log_p(distinct, means, degrees))
    else:
        # log p as a function of the range's logarithm is so smooth that a polynomial interpolates it accurately.
        domain = (float(np.log1p(distinct[0])), float(np.log1p(distinct[-1])))
        curve = Chebyshev.interpolate(lambda x: _log_p(np.expm1(x), means, degrees), NODES - 1, domain)
        p = np.exp(np.minimum(curve(np.log1p(distinct)), 0))
    of_ranges: Values = p[place].reshape(ranges.shape)
    return of_ranges


@lru_cache(maxsize=256)  # a bisection of sixty steps, for rarely changing arguments
def critical_range(alpha: float, means: int, degrees: int) -> float:
    """Return the range that is exceeded with probability `alpha` under the null hypothesis."""
    low, high = 0.0, 4.0
    while _log_p(np.array([high]), means, degrees)[0] > log(alpha):
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        is_below = _log_p(np.array([middle]), means, degrees)[0] > log(alpha)
        low, high = (middle, high) if is_below else (low, middle)
    return (low + high) / 2


def _log_p(ranges: Values, means: int, degrees: int) -> Values:
    """Return log p: P(range of standard normals > range * deviation), averaged over the estimated deviation."""
    logs, weights = _deviations(float(ranges.max()), degrees)
    step = max(MOST_POINTS // (logs.size * 200), 1)
    pieces = [
        (_normal_range_p(some[:, None] * np.exp(logs), means) * weights).sum(axis=1)
        for some in np.split(ranges, range(step, ranges.size, step))
    ]
    # Underflow counts as the smallest positive number.
    logarithms: Values = np.log(np.clip(np.concatenate(pieces), np.finfo(float).tiny, 1))
    return logarithms


def _deviations(largest_range: float, degrees: int) -> tuple[Values, Values]:
    """Return logarithms of estimated deviations whose true value is 1, and their weights (chi distribution)."""
    step = min(STEP_OF_SCALE, 0.5 / np.sqrt(2 * degrees))
    # Small deviations are rare, but they dominate the smallest p values.
    lowest = -(log(1 + largest_range) + NEGLIGIBLE / degrees)
    logs = np.arange(max(lowest, -40.0), 0.5 * np.log1p(2 * NEGLIGIBLE / degrees) + 20 * step, step)
    half = degrees / 2
    density = log(2) + half * log(half) - lgamma(half) + degrees * logs - half * np.exp(2 * logs)
    keep = density > LEAST_LOGARITHM
    return logs[keep], np.exp(density[keep]) * step


def _normal_range_p(ranges: Values, means: int) -> Values:
    """Return P(range of `means` standard normals >= range), integrated over the largest of them."""
    ranges = np.minimum(ranges, MOST_RANGE)
    largest = np.arange(LOWEST_MEAN, max(-LOWEST_MEAN, float(ranges.max()) / 2 + 7), STEP_OF_MEAN)
    logarithm = -(largest**2) / 2 + (means - 1) * special().log_ndtr(largest)
    weight = np.exp(logarithm) * means * STEP_OF_MEAN / np.sqrt(2 * np.pi)
    lower = np.minimum(special().ndtr(largest - ranges[..., None]) / special().ndtr(largest), 1)
    with np.errstate(divide="ignore"):  # for a range of 0: log1p(-1)
        some = -np.expm1((means - 1) * np.log1p(-lower))
    chance: Values = (some * weight).sum(axis=-1)
    return chance


PERMUTATIONS = 20_000
FEWEST_PERMUTATIONS = 19  # with which p can be 5 %
MOST_CELLS = 1 << 21  # permutations x topics x runs at a time


@dataclass(frozen=True, eq=False)
class TukeyTest:
    """p of every pair of runs; runs whose means differ by more than the critical difference differ at 5 %."""

    topics: int  # with scores of all runs
    left_out: int  # the others
    means: Values  # one per run, NaN without a topic
    critical_difference: Figure
    p: PairFigures


@dataclass(frozen=True, eq=False)
class ModelTukeyTest(TukeyTest):
    """Tukey's test from the two-way model of runs and topics."""

    mean_square: Figure  # of the residual
    degrees: int  # of freedom of the residual; 0 where there is none


@dataclass(frozen=True, eq=False)
class RandomisedTukeyTest(TukeyTest):
    """Tukey's test by permuting scores; `permutations` is 0 where there was nothing to permute."""

    permutations: int
    seed: int


def tukey_hsd(scores: Values) -> ModelTukeyTest:
    """Test all pairs of runs, (runs, topics), NaN where there is no score, by the studentised range.

    The two-way model of Carterette (TOIS 2012): the critical difference is the range's 95 % point times the root of
    the residual mean square over the number of topics.
    """
    shared = shared_topics(scores)
    reason = shared.too_small
    if reason is not None:
        return ModelTukeyTest(*_without_value(shared, reason), Figure(None, reason), 0)
    layout = two_way(shared)
    if not layout.of_rest:
        reason = Undefined.SAME_DIFFERENCE if layout.of_runs else Undefined.NO_DIFFERENCE
        return ModelTukeyTest(*_without_value(shared, reason), Figure(layout.of_rest), layout.degrees)
    error = (layout.of_rest / shared.topics) ** 0.5
    p = studentised_range_p(_differences(layout.run_means) / error, shared.runs, layout.degrees)
    critical = critical_range(ALPHA, shared.runs, layout.degrees) * error
    return ModelTukeyTest(
        *(shared.topics, shared.left_out, layout.run_means, Figure(critical), PairFigures.of_matrix(p)),
        mean_square=Figure(layout.of_rest),
        degrees=layout.degrees,
    )


def randomised_tukey_hsd(
    scores: Values, *, seed: int, permutations: int = PERMUTATIONS, advance: Callable[[], None] = lambda: None
) -> RandomisedTukeyTest:
    """Test all pairs of runs by permuting the scores within each topic, under the null that all runs are equal.

    p is the share of permutations in which the best and the worst run are at least as far apart, the observed data
    included (Carterette, TOIS 2012; Sakai 2018). Calls `advance` `steps_of_permuting` times.
    Raises `InvalidValueError` when the permutations are too few for any p of 5 %.
    """
    if permutations < FEWEST_PERMUTATIONS:
        raise InvalidValueError("It takes at least %(fewest)d permutations.", fewest=FEWEST_PERMUTATIONS)
    shared = shared_topics(scores)
    reason = shared.too_small
    if reason is None and (np.ptp(shared.scores, axis=0) <= shared.least_spread).all():
        reason = Undefined.NO_DIFFERENCE
    if reason is not None:
        return RandomisedTukeyTest(*_without_value(shared, reason), 0, seed)
    ranges = _ranges(shared.scores, permutations, seed, advance)
    means = shared.scores.mean(axis=1)
    smaller = np.searchsorted(ranges, _differences(means) - shared.least_spread, "left")
    p = PairFigures.of_matrix((permutations - smaller + 1) / (permutations + 1))
    # The most ranges that may reach a difference with p at most 5 %; it must exceed the next.
    allowed = int(ALPHA * (permutations + 1)) - 1
    critical = Figure(float(ranges[permutations - allowed - 1]))
    return RandomisedTukeyTest(shared.topics, shared.left_out, means, critical, p, permutations, seed)


def steps_of_permuting(scores: Values, permutations: int = PERMUTATIONS) -> int:
    """Return how often `randomised_tukey_hsd` calls `advance`, when there is anything to permute."""
    return -(-permutations // _permutations_at_a_time(shared_topics(scores).scores))


def _without_value(shared: SharedTopics, reason: Undefined) -> tuple[int, int, Values, Figure, PairFigures]:
    means = shared.scores.mean(axis=1) if shared.topics else np.full(shared.runs, np.nan)
    return shared.topics, shared.left_out, means, Figure(None, reason), PairFigures.without_value(shared.runs, reason)


def _differences(means: Values) -> Values:
    apart: Values = np.abs(means[:, None] - means)
    return apart


def _permutations_at_a_time(scores: Values) -> int:
    return max(MOST_CELLS // max(scores.size, 1), 1)


def _ranges(scores: Values, permutations: int, seed: int, advance: Callable[[], None]) -> Values:
    """Return the difference of best and worst mean in each permutation, ascending."""
    chance = np.random.default_rng(seed)
    topics = scores.shape[1]
    step = min(_permutations_at_a_time(scores), permutations)
    block = np.repeat(scores.T[np.newaxis], step, axis=0)  # shape: permutations, topics, runs
    ranges = np.empty(permutations)
    for start in range(0, permutations, step):
        some = block[: permutations - start]
        chance.permuted(some, axis=2, out=some)  # permuting in place: a permuted block can be permuted again
        ranges[start : start + len(some)] = np.ptp(some.sum(axis=1), axis=1) / topics
        advance()
    return np.sort(ranges)
