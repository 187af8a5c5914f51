"""How far two judges agree beyond chance: confusion matrix, Cohen's kappa and its interval, and words for it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError, Sentence

NORMAL_QUANTILE = 1.959963984540054  # 97.5 %, for an interval of 95 %
ROUNDING = 1e-12  # a variance of 0 comes out of the arithmetic no larger than this


class SentenceEnum(Enum):
    """A choice whose values are sentences, ready to be translated."""

    @property
    def sentence(self) -> Sentence:
        """What it says."""
        sentence: Sentence = self.value
        return sentence


class Undefined(SentenceEnum):
    """Why there is no kappa."""

    NO_OVERLAP = Sentence("The two judges have graded no document in common.")
    SINGLE_GRADE = Sentence(
        "Both judges gave one and the same grade to every document, so chance explains all agreement."
    )


class Band(SentenceEnum):
    """Landis and Koch's words for a kappa."""

    POOR = Sentence("poor")
    SLIGHT = Sentence("slight")
    FAIR = Sentence("fair")
    MODERATE = Sentence("moderate")
    SUBSTANTIAL = Sentence("substantial")
    ALMOST_PERFECT = Sentence("almost perfect")


@dataclass(frozen=True, eq=False)
class Kappa:
    """Cohen's kappa of two judges, with everything needed to read it.

    `observed` and `expected` are shares from 0 to 1, `value` lies between -1 and 1. `value` is None exactly when
    `reason` says why. `standard_error` and `interval` are None as well when they would be 0 wide or undefined: kappa
    is 1 or -1, or one judge used a single grade.
    """

    n: int  # documents both have graded
    confusion: NDArray[np.int64]  # rows: first judge, columns: second judge, in the order of the scale
    observed: float | None
    expected: float | None
    value: float | None
    reason: Undefined | None
    standard_error: float | None = None
    standard_error_by_chance: float | None = None  # when kappa is truly 0: what a test against chance divides by
    interval: tuple[float, float] | None = None  # 95 %, kept within -1 and 1


def cohen_kappa(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    grades: Sequence[int],
    weights: NDArray[np.float64] | None = None,
) -> Kappa:
    """Measure two judges' agreement on the documents both have graded, entry by entry the same document.

    `grades` is the whole scale in order, used or not. `weights[i, j]` says how much a pair of grades agrees, from 0
    to 1; without it only equal grades do. Raises `InvalidValueError` for a grade outside the scale or judges with
    different numbers of documents. Cohen 1960 and 1968; standard errors after Fleiss, Cohen and Everitt 1969.
    """
    return kappa_of_confusion(confusion_matrix(first, second, grades), weights)


def kappa_of_grades(first: Sequence[int], second: Sequence[int], grades: Sequence[int]) -> Kappa:
    """Do as `cohen_kappa`, unweighted, on plain values."""
    return cohen_kappa(np.array(first, np.int64), np.array(second, np.int64), grades)


def confusion_matrix(
    first: NDArray[np.integer], second: NDArray[np.integer], grades: Sequence[int]
) -> NDArray[np.int64]:
    """Count how often the first judge's grade (row) met the second's (column), in the order of the scale.

    Raises `InvalidValueError` for a grade outside the scale or judges with different numbers of documents.
    """
    if first.size != second.size:
        raise InvalidValueError(
            "Two judges can be compared only on the same documents; the first has %(first)d and the second %(second)d.",
            first=first.size,
            second=second.size,
        )
    cells = _positions(first, grades) * len(grades) + _positions(second, grades)
    return np.bincount(cells, minlength=len(grades) ** 2).reshape(len(grades), len(grades))


def kappa_of_confusion(confusion: NDArray[np.int64], weights: NDArray[np.float64] | None = None) -> Kappa:
    """Compute kappa from a confusion matrix; `weights` as in `cohen_kappa`."""
    n = int(confusion.sum())
    if n == 0:
        return Kappa(n, confusion, None, None, None, Undefined.NO_OVERLAP)
    agreement = np.eye(len(confusion)) if weights is None else weights
    # Whole numbers are added before one division, so that agreement equal to chance is exactly equal.
    by_chance = np.outer(confusion.sum(axis=1), confusion.sum(axis=0))
    observed = float((agreement * confusion).sum() / n)
    expected = float((agreement * by_chance).sum() / (n * n))
    if expected >= 1:
        return Kappa(n, confusion, observed, expected, None, Undefined.SINGLE_GRADE)
    value = (observed - expected) / (1 - expected)
    standard_error = _standard_error(confusion, agreement, expected, value)
    return Kappa(
        n=n,
        confusion=confusion,
        observed=observed,
        expected=expected,
        value=value,
        reason=None,
        standard_error=standard_error,
        standard_error_by_chance=_standard_error_by_chance(confusion, agreement, expected),
        interval=None if standard_error is None else _interval(value, standard_error),
    )


def band(value: float) -> Band:
    """Name a kappa as Landis and Koch do (Biometrics 1977): up to 0.20 slight, up to 0.40 fair and so on.

    The limits are their own and, they say, arbitrary. A kappa below 0 is poor.
    """
    if value < 0:
        return Band.POOR
    limits = ((0.20, Band.SLIGHT), (0.40, Band.FAIR), (0.60, Band.MODERATE), (0.80, Band.SUBSTANTIAL))
    return next((name for limit, name in limits if value <= limit), Band.ALMOST_PERFECT)


def _positions(given: NDArray[np.integer], grades: Sequence[int]) -> NDArray[np.intp]:
    position = {grade: index for index, grade in enumerate(grades)}
    outside = sorted(set(given.tolist()) - position.keys())
    if outside:
        raise InvalidValueError("The grade %(grade)d is not in the scale.", grade=outside[0])
    return np.fromiter((position[grade] for grade in given.tolist()), np.intp, given.size)


def _standard_error(
    confusion: NDArray[np.int64], agreement: NDArray[np.float64], expected: float, value: float
) -> float | None:
    n = int(confusion.sum())
    spread = (agreement - _mean_weights(confusion, agreement) * (1 - value)) ** 2
    variance = (confusion * spread).sum() / n - (value - expected * (1 - value)) ** 2
    return _root(variance, n, expected)


def _standard_error_by_chance(
    confusion: NDArray[np.int64], agreement: NDArray[np.float64], expected: float
) -> float | None:
    n = int(confusion.sum())
    by_chance = np.outer(confusion.sum(axis=1), confusion.sum(axis=0)) / n**2
    spread = (agreement - _mean_weights(confusion, agreement)) ** 2
    return _root((by_chance * spread).sum() - expected**2, n, expected)


def _mean_weights(confusion: NDArray[np.int64], agreement: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give each cell the mean weight of its row plus that of its column, over the other judge's grades."""
    n = int(confusion.sum())
    of_row = agreement @ confusion.sum(axis=0) / n
    of_column = confusion.sum(axis=1) @ agreement / n
    mean: NDArray[np.float64] = of_row[:, np.newaxis] + of_column[np.newaxis, :]
    return mean


def _root(variance: float, n: int, expected: float) -> float | None:
    return math.sqrt(variance / n) / (1 - expected) if variance > ROUNDING else None


def _interval(value: float, standard_error: float) -> tuple[float, float]:
    margin = NORMAL_QUANTILE * standard_error
    return max(-1.0, value - margin), min(1.0, value + margin)
