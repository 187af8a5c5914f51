"""What a measure is asked for, and the arithmetic that all measures share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Numbers = NDArray[np.integer | np.floating]


@dataclass(frozen=True)
class Setting:
    """How a measure is to be taken."""

    relevant_from: int  # the least grade that counts as relevant; measures of grades ignore it
    cutoff: int | None = None  # look at this many top documents; None for the whole ranking

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
