"""Estimates from samples: against every possible draw, against the exact measures, and against a bootstrap."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampling import all_draws, draw, judged_topic, only

from annotator.errors import InvalidValueError
from annotator.evaluation.estimation.difference_estimator import (
    MachineWeights,
    estimate_topics,
    fit_weights,
    machine_alone,
    no_weights,
)
from annotator.evaluation.estimation.estimated_measures import EstimatedMeasure, estimated_measure
from annotator.evaluation.estimation.sampled_topic import CompletedTopic, SampledTopic, Values
from annotator.evaluation.metrics import evaluate
from annotator.evaluation.metrics.names import parse_measure

LINEAR = ["P(rel=2)@5", "CG@4", "DCG@5", "DCG(gain=exp)@5", "RBP(rel=2,p=.5)", "P@3"]
RATIOS = ["R(rel=2)@5", "nDCG@5", "nDCG", "nDCG(gain=exp)@3", "AP(rel=2)", "AP@4"]


def measure_of(name: str) -> EstimatedMeasure:
    return estimated_measure(parse_measure(name), 1)


def exact(topics: list[SampledTopic], name: str) -> Values:
    """The measure of judged topics as `evaluate` computes it, (topics, runs)."""
    qrels = {
        str(number): {str(document): int(grade) for document, grade in enumerate(topic.grades)}
        for number, topic in enumerate(topics)
    }
    runs = {
        str(run): {
            str(number): {str(document): -float(rank) for document, rank in enumerate(topic.ranks[run]) if rank}
            for number, topic in enumerate(topics)
        }
        for run in range(len(topics[0].ranks))
    }
    values: Values = evaluate(qrels, runs, [name]).scores.values[:, :, 0].T
    return values


def weights_of(topics: list[SampledTopic], weight: float) -> MachineWeights:
    zeros = no_weights(topics).numerators
    return MachineWeights(zeros + weight, zeros + weight)


@pytest.mark.parametrize("name", LINEAR + RATIOS)
@given(seed=st.integers(0, 10_000))
def test_with_everything_judged_the_estimate_is_the_exact_value_without_error(name: str, seed: int) -> None:
    topics = [judged_topic(seed, topic=number) for number in range(2)]
    estimates = estimate_topics(topics, measure_of(name))
    assert np.array([one.values for one in estimates]) == pytest.approx(exact(topics, name), abs=1e-12)
    assert all(not one.covariance.any() for one in estimates)


@pytest.mark.parametrize("name", LINEAR)
def test_over_all_draws_the_mean_is_the_exact_value(name: str) -> None:
    """The weight of the machine comes from the other topic, whose draw stays the same."""
    topic = judged_topic(3, documents=8)
    other = draw(judged_topic(4, documents=30), np.array([0.5, 0.5]), np.random.default_rng(1))
    estimates = [estimate_topics([drawn, other], measure_of(name))[0].values for drawn in all_draws(topic, 2)]
    assert len(estimates) == 36
    assert np.mean(estimates, axis=0) == pytest.approx(exact([topic], name)[0])


@pytest.mark.parametrize("weight", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("name", LINEAR)
def test_over_all_draws_the_mean_of_the_variances_is_the_variance_of_the_estimates(name: str, weight: float) -> None:
    topic = judged_topic(5, documents=10)
    estimates = [
        estimate_topics([drawn], measure_of(name), weights_of([topic], weight))[0] for drawn in all_draws(topic, 3)
    ]
    expected = np.cov(np.array([one.values for one in estimates]).T, ddof=0)
    assert np.mean([one.covariance for one in estimates], axis=0) == pytest.approx(expected)


@pytest.mark.parametrize("weight", [0.0, 0.7])
def test_the_numerator_of_average_precision_is_exact_in_the_mean_over_all_draws(weight: float) -> None:
    topic, measure = judged_topic(6, documents=10), measure_of("AP(rel=2)")
    weights = np.full(2, weight)
    totals = [measure.numerator(CompletedTopic(drawn, weights)).totals for drawn in all_draws(topic, 3)]
    relevant = (topic.grades >= 2).sum()
    assert np.mean(totals, axis=0) == pytest.approx(exact([topic], "AP(rel=2)")[0] * relevant)


@pytest.mark.parametrize("name", RATIOS)
def test_the_error_of_a_ratio_is_the_spread_of_repeated_draws(name: str) -> None:
    random = np.random.default_rng(7)
    topic = judged_topic(7, documents=300, runs=2)
    measure, weights = measure_of(name), weights_of([topic], 0.5)
    estimates = [estimate_topics([draw(topic, np.array([0.3, 0.3]), random)], measure, weights)[0] for _ in range(300)]
    values = np.array([one.values for one in estimates])
    spread = values.std(axis=0)
    errors = np.sqrt(np.mean([np.diag(one.covariance) for one in estimates], axis=0))
    assert errors == pytest.approx(spread, rel=0.15)
    assert np.abs(values.mean(axis=0) - exact([topic], name)[0]).max() < 0.25 * spread.min()


@pytest.mark.parametrize("name", LINEAR)
def test_a_machine_that_knows_nothing_does_no_harm_and_a_good_one_helps(name: str) -> None:
    errors = {}
    for accuracy in (0.0, 0.9):
        topics = [judged_topic(8, 200, accuracy=accuracy, topic=number) for number in range(20)]
        random = np.random.default_rng(9)
        sampled = [draw(topic, np.array([0.2, 0.2]), random) for topic in topics]
        measure = measure_of(name)
        for weights in (None, no_weights(sampled)):
            variance = sum(np.diag(one.covariance).mean() for one in estimate_topics(sampled, measure, weights))
            errors[accuracy, weights is None] = float(np.sqrt(variance))
    assert errors[0.0, True] < 1.05 * errors[0.0, False]
    assert errors[0.9, True] < 0.8 * errors[0.9, False]


def test_weights_lie_between_0_and_1_and_come_from_the_other_topics() -> None:
    topics = [judged_topic(10, 60, topic=number) for number in range(3)]
    sampled = [draw(topic, np.array([0.5, 0.5]), np.random.default_rng(2)) for topic in topics]
    measure = measure_of("DCG@10")
    weights = fit_weights(sampled, measure)
    assert ((weights.numerators >= 0) & (weights.numerators <= 1)).all()
    changed = [draw(topics[0], np.array([0.3, 0.3]), np.random.default_rng(5)), *sampled[1:]]
    again = fit_weights(changed, measure)
    assert again.numerators[0] == pytest.approx(weights.numerators[0])
    assert again.numerators[1] != pytest.approx(weights.numerators[1])


def test_a_single_topic_uses_its_own_sample_from_30_documents_of_a_stratum() -> None:
    topic, measure = judged_topic(11, 200, accuracy=1.0), measure_of("P@5")
    few = draw(topic, np.array([0.1, 0.1]), np.random.default_rng(3))
    many = draw(topic, np.array([0.4, 0.4]), np.random.default_rng(3))
    assert not fit_weights([few], measure).denominators.any()
    assert fit_weights([many], measure).denominators == pytest.approx(1)


def test_the_machine_alone_is_the_measure_by_its_grades() -> None:
    topics = [judged_topic(12, topic=number) for number in range(2)]
    judged_by_machine = [replace(topic, grades=topic.machine) for topic in topics if topic.machine is not None]
    assert machine_alone(topics, measure_of("nDCG@5")) == pytest.approx(exact(judged_by_machine, "nDCG@5"))


def test_a_stratum_judged_whole_adds_no_error_and_one_with_a_single_document_joins_its_neighbour() -> None:
    topic = judged_topic(13, documents=12, strata=3)
    whole = only(topic, [0, 1, 2, 3, 4, 5, 8])
    assert whole.sampled.tolist() == [4, 2, 1]
    [group] = whole.variance_groups
    assert whole.strata[whole.sample[group.members]].tolist() == [1, 1, 2]
    assert group.factor == 4 * 2 / 2 + 4 * 3 / 1
    lone_first = only(topic, [0, 4, 5, 8, 9])
    assert [one.members.size for one in lone_first.variance_groups] == [3, 2]
    assert not only(topic, [0, 1, 2, 3, 4, 5, 6, 7, 8]).variance_groups[0].has_variance


@pytest.mark.parametrize("name", ["nDCG@5", "DCG@5"])
def test_one_document_of_each_stratum_of_rank_and_machines_grade_gives_intervals_that_contain_the_truth(
    name: str,
) -> None:
    """Strata of a sample differ in the machine's grade, and a small budget draws one document of most of them."""
    topics = [by_machine(judged_topic(21, documents=60, topic=number)) for number in range(30)]
    truth = exact(topics, name).mean(axis=0)
    random = np.random.default_rng(5)
    means, errors = [], []
    for _ in range(40):
        drawn = [draw(topic, np.full(topic.sizes.size, 0.01), random) for topic in topics]
        estimates = estimate_topics(drawn, measure_of(name))
        means.append(np.mean([one.values for one in estimates], axis=0))
        errors.append(np.sqrt(np.sum([np.diag(one.covariance) for one in estimates], axis=0)) / len(topics))
    off = np.abs(np.array(means) - truth)
    assert (off <= 2 * np.array(errors)).mean() > 0.9
    assert np.abs(np.mean(means, axis=0) - truth).max() < np.std(means, axis=0).max()


@pytest.mark.parametrize("name", ["R@20", "AP", "AP@20"])
def test_with_one_document_of_each_stratum_measures_of_recall_are_hardly_biased(name: str) -> None:
    """Their variance is estimated too large then, and a correction of the ratio by it made them too small."""
    topics = [by_machine(judged_topic(22, documents=60, topic=number)) for number in range(30)]
    truth = exact(topics, name).mean(axis=0)
    random = np.random.default_rng(6)
    means = []
    for _ in range(60):
        drawn = [draw(topic, np.full(topic.sizes.size, 0.01), random) for topic in topics]
        means.append(np.mean([one.values for one in estimate_topics(drawn, measure_of(name))], axis=0))
    # In standard errors; with that correction more than 0.9 for each of the measures.
    assert (np.abs(np.mean(means, axis=0) - truth) / np.std(means, axis=0)).max() < 0.6


def by_machine(topic: SampledTopic) -> SampledTopic:
    """The topic in strata of the machine's grade, in each half of the ranks."""
    assert topic.machine is not None
    is_low = np.where(topic.ranks > 0, topic.ranks, topic.grades.size).min(axis=0) > topic.grades.size // 2
    return replace(topic, strata=(topic.machine + 4 * is_low).astype(np.intp))


def test_a_topic_without_a_relevant_document_in_the_sample_is_undefined_for_a_ratio() -> None:
    topic = replace(judged_topic(14), grades=np.zeros(12, np.int16))
    [ratio] = estimate_topics([only(topic, [0, 6])], measure_of("AP"), no_weights([topic]))
    assert not ratio.is_defined
    assert not ratio.values.any()
    [linear] = estimate_topics([only(topic, [0, 6])], measure_of("P@5"), no_weights([topic]))
    assert linear.is_defined


@pytest.mark.parametrize("name", ["RR", "AP(norm=min)@5", "nDCG(judged_only=True)@5", "RBP(gain=exp,max=3)", "Bpref"])
def test_other_measures_are_refused(name: str) -> None:
    with pytest.raises(InvalidValueError, match=r"cannot be estimated from a sample; these can: P, R, AP"):
        measure_of(name)


@pytest.mark.parametrize("name", [*LINEAR, *RATIOS])
def test_runs_that_retrieved_nothing_of_the_frame_get_0_without_error(name: str) -> None:
    topic = judged_topic(30, documents=20)
    drawn = draw(replace(topic, ranks=np.zeros_like(topic.ranks)), np.array([0.5, 0.5]), np.random.default_rng(1))
    [found] = estimate_topics([drawn], measure_of(name))
    assert not found.values.any()
    assert not found.covariance.any()
    assert not machine_alone([drawn], measure_of(name)).any()
