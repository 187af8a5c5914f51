"""Agreement beyond chance of two judges, for many pairs at once, with or without weights of disagreement.

Every function takes confusion matrices, (pairs, grades, grades), and returns one entry a pair. Each coefficient is
1 - observed disagreement / disagreement by chance, which equals (observed - expected) / (1 - expected) agreement.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.results import Coefficient, Undefined


@dataclass(frozen=True, eq=False)
class Weights:
    """How much each pair of grades disagrees, (grades, grades) in the order of the scale, 0 on the diagonal.

    `greatest` is what counts as full disagreement. Disagreement is kept and not agreement, because it comes in whole
    numbers: sums of them are exact, so that agreement equal to chance gives exactly 0.
    """

    disagreement: NDArray[np.float64]
    greatest: float

    @property
    def agreement(self) -> NDArray[np.float64]:
        """How much each pair of grades agrees, from 0 to 1."""
        agreement: NDArray[np.float64] = 1 - self.disagreement / self.greatest
        return agreement


class Weighting(StrEnum):
    """Whether grades that differ count as differing by degrees."""

    NONE = "none"
    LINEAR = "linear"
    QUADRATIC = "quadratic"

    def of(self, size: int) -> Weights:
        """The weights for a scale of so many grades; what counts is the place of a grade in it, not its value."""
        distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
        furthest = float(max(size - 1, 1))
        if self is Weighting.NONE:
            return Weights(np.minimum(distance, 1), 1)
        power = 1 if self is Weighting.LINEAR else 2
        return Weights(distance**power, furthest**power)


Chance = Callable[[NDArray[np.int64], Weights], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Agreements:
    """One coefficient of many pairs: shares that agree, observed and by chance, and the value; NaN where there is none.

    The NaN stays inside this package: `coefficients` turns it into None and a reason.
    """

    observed: NDArray[np.float64]
    expected: NDArray[np.float64]
    value: NDArray[np.float64]


def cohen_chance(confusions: NDArray[np.int64], weights: Weights) -> NDArray[np.float64]:
    """Disagreement when each judge draws grades by their own frequencies (Cohen 1960, 1968)."""
    return mean_disagreement(outer(confusions.sum(axis=-1), confusions.sum(axis=-2)), weights)


def scott_chance(confusions: NDArray[np.int64], weights: Weights) -> NDArray[np.float64]:
    """Disagreement when both judges draw grades by the frequencies of the two together (Scott 1955)."""
    together = confusions.sum(axis=-1) + confusions.sum(axis=-2)
    return mean_disagreement(outer(together, together), weights)


def uniform_chance(confusions: NDArray[np.int64], weights: Weights) -> NDArray[np.float64]:
    """Disagreement when every grade of the scale is as likely: PABAK of two grades, Brennan and Prediger 1981."""
    return np.full(len(confusions), weights.disagreement.mean())


def gwet_chance(confusions: NDArray[np.int64], weights: Weights) -> NDArray[np.float64]:
    """Disagreement when only documents hard to grade are graded by chance: AC1, weighted AC2 (Gwet 2008, 2014)."""
    together = confusions.sum(axis=-1) + confusions.sum(axis=-2)
    share = together / np.maximum(together.sum(axis=-1, keepdims=True), 1)
    return gwet_disagreement(share, weights)


def gwet_disagreement(share: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    """Gwet's disagreement by chance from the share of each grade, (..., grades)."""
    size = share.shape[-1]
    if size == 1:
        return np.zeros(share.shape[:-1])
    by_chance = weights.agreement.sum() / (size * (size - 1)) * (share * (1 - share)).sum(axis=-1)
    disagreement: NDArray[np.float64] = weights.greatest * (1 - by_chance)
    return disagreement


def outer(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The confusion matrices that chance would give, times the number of documents."""
    return rows[..., :, np.newaxis] * columns[..., np.newaxis, :]


def mean_disagreement(confusions: NDArray[np.int64], weights: Weights) -> NDArray[np.float64]:
    """The mean over all documents; 0 without documents.

    Whole numbers are added before one division, so that two means that are equal come out equal.
    """
    n = np.maximum(confusions.sum(axis=(-2, -1)), 1)
    mean: NDArray[np.float64] = (confusions * weights.disagreement).sum(axis=(-2, -1)) / n
    return mean


def agreements(confusions: NDArray[np.int64], weights: Weights, chance: Chance) -> Agreements:
    """Compute a coefficient of every pair."""
    measured = beyond_chance(mean_disagreement(confusions, weights), chance(confusions, weights), weights)
    measured.value[confusions.sum(axis=(-2, -1)) == 0] = np.nan
    return measured


def beyond_chance(observed: NDArray[np.float64], by_chance: NDArray[np.float64], weights: Weights) -> Agreements:
    """Put observed disagreement and that by chance together; undefined where chance leaves no disagreement."""
    defined = by_chance > 0
    value = np.where(defined, 1 - observed / np.where(defined, by_chance, 1), np.nan)
    return Agreements(1 - observed / weights.greatest, 1 - by_chance / weights.greatest, value)


def coefficients(confusions: NDArray[np.int64], weights: Weights, chance: Chance) -> list[Coefficient]:
    """Compute a coefficient of every pair, with the reason where there is none."""
    measured = agreements(confusions, weights, chance)
    reasons = reasons_of(confusions, measured.value)
    rows = zip(measured.value.tolist(), reasons, measured.observed.tolist(), measured.expected.tolist(), strict=True)
    return [
        Coefficient(None, reason)
        if reason is Undefined.NO_OVERLAP
        else Coefficient(None if reason else value, reason, observed, expected)
        for value, reason, observed, expected in rows
    ]


def reasons_of(confusions: NDArray[np.int64], value: NDArray[np.float64]) -> list[Undefined | None]:
    """Say of each pair why it has no value; None where it has one."""
    reasons: list[Undefined | None] = [None] * len(value)
    for pair in np.flatnonzero(np.isnan(value)).tolist():
        reasons[pair] = _reason(confusions[pair])
    return reasons


def _reason(confusion: NDArray[np.int64]) -> Undefined:
    if not confusion.any():
        return Undefined.NO_OVERLAP
    if len(confusion) == 1:
        return Undefined.SHORT_SCALE
    return Undefined.SINGLE_GRADE if confusion.diagonal().max() == confusion.sum() else Undefined.WEIGHTS_ALIKE
