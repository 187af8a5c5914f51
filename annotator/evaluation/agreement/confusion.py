"""Confusion matrices: which grade of one judge met which of another."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError


def confusion_matrix(
    first: NDArray[np.integer], second: NDArray[np.integer], grades: Sequence[int]
) -> NDArray[np.int64]:
    """Count how often the first judge's grade (row) met the second's (column), in the order of the scale.

    Raises `InvalidValueError` for a grade outside the scale or judges with different numbers of documents.
    """
    confusion: NDArray[np.int64] = confusions_by_place(first, second, np.zeros(first.size, np.intp), 1, grades)[0]
    return confusion


def confusions_by_place(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    place: NDArray[np.intp],
    places: int,
    grades: Sequence[int],
) -> NDArray[np.int64]:
    """Do as `confusion_matrix` of the documents of each place, such as a topic: (places, grades, grades)."""
    if first.size != second.size:
        raise InvalidValueError(
            "Two judges can be compared only on the same documents; the first has %(first)d and the second %(second)d.",
            first=first.size,
            second=second.size,
        )
    size = len(grades)
    cells = (place * size + places_in_scale(first, grades)) * size + places_in_scale(second, grades)
    return np.bincount(cells, minlength=places * size**2).reshape(places, size, size)


def places_in_scale(given: NDArray[np.integer], grades: Sequence[int]) -> NDArray[np.intp]:
    """The place of each grade in the scale, from 0.

    Raises `InvalidValueError` for grades outside the scale.
    """
    values, back = np.unique(given, return_inverse=True)
    place = {grade: index for index, grade in enumerate(grades)}
    outside = [value for value in values.tolist() if value not in place]
    if len(outside) == 1:
        raise InvalidValueError("The grade %(grade)d is not in the scale.", grade=outside[0])
    if outside:
        raise InvalidValueError("The grades %(grades)s are not in the scale.", grades=", ".join(map(str, outside)))
    places = np.array([place[value] for value in values.tolist()], np.intp)
    return places[back]


def binary_confusions(confusions: NDArray[np.int64], first_relevant: int) -> NDArray[np.int64]:
    """Fold matrices, (..., grades, grades), into (..., 2, 2): not relevant, then relevant.

    `first_relevant` is the place in the scale of the least grade that counts as relevant.
    """
    rows = np.split(confusions, [first_relevant], axis=-2)
    folded = np.stack([part.sum(axis=-2) for part in rows], axis=-2)
    columns = np.split(folded, [first_relevant], axis=-1)
    return np.stack([part.sum(axis=-1) for part in columns], axis=-1)
