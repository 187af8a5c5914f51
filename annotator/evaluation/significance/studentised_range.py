"""The studentised range: how far apart the extremes of several equal means lie by chance (Student 1927; Tukey 1953).

All sums are of terms above 0, so that the smallest p values are as exact as the large. SciPy's own takes some
milliseconds a value, and there are thousands of pairs.
"""

from functools import lru_cache
from math import lgamma, log

import numpy as np
from numpy.polynomial.chebyshev import Chebyshev

from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.distributions import special

# Trapezoids over functions that are smooth and vanish at both ends: the error falls exponentially with the step.
STEP_OF_MEAN = 0.125
LOWEST_MEAN = -9.0
MOST_RANGE = 60.0  # of unit normals; the chance of more is below 1e-390
STEP_OF_SCALE = 0.1
NEGLIGIBLE = 40.0  # exp of -40
LEAST_LOGARITHM = -750  # exp of less is 0
NODES = 128  # of the polynomial through which many values are read
MOST_CELLS = 1 << 20
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
    step = max(MOST_CELLS // (logs.size * 200), 1)
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
