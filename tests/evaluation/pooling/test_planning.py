"""What a pool would cost: sizes at every depth, who adds what, and how a budget is divided over topics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from annotator.evaluation.pooling.depth_pool import depth_pool
from annotator.evaluation.pooling.planning import (
    DepthPlan,
    JoinedLists,
    plan_depths,
    shares,
    take_by_topic,
    take_in_total,
)

TEAMS = [0, 0, 1, 2]
RUN = st.lists(st.integers(0, 12), unique=True, max_size=8)
TOPICS = st.lists(st.tuples(st.lists(RUN, min_size=4, max_size=4), st.sets(st.integers(0, 20))), max_size=3)


def ranked(runs: list[list[int]]) -> list[NDArray[np.int32]]:
    return [np.array(run, np.int32) for run in runs]


def plan_of(
    rankings: list[list[NDArray[np.int32]]], teams: list[int], limit: int, pooled: list[NDArray[np.int32]]
) -> DepthPlan:
    return plan_depths(zip(map(JoinedLists.of, rankings), pooled, strict=True), teams, limit)


def test_a_plan_by_hand() -> None:
    # Runs 0 and 1 are of team 0, run 2 of team 1. Depth 1: 1 (runs 0, 2), 2 (run 1). Depth 2: also 3 (runs 0, 1) and
    # 2 again (run 2). Depth 3: also 4 (run 0) and 5 (run 1).
    topic = ranked([[1, 3, 4], [2, 3, 5], [1, 2]])
    plan = plan_of([topic], [0, 0, 1], 4, [np.array([3, 4, 9], np.int32)])
    assert plan.size.tolist() == [[2, 3, 5, 5]]
    assert plan.pooled.tolist() == [[0, 1, 2, 2]]
    # Run 1 alone has 2 at depth 1, but no longer at depth 2, where run 2 has it too.
    assert plan.only_run.tolist() == [[0, 0, 1, 1], [1, 0, 1, 1], [0, 0, 0, 0]]
    # Team 0 alone has 2 at depth 1, 3 at depth 2, and 3, 4 and 5 at depth 3.
    assert plan.only_team.tolist() == [[1, 1, 3, 3], [0, 0, 0, 0]]


def test_a_plan_without_topics_or_runs() -> None:
    nothing = plan_of([], [], 3, [])
    assert (nothing.size.shape, nothing.only_run.shape, nothing.only_team.shape) == ((0, 3), (0, 3), (0, 3))
    silent = plan_of([ranked([[], []])], [0, 1], 2, ranked([[7]]))
    assert silent.size.tolist() == silent.pooled.tolist() == [[0, 0]]
    assert silent.only_run.tolist() == silent.only_team.tolist() == [[0, 0], [0, 0]]


@given(TOPICS)
def test_a_plan_tells_what_pooling_at_each_depth_gives(topics: list[tuple[list[list[int]], set[int]]]) -> None:
    rankings = [ranked(runs) for runs, _ in topics]
    known = ranked([sorted(chosen) for _, chosen in topics])
    plan = plan_of(rankings, TEAMS, 10, known)
    for depth in range(1, 11):
        pools = [depth_pool(runs, depth) for runs in rankings]
        assert plan.size[:, depth - 1].tolist() == [pool.documents.size for pool in pools]
        done = [len(chosen & set(pool.documents.tolist())) for pool, (_, chosen) in zip(pools, topics, strict=True)]
        assert plan.pooled[:, depth - 1].tolist() == done
        alone_run, alone_team = [0] * 4, [0] * 3
        for pool in pools:
            for document in pool.documents.tolist():
                sponsors = pool.run[pool.document == document].tolist()
                teams = {TEAMS[run] for run in sponsors}
                alone_run[sponsors[0]] += len(sponsors) == 1
                alone_team[min(teams)] += len(teams) == 1
        assert plan.only_run[:, depth - 1].tolist() == alone_run
        assert plan.only_team[:, depth - 1].tolist() == alone_team


@pytest.mark.parametrize(
    ("total", "sizes", "expected"),
    [
        (9, [10, 10, 10], [3, 3, 3]),
        (11, [10, 10, 10], [4, 4, 3]),  # the remainder of 2 to the first two
        (11, [1, 10, 10], [1, 5, 5]),  # the first topic has but one, and the others share the rest
        (12, [1, 10, 10], [1, 6, 5]),
        (100, [1, 2, 3], [1, 2, 3]),  # there is no more
        (0, [1, 2], [0, 0]),
        (2, [0, 5, 5, 5], [0, 1, 1, 0]),
        (5, [], []),
        (5, [0, 0], [0, 0]),
    ],
)
def test_a_budget_is_divided_evenly_as_far_as_topics_can_use_it(
    total: int, sizes: list[int], expected: list[int]
) -> None:
    assert shares(total, sizes) == expected


@given(st.integers(0, 200), st.lists(st.integers(0, 50), max_size=8))
def test_a_budget_is_used_up_and_never_exceeded(total: int, sizes: list[int]) -> None:
    given_out = shares(total, sizes)
    assert sum(given_out) == min(total, sum(sizes))
    assert all(0 <= share <= size for share, size in zip(given_out, sizes, strict=True))
    # Nobody who could use more has less than another, but for one document.
    hungry = [share for share, size in zip(given_out, sizes, strict=True) if share < size]
    assert not hungry or max(given_out) - min(hungry) <= 1


def test_orders_are_taken_by_topic_or_in_total() -> None:
    orders = ranked([[1, 2, 3, 4], [5], [6, 7, 8]])
    assert [taken.tolist() for taken in take_by_topic(orders, 2)] == [[1, 2], [5], [6, 7]]
    # 6 in all: 2 each; the second topic has 1, and what it leaves goes to the first.
    assert [taken.tolist() for taken in take_in_total(orders, 6)] == [[1, 2, 3], [5], [6, 7]]
