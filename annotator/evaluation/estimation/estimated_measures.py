"""The measures that can be estimated from a sample: sums over documents, their ratios, and average precision.

A measure is a numerator, divided by a denominator where it has one. Both are computed from grades that are estimated:
a number for each document of the frame whose expected value, over the draw of the sample, is that of its grade.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.estimation.sampled_topic import CompletedTopic, GradeFunction, Labels, SampledTopic, Values
from annotator.evaluation.metrics.gains import LINEAR, Gain
from annotator.evaluation.metrics.measures import Measure

ESTIMATED = ("P", "R", "AP", "CG", "DCG", "nDCG", "RBP")  # names of the measures that can be estimated
PERSISTENCE = 0.8  # RBP's p unless it is given
LEAST_TOTAL = 1e-9  # smaller totals are rounding errors


@dataclass(frozen=True)
class GradeValue:
    """What a grade is worth in a measure: its gain, or with `relevant_from` 1 if it is relevant and else 0."""

    gain: Gain = LINEAR
    relevant_from: int | None = None

    def __call__(self, grades: NDArray[np.int16]) -> Values:
        """Look up each grade; grades below 0 are worth nothing."""
        if self.relevant_from is not None:
            return (grades >= self.relevant_from).astype(np.float64)
        return self.gain.of(np.maximum(grades, 0))


@dataclass(frozen=True, eq=False)
class Numerator:
    """The estimated numerator of each run, and how much it rises with the value of each of some documents."""

    totals: Values  # (runs,)
    slopes: Values  # (runs, some documents)


@dataclass(frozen=True, eq=False)
class Denominator:
    """The estimated denominator, the same for all runs, and how much it rises with a document of each grade.

    What is known of the machine in a whole stratum changes no variance within it. Without it, strata of other grades of
    the machine are alike but for people's grades.
    """

    total: float
    slopes: Values  # (documents in the sample,): of people's grades
    machine_slopes: Values  # of the machine's grades, times their weights, above the mean of their strata


class EstimatedMeasure(ABC):
    """A measure as a numerator and, for most, a denominator.

    `corrects_all` is whether the ratio is corrected for the variance of strata with one judged document, too. That is
    estimated too large from other topics. For a count of relevant documents it would make the ratio too small. The best
    possible DCG, a concave function of such counts, is itself estimated too small, and the two hardly leave a bias.
    """

    value: GradeValue
    corrects_all: ClassVar[bool] = False

    @abstractmethod
    def of_values(self, frame: SampledTopic, values: Values, at: Labels) -> Numerator:
        """Compute the numerator of each run from the values of all documents, and its slopes at some of them."""

    def numerator(self, topic: CompletedTopic) -> Numerator:
        """Estimate the numerator of each run, with its slopes at the documents of the sample."""
        return self.of_values(topic.frame, topic.values(self.value), topic.frame.sample)

    def denominator(self, topic: CompletedTopic) -> Denominator | None:  # noqa: ARG002 - of measures that have none
        """Estimate the denominator; None for a measure without one."""
        return None


@dataclass(frozen=True, eq=False)
class WeightedSum(EstimatedMeasure):
    """The sum over documents of their value times the weight of their rank: P, CG, DCG, RBP."""

    value: GradeValue
    weights: "RankWeights"

    def of_values(self, frame: SampledTopic, values: Values, at: Labels) -> Numerator:
        """Sum the values by the weights of the ranks."""
        listed = frame.by_rank[:, : self.weights.depth]
        weights = self.weights.of(np.arange(1, listed.shape[1] + 1))
        return Numerator(np.take(np.append(values, 0.0), listed) @ weights, self.weights.of(frame.ranks[:, at]))


@dataclass(frozen=True, eq=False)
class Recall(WeightedSum):
    """The relevant documents within a rank, divided by all relevant ones of the frame."""

    def denominator(self, topic: CompletedTopic) -> Denominator:
        """Estimate the number of relevant documents."""
        return _count(topic, self.value)


@dataclass(frozen=True, eq=False)
class NormalisedDCG(WeightedSum):
    """DCG divided by that of the best possible ranking of the frame, which is a function of the number of each gain."""

    depth: int | None
    corrects_all: ClassVar[bool] = True

    def denominator(self, topic: CompletedTopic) -> Denominator:
        """Estimate the DCG of the best possible ranking from the estimated number of documents of each gain or more."""
        grades = [topic.people, *([] if topic.frame.machine is None else [topic.frame.machine])]
        gains = np.unique(np.concatenate([[0.0], *(self.value(some) for some in grades)]))
        total = 0.0
        slopes, machine_slopes = np.zeros(topic.people.size), np.zeros(topic.people.size)
        for lower, gain in pairwise(gains.tolist()):
            above = _AtLeast(self.value, gain)
            count = _count(topic, above)
            discounts = _discount_sums(topic.frame.grades.size if self.depth is None else self.depth)
            whole = min(int(count.total), discounts.size - 1)
            slope = float(discounts[whole + 1] - discounts[whole]) if whole + 1 < discounts.size else 0.0
            total += (gain - lower) * (float(discounts[whole]) + slope * (count.total - whole))
            slopes += (gain - lower) * slope * count.slopes
            machine_slopes += (gain - lower) * slope * count.machine_slopes
        return Denominator(total, slopes, machine_slopes)


@dataclass(frozen=True, eq=False)
class AveragePrecision(EstimatedMeasure):
    """The sum over relevant documents of the precision at their rank, divided by the number of relevant ones."""

    value: GradeValue
    depth: int | None

    def of_values(self, frame: SampledTopic, values: Values, at: Labels) -> Numerator:
        """Sum over pairs of documents: both are relevant, and one is ranked no lower than the other."""
        by_rank = np.take(np.append(values, 0.0), frame.by_rank[:, : self.depth])
        rank = np.arange(1.0, by_rank.shape[1] + 1)
        above = np.cumsum(by_rank, axis=1)
        above -= by_rank
        share = by_rank / rank
        totals = np.einsum("ij,ij->i", share, above) + share.sum(axis=1)
        ranks = frame.ranks[:, at]
        slopes = np.zeros(ranks.shape)
        if at.size and by_rank.size:
            within = np.cumsum(share, axis=1)
            run, document = np.nonzero((ranks > 0) & (ranks <= by_rank.shape[1]))
            place = ranks[run, document] - 1
            below = within[run, -1] - within[run, place]
            slopes[run, document] = (1 + above[run, place]) / rank[place] + below
        return Numerator(totals, slopes)

    def numerator(self, topic: CompletedTopic) -> Numerator:
        """Estimate the sum over pairs of documents.

        The product of two estimated values has the product of the grades as its expected value, plus the covariance of
        the two by the draw, which is estimated and subtracted.
        """
        found = super().numerator(topic)
        return replace(found, totals=found.totals - topic.covariance_of_pairs(self.value, self.depth))

    def denominator(self, topic: CompletedTopic) -> Denominator:
        """Estimate the number of relevant documents."""
        return _count(topic, self.value)


@dataclass(frozen=True)
class _AtLeast:
    """Whether a grade is worth a gain or more: 1 or 0."""

    value: GradeValue
    gain: float

    def __call__(self, grades: NDArray[np.int16]) -> Values:
        return (self.value(grades) >= self.gain).astype(np.float64)


def _count(topic: CompletedTopic, which: GradeFunction) -> Denominator:
    """Estimate how many documents have such a grade: no fewer than were found in the sample."""
    of_people = which(topic.people)
    total = max(float(topic.values(which).sum()), float(of_people.sum()))
    return Denominator(total, of_people, topic.machine_values(which) - topic.machine_means(which))


@dataclass(frozen=True)
class RankWeights:
    """The weight of each rank in a sum: `kind` is "share" (1 / depth), "one", "discount" or "persistence"."""

    kind: str
    depth: int | None = None  # None for the whole ranking
    persistence: float = PERSISTENCE

    def of(self, ranks: NDArray[np.signedinteger]) -> Values:
        """Look the weights of ranks up; rank 0 has the weight 0."""
        weights: Values = _weights(self, int(ranks.max(initial=0)))[ranks]
        return weights


@lru_cache(maxsize=32)
def _weights(weights: RankWeights, last: int) -> Values:
    rank = np.arange(last + 1, dtype=np.float64)
    if weights.kind == "discount":
        table = 1 / np.log2(np.maximum(rank, 1) + 1)
    elif weights.kind == "persistence":
        table = (1 - weights.persistence) * weights.persistence ** (rank - 1)
    else:
        table = np.full(last + 1, 1.0 if weights.kind == "one" or weights.depth is None else 1 / weights.depth)
    table[0] = 0
    if weights.depth is not None:
        table[weights.depth + 1 :] = 0
    of_ranks: Values = table
    return of_ranks


@lru_cache(maxsize=32)
def _discount_sums(depth: int) -> Values:
    """The sum of the discounts of the first 0, 1, ..., `depth` ranks."""
    sums = np.zeros(depth + 1)
    sums[1:] = np.cumsum(1 / np.log2(np.arange(2, depth + 2)))
    return sums


def estimated_measure(measure: Measure, relevant_from: int) -> EstimatedMeasure:
    """Return how a measure is estimated; raises `InvalidValueError` for one that cannot be."""
    given = dict(measure.parameters)
    allowed = {"rel", "gain", "p"} if measure.name == "RBP" else {"rel", "gain"}
    if measure.name not in ESTIMATED or given.keys() - allowed or (measure.name == "RBP" and "gain" in given):
        raise InvalidValueError(
            "%(measure)s cannot be estimated from a sample; these can: %(measures)s.",
            measure=measure,
            measures=", ".join(ESTIMATED),
        )
    return _estimated(measure, given, relevant_from)


def _estimated(measure: Measure, given: Mapping[str, object], relevant_from: int) -> EstimatedMeasure:
    depth = None if measure.cutoff is None else int(measure.cutoff)
    rel, gain, p = given.get("rel", relevant_from), given.get("gain", LINEAR), given.get("p", PERSISTENCE)
    binary = GradeValue(relevant_from=rel if isinstance(rel, int) else relevant_from)
    graded = GradeValue(gain if isinstance(gain, Gain) else LINEAR)
    discounts = RankWeights("discount", depth)
    of_rbp = RankWeights("persistence", depth, p if isinstance(p, float) else PERSISTENCE)
    by_name: Mapping[str, EstimatedMeasure] = {
        "P": WeightedSum(binary, RankWeights("share", depth)),
        "RBP": WeightedSum(binary, of_rbp),
        "CG": WeightedSum(graded, RankWeights("one", depth)),
        "DCG": WeightedSum(graded, discounts),
        "nDCG": NormalisedDCG(graded, discounts, depth),
        "R": Recall(binary, RankWeights("one", depth)),
        "AP": AveragePrecision(binary, depth),
    }
    return by_name[measure.name]
