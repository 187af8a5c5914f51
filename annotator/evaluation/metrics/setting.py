"""The settings of a measure, and arithmetic that measures share: sums by ranking, shares, means over topics."""

import math
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.gains import LINEAR, Gain

Values = NDArray[np.float64]
Numbers = NDArray[np.integer | np.floating]


class Compat(Enum):
    """Which trec_eval to equal where its versions differ (interpolated precision; how exactly scores are compared)."""

    TREC_EVAL_9 = "9"
    TREC_EVAL_10 = "10"


@dataclass(frozen=True)
class Setting:
    """The parameters of a measure; each measure uses only its own."""

    relevant_from: int = 1  # the least grade that counts as relevant; measures of grades ignore it
    cutoff: int | None = None  # look at this many top documents; None for the whole ranking
    level: float = 1.0  # the recall, or the multiple of R, at which to measure
    compat: Compat = Compat.TREC_EVAL_10
    # Of SetF: how many times as important as precision recall is; of Q: how much gain weighs; of NRBP: what p is.
    beta: float = 1.0
    p: float = 0.8  # the probability that a reader goes on to the next document
    gain: Gain = LINEAR
    is_graded: bool = False  # whether a gain was asked for, for measures that are binary without one
    norm: str | None = None  # "min": divide by what is possible within the cutoff
    min_grade: int = 0  # this grade and lesser ones have no gain
    wanted: float = 1.0  # the sum of gains, from 0 to 1 each, that a reader wants
    alpha: float = 0.5  # how much less a document is worth for each one above it of the same subtopic
    normalize: bool = True  # whether to divide by the value of the best ranking
    max_grade: int | None = None  # the best grade of the scale; None for the best in the qrels
    docs: int | None = None  # documents in the corpus
    script: str | None = None  # "sample_eval": compute infAP and infNDCG as NIST's script does
    prior: str | None = None  # "stratum": what xinfAP takes where nothing of a stratum above a rank is judged

    def within(self, rank: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which ranks are within the cutoff."""
        if self.cutoff is None:
            return np.ones(rank.size, np.bool_)
        return rank <= self.cutoff

    @property
    def depth(self) -> int:
        """The cutoff of a measure that requires one."""
        if self.cutoff is None:
            raise ValueError("this measure needs a cutoff")
        return self.cutoff


def count_each(group: NDArray[np.intp], groups: int) -> Values:
    """Count the members of each group."""
    return np.bincount(group, minlength=groups).astype(np.float64)


def sum_each(group: NDArray[np.intp], terms: Values, groups: int) -> Values:
    """Sum the terms of each group sequentially, in their order.

    trec_eval adds in rank order; np.sum would add in pairs, and the last digit would differ.
    """
    return np.bincount(group, weights=terms, minlength=groups).astype(np.float64, copy=False)


def share(part: Numbers, whole: Numbers) -> Values:
    """Divide; 0 / 0 is 0, as everywhere in trec_eval."""
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


def run_along(nth: NDArray[np.intp], terms: Values, combine: np.ufunc) -> Values:
    """Combine each row's term with the result of the row before it in its group.

    Rows are sorted by group and numbered in it from 1 by `nth`, without gaps. Each step takes one row of every group
    that is long enough, so that a group's result is as exact as a plain loop's and does not depend on other groups;
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


def occurrences(keys: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number the rows of each key from 1, in their order."""
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    nth = np.empty(keys.size, np.intp)
    nth[order] = np.arange(1, keys.size + 1) - np.searchsorted(sorted_keys, sorted_keys)
    return nth


LEAST = 0.00001  # the minimum of values in a geometric mean


def means(values: Values) -> Values:
    """Average along the last axis, one entry a topic, in the order of the topic numbers' bytes.

    Raises `InvalidValueError` when there is no topic.
    """
    topics: int = values.shape[-1]
    return totals(values) / topics


def geometric_means(values: Values) -> Values:
    """Average along the last axis geometrically, values below 0.00001 raised to that (trec_eval's gm_map).

    Logarithms and powers are the C library's, not NumPy's, so that the last digit agrees. Raises `InvalidValueError`
    when there is no topic.
    """
    logarithms = np.array([math.log(max(value, LEAST)) for value in values.ravel()]).reshape(values.shape)
    averages = means(logarithms)
    return np.array([math.exp(average) for average in averages.ravel()]).reshape(averages.shape)


def totals(values: Values) -> Values:
    """Add along the last axis, one entry a topic, in the order of the topic numbers' bytes.

    As trec_eval -c: a topic for which the run returned nothing has its 0 there. Raises `InvalidValueError` when there
    is no topic.
    """
    if values.shape[-1] == 0:
        raise InvalidValueError("There is no topic to average over.")
    # np.sum adds in pairs; accumulating adds from left to right, as trec_eval does.
    total: Values = np.add.accumulate(values, axis=-1)[..., -1]
    return total
