"""A topic with a random sample of judged documents: its frame, strata, ranks and grades."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.intp]
Values = NDArray[np.float64]

UNKNOWN = np.int16(np.iinfo(np.int16).min)  # in place of a grade: the document has none


@dataclass(frozen=True, eq=False)
class SampledTopic:
    """The frame of a topic: all documents from which the sample was drawn, at random within each stratum.

    `strata` and the two arrays of grades have one element a document, and `ranks` has the shape (runs, documents).
    """

    strata: Labels  # a label of each document's stratum, 0 or more; the same label means alike strata in all topics
    ranks: NDArray[np.int32]  # of each document in each run, from 1; 0 where the run did not retrieve it
    grades: NDArray[np.int16]  # people's grades of the documents that were drawn and judged; UNKNOWN for all others
    machine: NDArray[np.int16] | None = None  # a machine's grades of all documents; None without a machine

    @cached_property
    def sample(self) -> Labels:
        """Indices of the documents in the sample, by label of their stratum."""
        drawn = np.flatnonzero(self.grades != UNKNOWN)
        return drawn[np.argsort(self.strata[drawn], kind="stable")]

    @cached_property
    def labels(self) -> Labels:
        """The labels of the topic's strata, ascending."""
        return np.unique(self.strata)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """By label from 0: the number of documents N."""
        return np.bincount(self.strata)

    @cached_property
    def sampled(self) -> NDArray[np.intp]:
        """By label from 0: the number of documents n in the sample."""
        return np.bincount(self.strata[self.sample], minlength=self.sizes.size)

    @cached_property
    def by_rank(self) -> NDArray[np.int32]:
        """The index of the document at each rank of each run, (runs, ranks); the number of documents where none is."""
        documents = np.arange(self.grades.size, dtype=np.int32)
        listed = np.full((len(self.ranks), int(self.ranks.max(initial=0)) + 1), documents.size, np.int32)
        for of_run, ranks in zip(listed, self.ranks, strict=True):
            of_run[ranks] = documents
        return listed[:, 1:]  # without what has rank 0

    @cached_property
    def ranked_strata(self) -> tuple["RankedStratum", ...]:
        """The strata with a sampling error and two or more judged documents, in the order of each run."""
        labels = self.strata[self.sample]
        ranked = []
        for label in self.uncertain[self.sampled[self.uncertain] > 1].tolist():
            members = np.flatnonzero(labels == label)
            ranks = self.ranks[:, self.sample[members]]
            order = np.argsort(ranks, axis=1)
            size, sampled = int(self.sizes[label]), int(self.sampled[label])
            excess = (size / sampled) ** 2 - size * (size - 1) / (sampled * (sampled - 1))
            ranked.append(RankedStratum(members[order], np.take_along_axis(ranks, order, axis=1), excess))
        return tuple(ranked)

    @property
    def unsampled(self) -> Labels:
        """Labels of strata without a judged document; with such a stratum the topic cannot be estimated."""
        return np.flatnonzero((self.sizes > 0) & (self.sampled == 0))

    @property
    def is_complete(self) -> bool:
        """Whether all documents were judged."""
        return self.sample.size == self.grades.size

    @property
    def has_variance(self) -> bool:
        """Whether the error of the draw can be estimated: not from a single document of all uncertain strata."""
        return all(group.has_variance for group in self.variance_groups)

    @cached_property
    def expansions(self) -> Values:
        """Of each document in `sample`: N / n of its stratum."""
        return (self.sizes / np.maximum(self.sampled, 1))[self.strata[self.sample]]

    @property
    def uncertain(self) -> Labels:
        """Labels of the strata with a sampling error."""
        return np.flatnonzero((self.sampled > 0) & (self.sampled < self.sizes))

    @cached_property
    def variance_groups(self) -> tuple["VarianceGroup", ...]:
        """The strata with a sampling error, as `groups_of`."""
        return self.groups_of(self.uncertain)

    @cached_property
    def own_groups(self) -> tuple["VarianceGroup", ...]:
        """The strata with a sampling error and two or more judged documents, each with its own variance."""
        return self.groups_of(self.uncertain[self.sampled[self.uncertain] > 1])

    def groups_of(self, labels: Labels) -> tuple["VarianceGroup", ...]:
        """Group strata by their labels; those with one judged document are joined with a neighbour.

        The variance of a single document cannot be estimated. The joined strata get the variance about their common
        mean, which is too large rather than too small (collapsed strata: Cochran 1977, 5A.12).
        """
        joined: list[list[int]] = []
        for label in labels.tolist():
            if joined and (self._judged(joined[-1]) == 1 or self.sampled[label] == 1):
                joined[-1].append(label)
            else:
                joined.append([label])
        if len(joined) > 1 and self._judged(joined[-1]) == 1:
            joined[-2:] = [joined[-2] + joined[-1]]
        return tuple(self._group(labels) for labels in joined)

    def _judged(self, labels: list[int]) -> int:
        return int(self.sampled[labels].sum())

    def _group(self, labels: list[int]) -> "VarianceGroup":
        members = np.flatnonzero(np.isin(self.strata[self.sample], labels))
        sizes, sampled = self.sizes[labels], self.sampled[labels]
        return VarianceGroup(members, float((sizes * (sizes - sampled) / sampled).sum()))


@dataclass(frozen=True, eq=False)
class RankedStratum:
    """The judged documents of a stratum in the order of each run, (runs, documents).

    `excess` is by how much N² / n² exceeds the inverse probability that two of its documents are drawn together, which
    is n (n - 1) / (N (N - 1)).
    """

    members: Labels  # indices in the topic's `sample`
    ranks: NDArray[np.int32]  # ascending; 0 for documents that the run did not retrieve
    excess: float


@dataclass(frozen=True, eq=False)
class VarianceGroup:
    """A stratum with an estimated variance, or several: `factor` is N² (1 - n / N) / n, added over them.

    `members` index the topic's `sample`.
    """

    members: Labels
    factor: float

    @property
    def has_variance(self) -> bool:
        """Whether there are two documents or more, from which a variance can be estimated."""
        return self.members.size > 1


def covariances(groups: Sequence[VarianceGroup], values: Values, others: Values) -> Values:
    """Estimate the covariances of totals of several variables with those of others, (variables, other variables).

    Both are (variables, sample). Cochran 1977, 5.3, with the finite-population correction; groups without a variance
    add nothing.
    """
    known = [group for group in groups if group.has_variance]
    if not known:
        return np.zeros((len(values), len(others)))
    members = np.concatenate([group.members for group in known])
    sizes = np.array([group.members.size for group in known])
    factors = np.repeat(np.array([group.factor for group in known]) / (sizes - 1), sizes)
    left = _deviations(values[:, members], sizes)
    right = left if others is values else _deviations(others[:, members], sizes)
    products: Values = (left * factors) @ right.T
    return products


def _deviations(values: Values, sizes: NDArray[np.intp]) -> Values:
    """Subtract the mean of each group of columns from its columns."""
    starts = np.cumsum(sizes) - sizes
    means = np.add.reduceat(values, starts, axis=1) / sizes
    deviations: Values = values - np.repeat(means, sizes, axis=1)
    return deviations


@dataclass(frozen=True, eq=False)
class CompletedTopic:
    """A topic with a value for every document of the frame: the machine's, corrected by those of the sample.

    A function of grades has at each document the machine's value times the weight of its stratum; at a document of the
    sample also N / n times the difference of people's value from that. Its sum is the difference estimator of the total
    (Cochran 1977, 7.5; PPI++: Angelopoulos, Duchi and Zrnic 2023), and with weights of 0 that of people alone
    (Horvitz and Thompson 1952).
    """

    frame: SampledTopic
    weights: Values  # by label of a stratum: how much the machine's values count, from 0 to 1

    @property
    def people(self) -> NDArray[np.int16]:
        """People's grades of the documents in the sample."""
        return self.frame.grades[self.frame.sample]

    def machine_values(self, of: "GradeFunction") -> Values:
        """The machine's values of the documents in the sample, times the weights of their strata."""
        if self.frame.machine is None:
            return np.zeros(self.frame.sample.size)
        sample = self.frame.sample
        weighted: Values = of(self.frame.machine[sample]) * self.weights[self.frame.strata[sample]]
        return weighted

    def machine_means(self, of: "GradeFunction") -> Values:
        """For the documents in the sample: the mean of the machine's weighted values over their whole strata."""
        labels = self.frame.strata
        if self.frame.machine is None:
            return np.zeros(self.frame.sample.size)
        weighted = of(self.frame.machine) * self.weights[labels]
        totals = np.bincount(labels, weighted, minlength=self.frame.sizes.size)
        means: Values = (totals / np.maximum(self.frame.sizes, 1))[labels[self.frame.sample]]
        return means

    def residuals(self, of: "GradeFunction") -> Values:
        """By how much people's values of the documents in the sample exceed the weighted ones of the machine."""
        residuals: Values = of(self.people) - self.machine_values(of)
        return residuals

    def values(self, of: "GradeFunction") -> Values:
        """The values of all documents."""
        frame = self.frame
        values = np.zeros(frame.grades.size)
        if frame.machine is not None:
            values += of(frame.machine) * self.weights[frame.strata]
        values[frame.sample] += frame.expansions * self.residuals(of)
        return values

    def covariance_of_pairs(self, of: "GradeFunction", depth: int | None) -> Values:
        """Estimate, for each run, the sum over pairs of documents of the covariance of their values by lower rank.

        Two documents of a stratum are drawn together with probability n (n - 1) / (N (N - 1)); those of different
        strata independently. Documents below the depth do not count.
        """
        residuals = self.residuals(of)
        totals = np.zeros(len(self.frame.ranks))
        for stratum in self.frame.ranked_strata:
            counts = (stratum.ranks > 0) & (True if depth is None else stratum.ranks <= depth)
            values = np.where(counts, residuals[stratum.members], 0.0)
            above = np.cumsum(values, axis=1) - values
            totals += stratum.excess * (values * above / np.maximum(stratum.ranks, 1)).sum(axis=1)
        return totals


GradeFunction = Callable[[NDArray[np.int16]], Values]


@dataclass(frozen=True, eq=False)
class FrameRanks:
    """The ranks of a frame's documents in the runs, and how much of each run's top lies outside the frame."""

    ranks: NDArray[np.int32]  # (runs, documents), from 1; 0 where the run did not retrieve the document
    outside: Values  # (runs,): the share of the retrieved documents, to the depth asked for, outside the frame

    @classmethod
    def of(cls, frame: NDArray[Any], rankings: Sequence[NDArray[Any]], depth: int | None = None) -> "FrameRanks":
        """Look the documents up, by docno or number, in one ranking of each run, best first."""
        order = np.argsort(frame, kind="stable")
        in_order = frame[order]
        ranks = np.zeros((len(rankings), frame.size), np.int32)
        outside = np.zeros(len(rankings))
        for run, ranking in enumerate(rankings):
            place = np.minimum(np.searchsorted(in_order, ranking), max(frame.size - 1, 0))
            is_inside = in_order[place] == ranking if frame.size else np.zeros(ranking.size, np.bool_)
            ranks[run, order[place[is_inside]]] = np.flatnonzero(is_inside) + 1
            outside[run] = 1 - is_inside[:depth].mean() if ranking.size else 0.0
        return cls(ranks, outside)
