"""Cohen's kappa of two judges, with its standard error and interval after Fleiss, Cohen and Everitt."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.chance import Agreements, Weighting, Weights, agreements, cohen_chance, reasons_of
from annotator.evaluation.agreement.labels import confusion_matrix
from annotator.evaluation.agreement.results import Kappa, Undefined

NORMAL_QUANTILE = 1.959963984540054  # 97.5 %, for an interval of 95 %
ROUNDING = 1e-12  # a variance of 0 comes out of the arithmetic no larger than this


def cohen_kappa(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    grades: Sequence[int],
    weights: Weights | None = None,
) -> Kappa:
    """Measure two judges' agreement on the documents both have graded, entry by entry the same document.

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
    """One a pair; 0 where the formula gives none."""
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
    """Give each cell the mean weight of its row plus that of its column, over the other judge's grades."""
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
    # A comparison with NaN is false, so that pairs without a kappa fall out here.
    defined = (variance > ROUNDING) & (n > 0) & ~np.isnan(measured.value)
    beyond = np.where(defined, 1 - measured.expected, 1)
    return np.where(defined, np.sqrt(np.where(defined, variance, 0) / np.maximum(n, 1)) / beyond, 0)
