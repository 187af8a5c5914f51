"""How many labels of people it takes to know a machine's kappa, if documents are drawn by the machine's grade.

The machine has graded all documents, so that the shares p_i of its grades i are known; a sample of n_i documents of
each grade shows how people grade those, q_ij. Weighted kappa is 1 - D / E with D = sum of p_i q_ij v_ij and E = sum of
p_i r_j v_ij, where v_ij is the weight of disagreement and r_j = sum of p_i q_ij the share of people's grade j. Its
derivative by q_ij is p_i h_ij with h_ij = (c_j D / E - v_ij) / E and c_j = sum of p_i v_ij, so that by the delta method
its variance is the sum of p_i^2 s_i^2 (1 / n_i - 1 / N_i), where s_i^2 is the variance of h_ij over people's grades of
the N_i documents with grade i. It is least for n_i in proportion to p_i s_i (Neyman 1934), and then
n = (sum of p_i s_i)^2 / ((e / z)^2 + (sum of p_i s_i^2) / N) for kappa within e.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Shares = NDArray[np.float64]

Z = NormalDist().inv_cdf(0.975)  # of a 95 % interval
LEAST = 2  # documents of each grade, for a variance
PRIOR = 0.5  # added to each cell of what is known, so that no grade seems certain after a few labels


@dataclass(frozen=True)
class LabelsNeeded:
    """Documents to judge for kappa within `margin`, for each grade of the machine, and how many in all."""

    margin: float
    by_grade: tuple[int, ...]
    total: int


@dataclass(frozen=True)
class StratifiedKappa:
    """Kappa estimated from a sample stratified by the machine's grade, with its standard error."""

    value: float
    standard_error: float

    @property
    def half_width(self) -> float:
        """Half the width of the 95 % interval."""
        return Z * self.standard_error


def labels_needed(
    documents: Sequence[int], confusion: NDArray[np.int64], weights: Shares, margins: Sequence[float]
) -> list[LabelsNeeded]:
    """Plan samples for kappa within each of the margins, with 95 % confidence.

    `documents` are the numbers of documents by grade of the machine, `confusion` (machine, people) is what is known of
    them so far, `weights` are those of disagreement, 0 where both agree. Nothing is planned where the machine gave a
    single grade.
    """
    counts = np.asarray(documents, np.float64)
    known = confusion + PRIOR
    shares = known / known.sum(axis=1, keepdims=True)
    spread = _spreads(counts, shares, weights)
    if spread is None:
        return []
    return [_plan(counts, spread, margin) for margin in margins]


def stratified_kappa(documents: Sequence[int], sample: NDArray[np.int64], weights: Shares) -> StratifiedKappa | None:
    """Estimate kappa from a sample of each of the machine's grades, (machine, people).

    None where a grade with documents has fewer than two in the sample, or only one grade was given.
    """
    counts, drawn = np.asarray(documents, np.float64), sample.sum(axis=1)
    if np.any((drawn < np.minimum(LEAST, counts)) & (counts > 0)):
        return None
    shares = sample / np.maximum(drawn, 1)[:, np.newaxis]
    spread = _spreads(counts, shares, weights)
    if spread is None:
        return None
    observed, expected = _disagreement(counts / counts.sum(), shares, weights)
    has = counts > 0
    size = np.maximum(drawn[has], 1)
    # The variance is estimated from the sample, hence n / (n - 1).
    variances = spread[has] ** 2 * size / np.maximum(size - 1, 1) * (1 / size - 1 / counts[has])
    variance = float(np.sum((counts[has] / counts.sum()) ** 2 * np.maximum(variances, 0)))
    return StratifiedKappa(1 - observed / expected, sqrt(variance))


def _disagreement(share: Shares, shares: Shares, weights: Shares) -> tuple[float, float]:
    """Observed and expected disagreement."""
    return float(np.sum(share[:, np.newaxis] * shares * weights)), float(share @ weights @ (share @ shares))


def _spreads(counts: Shares, shares: Shares, weights: Shares) -> Shares | None:
    """The standard deviation of h over people's grades, for each grade of the machine; None where there is no kappa."""
    if not counts.sum():
        return None
    share = counts / counts.sum()
    observed, expected = _disagreement(share, shares, weights)
    if expected <= 0:
        return None
    influence = ((share @ weights) * (observed / expected) - weights) / expected
    mean = np.sum(shares * influence, axis=1, keepdims=True)
    spread: Shares = np.sqrt(np.sum(shares * (influence - mean) ** 2, axis=1))
    return spread


def _plan(counts: Shares, spread: Shares, margin: float) -> LabelsNeeded:
    """Neyman's allocation; a grade whose documents are all judged leaves the rest to the others."""
    share, total = counts / counts.sum(), counts.sum()
    least = np.minimum(LEAST, counts)
    whole = np.zeros(counts.size, np.bool_)
    wanted = least.copy()
    target = (margin / Z) ** 2
    for _ in range(counts.size + 1):
        part = share * spread * ~whole
        size = part.sum() ** 2 / (target + float(np.sum(share * spread**2 * ~whole)) / total)
        wanted = np.where(whole, counts, np.maximum(least, np.ceil(size * part / max(part.sum(), 1e-300) - 1e-9)))
        over = wanted > counts
        if not over.any():
            break
        whole |= over
    by_grade = tuple(int(min(ceil(one), count)) for one, count in zip(wanted.tolist(), counts.tolist(), strict=True))
    return LabelsNeeded(margin, by_grade, sum(by_grade))
