"""Agreement that chance has no part in: the same grade, the relevant sets, and who is stricter.

Every function takes confusion matrices, (pairs, grades, grades), and returns one figure a pair.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.labels import binary_confusions
from annotator.evaluation.agreement.results import Undefined
from annotator.evaluation.metrics.figures import Figure


def same_grade(confusions: NDArray[np.int64]) -> list[Figure]:
    """The share of documents to which both gave the same grade: raw agreement."""
    same = np.trace(confusions, axis1=-2, axis2=-1)
    return _figures(same, confusions.sum(axis=(-2, -1)), Undefined.NO_OVERLAP)


def positive_agreement(confusions: NDArray[np.int64], first_relevant: int) -> list[Figure]:
    """Of the times that either said relevant, the share in which the other did, too (Cicchetti and Feinstein 1990)."""
    return _on_grade(binary_confusions(confusions, first_relevant), 1, Undefined.NOTHING_RELEVANT)


def negative_agreement(confusions: NDArray[np.int64], first_relevant: int) -> list[Figure]:
    """Of the times that either said not relevant, the share in which the other did, too."""
    return _on_grade(binary_confusions(confusions, first_relevant), 0, Undefined.EVERYTHING_RELEVANT)


def overlap(confusions: NDArray[np.int64], first_relevant: int) -> list[Figure]:
    """Documents relevant to both, divided by those relevant to either (Voorhees 2000)."""
    binary = binary_confusions(confusions, first_relevant)
    either = binary.sum(axis=(-2, -1)) - binary[:, 0, 0]
    return _of_shared(binary[:, 1, 1], either, confusions, Undefined.NOTHING_RELEVANT)


def mean_difference(confusions: NDArray[np.int64], grades: Sequence[int]) -> list[Figure]:
    """The mean of the first judge's grade less the second's: below 0 the first judge is the stricter."""
    values = np.array(grades, np.int64)
    differences = (confusions * np.subtract.outer(values, values)).sum(axis=(-2, -1))
    return _figures(differences, confusions.sum(axis=(-2, -1)), Undefined.NO_OVERLAP)


def _on_grade(confusions: NDArray[np.int64], place: int, otherwise: Undefined) -> list[Figure]:
    """Of the times that either gave this grade, the share in which the other did, too: 2a / (2a + b + c)."""
    both = 2 * confusions[:, place, place]
    either = confusions[:, place, :].sum(axis=-1) + confusions[:, :, place].sum(axis=-1)
    return _of_shared(both, either, confusions, otherwise)


def _of_shared(
    part: NDArray[np.int64], whole: NDArray[np.int64], confusions: NDArray[np.int64], otherwise: Undefined
) -> list[Figure]:
    """Divide; where there is nothing to divide by, say that nothing is shared before anything finer."""
    figures = _figures(part, whole, otherwise)
    for pair in np.flatnonzero(~confusions.any(axis=(-2, -1))).tolist():
        figures[pair] = Figure(None, Undefined.NO_OVERLAP)
    return figures


def _figures(part: NDArray[np.int64], whole: NDArray[np.int64], otherwise: Undefined) -> list[Figure]:
    return [
        Figure(a_part / a_whole) if a_whole else Figure(None, otherwise)
        for a_part, a_whole in zip(part.tolist(), whole.tolist(), strict=True)
    ]
