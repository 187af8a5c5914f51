"""The number of documents that people must judge in each stratum for an interval of a given width.

A cell is a stratum of one topic. The error of a mean over topics follows from the size of each cell, the standard
deviation in it of what a document adds to the measure, and how many of its documents are drawn (Cochran 1977, 5.5).
"""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.estimation.sampled_topic import Values

Counts = NDArray[np.intp]


class Allocation(Enum):
    """How documents are divided among cells."""

    NEYMAN = "neyman"  # by size times standard deviation: the least error
    PROPORTIONAL = "proportional"  # by size
    EQUAL = "equal"


@dataclass(frozen=True, eq=False)
class Cells:
    """The strata of some topics: sizes, and standard deviations of what a document adds to a topic's value.

    `taken` are the documents of each cell that are judged in any case: those of an earlier draw, or all of a cell.
    """

    sizes: Counts  # (cells,)
    deviations: Values  # (cells,)
    taken: Counts  # (cells,)
    topics: int

    @cached_property
    def least(self) -> Counts:
        """The fewest documents of each cell that allow an estimate: one, or those that are taken in any case."""
        return np.maximum(self.taken, np.minimum(self.sizes, 1))

    def error(self, drawn: Counts) -> float:
        """The standard error of the mean over topics, given the number of documents drawn from each cell."""
        variance = self.deviations**2 * self.sizes * (self.sizes / np.maximum(drawn, 1) - 1)
        return float(np.sqrt(np.maximum(variance, 0).sum())) / self.topics

    def order(self, how: Allocation) -> Counts:
        """The cells from which one document more is drawn, beyond `least`, as a budget grows to all documents.

        A variance takes two documents, so that each cell gets its second before any gets a third. One document more of
        n lowers the variance by the squared claim / (n (n + 1)), so that taking the largest first is Neyman's optimum
        in whole numbers; for other claims it is the apportionment of Huntington and Hill.
        """
        claims = {
            Allocation.NEYMAN: self.sizes * self.deviations,
            Allocation.PROPORTIONAL: self.sizes.astype(np.float64),
            Allocation.EQUAL: np.ones(self.sizes.size),
        }[how]
        more = self.sizes - self.least
        cell = np.repeat(np.arange(self.sizes.size), more)
        begins = np.cumsum(more) - more
        already = self.least[cell] + np.arange(cell.size) - begins[cell]
        gain = claims[cell] ** 2 / np.maximum(already * (already + 1), 1)
        order: Counts = cell[np.lexsort((-gain, already >= 2))]  # noqa: PLR2004 - a second document
        return order


def allocate(cells: Cells, budget: int, how: Allocation) -> Counts:
    """Divide a budget of documents among cells: each gets at least one and at most all of its documents.

    Raises `InvalidValueError` for a budget below that. A budget above all documents draws all.
    """
    least = int(cells.least.sum())
    if budget < least:
        raise InvalidValueError(
            "At least %(least)d documents must be judged: one of each of %(strata)d strata in all topics, the certain "
            "ones, and those drawn before. The budget is %(budget)d; take a larger one, or fewer strata.",
            strata=cells.sizes.size,
            least=least,
            budget=budget,
        )
    taken = cells.order(how)[: budget - least]
    drawn: Counts = cells.least + np.bincount(taken, minlength=cells.sizes.size)
    return drawn
