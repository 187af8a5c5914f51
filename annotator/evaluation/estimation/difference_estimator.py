"""Each run's measure in each topic, estimated from a sample, and the covariance of the estimates by the draw.

Numerators are exact in expectation. A ratio is estimated from the estimates of both, and its variance is that of its
linear approximation (Särndal, Swensson and Wretman 1992, 5.5).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotator.evaluation.estimation.estimated_measures import LEAST_TOTAL, Denominator, EstimatedMeasure, Numerator
from annotator.evaluation.estimation.sampled_topic import CompletedTopic, SampledTopic, Values

ENOUGH = 30  # documents of a stratum that suffice to fit the weight of the machine from themselves


@dataclass(frozen=True, eq=False)
class TopicEstimate:
    """One topic: a value for each run, and their covariance by the draw; `is_defined` where there is something to find.

    Without an estimated denominator above 0 (no relevant document) the values are 0, as in trec_eval. The covariance is
    not a number where a single document was drawn.
    """

    values: Values  # (runs,)
    covariance: Values  # (runs, runs)
    is_defined: bool = True


@dataclass(frozen=True, eq=False)
class MachineWeights:
    """How much the machine counts in each stratum, (topics, labels), from 0 to 1: in numerators and denominators."""

    numerators: Values
    denominators: Values


def estimate_topics(
    topics: Sequence[SampledTopic], measure: EstimatedMeasure, weights: MachineWeights | None = None
) -> list[TopicEstimate]:
    """Estimate a measure in each topic; none of them may have an unsampled stratum. Without `weights`, fit them."""
    weights = fit_weights(topics, measure) if weights is None else weights
    found = []
    for topic, of_numerator, of_denominator in zip(topics, weights.numerators, weights.denominators, strict=True):
        one = _estimate(CompletedTopic(topic, of_numerator), CompletedTopic(topic, of_denominator), measure)
        unknown = np.full_like(one.covariance, np.nan)
        found.append(one if topic.has_variance else replace(one, covariance=unknown))
    return found


def machine_alone(topics: Sequence[SampledTopic], measure: EstimatedMeasure) -> Values:
    """Compute the measure as if the machine's grades were people's: (topics, runs). It is as biased as the machine."""
    trusting = [_as_judged_by_machine(topic) for topic in topics]
    return np.array([estimate.values for estimate in estimate_topics(trusting, measure, no_weights(trusting))])


def no_weights(topics: Sequence[SampledTopic]) -> MachineWeights:
    """Return weights that leave the machine out."""
    zeros = np.zeros((len(topics), _labels(topics)))
    return MachineWeights(zeros, zeros)


def fit_weights(topics: Sequence[SampledTopic], measure: EstimatedMeasure) -> MachineWeights:
    """Fit how much the machine counts in each stratum, so that the variance is least.

    A weight is fitted to the samples of the other topics, so that it is independent of the draw that it is used with
    and the estimate stays unbiased (cross-fitting). Where no other topic has the stratum, its own sample is used if it
    has 30 documents; otherwise the machine does not count.
    """
    moments = _Moments.of(topics)
    counts = _Moments.of(topics)
    for place, topic in enumerate(topics):
        if topic.machine is not None:
            people, machine = measure.value(topic.grades[topic.sample]), measure.value(topic.machine[topic.sample])
            # The weights of ranks as the machine sees them, so that they do not depend on the sample.
            seen = CompletedTopic(_as_judged_by_machine(topic), np.zeros(topic.sizes.size))
            slopes = measure.numerator(seen).slopes[:, topic.sample]
            moments.add(place, topic, slopes * people, slopes * machine)
            counts.add(place, topic, people[None], machine[None])
    return MachineWeights(moments.weights(), counts.weights())


def _as_judged_by_machine(topic: SampledTopic) -> SampledTopic:
    if topic.machine is None:
        raise ValueError("there is no machine")
    return SampledTopic(topic.strata, topic.ranks, topic.machine)


def _labels(topics: Sequence[SampledTopic]) -> int:
    return max((topic.sizes.size for topic in topics), default=0)


@dataclass(frozen=True, eq=False)
class _Moments:
    """By topic and label: covariances of people's and the machine's values, and variances of the machine's."""

    products: Values
    squares: Values
    sampled: Values

    @classmethod
    def of(cls, topics: Sequence[SampledTopic]) -> "_Moments":
        """Begin with none."""
        shape = len(topics), _labels(topics)
        sampled = np.zeros(shape)
        for place, topic in enumerate(topics):
            sampled[place, : topic.sampled.size] = topic.sampled
        return cls(np.zeros(shape), np.zeros(shape), sampled)

    def add(self, place: int, topic: SampledTopic, people: Values, machine: Values) -> None:
        """Add those of a topic, from the values of its sample, (variables, sample)."""
        for group in topic.variance_groups:
            if group.has_variance:
                of_machine = machine[:, group.members]
                deviations = of_machine - of_machine.mean(axis=1, keepdims=True)
                factor = group.factor / (group.members.size - 1)
                labels = np.unique(topic.strata[topic.sample[group.members]])
                self.products[place, labels] += factor * float((people[:, group.members] * deviations).sum())
                self.squares[place, labels] += factor * float((deviations**2).sum())

    def weights(self) -> Values:
        """The weight of each topic and label from the other topics."""
        products, squares = (of_all.sum(axis=0) - of_all for of_all in (self.products, self.squares))
        uses_own = (squares <= LEAST_TOTAL) & (self.sampled >= ENOUGH)
        products, squares = np.where(uses_own, self.products, products), np.where(uses_own, self.squares, squares)
        weights = np.divide(products, squares, out=np.zeros(products.shape), where=squares > LEAST_TOTAL)
        return np.clip(weights, 0, 1)


def _estimate(topic: CompletedTopic, totals: CompletedTopic, measure: EstimatedMeasure) -> TopicEstimate:
    numerator, denominator = measure.numerator(topic), measure.denominator(totals)
    influence = numerator.slopes[:, topic.frame.sample] * topic.residuals(measure.value)
    if denominator is None:
        return TopicEstimate(numerator.totals, _covariance(topic.frame, influence))
    if not topic.people.size or float(measure.value(topic.people).max()) <= 0:
        runs = numerator.totals.size
        # All judged and nothing found: the value is 0. Without the rest it is not known.
        return TopicEstimate(np.zeros(runs), np.zeros((runs, runs)), is_defined=topic.frame.is_complete)
    return _ratio(topic, numerator, denominator, influence)


def _ratio(topic: CompletedTopic, numerator: Numerator, denominator: Denominator, influence: Values) -> TopicEstimate:
    """Divide by Beale's method: the ratio of two estimates is biased where the denominator varies, this one hardly.

    Beale 1962; Cochran 1977, 6.15.
    """
    total = denominator.total
    relative = (denominator.slopes - denominator.machine_slopes) / total
    together = _covariance(topic.frame, np.vstack([influence, relative]))
    correction = 1 + together[-1, -1]
    values = (numerator.totals + together[:-1, -1]) / (total * correction)
    linear = influence / (total * correction) - values[:, None] * relative
    return TopicEstimate(values, _covariance(topic.frame, linear))


def _covariance(topic: SampledTopic, influence: Values) -> Values:
    runs = len(influence)
    total = np.zeros((runs, runs))
    for group in topic.variance_groups:
        if group.has_variance:
            total += group.covariance(influence)
    return total
