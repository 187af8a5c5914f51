"""The interval that a sample will give, foreseen before anybody has judged, and how many documents one of ± w takes.

The error of a mean over topics follows from the size of each stratum, the standard deviation in it of what a document
adds to the measure, and how many of its documents are drawn (Cochran 1977, 5.5).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.estimation.estimated_measures import EstimatedMeasure
from annotator.evaluation.estimation.sample_sizes import Allocation, Cells
from annotator.evaluation.estimation.sampled_topic import CompletedTopic, SampledTopic, Values
from annotator.evaluation.pooling.probability_sample import MachineGrades, OpenStratum, cells_of
from annotator.evaluation.pooling.topic_runs import TopicRuns
from annotator.evaluation.significance.distributions import special

QUANTILE, POWER = 0.975, 0.8
ASSUMED_CORRELATION = 0.6  # of a machine's values with people's, until enough is judged
ENOUGH_JUDGED = 30


@dataclass(frozen=True, eq=False)
class OpenTopic:
    """A topic before the budget is divided: its strata, and its documents with ranks and the machine's grades."""

    strata: Sequence[OpenStratum]
    seen: SampledTopic

    @classmethod
    def of(cls, runs: TopicRuns, strata: Sequence[OpenStratum], machine: MachineGrades) -> "OpenTopic":
        """Rank the documents of the strata in the runs."""
        documents = np.concatenate([np.empty(0, np.int32), *(one.documents for one in strata)])
        by_place = np.zeros((runs.given.size, runs.candidates + 1), np.int32)
        by_place[runs.entries.row, runs.entries.place] = runs.entries.rank
        places = np.array([runs.place_of.get(one, runs.candidates) for one in documents.tolist()], np.intp)
        labels = np.repeat(np.arange(len(strata)), [one.documents.size for one in strata])
        grades = machine.look_up(documents)[0].astype(np.int16)
        return cls(strata, SampledTopic(labels, by_place[:, places], grades, grades))


@dataclass(frozen=True, eq=False)
class Foreseen:
    """The foreseen error for each budget, for a run or for a pair of runs of average error."""

    cells: Cells  # with the deviations of the measure
    order: NDArray[np.intp]  # the cells from which a growing budget draws, beyond the least

    @property
    def least(self) -> int:
        """The smallest budget."""
        return int(self.cells.least.sum())

    @property
    def most(self) -> int:
        """The number of all documents."""
        return int(self.cells.sizes.sum())

    def half_width(self, budget: int) -> float:
        """Half of the 95 % interval that a budget gives; 0 with all documents."""
        least = self.cells.least
        further = self.order[: max(budget - int(least.sum()), 0)]
        drawn = least + np.bincount(further, minlength=least.size)
        return self.cells.error(drawn) * _quantile(QUANTILE)

    def documents_for_interval(self, half_width: float) -> int:
        """The fewest documents for an interval of ± `half_width` or less."""
        low, high = self.least, self.most
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.half_width(middle) <= half_width else (middle + 1, high)
        return high

    def documents_for_difference(self, difference: float) -> int:
        """The fewest documents that show such a difference of two runs at 5 % with a power of 0.8.

        The error is that of the difference of two runs.
        """
        return self.documents_for_interval(difference * _quantile(QUANTILE) / (_quantile(QUANTILE) + _quantile(POWER)))


def _quantile(probability: float) -> float:
    return float(special().ndtri(probability))


def foreseen(
    topics: Sequence[OpenTopic],
    measure: EstimatedMeasure,
    how: Allocation,
    correlation: float,
    *,
    of_pairs: bool = False,
    uses_machine: bool = True,
) -> Foreseen:
    """Foresee the error from the machine's grades and the correlation of its values with people's.

    People's value of a document is taken as `correlation` times the machine's, plus an error that leaves the variance
    of a topic's values, among the documents that weigh in the measure, as the machine sees it. With the machine only
    the error remains. The variance is the mean over runs, or over all pairs of runs.
    """
    as_drawn = cells_of([topic.strata for topic in topics])
    deviations = [
        _deviations(topic.seen, measure, correlation, of_pairs=of_pairs, uses_machine=uses_machine) for topic in topics
    ]
    cells = Cells(as_drawn.sizes, np.concatenate([np.zeros(0), *deviations]), as_drawn.taken, len(topics))
    return Foreseen(cells, as_drawn.order(how))


def _deviations(
    topic: SampledTopic, measure: EstimatedMeasure, correlation: float, *, of_pairs: bool, uses_machine: bool
) -> Values:
    by_machine = CompletedTopic(topic, np.zeros(topic.sizes.size))
    slopes = measure.of_values(topic, by_machine.values(measure.value), np.arange(topic.grades.size)).slopes
    denominator = measure.denominator(by_machine)
    if denominator is not None:
        slopes /= max(denominator.total, 1)
    factor = 1.0
    if of_pairs:  # the mean of (a - b)² over pairs is 2 R / (R - 1) times that of the squares about the mean
        runs = len(slopes)
        slopes = slopes - slopes.mean(axis=0)
        factor = 2 * runs / max(runs - 1, 1)
    values = measure.value(topic.grades)
    weights = (slopes**2).mean(axis=0)
    squares = (1 - correlation**2) * _variance(values, weights) * _means(weights, topic)
    if not uses_machine:
        added = slopes * values
        spread = _means((added**2).mean(axis=0), topic)
        spread -= np.mean([_means(of_run, topic) ** 2 for of_run in added], axis=0)
        squares += correlation**2 * spread
    deviations: Values = np.sqrt(np.maximum(factor * squares, 0))
    return deviations


def _variance(values: Values, weights: Values) -> float:
    """The variance of values by weights; 0 without any."""
    if not weights.any():
        return 0.0
    mean = np.average(values, weights=weights)
    return float(np.average((values - mean) ** 2, weights=weights))


def _means(values: Values, topic: SampledTopic) -> Values:
    """The mean of each stratum of the topic; 0 of one without documents."""
    means: Values = np.bincount(topic.strata, values, topic.sizes.size) / np.maximum(topic.sizes, 1)
    return means


@dataclass(frozen=True)
class Correlation:
    """The correlation of a machine's grades with people's, and from how many judged documents; 0 if it is assumed."""

    value: float
    judged: int


def correlation_with_people(pairs: Iterable[tuple[int, int]]) -> Correlation:
    """Correlate (person's grade, machine's grade) of documents; assumed until there are thirty and they vary."""
    people, machine = np.array(list(pairs), np.float64).reshape(-1, 2).T
    if people.size < ENOUGH_JUDGED or not people.std() or not machine.std():
        return Correlation(ASSUMED_CORRELATION, 0)
    return Correlation(float(np.clip(np.corrcoef(people, machine)[0, 1], 0, 1)), people.size)
