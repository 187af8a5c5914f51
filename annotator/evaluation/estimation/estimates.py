"""The mean of a measure over topics for each run, estimated from a sample: with intervals and differences of runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.estimation.difference_estimator import (
    TopicEstimate,
    estimate_topics,
    machine_alone,
    no_weights,
)
from annotator.evaluation.estimation.estimated_measures import EstimatedMeasure
from annotator.evaluation.estimation.sampled_topic import SampledTopic, Values
from annotator.evaluation.significance.comparisons import Letters, holm, letters
from annotator.evaluation.significance.distributions import special
from annotator.evaluation.significance.results import PairFigures, Undefined, code_of

QUANTILE = 0.975  # of 95 % intervals
LEAST_ERROR = 1e-12  # a smaller standard error is a rounding error: there is no uncertainty


@dataclass(frozen=True, eq=False)
class MeanEstimates:
    """The mean over topics of each run, and the covariances of these means.

    `by_draw` is the covariance by the draw of documents, for these topics. `in_all` is the covariance when the topics
    are themselves a random sample of all topics, and includes the former; None for fewer than two topics.
    """

    topics: Values  # (topics, runs): the estimates by topic
    covariances: Values  # (topics, runs, runs): of these, by the draw of documents

    @cached_property
    def by_draw(self) -> Values:
        """The covariance of the means by the draw of documents, (runs, runs)."""
        covariance: Values = self.covariances.sum(axis=0) / len(self.topics) ** 2
        return covariance

    @cached_property
    def values(self) -> Values:
        """The estimated mean of each run."""
        means: Values = self.topics.mean(axis=0)
        return means

    @cached_property
    def in_all(self) -> Values | None:
        """The covariance of the means as (runs, runs), topics taken as a sample."""
        topics = len(self.topics)
        if topics <= 1:
            return None
        deviations = self.topics - self.values
        covariance: Values = deviations.T @ deviations / (topics * (topics - 1))
        return covariance

    @cached_property
    def errors(self) -> Values:
        """The standard error of each run by the draw of documents."""
        return _roots(np.diag(self.by_draw))

    @cached_property
    def half_widths(self) -> Values:
        """Half of each run's 95 % interval for these topics."""
        of_topics = np.diagonal(self.covariances, axis1=1, axis2=2)
        half_widths: Values = self.errors * special().stdtrit(degrees_of_freedom(of_topics), QUANTILE)
        return half_widths

    @cached_property
    def half_widths_in_all(self) -> Values | None:
        """Half of each run's 95 % interval where topics are a sample, by Student's t with topics - 1 degrees."""
        if self.in_all is None:
            return None
        return _roots(np.diag(self.in_all)) * float(special().stdtrit(len(self.topics) - 1, QUANTILE))

    @cached_property
    def shares_of_draw(self) -> Values | None:
        """How much of each run's variance comes from the draw of documents, from 0 to 1; the rest is from topics."""
        if self.in_all is None:
            return None
        whole = np.diag(self.in_all)
        shares = np.divide(np.diag(self.by_draw), whole, out=np.zeros(whole.size), where=whole > LEAST_ERROR**2)
        return np.minimum(shares, 1)


def degrees_of_freedom(variances: Values) -> Values:
    """Return the degrees of freedom of a sum of estimated variances, the first axis being topics (Satterthwaite 1946).

    Each topic counts as one degree, since what it adds rests on the few documents of the sample that a run has at its
    top; the square of a variance that is estimated with one degree is three times too large on average.
    """
    total, squares = variances.sum(axis=0), (variances**2).sum(axis=0)
    degrees: Values = np.divide(3 * total**2, squares, out=np.ones(total.shape), where=squares > 0)
    return degrees


@dataclass(frozen=True, eq=False)
class Estimates:
    """The estimates of all runs, from people and the machine together, from people alone, and from the machine alone.

    `people` and `machine` are None without a machine. `unsampled` are the indices of topics with a stratum that has no
    judged document; `undefined` those whose sample has no document of any value, for a measure with a denominator, and
    `without_variance` those with a single document drawn: with such a topic there is no interval of the draw.
    """

    together: MeanEstimates
    people: MeanEstimates | None
    machine: Values | None  # (runs,): biased as the machine is
    used: tuple[int, ...]  # indices of the topics that the means are over
    unsampled: tuple[int, ...]
    undefined: tuple[int, ...]
    without_variance: tuple[int, ...]


def estimate(topics: Sequence[SampledTopic], measure: EstimatedMeasure) -> Estimates | None:
    """Estimate a measure for each run; None when no topic can be estimated."""
    unsampled = [place for place, topic in enumerate(topics) if topic.unsampled.size]
    places = [place for place, topic in enumerate(topics) if not topic.unsampled.size]
    has_machine = all(topics[place].machine is not None for place in places)
    of_topics = estimate_topics([topics[place] for place in places], measure)
    defined = [number for number, one in enumerate(of_topics) if one.is_defined]
    if not defined:
        return None
    used = [topics[places[number]] for number in defined]
    together = _mean([of_topics[number] for number in defined])
    people = machine = None
    if has_machine:
        people = _mean(estimate_topics(used, measure, no_weights(used)))
        machine = machine_alone(used, measure).mean(axis=0)
    return Estimates(
        together,
        people,
        machine,
        tuple(places[number] for number in defined),
        tuple(unsampled),
        tuple(place for number, place in enumerate(places) if not of_topics[number].is_defined),
        tuple(places[number] for number in defined if not topics[places[number]].has_variance),
    )


def _mean(of_topics: Sequence[TopicEstimate]) -> MeanEstimates:
    return MeanEstimates(np.array([one.values for one in of_topics]), np.array([one.covariance for one in of_topics]))


@dataclass(frozen=True, eq=False)
class Differences:
    """The difference of every two runs: row minus column, with the standard error of the same sample (paired).

    `p` is of the hypothesis that these topics have no difference, and `corrected` Holm's over all pairs.
    """

    values: Values  # (runs, runs)
    half_widths: Values  # (runs, runs): half of each difference's 95 % interval
    p: PairFigures
    corrected: PairFigures
    letters: Letters


def differences(means: MeanEstimates) -> Differences:
    """Compare all pairs of runs on these topics. A pair without sampling error, all judged, has no p value.

    Nor has any pair where the error of the draw is not known.
    """
    errors, degrees = _errors_of_pairs(means)
    values = means.values[:, None] - means.values
    p_values, reasons = np.full(errors.shape, np.nan), np.zeros(errors.shape, np.int8)
    is_uncertain = errors > LEAST_ERROR
    t = -np.abs(values[is_uncertain]) / errors[is_uncertain]
    p_values[is_uncertain] = 2 * special().stdtr(degrees[is_uncertain], t)
    reasons[~is_uncertain] = code_of(Undefined.NO_DIFFERENCE)
    reasons[np.isnan(errors)] = code_of(Undefined.SAMPLE_OF_ONE)
    above = np.triu_indices(len(values), 1)
    corrected = np.full(errors.shape, np.nan)
    corrected[above] = holm(p_values[above])
    corrected.T[above] = corrected[above]
    of_pairs, of_all = PairFigures(p_values, reasons), PairFigures(corrected, reasons)
    half_widths = errors * special().stdtrit(degrees, QUANTILE)
    return Differences(values, half_widths, of_pairs, of_all, letters(means.values, of_all))


def _errors_of_pairs(means: MeanEstimates) -> tuple[Values, Values]:
    """The standard error and the degrees of freedom of every difference, (runs, runs)."""
    of_runs = np.diagonal(means.covariances, axis1=1, axis2=2)
    variances = of_runs[:, :, None] + of_runs[:, None, :] - 2 * means.covariances
    return _roots(variances.sum(axis=0)) / len(variances), degrees_of_freedom(variances)


def _roots(variances: NDArray[np.float64]) -> Values:
    roots: Values = np.sqrt(np.maximum(variances, 0))
    return roots
