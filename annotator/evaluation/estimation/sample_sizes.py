"""How many documents must people judge, and of which strata, for an interval of a given width.

A cell is a stratum of one topic. The error of a mean over topics follows from the size of each cell, the standard
deviation in it of what a document adds to the measure, and how many of its documents are drawn (Cochran 1977, 5.5).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.estimation.difference_estimator import MachineWeights
from annotator.evaluation.estimation.estimated_measures import EstimatedMeasure
from annotator.evaluation.estimation.sampled_topic import CompletedTopic, SampledTopic, Values
from annotator.evaluation.significance.distributions import special

LEAST_DRAWN = 2  # documents of a cell, which a variance takes
QUANTILE, POWER = 0.975, 0.8

Counts = NDArray[np.intp]


class Allocation(StrEnum):
    """How documents are divided among cells."""

    NEYMAN = "neyman"  # by size times standard deviation: the least error
    PROPORTIONAL = "proportional"  # by size
    EQUAL = "equal"


@dataclass(frozen=True, eq=False)
class Cells:
    """The strata of some topics: sizes, and standard deviations of what a document adds to a topic's value."""

    sizes: Counts  # (cells,)
    deviations: Values  # (cells,)
    topics: int

    @property
    def least(self) -> Counts:
        """The fewest documents of each cell that allow an estimate: two, or all of a smaller cell."""
        return np.minimum(self.sizes, LEAST_DRAWN)

    def error(self, drawn: Counts) -> float:
        """The standard error of the mean over topics when so many documents of each cell are drawn, at least one."""
        variance = self.deviations**2 * self.sizes * (self.sizes / np.maximum(drawn, 1) - 1)
        return float(np.sqrt(np.maximum(variance, 0).sum())) / self.topics


def allocate(cells: Cells, budget: int, how: Allocation) -> Counts:
    """Divide a budget of documents among cells: each gets at least two and at most all of its documents.

    Raises `InvalidValueError` for a budget below two documents a cell. A budget above all documents draws all.
    """
    least, most = cells.least, cells.sizes
    if budget < least.sum():
        raise InvalidValueError(
            "With %(strata)d strata in all topics, at least %(least)d documents must be judged: two of each stratum. "
            "The budget is %(budget)d; take a larger one, or fewer strata.",
            strata=cells.sizes.size,
            least=int(least.sum()),
            budget=budget,
        )
    claims = {
        Allocation.NEYMAN: cells.sizes * cells.deviations,
        Allocation.PROPORTIONAL: cells.sizes.astype(np.float64),
        Allocation.EQUAL: np.ones(cells.sizes.size),
    }[how]
    cell = np.repeat(np.arange(most.size), most - least)
    begins = np.cumsum(most - least) - (most - least)
    already = least[cell] + np.arange(cell.size) - begins[cell]
    # One document more of n lowers the variance by the squared claim / (n (n + 1)), so that taking the largest first
    # is Neyman's optimum in whole numbers; for other claims it is the apportionment of Huntington and Hill.
    order = np.argsort(-(claims[cell] ** 2) / np.maximum(already * (already + 1), 1), kind="stable")
    taken = cell[order[: budget - int(least.sum())]]
    drawn: Counts = least + np.bincount(taken, minlength=most.size)
    return drawn


@dataclass(frozen=True)
class Plan:
    """A number of documents to be judged, and the half of the 95 % interval that it gives."""

    documents: int
    half_width: float


def plan_for_budget(cells: Cells, budget: int, how: Allocation) -> Plan:
    """Return the interval that a budget gives; raises as `allocate`."""
    drawn = allocate(cells, budget, how)
    return Plan(int(drawn.sum()), cells.error(drawn) * _quantile(QUANTILE))


def plan_for_interval(cells: Cells, half_width: float, how: Allocation) -> Plan:
    """Return the fewest documents for a 95 % interval of ± `half_width` or less; all documents have one of ± 0."""
    low, high = int(cells.least.sum()), int(cells.sizes.sum())
    while low < high:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if plan_for_budget(cells, middle, how).half_width <= half_width else (middle + 1, high)
        )
    return plan_for_budget(cells, high, how)


def plan_for_difference(cells: Cells, difference: float, how: Allocation, power: float = POWER) -> Plan:
    """Return the fewest documents that show such a difference of two runs at 5 % with this power.

    The deviations of the cells are those of the difference of what a document adds to the two.
    """
    error = abs(difference) / (_quantile(QUANTILE) + _quantile(power))
    return plan_for_interval(cells, error * _quantile(QUANTILE), how)


def _quantile(probability: float) -> float:
    return float(special().ndtri(probability))


def cells_of_sample(
    topics: Sequence[SampledTopic], measure: EstimatedMeasure, weights: MachineWeights, contrast: Values
) -> Cells:
    """Take the deviations from a sample that is judged: those of a label pooled over topics.

    `contrast` has a weight for each run, (runs,): 1 for the run that is planned for, 1 and -1 for a difference.
    """
    squares, degrees = np.zeros((2, weights.numerators.shape[1]))
    for topic, of_topic in zip(topics, weights.numerators, strict=True):
        completed = CompletedTopic(topic, of_topic)
        influence = (contrast @ measure.numerator(completed).slopes[:, topic.sample]) * completed.residuals(
            measure.value
        )
        labels = topic.strata[topic.sample]
        means = np.bincount(labels, influence, topic.sizes.size) / np.maximum(topic.sampled, 1)
        squares[: topic.sizes.size] += np.bincount(labels, (influence - means[labels]) ** 2, topic.sizes.size)
        degrees[: topic.sizes.size] += np.maximum(topic.sampled - 1, 0)
    pooled = np.sqrt(squares / np.maximum(degrees, 1))
    return _cells(topics, [pooled[topic.labels] for topic in topics])


def cells_foreseen(
    topics: Sequence[SampledTopic],
    measure: EstimatedMeasure,
    correlation: float,
    contrast: Values,
    *,
    uses_machine: bool = True,
) -> Cells:
    """Foresee the deviations before anybody has judged, from the machine's grades and how well they are expected to do.

    People's value of a document is taken as `correlation` times the machine's, plus an error that leaves the variance
    of a topic's values as the machine sees it. With the machine only the error remains.
    """
    deviations = []
    for topic in topics:
        if topic.machine is None:
            raise InvalidValueError("Before anybody has judged, only a machine's grades tell how grades may vary.")
        seen = SampledTopic(topic.strata, topic.ranks, topic.machine)
        slopes = contrast @ measure.numerator(CompletedTopic(seen, np.zeros(topic.sizes.size))).slopes
        values = measure.value(topic.machine)
        error = (1 - correlation**2) * float(values.var())
        squares = error * _means(slopes**2, topic)
        if not uses_machine:
            added = slopes * values
            squares += correlation**2 * (_means(added**2, topic) - _means(added, topic) ** 2)
        deviations.append(np.sqrt(np.maximum(squares, 0)))
    return _cells(topics, deviations)


def _means(values: Values, topic: SampledTopic) -> Values:
    """The mean of each stratum of the topic."""
    means: Values = np.bincount(topic.strata, values)[topic.labels] / topic.sizes[topic.labels]
    return means


def _cells(topics: Sequence[SampledTopic], deviations: Sequence[Values]) -> Cells:
    sizes = [topic.sizes[topic.labels] for topic in topics]
    return Cells(np.concatenate(sizes), np.concatenate(deviations), len(topics))
