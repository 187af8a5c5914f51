"""Sample sizes: budgets are kept, Neyman's allocation is the best one, and plans do what they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampling import draw, judged_topic

from annotator.errors import InvalidValueError
from annotator.evaluation.estimation.difference_estimator import estimate_topics, fit_weights, no_weights
from annotator.evaluation.estimation.estimated_measures import estimated_measure
from annotator.evaluation.estimation.sample_sizes import (
    Allocation,
    Cells,
    allocate,
    cells_foreseen,
    cells_of_sample,
    plan_for_budget,
    plan_for_difference,
    plan_for_interval,
)
from annotator.evaluation.metrics.names import parse_measure

DCG = estimated_measure(parse_measure("DCG@10"), 1)
FIRST_RUN = np.array([1.0, 0.0, 0.0])

cells = st.lists(st.tuples(st.integers(1, 50), st.floats(0, 3)), min_size=1, max_size=8).map(
    lambda pairs: Cells(np.array([size for size, _ in pairs]), np.array([spread for _, spread in pairs]), 2)
)


@given(cells, st.integers(0, 200), st.sampled_from(Allocation))
def test_a_budget_is_spent_to_the_last_document_within_the_bounds(of: Cells, more: int, how: Allocation) -> None:
    budget = int(of.least.sum()) + more
    drawn = allocate(of, budget, how)
    assert drawn.sum() == min(budget, of.sizes.sum())
    assert ((drawn >= of.least) & (drawn <= of.sizes)).all()


@given(cells, st.integers(0, 100), st.integers(0, 7), st.integers(0, 7))
def test_moving_documents_from_neymans_allocation_does_not_lower_the_error(
    of: Cells, more: int, giver: int, taker: int
) -> None:
    drawn = allocate(of, int(of.least.sum()) + more, Allocation.NEYMAN)
    giver, taker = giver % drawn.size, taker % drawn.size
    moved = drawn.copy()
    moved[giver] -= 3  # one or two may be due to rounding
    moved[taker] += 3
    if ((moved >= of.least) & (moved <= of.sizes)).all():
        assert of.error(moved) >= of.error(drawn) - 1e-9


def test_a_budget_below_two_documents_a_stratum_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="at least 5 documents must be judged: two of each stratum"):
        allocate(Cells(np.array([9, 9, 1]), np.ones(3), 1), 4, Allocation.EQUAL)


@given(cells, st.floats(0.01, 2), st.sampled_from(Allocation))
def test_the_plan_for_an_interval_is_the_smallest_that_is_narrow_enough(
    of: Cells, wanted: float, how: Allocation
) -> None:
    plan = plan_for_interval(of, wanted, how)
    assert plan.half_width <= wanted
    if plan.documents > of.least.sum():
        assert plan_for_budget(of, plan.documents - 1, how).half_width > wanted


def test_a_smaller_difference_takes_more_documents() -> None:
    of = Cells(np.array([100, 100]), np.array([0.1, 0.3]), 1)
    small, large = (plan_for_difference(of, difference, Allocation.NEYMAN).documents for difference in (3, 9))
    assert small > large


def test_the_deviations_of_a_sample_give_its_own_error_again() -> None:
    """The strata are alike in size in all topics, so that pooling their deviations over topics changes nothing."""
    topics = [judged_topic(1, 200, topic=number) for number in range(30)]
    random = np.random.default_rng(1)
    pilot = [draw(topic, np.array([0.2, 0.2]), random) for topic in topics]
    of = cells_of_sample(pilot, DCG, fit_weights(pilot, DCG), FIRST_RUN)
    variance = sum(one.covariance[0, 0] for one in estimate_topics(pilot, DCG)) / len(pilot) ** 2
    assert of.error(np.concatenate([topic.sampled for topic in pilot])) == pytest.approx(np.sqrt(variance))


def test_before_anybody_has_judged_a_better_machine_promises_fewer_documents() -> None:
    topics = [judged_topic(2, 200, topic=number) for number in range(10)]
    needed = [
        plan_for_interval(cells_foreseen(topics, DCG, rho, FIRST_RUN), 0.5, Allocation.NEYMAN).documents
        for rho in (0.3, 0.6, 0.9)
    ]
    alone = cells_foreseen(topics, DCG, 0.6, FIRST_RUN, uses_machine=False)
    assert needed == sorted(needed, reverse=True)
    assert plan_for_interval(alone, 0.5, Allocation.NEYMAN).documents > needed[1]


def test_what_is_foreseen_for_people_alone_with_a_perfect_machine_is_their_true_deviation() -> None:
    topics = [judged_topic(3, 100, accuracy=1.0, topic=number) for number in range(3)]
    foreseen = cells_foreseen(topics, DCG, 1.0, FIRST_RUN, uses_machine=False)
    for number, topic in enumerate(topics):
        whole = cells_of_sample([topic], DCG, no_weights([topic]), FIRST_RUN)
        assert foreseen.deviations[2 * number : 2 * number + 2] == pytest.approx(whole.deviations, rel=0.02)
    assert not cells_foreseen(topics, DCG, 1.0, FIRST_RUN).deviations.any()


def test_nothing_is_foreseen_without_a_machine() -> None:
    topic = judged_topic(4)
    without = type(topic)(topic.strata, topic.ranks, topic.grades)
    with pytest.raises(InvalidValueError, match="only a machine's grades tell how grades may vary"):
        cells_foreseen([without], DCG, 0.5, FIRST_RUN)
