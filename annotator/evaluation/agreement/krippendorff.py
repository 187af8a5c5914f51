"""Krippendorff's alpha: any number of judges, any documents missing, grades as names, ranks or numbers."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.labels import kinds_of
from annotator.evaluation.agreement.results import Coefficient, Undefined


class Level(StrEnum):
    """What grades are to alpha, and so how far apart two of them are."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


def coincidences_by_place(counts: NDArray[np.int64], place: NDArray[np.intp], places: int) -> NDArray[np.float64]:
    """Sum the coincidences of the items that have the same place, (places, grades, grades).

    `counts`, (items, grades), says how many judges gave an item which grade; items with fewer than two do not count.
    """
    kinds, kind = kinds_of(counts)
    table = np.bincount(place * len(kinds) + kind, minlength=places * len(kinds)).reshape(places, len(kinds))
    sums: NDArray[np.float64] = np.tensordot(table, coincidences_of(kinds), axes=1)
    return sums


def coincidences_of(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Every item's pairs of grades by different judges, (items, grades, grades), each judge weighing 1 in all."""
    judges = counts.sum(axis=1)
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
            _reason(n) if np.isnan(value) else None,
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
    """Alpha, observed disagreement and that by chance of each matrix; alpha is NaN where there is none."""
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
        # Half of either end and all between them is what lies between the middles of two grades.
        middles = given.cumsum(axis=1) - given / 2
        return (middles[:, :, np.newaxis] - middles[:, np.newaxis, :]) ** 2
    differences, sums = np.subtract.outer(values, values), np.add.outer(values, values)
    apart = differences if level is Level.INTERVAL else differences / np.where(sums == 0, 1, sums)
    return apart[np.newaxis] ** 2


def _reason(n: float) -> Undefined:
    return Undefined.SINGLE_GRADE_OF_ALL if n else Undefined.NO_SHARED_DOCUMENT
