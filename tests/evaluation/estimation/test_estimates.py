"""Estimated means of runs: intervals that contain the truth as often as they say, differences, and what is left out."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from sampling import draw, judged_topic, only

from annotator.evaluation.estimation.estimated_measures import estimated_measure
from annotator.evaluation.estimation.estimates import Estimates, MeanEstimates, differences, estimate
from annotator.evaluation.estimation.sampled_topic import SampledTopic
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.significance.results import Undefined

P5 = estimated_measure(parse_measure("P(rel=2)@5"), 1)
NDCG = estimated_measure(parse_measure("nDCG@10"), 1)
RATES = np.array([0.3, 0.3])


def judged_topics(seed: int, topics: int = 20) -> list[SampledTopic]:
    return [judged_topic(seed, 60, runs=4, topic=number) for number in range(topics)]


def draws_of(topics: list[SampledTopic], seed: int) -> list[SampledTopic]:
    random = np.random.default_rng(seed)
    return [draw(topic, RATES, random) for topic in topics]


def estimated(topics: list[SampledTopic]) -> Estimates:
    estimates = estimate(topics, P5)
    assert estimates is not None
    return estimates


def test_nineteen_of_twenty_intervals_contain_the_truth() -> None:
    topics = judged_topics(1)
    truth = estimated(topics).together.values
    hits: list[list[bool]] = []
    for seed in range(200):
        estimates = estimated(draws_of(topics, seed))
        assert estimates.people is not None
        both = (estimates.together, estimates.people)
        hits += [(np.abs(one.values - truth) <= one.half_widths).tolist() for one in both]
    assert 0.93 < np.mean(hits) < 0.97


def test_the_machine_narrows_the_intervals_of_people_and_is_biased_alone() -> None:
    topics = judged_topics(2)
    truth, estimates = estimated(topics).together.values, estimated(draws_of(topics, 2))
    assert estimates.people is not None
    assert estimates.machine is not None
    assert (estimates.together.half_widths < estimates.people.half_widths).all()
    assert np.abs(estimates.machine - truth).max() > 0


def test_without_a_machine_the_estimate_is_that_of_people() -> None:
    sampled = draws_of(judged_topics(3), 3)
    alone = estimated([replace(topic, machine=None) for topic in sampled])
    people = estimated(sampled).people
    assert people is not None
    assert alone.together.values == pytest.approx(people.values)
    assert alone.together.errors == pytest.approx(people.errors)
    assert alone.people is None
    assert alone.machine is None


def test_the_interval_for_all_topics_includes_that_of_the_draw() -> None:
    together = estimated(draws_of(judged_topics(4, topics=60), 4)).together
    assert together.half_widths_in_all is not None
    assert together.shares_of_draw is not None
    assert (together.half_widths_in_all > together.half_widths).all()
    assert ((together.shares_of_draw > 0) & (together.shares_of_draw <= 1)).all()


def test_one_topic_has_no_interval_for_all_topics() -> None:
    together = estimated(draws_of(judged_topics(5, topics=1), 5)).together
    assert together.in_all is None
    assert together.half_widths_in_all is None
    assert together.shares_of_draw is None


def test_topics_with_an_unjudged_stratum_or_without_a_relevant_document_are_left_out_and_named() -> None:
    topics = draws_of(judged_topics(6, topics=4), 6)
    topics[1] = only(topics[1], [place for place in topics[1].sample.tolist() if topics[1].strata[place] == 0])
    topics[2] = replace(topics[2], grades=np.minimum(topics[2].grades, 0).astype(np.int16))
    estimates = estimate(topics, NDCG)
    assert estimates is not None
    assert (estimates.used, estimates.unsampled, estimates.undefined) == ((0, 3), (1,), (2,))
    assert len(estimates.together.topics) == 2


def test_without_any_topic_to_estimate_there_is_no_estimate() -> None:
    assert estimate([only(judged_topic(7), [0])], P5) is None
    assert estimate([], P5) is None


def test_the_error_of_a_difference_takes_the_sample_of_both_runs_as_one() -> None:
    topics = judged_topics(8)
    truth = estimated(topics).together.values
    errors, means = [], []
    for seed in range(200):
        compared = differences(estimated(draws_of(topics, seed)).together)
        errors.append(compared.half_widths[0, 1])
        means.append(compared.values[0, 1])
    assert np.mean(means) == pytest.approx(truth[0] - truth[1], abs=0.15 * np.std(means))
    # Student's t of about 15 degrees of freedom.
    assert np.mean(errors) == pytest.approx(2.13 * np.std(means), rel=0.1)


def test_runs_without_a_true_difference_differ_as_often_as_the_level_says() -> None:
    """Two runs that rank documents of equal value at equal ranks, most of which the machine grades otherwise."""
    topics = []
    for number in range(20):
        topic = judged_topic(9, 60, runs=1, topic=number)
        order = np.argsort(topic.grades, kind="stable")[::-1].reshape(-1, 2)
        ranks = np.zeros((2, 60), np.int32)
        for rank, (first, second) in enumerate(order[:20], 1):
            ranks[0, first], ranks[1, second] = rank, rank
        topics.append(replace(topic, ranks=ranks, grades=_paired(topic, order)))
    assert np.ptp(estimated(topics).together.values) == pytest.approx(0)
    p_values = [differences(estimated(draws_of(topics, seed)).together).p.values[0, 1] for seed in range(300)]
    assert 0.02 < np.mean(np.array(p_values) <= 0.05) < 0.08


def _paired(topic: SampledTopic, order: NDArray[np.intp]) -> NDArray[np.int16]:
    grades = topic.grades.copy()
    grades[order[:, 1]] = grades[order[:, 0]]
    return grades


def test_pairs_are_corrected_and_lettered_and_judged_ones_have_no_p_value() -> None:
    compared = differences(estimated(draws_of(judged_topics(10), 10)).together)
    above = np.triu_indices(4, 1)
    assert (compared.corrected.values[above] >= compared.p.values[above]).all()
    assert compared.corrected.values.T[above] == pytest.approx(compared.corrected.values[above])
    assert len(compared.letters.of_runs) == 4
    exact = differences(estimated(judged_topics(10)).together)
    assert exact.p.of(0, 1).reason is Undefined.NO_DIFFERENCE


def test_runs_that_differ_surely_share_no_letter() -> None:
    means = MeanEstimates(np.array([[0.1, 0.5, 0.5], [0.1, 0.5, 0.51]]), np.array([np.diag([1e-6, 1e-4, 1e-4])] * 2))
    assert differences(means).letters.of_runs == ("b", "a", "a")
