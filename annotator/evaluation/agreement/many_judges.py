"""Chance-corrected agreement of many judges: Fleiss' kappa; Gwet's, Brennan and Prediger's and Conger's coefficients.

`counts`, (items, grades), is the number of judges who gave an item a grade. Judges may have graded any of the items;
items with one grade count only for grade frequencies. After Gwet, Handbook of Inter-Rater Reliability, 4th edition.
"""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.kappa import Weighting, Weights, beyond_chance, gwet_disagreement
from annotator.evaluation.agreement.labels import Labels, judges_by_item, kinds_of
from annotator.evaluation.agreement.results import Coefficient, Undefined
from annotator.evaluation.metrics.figures import Figure


def fleiss_kappa(counts: NDArray[np.int64], weights: Weights | None = None) -> Coefficient:
    """Compute Fleiss' kappa (1971) over the items with two grades or more; all must have the same number.

    With two judges it is Scott's pi, not Cohen's kappa.
    """
    shared = counts[judges_by_item(counts) > 1]
    if np.unique(judges_by_item(shared)).size > 1:
        return Coefficient(None, Undefined.UNEQUAL_NUMBERS)
    return fleiss_kappa_of_unequal(shared, weights)


def fleiss_kappa_of_unequal(counts: NDArray[np.int64], weights: Weights | None = None) -> Coefficient:
    """Generalise Fleiss' kappa to items with different numbers of judges; each item has the same weight."""
    weights = weights or Weighting.NONE.of(counts.shape[1])
    share = _mean_shares(counts)
    return _coefficient(counts, float(share @ weights.disagreement @ share), weights)


def gwet_ac(counts: NDArray[np.int64], weights: Weights | None = None) -> Coefficient:
    """Compute Gwet's AC1, or AC2 with weights, which stays near the raw agreement when one grade prevails."""
    weights = weights or Weighting.NONE.of(counts.shape[1])
    return _coefficient(counts, float(gwet_disagreement(_mean_shares(counts), weights)), weights)


def uniform_kappa(counts: NDArray[np.int64], weights: Weights | None = None) -> Coefficient:
    """Compute Randolph's kappa (Brennan and Prediger's for many judges): all grades equally likely by chance."""
    weights = weights or Weighting.NONE.of(counts.shape[1])
    return _coefficient(counts, float(weights.disagreement.mean()), weights)


def conger_kappa(labels: Labels, weights: Weights | None = None) -> Coefficient:
    """Compute Conger's kappa (1980), Cohen's for many judges: by chance each draws grades by their own frequencies."""
    weights = weights or Weighting.NONE.of(len(labels.grades))
    size, judges = len(labels.grades), len(labels.judges)
    given = np.bincount(labels.judge * size + labels.grade, minlength=judges * size).reshape(judges, size)
    share = given / np.maximum(given.sum(axis=1, keepdims=True), 1)
    together = share.sum(axis=0)
    with_oneself = ((share @ weights.disagreement) * share).sum()
    of_others = float(together @ weights.disagreement @ together - with_oneself)
    return _coefficient(labels.grade_counts, of_others / max(judges * (judges - 1), 1), weights)


def overlap_of_all(labels: Labels, first_relevant: int) -> Figure:
    """Documents relevant to all judges, divided by those relevant to any, of those graded by all (Voorhees 2000)."""
    counts = labels.grade_counts
    of_all = counts[judges_by_item(counts) == len(labels.judges)]
    relevant = of_all[:, first_relevant:].sum(axis=1)
    if not of_all.size:
        return Figure(None, Undefined.NO_DOCUMENT_OF_ALL)
    if not relevant.any():
        return Figure(None, Undefined.NOTHING_RELEVANT)
    return Figure(int((relevant == len(labels.judges)).sum()) / int((relevant > 0).sum()))


def _mean_shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean over graded items of the share of each grade."""
    graded = counts[judges_by_item(counts) > 0]
    shares: NDArray[np.float64] = (graded / graded.sum(axis=1, keepdims=True)).sum(axis=0) / max(len(graded), 1)
    return shares


def _coefficient(counts: NDArray[np.int64], by_chance: float, weights: Weights) -> Coefficient:
    shared = counts[judges_by_item(counts) > 1]
    if not len(shared):
        return Coefficient(None, Undefined.NO_SHARED_DOCUMENT)
    judges = judges_by_item(shared)
    differing = ((shared @ weights.disagreement) * shared).sum(axis=1) / (judges * (judges - 1))
    measured = beyond_chance(differing.mean(keepdims=True), np.array([by_chance]), weights)
    shares = float(measured.observed[0]), float(measured.expected[0])
    if not np.isnan(measured.value[0]):
        return Coefficient(float(measured.value[0]), None, *shares)
    return Coefficient(None, _reason(counts), *shares)


def _reason(counts: NDArray[np.int64]) -> Undefined:
    if counts.shape[1] == 1:
        return Undefined.SHORT_SCALE
    given = np.count_nonzero(counts.any(axis=0))
    return Undefined.SINGLE_GRADE_OF_ALL if given == 1 else Undefined.WEIGHTS_ALIKE


class Level(StrEnum):
    """The scale level of grades for alpha, which defines their distances."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


def coincidences_by_place(counts: NDArray[np.int64], place: NDArray[np.intp], places: int) -> NDArray[np.float64]:
    """Sum the coincidences of the items of each place, (places, grades, grades).

    `counts`, (items, grades), is the number of judges by grade; items with fewer than two do not count.
    """
    kinds, kind = kinds_of(counts)
    table = np.bincount(place * len(kinds) + kind, minlength=places * len(kinds)).reshape(places, len(kinds))
    sums: NDArray[np.float64] = np.tensordot(table, coincidences_of(kinds), axes=1)
    return sums


def coincidences_of(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Every item's pairs of grades by different judges, (items, grades, grades), each judge with total weight 1."""
    judges = judges_by_item(counts)
    pairs = counts[:, :, np.newaxis] * counts[:, np.newaxis, :]
    grades = np.arange(counts.shape[1])
    pairs[:, grades, grades] -= counts
    coincidences: NDArray[np.float64] = pairs / np.maximum(judges - 1, 1)[:, np.newaxis, np.newaxis]
    return coincidences


def alphas_of_coincidences(coincidences: NDArray[np.float64], grades: Sequence[int], level: Level) -> list[Coefficient]:
    """Compute alpha from each matrix of coincidences, (matrices, grades, grades).

    Krippendorff 2011, "Computing Krippendorff's alpha-reliability". `observed` and `expected` are shares of agreement
    for nominal grades, and None otherwise: distances have no scale.
    """
    values, observed, expected = alpha_values(coincidences, grades, level)
    shares = level is Level.NOMINAL
    return [
        Coefficient(
            None if np.isnan(value) else value,
            _reason_of(n) if np.isnan(value) else None,
            1 - disagreement if shares and n else None,
            1 - by_chance if shares and n else None,
        )
        for value, disagreement, by_chance, n in zip(
            values.tolist(),
            observed.tolist(),
            expected.tolist(),
            coincidences.sum(axis=(1, 2)).tolist(),
            strict=True,
        )
    ]


def alpha_values(
    coincidences: NDArray[np.float64], grades: Sequence[int], level: Level
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Alpha, observed and expected disagreement of each matrix; alpha is NaN where undefined."""
    given = coincidences.sum(axis=2)
    n = given.sum(axis=1)
    distances = _distances(given, grades, level)
    observed = (coincidences * distances).sum(axis=(1, 2)) / np.maximum(n, 1)
    pairs = given[:, :, np.newaxis] * given[:, np.newaxis, :]
    expected = (pairs * distances).sum(axis=(1, 2)) / np.maximum(n * (n - 1), 1)
    defined = expected > 0
    return np.where(defined, 1 - observed / np.where(defined, expected, 1), np.nan), observed, expected


def _distances(given: NDArray[np.float64], grades: Sequence[int], level: Level) -> NDArray[np.float64]:
    """The squared distance of every two grades, (matrices or 1, grades, grades)."""
    values = np.array(grades, np.float64)
    if level is Level.NOMINAL:
        return 1 - np.eye(values.size)[np.newaxis]
    if level is Level.ORDINAL:
        # The distance between two grades is all that lies between their mid-ranks: half of both ends, and all between.
        middles = given.cumsum(axis=1) - given / 2
        return (middles[:, :, np.newaxis] - middles[:, np.newaxis, :]) ** 2
    differences, sums = np.subtract.outer(values, values), np.add.outer(values, values)
    apart = differences if level is Level.INTERVAL else differences / np.where(sums == 0, 1, sums)
    return apart[np.newaxis] ** 2


def _reason_of(n: float) -> Undefined:
    return Undefined.SINGLE_GRADE_OF_ALL if n else Undefined.NO_SHARED_DOCUMENT
