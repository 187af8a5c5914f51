"""What a sample will give, foreseen: plans keep what they promise, and a better machine needs fewer documents."""

import numpy as np
import pytest
from sampling import draw, judged_topic

from annotator.evaluation.estimation.difference_estimator import estimate_topics, no_weights
from annotator.evaluation.estimation.estimated_measures import estimated_measure
from annotator.evaluation.estimation.sample_sizes import Allocation
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.pooling.probability_sample import Known, KnownOfTopic, MachineGrades
from annotator.evaluation.pooling.sample_precision import (
    ASSUMED_CORRELATION,
    Correlation,
    Foreseen,
    OpenTopic,
    correlation_with_people,
    foreseen,
)
from annotator.evaluation.pooling.strategies import parse_strategy
from annotator.evaluation.pooling.topic_runs import topic_runs

DCG = estimated_measure(parse_measure("DCG@10"), 1)


def open_topics(count: int = 8, seed: int = 1) -> list[OpenTopic]:
    """Topics of three runs with 100 documents, graded by a machine; the top 2 are certain, a band ends at rank 10."""
    strategy = parse_strategy("sample", {"budget": 10, "certainty_depth": 2, "bands": "10", "depth": 100})
    found = []
    for number in range(count):
        topic = judged_topic(seed, 100, topic=number)
        assert topic.machine is not None
        rankings = [np.argsort(np.where(ranks > 0, ranks, 999))[: np.count_nonzero(ranks)] for ranks in topic.ranks]
        docnos = {document: f"{document:03}" for document in range(100)}
        runs = topic_runs(str(number), [one.astype(np.int32) for one in rankings], docnos)
        machine = MachineGrades(np.arange(100), topic.machine.astype(np.int64))
        known = Known({number: KnownOfTopic(machine=machine)}, grades=(3, 2, 1, 0))
        found.append(OpenTopic.of(runs, strategy.open_strata(runs, known, number, 1), machine))
    return found


def of(correlation: float = 0.6, *, of_pairs: bool = False, uses_machine: bool = True) -> Foreseen:
    return foreseen(open_topics(), DCG, Allocation.NEYMAN, correlation, of_pairs=of_pairs, uses_machine=uses_machine)


@pytest.mark.parametrize("wanted", [0.05, 0.2, 0.5])
def test_the_plan_for_an_interval_is_the_smallest_that_is_narrow_enough(wanted: float) -> None:
    plan = of()
    documents = plan.documents_for_interval(wanted)
    assert plan.half_width(documents) <= wanted
    assert documents == plan.least or plan.half_width(documents - 1) > wanted
    assert plan.half_width(plan.most) == 0


def test_a_smaller_difference_takes_more_documents_and_power_more_than_an_interval() -> None:
    plan = of(of_pairs=True)
    assert plan.documents_for_difference(0.2) > plan.documents_for_difference(0.4)
    assert plan.documents_for_difference(0.3) > plan.documents_for_interval(0.3)


def test_a_better_machine_promises_fewer_documents_and_none_the_most() -> None:
    needed = [of(rho).documents_for_interval(0.3) for rho in (0.3, 0.6, 0.9)]
    assert needed == sorted(needed, reverse=True)
    assert of(0.6, uses_machine=False).documents_for_interval(0.3) > needed[1]


def test_with_a_perfect_machine_what_is_foreseen_for_people_is_their_true_error() -> None:
    """The mean over runs of the variance that the estimator has over all draws: its estimate from all documents."""
    topics = open_topics(3)
    plan = foreseen(topics, DCG, Allocation.NEYMAN, 1.0, uses_machine=False)
    sizes = plan.cells.sizes
    drawn = np.maximum(plan.cells.least, np.minimum(sizes, np.maximum(2, sizes // 2)))
    random = np.random.default_rng(5)
    begin, errors = 0, []
    for one in topics:
        labels = one.seen.sizes.size
        rates = drawn[begin : begin + labels] / one.seen.sizes - 1e-9
        begin += labels
        covariances = []
        for _ in range(400):
            pilot = draw(one.seen, rates, random)
            [found] = estimate_topics([pilot], DCG, no_weights([pilot]))
            covariances.append(np.diag(found.covariance).mean())
        errors.append(np.mean(covariances))
    assert plan.cells.error(drawn) == pytest.approx(np.sqrt(np.sum(errors)) / 3, rel=0.1)
    assert not foreseen(topics, DCG, Allocation.NEYMAN, 1.0).cells.deviations.any()


def test_pairs_have_the_mean_squared_difference_of_every_two_runs() -> None:
    """Of two runs there is one pair: its slopes are the differences of the two."""
    [topic] = open_topics(1)
    two = OpenTopic(topic.strata, type(topic.seen)(*(topic.seen.strata, topic.seen.ranks[:2]), topic.seen.grades))
    plan = foreseen([two], DCG, Allocation.EQUAL, 0.5, of_pairs=True)
    weights = np.where(
        (two.seen.ranks > 0) & (two.seen.ranks <= 10), 1 / np.log2(np.maximum(two.seen.ranks, 1) + 1.0), 0
    )
    both = (weights[0] - weights[1]) ** 2
    values = DCG.value(two.seen.grades)
    squares = both * 0.75 * np.average((values - np.average(values, weights=both)) ** 2, weights=both)
    expected = np.sqrt(np.bincount(two.seen.strata, squares) / two.seen.sizes)
    assert plan.cells.deviations == pytest.approx(expected)


def test_ratios_are_planned_in_their_own_unit() -> None:
    ndcg = estimated_measure(parse_measure("nDCG@10"), 1)
    assert foreseen(open_topics(), ndcg, Allocation.NEYMAN, 0.6).half_width(100) < of().half_width(100)


def test_the_correlation_is_measured_when_enough_is_judged() -> None:
    assert correlation_with_people([(1, 1)] * 29) == Correlation(ASSUMED_CORRELATION, 0)
    assert correlation_with_people([(1, 1)] * 30) == Correlation(ASSUMED_CORRELATION, 0)  # they do not vary
    found = correlation_with_people([(0, 0), (1, 1)] * 15)
    assert found.judged == 30
    assert found.value == pytest.approx(1)
    assert correlation_with_people([(0, 1), (1, 0)] * 15) == Correlation(0, 30)
