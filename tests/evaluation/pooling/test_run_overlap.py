"""Overlap of runs, and relevant documents by team."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from annotator.evaluation.pooling.run_overlap import (
    TeamShare,
    closest_runs,
    in_similar_order,
    overlap_matrix,
    shares_between,
    team_shares,
)


def ranked(*documents: int) -> NDArray[np.int32]:
    return np.array(documents, np.int32)


RUNS = st.lists(
    st.dictionaries(st.integers(1, 3), st.lists(st.integers(1, 9), unique=True, max_size=6)), min_size=1, max_size=5
)


def test_overlap_is_the_mean_share_in_common_over_topics() -> None:
    first = {1: ranked(1, 2, 3, 4), 2: ranked(5, 6)}
    second = {1: ranked(2, 1, 9, 4), 2: ranked(7, 8)}
    assert overlap_matrix([first, second], 2).tolist() == [[1, 0.5], [0.5, 1]]
    assert overlap_matrix([first, second], 4).tolist() == [[1, 0.375], [0.375, 1]]


def test_a_topic_that_one_run_leaves_out_has_nothing_in_common() -> None:
    both = overlap_matrix([{1: ranked(1), 2: ranked(2)}, {1: ranked(1)}], 10)
    assert both[0, 1] == 0.5
    assert np.isnan(overlap_matrix([{}, {}], 10)).all()


def test_the_longer_of_two_lists_counts() -> None:
    assert overlap_matrix([{1: ranked(1, 2, 3, 4)}, {1: ranked(1)}], 10)[0, 1] == 0.25


@given(RUNS, st.integers(1, 6))
def test_overlap_is_what_sets_say(runs: list[dict[int, list[int]]], depth: int) -> None:
    found = overlap_matrix([{topic: ranked(*of_topic) for topic, of_topic in one.items()} for one in runs], depth)
    for one, mine in enumerate(runs):
        for other, theirs in enumerate(runs):
            tops = [
                (mine.get(topic, [])[:depth], theirs.get(topic, [])[:depth]) for topic in mine.keys() | theirs.keys()
            ]
            shares = [len({*a} & {*b}) / max(len(a), len(b)) for a, b in tops if a or b]
            if shares:
                assert found[one, other] == pytest.approx(np.mean(shares))
            else:
                assert np.isnan(found[one, other])


@given(RUNS)
def test_the_order_has_every_run_once(runs: list[dict[int, list[int]]]) -> None:
    lists = [{topic: ranked(*of_topic) for topic, of_topic in one.items()} for one in runs]
    assert sorted(in_similar_order(overlap_matrix(lists, 5), range(len(runs)))) == list(range(len(runs)))


def test_runs_with_much_in_common_are_neighbours() -> None:
    lists = [{1: ranked(1, 2)}, {1: ranked(8, 9)}, {1: ranked(1, 2)}, {1: ranked(8, 7)}]
    order = in_similar_order(overlap_matrix(lists, 2), range(4))
    assert abs(order.index(0) - order.index(2)) == 1
    assert abs(order.index(1) - order.index(3)) == 1


def test_a_team_that_was_not_pooled_still_found_relevant_documents() -> None:
    lists = [{1: ranked(1, 2, 3)}, {1: ranked(9)}, {1: ranked(1, 4)}]
    shares = team_shares(["pooled", "pooled", "other"], lists, {"pooled": {(1, 1), (1, 3), (1, 9)}}, {1: [1, 3, 4, 5]})
    assert shares == [
        TeamShare("other", 1, 0, 0, 0, relevant_found=2, found_alone=1),
        TeamShare("pooled", 2, 3, 2, 2, relevant_found=2, found_alone=1),
    ]


def test_a_team_whose_runs_were_withdrawn_keeps_what_it_contributed() -> None:
    [share] = team_shares([], [], {"gone": {(1, 1)}}, {1: [1]})
    assert share == TeamShare("gone", 0, 1, 1, 1, relevant_found=0, found_alone=0)


def test_the_closest_runs_and_the_shares_between_some() -> None:
    overlap = overlap_matrix([{1: ranked(1, 2)}, {1: ranked(8, 9)}, {1: ranked(1, 3)}, {2: ranked(1)}], 2)
    assert closest_runs(overlap) == (0, 2, 0.5)
    assert shares_between(overlap, [2, 0]) == [[1, 0.5], [0.5, 1]]
    empty = overlap_matrix([{}, {}], 2)
    assert closest_runs(empty) is None
    assert shares_between(empty, [0]) == [[None]]
