"""What a measure is asked for, and the arithmetic that all measures share."""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.gains import LINEAR, Gain

Values = NDArray[np.float64]
Numbers = NDArray[np.integer | np.floating]


class Compat(Enum):
    """Which trec_eval to equal where its versions differ (interpolated precision; how exactly scores are compared)."""

    TREC_EVAL_9 = "9"
    TREC_EVAL_10 = "10"


@dataclass(frozen=True)
class Setting:
    """How a measure is to be taken; each measure looks only at what it takes."""

    relevant_from: int = 1  # the least grade that counts as relevant; measures of grades ignore it
    cutoff: int | None = None  # look at this many top documents; None for the whole ranking
    level: float = 1.0  # the recall, or the multiple of R, at which to measure
    compat: Compat = Compat.TREC_EVAL_10
    beta: float = 1.0  # of SetF: how many times as important as precision recall is; of Q: how much gain weighs
    p: float = 0.8  # the probability that a reader goes on to the next document
    gain: Gain = LINEAR
    is_graded: bool = False  # whether a gain was asked for, for measures that are binary without one
    norm: str | None = None  # "min": divide by what is possible within the cutoff
    max_grade: int | None = None  # the best grade of the scale; None for the best in the qrels
    docs: int | None = None  # documents in the corpus
    prior: str | None = None  # "stratum": what xinfAP takes where nothing of a stratum above a rank is judged

    def within(self, rank: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Say of each rank whether the measure looks at it."""
        if self.cutoff is None:
            return np.ones(rank.size, np.bool_)
        return rank <= self.cutoff

    @property
    def depth(self) -> int:
        """The cutoff of a measure that cannot do without one."""
        if self.cutoff is None:
            raise ValueError("this measure needs a cutoff")
        return self.cutoff


def count_each(group: NDArray[np.intp], groups: int) -> Values:
    """Count the members of each group."""
    return np.bincount(group, minlength=groups).astype(np.float64)


def sum_each(group: NDArray[np.intp], terms: Values, groups: int) -> Values:
    """Sum the terms of each group one after the other, in the order they stand.

    trec_eval adds in rank order; np.sum would add in pairs, and the last digit would differ.
    """
    return np.bincount(group, weights=terms, minlength=groups).astype(np.float64, copy=False)


def share(part: Numbers, whole: Numbers) -> Values:
    """Divide; a share of nothing is 0, as everywhere in trec_eval."""
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
