"""Depth-k pools: what is in them, who put it there, and how they grow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.pooling.depth_pool import depth_pool

RUNS = st.lists(st.lists(st.integers(1, 15), unique=True), max_size=5)


def ranked(runs: list[list[int]]) -> list[NDArray[np.int32]]:
    return [np.array(run, np.int32) for run in runs]


def letters(text: str) -> list[int]:
    return [ord(letter) for letter in text]


def test_the_pool_is_the_union_of_the_tops_with_every_contribution() -> None:
    # Run 0 puts 5 and 3 in, run 1 puts 3 and 8, run 2 has only 5.
    pool = depth_pool(ranked([[5, 3, 8], [3, 8, 5], [5]]), 2)
    contributions = zip(pool.document.tolist(), pool.run.tolist(), pool.rank.tolist(), strict=True)
    assert list(contributions) == [(3, 0, 2), (3, 1, 1), (5, 0, 1), (5, 2, 1), (8, 1, 2)]
    assert pool.documents.tolist() == [3, 5, 8]


def test_a_worked_example_of_three_runs() -> None:
    # The tops of abcdef, bghaij and klmnob to depth 2 are ab, bg and kl.
    pool = depth_pool(ranked([letters("abcdef"), letters("bghaij"), letters("klmnob")]), 2)
    assert pool.documents.tolist() == letters("abgkl")


def test_each_run_may_have_a_depth_of_its_own() -> None:
    # abcdef to depth 1 is a, bghaij to depth 3 is bgh, klmnob to depth 2 is kl.
    pool = depth_pool(ranked([letters("abcdef"), letters("bghaij"), letters("klmnob")]), [1, 3, 2])
    assert pool.documents.tolist() == letters("abghkl")
    assert pool.rank.tolist() == [1, 1, 2, 3, 1, 2]


def test_no_run_may_have_a_depth_of_0() -> None:
    with pytest.raises(InvalidValueError, match="1 or more, not 0"):
        depth_pool(ranked([[1], [2]]), [3, 0])


@pytest.mark.parametrize("runs", [[], [[]], [[], []]])
def test_runs_that_returned_nothing_give_an_empty_pool(runs: list[list[int]]) -> None:
    pool = depth_pool(ranked(runs), 10)
    assert pool.documents.size == pool.run.size == pool.rank.size == 0


@pytest.mark.parametrize("depth", [0, -1])
def test_a_pool_without_depth_is_refused(depth: int) -> None:
    with pytest.raises(InvalidValueError, match=f"1 or more, not {depth}"):
        depth_pool([], depth)


@given(RUNS, st.integers(1, 16), st.integers(0, 5))
def test_a_deeper_pool_contains_the_shallower(runs: list[list[int]], depth: int, more: int) -> None:
    shallow, deep = depth_pool(ranked(runs), depth), depth_pool(ranked(runs), depth + more)
    assert set(shallow.documents.tolist()) <= set(deep.documents.tolist())


@given(RUNS.flatmap(lambda runs: st.tuples(st.just(runs), st.permutations(runs))), st.integers(1, 16))
def test_the_order_of_the_runs_changes_no_document(both: tuple[list[list[int]], list[list[int]]], depth: int) -> None:
    given_order, another_order = both
    one, other = depth_pool(ranked(given_order), depth), depth_pool(ranked(another_order), depth)
    assert one.documents.tolist() == other.documents.tolist()


@given(RUNS, st.integers(1, 16))
def test_every_contribution_names_the_rank_at_which_its_run_has_the_document(runs: list[list[int]], depth: int) -> None:
    pool = depth_pool(ranked(runs), depth)
    contributions = set(zip(pool.document.tolist(), pool.run.tolist(), pool.rank.tolist(), strict=True))
    assert contributions == {
        (document, index, rank) for index, run in enumerate(runs) for rank, document in enumerate(run[:depth], 1)
    }
