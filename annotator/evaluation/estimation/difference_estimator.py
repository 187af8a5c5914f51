"""Each run's measure in each topic, estimated from a sample, and the covariance of the estimates by the draw.

Numerators are exact in expectation. A ratio is estimated from the estimates of both, and its variance is that of its
linear approximation (Särndal, Swensson and Wretman 1992, 5.5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.estimation.estimated_measures import LEAST_TOTAL, Denominator, EstimatedMeasure, Numerator
from annotator.evaluation.estimation.sampled_topic import CompletedTopic, SampledTopic, Values, covariances

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
    for_numerators = [CompletedTopic(*pair) for pair in zip(topics, weights.numerators, strict=True)]
    for_denominators = [CompletedTopic(*pair) for pair in zip(topics, weights.denominators, strict=True)]
    numerators = [measure.numerator(topic) for topic in for_numerators]
    denominators = [measure.denominator(topic) for topic in for_denominators]
    influences = [
        numerator.slopes * topic.residuals(measure.value)
        for numerator, topic in zip(numerators, for_numerators, strict=True)
    ]
    divided_by = [one for one in denominators if one is not None]
    if divided_by:
        has_value = [bool((measure.value(topic.people) > 0).any()) for topic in for_numerators]
        found = _ratios(topics, numerators, divided_by, influences, has_value, corrects_all=measure.corrects_all)
    else:
        of_totals = _covariances(topics, influences, influences)
        found = [TopicEstimate(one.totals, covariance) for one, covariance in zip(numerators, of_totals, strict=True)]
    return [
        one if topic.has_variance else replace(one, covariance=np.full_like(one.covariance, np.nan))
        for topic, one in zip(topics, found, strict=True)
    ]


def machine_alone(topics: Sequence[SampledTopic], measure: EstimatedMeasure) -> Values:
    """Compute the measure as if the machine's grades were people's: (topics, runs). It is as biased as the machine."""
    return np.array([_value_by_machine(topic, measure) for topic in topics])


def _value_by_machine(topic: SampledTopic, measure: EstimatedMeasure) -> Values:
    machine = _grades_of_machine(topic)
    totals = measure.of_values(topic, measure.value(machine), np.zeros(0, np.intp)).totals
    all_judged = replace(topic, grades=machine, machine=None)
    denominator = measure.denominator(CompletedTopic(all_judged, np.zeros(topic.sizes.size)))
    if denominator is None:
        return totals
    has_value = bool((measure.value(machine) > 0).any())
    return totals / denominator.total if has_value else np.zeros(totals.size)


def _grades_of_machine(topic: SampledTopic) -> NDArray[np.int16]:
    if topic.machine is None:
        raise ValueError("there is no machine")
    return topic.machine


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
            slopes = measure.of_values(topic, measure.value(topic.machine), topic.sample).slopes
            moments.add(place, topic, slopes * people, slopes * machine)
            counts.add(place, topic, people[None], machine[None])
    return MachineWeights(moments.weights(), counts.weights())


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


def _ratios(
    topics: Sequence[SampledTopic],
    numerators: Sequence[Numerator],
    denominators: Sequence[Denominator],
    influences: Sequence[Values],
    has_value: Sequence[bool],
    *,
    corrects_all: bool,
) -> list[TopicEstimate]:
    """Divide by Beale's method: the ratio of two estimates is biased where the denominator varies, this one hardly.

    Beale 1962; Cochran 1977, 6.15. With `corrects_all` also for strata with one judged document. Without a document of
    any value in the sample (`has_value`) the ratio is 0.
    """
    relative = [
        (one.slopes - one.machine_slopes) / one.total if is_more else np.zeros(one.slopes.size)
        for one, is_more in zip(denominators, has_value, strict=True)
    ]
    both = [np.vstack(pair) for pair in zip(influences, relative, strict=True)]
    if corrects_all:
        together = _covariances(topics, both, [one[None] for one in relative])
    else:
        together = [covariances(topic.own_groups, one, one[-1:]) for topic, one in zip(topics, both, strict=True)]
    divisors = [
        one.total * (1 + with_relative[-1, 0]) for one, with_relative in zip(denominators, together, strict=True)
    ]
    values = [
        (numerator.totals + with_relative[:-1, 0]) / divisor if is_more else np.zeros(numerator.totals.size)
        for numerator, with_relative, divisor, is_more in zip(numerators, together, divisors, has_value, strict=True)
    ]
    linear = [
        influence / divisor - value[:, None] * of_denominator if is_more else np.zeros(influence.shape)
        for influence, divisor, value, of_denominator, is_more in zip(
            influences, divisors, values, relative, has_value, strict=True
        )
    ]
    of_values = _covariances(topics, linear, linear)
    return [
        # All judged and nothing found: the value is 0. Without the rest it is not known.
        TopicEstimate(value, covariance, is_defined=is_more or topic.is_complete)
        for topic, value, covariance, is_more in zip(topics, values, of_values, has_value, strict=True)
    ]


def _covariances(
    topics: Sequence[SampledTopic], influences: Sequence[Values], others: Sequence[Values]
) -> list[Values]:
    """Estimate the covariances of each topic's totals with others by the draw, (variables, other variables).

    Both are values of the sample, (variables, sample). Where one document of a stratum was drawn, its variance is
    estimated from the strata with the same label in all topics, about their common mean: too large rather than too
    small, by the differences between topics. Joined with a neighbour of other ranks or of another machine's grade, it
    would be overestimated far more; so only labels with one document in all topics are joined.
    """
    alone = {label for topic in topics for label in topic.uncertain[topic.sampled[topic.uncertain] == 1].tolist()}
    spreads = {label: _spread(topics, influences, others, label) for label in alone}
    of_label = {label: spread for label, spread in spreads.items() if spread is not None}
    of_topics = zip(topics, influences, others, strict=True)
    return [_covariance(topic, values, with_, of_label) for topic, values, with_ in of_topics]


def _spread(
    topics: Sequence[SampledTopic], influences: Sequence[Values], others: Sequence[Values], label: int
) -> Values | None:
    """The covariances within the strata of a label, (variables, other variables); None of a single document."""
    members = [np.flatnonzero(topic.strata[topic.sample] == label) for topic in topics]
    if sum(some.size for some in members) < 2:  # noqa: PLR2004 - a variance needs two
        return None
    left, right = (
        np.concatenate([values[:, some] for values, some in zip(of_all, members, strict=True)], axis=1)
        for of_all in (influences, others)
    )
    deviations = left - left.mean(axis=1, keepdims=True)
    spread: Values = deviations @ (right - right.mean(axis=1, keepdims=True)).T / (left.shape[1] - 1)
    return spread


def _covariance(topic: SampledTopic, values: Values, others: Values, of_label: Mapping[int, Values]) -> Values:
    is_alone = (topic.sampled[topic.uncertain] == 1) & np.isin(topic.uncertain, list(of_label))
    groups = topic.groups_of(topic.uncertain[~is_alone]) if is_alone.any() else topic.variance_groups
    total = covariances(groups, values, others)
    for label in topic.uncertain[is_alone].tolist():
        size = int(topic.sizes[label])
        total += size * (size - 1) * of_label[label]
    return total
