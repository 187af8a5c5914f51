"""Agreement of two judges, vectorised over pairs: Cohen's kappa and variants, and measures uncorrected for chance.

Vectorised functions take confusion matrices, (pairs, grades, grades), and return one entry a pair. Each coefficient
is 1 - observed disagreement / disagreement by chance, which equals (observed - expected) / (1 - expected) agreement.
Kappa has its standard error and interval after Fleiss, Cohen and Everitt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.labels import binary_confusions, confusion_matrix
from annotator.evaluation.agreement.results import Coefficient, Kappa, Undefined
from annotator.evaluation.metrics.figures import Figure


@dataclass(frozen=True, eq=False)
class Weights:
    """The disagreement of each pair of grades, (grades, grades) in the order of the scale, 0 on the diagonal.

    `greatest` is the weight of full disagreement. Disagreements are stored instead of agreements because they are whole
    numbers: sums of them are exact, so that agreement equal to chance gives exactly 0.
    """

    disagreement: NDArray[np.float64]
    greatest: float

    @property
    def agreement(self) -> NDArray[np.float64]:
        """The agreement of each pair of grades, from 0 to 1."""
        agreement: NDArray[np.float64] = 1 - self.disagreement / self.greatest
        return agreement


class Weighting(StrEnum):
    """Whether differing grades count by their distance, and how."""

    NONE = "none"
    LINEAR = "linear"
    QUADRATIC = "quadratic"

    def of(self, size: int) -> Weights:
        """The weights for a scale of `size` grades, by the index of a grade in the scale, not its value."""
        distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
        furthest = float(max(size - 1, 1))
        if self is Weighting.NONE:
            return Weights(np.minimum(distance, 1), 1)
        power = 1 if self is Weighting.LINEAR else 2
        return Weights(distance**power, furthest**power)


Chance = Callable[[NDArray[np.int64], Weights], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Agreements:
    """One coefficient of many pairs: observed and expected agreement, and the value; NaN where undefined.

    NaN stays inside this package: `coefficients` turns it into None and a reason.
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
    """The outer products of the marginals: expected counts times the number of documents."""
    return rows[..., :, np.newaxis] * columns[..., np.newaxis, :]


def mean_disagreement(confusions: NDArray[np.int64], weights: Weights) -> NDArray[np.float64]:
    """The mean disagreement over all documents; 0 without documents.

    Whole numbers are summed before one division, so that equal means are exactly equal.
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
    """Combine observed and expected disagreement; NaN where the expected disagreement is 0."""
    defined = by_chance > 0
    value = np.where(defined, 1 - observed / np.where(defined, by_chance, 1), np.nan)
    return Agreements(1 - observed / weights.greatest, 1 - by_chance / weights.greatest, value)


def coefficients(confusions: NDArray[np.int64], weights: Weights, chance: Chance) -> list[Coefficient]:
    """Compute a coefficient of every pair, with the reason where it is undefined."""
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
    """Return for each pair the reason why its value is undefined; None for defined values."""
    is_empty = np.asarray(confusions.sum(axis=(-2, -1)) == 0)
    reasons: list[Undefined | None] = [Undefined.NO_OVERLAP if empty else None for empty in is_empty.tolist()]
    for pair in np.flatnonzero(np.isnan(value) & ~is_empty).tolist():
        reasons[pair] = _reason(confusions[pair])
    return reasons


def _reason(confusion: NDArray[np.int64]) -> Undefined:
    if len(confusion) == 1:
        return Undefined.SHORT_SCALE
    return Undefined.SINGLE_GRADE if confusion.diagonal().max() == confusion.sum() else Undefined.WEIGHTS_ALIKE


NORMAL_QUANTILE = 1.959963984540054  # 97.5 % normal quantile, for intervals of 95 %
ROUNDING = 1e-12  # a smaller variance is rounding error


def cohen_kappa(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    grades: Sequence[int],
    weights: Weights | None = None,
) -> Kappa:
    """Compute two judges' agreement on the documents both have graded; entries are parallel.

    `grades` is the whole scale in order, used or not. Without `weights` only equal grades agree. Raises
    `InvalidValueError` for a grade outside the scale or judges with different numbers of documents. Cohen 1960 and
    1968; standard errors after Fleiss, Cohen and Everitt 1969.
    """
    return kappa_of_confusion(confusion_matrix(first, second, grades), weights)


def kappa_of_grades(first: Sequence[int], second: Sequence[int], grades: Sequence[int]) -> Kappa:
    """Do as `cohen_kappa`, unweighted, on plain values."""
    return cohen_kappa(np.array(first, np.int64), np.array(second, np.int64), grades)


def kappa_of_confusion(confusion: NDArray[np.int64], weights: Weights | None = None) -> Kappa:
    """Compute kappa from a confusion matrix; `weights` as in `cohen_kappa`."""
    return kappas_of_confusions(confusion[np.newaxis], weights)[0]


def kappas_of_confusions(confusions: NDArray[np.int64], weights: Weights | None = None) -> list[Kappa]:
    """Compute kappa from every confusion matrix, (pairs, grades, grades); `weights` as in `cohen_kappa`."""
    weights = weights or Weighting.NONE.of(confusions.shape[-1])
    measured = agreements(confusions, weights, cohen_chance)
    errors = _standard_errors(confusions, weights, measured)
    by_chance = _standard_errors_by_chance(confusions, weights, measured)
    margin = NORMAL_QUANTILE * errors
    columns = zip(
        confusions.sum(axis=(1, 2)).tolist(),
        confusions,
        measured.observed.tolist(),
        measured.expected.tolist(),
        measured.value.tolist(),
        reasons_of(confusions, measured.value),
        errors.tolist(),
        by_chance.tolist(),
        np.maximum(measured.value - margin, -1).tolist(),
        np.minimum(measured.value + margin, 1).tolist(),
        strict=True,
    )
    return [_kappa(*column) for column in columns]


def _kappa(
    n: int,
    confusion: NDArray[np.int64],
    observed: float,
    expected: float,
    value: float,
    reason: Undefined | None,
    standard_error: float,
    by_chance: float,
    low: float,
    high: float,
) -> Kappa:
    if reason is not None:
        known = (observed, expected) if n else (None, None)
        return Kappa(n, confusion, known[0], known[1], None, reason, interval_reason=reason)
    chance_error = by_chance or None
    if not standard_error:
        no_interval = Undefined.NO_SPREAD
        return Kappa(n, confusion, observed, expected, value, None, None, chance_error, interval_reason=no_interval)
    return Kappa(n, confusion, observed, expected, value, None, standard_error, chance_error, (low, high))


def _standard_errors(confusions: NDArray[np.int64], weights: Weights, measured: Agreements) -> NDArray[np.float64]:
    """Compute the standard error for each pair; 0 where the formula gives none."""
    beyond = (1 - measured.value)[:, np.newaxis, np.newaxis]
    spread = (weights.agreement - _mean_weights(confusions, weights) * beyond) ** 2
    mean = measured.value - measured.expected * (1 - measured.value)
    variance = (_shares(confusions) * spread).sum(axis=(1, 2)) - mean**2
    return _roots(variance, confusions, measured)


def _standard_errors_by_chance(
    confusions: NDArray[np.int64], weights: Weights, measured: Agreements
) -> NDArray[np.float64]:
    shares = _shares(confusions)
    by_chance = shares.sum(axis=2)[:, :, np.newaxis] * shares.sum(axis=1)[:, np.newaxis, :]
    spread = (weights.agreement - _mean_weights(confusions, weights)) ** 2
    variance = (by_chance * spread).sum(axis=(1, 2)) - measured.expected**2
    return _roots(variance, confusions, measured)


def _mean_weights(confusions: NDArray[np.int64], weights: Weights) -> NDArray[np.float64]:
    """For each cell, the mean weight of its row plus that of its column, over the other judge's grades."""
    shares = _shares(confusions)
    of_row = shares.sum(axis=1) @ weights.agreement.T
    of_column = shares.sum(axis=2) @ weights.agreement
    mean: NDArray[np.float64] = of_row[:, :, np.newaxis] + of_column[:, np.newaxis, :]
    return mean


def _shares(confusions: NDArray[np.int64]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = confusions / np.maximum(confusions.sum(axis=(1, 2), keepdims=True), 1)
    return shares


def _roots(variance: NDArray[np.float64], confusions: NDArray[np.int64], measured: Agreements) -> NDArray[np.float64]:
    n = confusions.sum(axis=(1, 2))
    # Comparisons with NaN are false, which excludes pairs without a kappa.
    defined = (variance > ROUNDING) & (n > 0) & ~np.isnan(measured.value)
    beyond = np.where(defined, 1 - measured.expected, 1)
    return np.where(defined, np.sqrt(np.where(defined, variance, 0) / np.maximum(n, 1)) / beyond, 0)


def same_grade(confusions: NDArray[np.int64]) -> list[Figure]:
    """The share of documents to which both gave the same grade: raw agreement."""
    same = np.trace(confusions, axis1=-2, axis2=-1)
    return _figures(same, confusions.sum(axis=(-2, -1)), Undefined.NO_OVERLAP)


def positive_agreement(confusions: NDArray[np.int64], first_relevant: int) -> list[Figure]:
    """Of all relevant grades of either judge, the share matched by the other (Cicchetti and Feinstein 1990)."""
    return _on_grade(binary_confusions(confusions, first_relevant), 1, Undefined.NOTHING_RELEVANT)


def negative_agreement(confusions: NDArray[np.int64], first_relevant: int) -> list[Figure]:
    """Of all grades of not relevant by either judge, the share matched by the other."""
    return _on_grade(binary_confusions(confusions, first_relevant), 0, Undefined.EVERYTHING_RELEVANT)


def overlap(confusions: NDArray[np.int64], first_relevant: int) -> list[Figure]:
    """Documents relevant to both, divided by those relevant to either (Voorhees 2000)."""
    binary = binary_confusions(confusions, first_relevant)
    either = binary.sum(axis=(-2, -1)) - binary[:, 0, 0]
    return _of_shared(binary[:, 1, 1], either, confusions, Undefined.NOTHING_RELEVANT)


def mean_difference(confusions: NDArray[np.int64], grades: Sequence[int]) -> list[Figure]:
    """The mean of the first judge's grade minus the second's: below 0 the first judge is the stricter."""
    values = np.array(grades, np.int64)
    differences = (confusions * np.subtract.outer(values, values)).sum(axis=(-2, -1))
    return _figures(differences, confusions.sum(axis=(-2, -1)), Undefined.NO_OVERLAP)


def _on_grade(confusions: NDArray[np.int64], place: int, otherwise: Undefined) -> list[Figure]:
    """The agreement on one grade: of its uses by either judge, the share matched by the other, 2a / (2a + b + c)."""
    both = 2 * confusions[:, place, place]
    either = confusions[:, place, :].sum(axis=-1) + confusions[:, :, place].sum(axis=-1)
    return _of_shared(both, either, confusions, otherwise)


def _of_shared(
    part: NDArray[np.int64], whole: NDArray[np.int64], confusions: NDArray[np.int64], otherwise: Undefined
) -> list[Figure]:
    """Divide; for a zero divisor the reason is that no documents are shared, or else `otherwise`."""
    figures = _figures(part, whole, otherwise)
    for pair in np.flatnonzero(~confusions.any(axis=(-2, -1))).tolist():
        figures[pair] = Figure(None, Undefined.NO_OVERLAP)
    return figures


def _figures(part: NDArray[np.int64], whole: NDArray[np.int64], otherwise: Undefined) -> list[Figure]:
    return [
        Figure(a_part / a_whole) if a_whole else Figure(None, otherwise)
        for a_part, a_whole in zip(part.tolist(), whole.tolist(), strict=True)
    ]
