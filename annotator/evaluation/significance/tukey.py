"""Tukey's honestly significant difference of all pairs of runs, and the studentised range behind it.

All pairs together err no more often than one test would. The model pools the variance of all runs, so two runs that
are much alike may differ by a paired test and not by this one: look at both. The studentised range adds terms above 0
only, so that the smallest p values are as exact as the large; SciPy's own takes some milliseconds a value, and there
are thousands of pairs.
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
MOST_RANGE = 60.0  # of unit normals; the chance of more is below 1e-390
STEP_OF_SCALE = 0.1
NEGLIGIBLE = 40.0  # exp of -40
LEAST_LOGARITHM = -750  # exp of less is 0
NODES = 128  # of the polynomial through which many values are read
MOST_POINTS = 1 << 20
BISECTIONS = 60


def studentised_range_p(ranges: Values, means: int, degrees: int) -> Values:
    """Give the chance that the range of so many means, over their standard error, is at least so much.

    The error has so many degrees of freedom, at least 1, and there are two means at least; ranges are 0 or more.
    """
    distinct, place = np.unique(ranges, return_inverse=True)
    if distinct.size <= NODES:
        p = np.exp(_log_p(distinct, means, degrees))
    else:
        # Its logarithm over the range's is so smooth that a polynomial through some of the values gives all of them.
        domain = (float(np.log1p(distinct[0])), float(np.log1p(distinct[-1])))
        curve = Chebyshev.interpolate(lambda x: _log_p(np.expm1(x), means, degrees), NODES - 1, domain)
        p = np.exp(np.minimum(curve(np.log1p(distinct)), 0))
    of_ranges: Values = p[place].reshape(ranges.shape)
    return of_ranges


@lru_cache(maxsize=256)  # a search of sixty steps, for numbers of runs and topics that seldom change
def critical_range(alpha: float, means: int, degrees: int) -> float:
    """Give the range that is reached by chance with probability `alpha`."""
    low, high = 0.0, 4.0
    while _log_p(np.array([high]), means, degrees)[0] > log(alpha):
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        is_below = _log_p(np.array([middle]), means, degrees)[0] > log(alpha)
        low, high = (middle, high) if is_below else (low, middle)
    return (low + high) / 2


def _log_p(ranges: Values, means: int, degrees: int) -> Values:
    """The range of unit normals exceeds the given one times the estimated deviation: the mean over that deviation."""
    logs, weights = _deviations(float(ranges.max()), degrees)
    step = max(MOST_POINTS // (logs.size * 200), 1)
    pieces = [
        (_normal_range_p(some[:, None] * np.exp(logs), means) * weights).sum(axis=1)
        for some in np.split(ranges, range(step, ranges.size, step))
    ]
    # What is too small for a number counts as the smallest.
    logarithms: Values = np.log(np.clip(np.concatenate(pieces), np.finfo(float).tiny, 1))
    return logarithms


def _deviations(largest_range: float, degrees: int) -> tuple[Values, Values]:
    """Logarithms of estimated deviations whose true value is 1, and how likely each is (a chi distribution)."""
    step = min(STEP_OF_SCALE, 0.5 / np.sqrt(2 * degrees))
    # Small deviations are rare, but those under which a large range is none decide over the smallest p values.
    lowest = -(log(1 + largest_range) + NEGLIGIBLE / degrees)
    logs = np.arange(max(lowest, -40.0), 0.5 * np.log1p(2 * NEGLIGIBLE / degrees) + 20 * step, step)
    half = degrees / 2
    density = log(2) + half * log(half) - lgamma(half) + degrees * logs - half * np.exp(2 * logs)
    keep = density > LEAST_LOGARITHM
    return logs[keep], np.exp(density[keep]) * step


def _normal_range_p(ranges: Values, means: int) -> Values:
    """The chance that so many unit normals have at least this range; of the largest of them, whether one is so low."""
    ranges = np.minimum(ranges, MOST_RANGE)
    largest = np.arange(LOWEST_MEAN, max(-LOWEST_MEAN, float(ranges.max()) / 2 + 7), STEP_OF_MEAN)
    logarithm = -(largest**2) / 2 + (means - 1) * special().log_ndtr(largest)
    weight = np.exp(logarithm) * means * STEP_OF_MEAN / np.sqrt(2 * np.pi)
    lower = np.minimum(special().ndtr(largest - ranges[..., None]) / special().ndtr(largest), 1)
    with np.errstate(divide="ignore"):  # of a range of 0, all others are as low: log1p(-1)
        some = -np.expm1((means - 1) * np.log1p(-lower))
    chance: Values = (some * weight).sum(axis=-1)
    return chance


PERMUTATIONS = 20_000
FEWEST_PERMUTATIONS = 19  # with which p can be 5 %
MOST_CELLS = 1 << 21  # of permutations, topics and runs at a time


@dataclass(frozen=True, eq=False)
class TukeyTest:
    """Of every two runs p; runs whose means are further apart than the critical difference differ at 5 %."""

    topics: int  # on which all runs have a score
    left_out: int  # the others
    means: Values  # one a run, NaN without a topic
    critical_difference: Figure
    p: PairFigures


@dataclass(frozen=True, eq=False)
class ModelTukeyTest(TukeyTest):
    """Tukey's test from the two-way model of runs and topics."""

    mean_square: Figure  # of what neither explains
    degrees: int  # of freedom of that; 0 where there is none


@dataclass(frozen=True, eq=False)
class RandomisedTukeyTest(TukeyTest):
    """Tukey's test by permuting scores; `permutations` is 0 where there was nothing to permute."""

    permutations: int
    seed: int


def tukey_hsd(scores: Values) -> ModelTukeyTest:
    """Test all pairs of runs, (runs, topics), NaN where there is no score, by the studentised range.

    The two-way model of Carterette (TOIS 2012): the critical difference is the range's 95 % point times the root of
    the mean square of the rest over the number of topics.
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
    """Test all pairs of runs by permuting the scores within each topic, as if the runs were one and the same.

    p is the share of permutations in which the best and the worst run are at least as far apart, what was observed
    counted among them (Carterette, TOIS 2012; Sakai 2018). Calls `advance` as often as `steps_of_permuting` says.
    Raises `InvalidValueError` when the permutations are too few for any p to be 5 %.
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
    # So many ranges may reach a difference that p is just 5 %; it must exceed the next.
    allowed = int(ALPHA * (permutations + 1)) - 1
    critical = Figure(float(ranges[permutations - allowed - 1]))
    return RandomisedTukeyTest(shared.topics, shared.left_out, means, critical, p, permutations, seed)


def steps_of_permuting(scores: Values, permutations: int = PERMUTATIONS) -> int:
    """How often `randomised_tukey_hsd` calls `advance`, when there is anything to permute."""
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
    """How far apart the best and the worst mean are in each permutation, the smallest first."""
    chance = np.random.default_rng(seed)
    topics = scores.shape[1]
    step = min(_permutations_at_a_time(scores), permutations)
    block = np.repeat(scores.T[np.newaxis], step, axis=0)  # shape: permutations, topics, runs
    ranges = np.empty(permutations)
    for start in range(0, permutations, step):
        some = block[: permutations - start]
        chance.permuted(some, axis=2, out=some)  # what has been permuted may be permuted again
        ranges[start : start + len(some)] = np.ptp(some.sum(axis=1), axis=1) / topics
        advance()
    return np.sort(ranges)
