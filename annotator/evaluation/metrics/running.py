"""Sums and products that run along each ranking, one row after the other, all rankings at once."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.setting import Values


def run_along(nth: NDArray[np.intp], terms: Values, combine: np.ufunc) -> Values:
    """Combine each row's term with the result of the row before it in its group.

    Rows stand by group and are numbered in it from 1 by `nth`, without gaps. Each step takes one row of every group
    that has so many, so that a group's result is as exact as a plain loop's and does not depend on the other groups;
    a cumulative sum over all groups, or one of logarithms, would be neither.
    """
    results = terms.copy()
    counts = np.bincount(nth)
    # Few groups are longer than 65,535; NumPy sorts such small numbers in linear time.
    order = np.argsort(nth.astype(np.min_scalar_type(counts.size)), kind="stable")
    for begin, end in pairwise(np.cumsum(counts)[1:].tolist()):
        rows = order[begin:end]
        results[rows] = combine(results[rows - 1], results[rows])
    return results
