"""Recall estimated from documents that were drawn at random: the number of relevant documents, and exact bounds of it.

The number of relevant documents in a random sample without replacement has a hypergeometric distribution, so that the
bounds need no approximation. Documents that a strategy chose have no probability, and nothing is estimated from them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotator.evaluation.significance.distributions import special

Whole = NDArray[np.int64]
Reals = NDArray[np.float64]
ALPHA = 0.05
NORMAL_QUANTILE = 1.959963984540054  # two-sided, 95 %
NEGLIGIBLE = 1e-17


class SampledStratum(NamedTuple):
    """Documents from which some were drawn at random, and what is known of them.

    `judged` and `relevant` are of the drawn documents; `known_relevant` and `known` of all, however they were chosen.
    """

    size: int
    drawn: int
    judged: int
    relevant: int
    known: int
    known_relevant: int


class IntervalMethod(StrEnum):
    """How an interval was computed: exact, or by the normal distribution."""

    HYPERGEOMETRIC = "hypergeometric"
    NORMAL = "normal"


@dataclass(frozen=True)
class RecallEstimate:
    """Recall with its 95 % interval, and the estimated number of relevant documents, from the Horvitz-Thompson sum.

    `deviation` is the standard deviation of that number, None where a stratum has a single judged document.
    """

    recall: float
    low: float
    high: float
    relevant: float
    deviation: float | None
    method: IntervalMethod


def hypergeometric_cdf(found: ArrayLike, size: ArrayLike, relevant: ArrayLike, drawn: ArrayLike) -> Reals:
    """Return P(X <= found) for the relevant documents X among `drawn` of `size` documents, `relevant` of them relevant.

    Element by element. It is 0 where there cannot be so many relevant documents: `relevant` > `size`.
    """
    k, n_all, n_relevant, n = np.broadcast_arrays(
        *(np.asarray(one, np.float64) for one in (found, size, relevant, drawn))
    )
    result = np.where(k >= np.minimum(n, n_relevant), 1.0, 0.0)
    impossible = n_relevant > n_all
    least = np.maximum(0, n + n_relevant - n_all)
    inside = ~impossible & (k >= least) & (result == 0)
    result[impossible] = 0.0
    if inside.any():
        result[inside] = _sums(k[inside], n_all[inside], n_relevant[inside], n[inside])
    return np.asarray(result, np.float64)


def _sums(k: Reals, size: Reals, relevant: Reals, drawn: Reals) -> Reals:
    """Add up the terms away from the mean, from the greatest: down from k, or up from k + 1 for the complement."""
    is_above = k > drawn * relevant / size
    at = np.where(is_above, k + 1, k)
    term = np.exp(_log_binomial(relevant, at) + _log_binomial(size - relevant, drawn - at) - _log_binomial(size, drawn))
    total = term.copy()
    step = np.where(is_above, 1.0, -1.0)
    while True:
        up = np.where(is_above, at, at - 1)  # the ratio of the terms up + 1 and up
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (relevant - up) * (drawn - up) / ((up + 1) * (size - relevant - drawn + up + 1))
            term = np.where(is_above, term * ratio, np.where(ratio > 0, term / ratio, 0.0))
        at = at + step
        term = np.where(at < 0, 0.0, term)
        total += term
        if not (term > NEGLIGIBLE * total).any():
            return np.asarray(np.clip(np.where(is_above, 1 - total, total), 0, 1), np.float64)


def _log_binomial(of: Reals, chosen: Reals) -> Reals:
    log_gamma = special().gammaln
    return np.asarray(log_gamma(of + 1) - log_gamma(chosen + 1) - log_gamma(of - chosen + 1), np.float64)


def greatest_relevant(found: ArrayLike, size: ArrayLike, drawn: ArrayLike, alpha: ArrayLike) -> Whole:
    """Return the greatest number of relevant documents with P(X <= found) > alpha: the exact upper bound, 1 - alpha."""
    k, n_all, n, risk = np.broadcast_arrays(
        *(np.asarray(one) for one in (found, size, drawn)), np.asarray(alpha, np.float64)
    )
    low, high = k.astype(np.int64), (n_all - (n - k)).astype(np.int64)
    while (low < high).any():
        middle = (low + high + 1) // 2
        is_possible = hypergeometric_cdf(k, n_all, middle, n) > risk
        low, high = np.where(is_possible, middle, low), np.where(is_possible, high, middle - 1)
    return low


def least_relevant(found: ArrayLike, size: ArrayLike, drawn: ArrayLike, alpha: ArrayLike) -> Whole:
    """Return the least number of relevant documents with P(X >= found) > alpha: the exact lower bound, 1 - alpha."""
    k, n_all, n = np.broadcast_arrays(*(np.asarray(one) for one in (found, size, drawn)))
    # The other documents are the relevant ones of the mirrored question.
    return np.asarray(n_all - greatest_relevant(n - k, n_all, n, alpha), np.int64)


def estimate_recall(
    strata: Sequence[SampledStratum], outside: int, alpha: float = ALPHA, *, pooled: bool = False
) -> RecallEstimate | None:
    """Estimate recall; None without a random sample, and where nothing of a stratum is judged or relevant.

    `outside` is the number of relevant documents that are known beside the strata. With several strata each bound is
    taken with its part of alpha (Bonferroni). With `pooled` they are taken for one sample, which is right for strata of
    topics judged at the same rate, a little cautiously; at different rates, as while the sample is being judged, the
    interval is that of the normal distribution, if there is a deviation. Horvitz and Thompson, JASA 1952; Li and
    Kanoulas, TOIS 2020.
    """
    if not strata or any(not one.judged for one in strata):
        return None
    found = outside + sum(one.known_relevant for one in strata)
    total = outside + sum(map(estimated_relevant, strata))
    deviation = horvitz_thompson_deviation(strata)
    if not total:
        return None
    columns = np.array(strata, np.int64).T
    size, _, judged, relevant, known, known_relevant = columns
    least_of, most_of = known_relevant, size - (known - known_relevant)
    is_one_rate = np.ptp(judged / size) <= 1 / size.min()  # no more than rounding up explains
    if pooled and not is_one_rate and deviation is not None:
        width = NORMAL_QUANTILE * deviation
        return _estimate(found, total, (total - width, total + width), deviation, IntervalMethod.NORMAL)
    if pooled and is_one_rate and len(strata) > 1:
        bounds = _bounds(relevant.sum(keepdims=True), size.sum(keepdims=True), judged.sum(keepdims=True), alpha)
        low, high = max(float(bounds[0][0]), float(least_of.sum())), min(float(bounds[1][0]), float(most_of.sum()))
    else:
        lows, highs = _bounds(relevant, size, judged, alpha / len(strata))
        low, high = float(np.maximum(lows, least_of).sum()), float(np.minimum(highs, most_of).sum())
    return _estimate(found, total, (low + outside, high + outside), deviation, IntervalMethod.HYPERGEOMETRIC)


def estimated_relevant(stratum: SampledStratum) -> float:
    """Return the Horvitz-Thompson sum of relevant documents, between those known and those that are still possible."""
    possible = stratum.size - (stratum.known - stratum.known_relevant)
    return min(max(stratum.size * stratum.relevant / stratum.judged, stratum.known_relevant), possible)


def _bounds(relevant: Whole, size: Whole, judged: Whole, alpha: float) -> tuple[Whole, Whole]:
    return (
        least_relevant(relevant, size, judged, alpha / 2),
        greatest_relevant(relevant, size, judged, alpha / 2),
    )


def _estimate(
    found: int, total: float, bounds: tuple[float, float], deviation: float | None, method: IntervalMethod
) -> RecallEstimate:
    low, high = max(min(bounds[0], total), found), max(bounds[1], total, found)  # the sum knows each stratum's limits
    share_low, share_high = (found / one if one else 1.0 for one in (high, low))
    return RecallEstimate(found / total, share_low, min(share_high, 1.0), total, deviation, method)


def horvitz_thompson_deviation(strata: Sequence[SampledStratum]) -> float | None:
    """Return the standard deviation of the Horvitz-Thompson sum; None where a stratum has a single judged document.

    Of n of N documents without replacement, r of them relevant: N² (1 - n/N) s²/n with s² = r (n - r) / (n (n - 1));
    Cochran, Sampling Techniques, 1977, 5.3.
    """
    variance = 0.0
    for one in strata:
        n, r = one.judged, one.relevant
        if n < 2 and n < one.size:  # noqa: PLR2004 - a variance takes two
            return None
        if n < one.size:
            variance += one.size**2 * (1 - n / one.size) * r * (n - r) / (n * (n - 1)) / n
    return sqrt(variance)
