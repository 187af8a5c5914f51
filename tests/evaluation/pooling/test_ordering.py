"""The order shown to judges: random, the same for ever, and blind to where a document came from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.pooling.ordering import judging_order, showing_order

DOCNOS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), unique=True)


@given(DOCNOS.flatmap(lambda docnos: st.tuples(st.just(docnos), st.permutations(docnos))), st.integers())
def test_the_order_of_arrival_changes_no_priority(both: tuple[list[str], list[str]], seed: int) -> None:
    arrived, otherwise = both
    first = dict(zip(arrived, judging_order(arrived, seed, "7").tolist(), strict=True))
    second = dict(zip(otherwise, judging_order(otherwise, seed, "7").tolist(), strict=True))
    assert first == second


@given(DOCNOS, DOCNOS, st.integers())
def test_a_pool_that_grows_keeps_the_priorities_it_had(docnos: list[str], more: list[str], seed: int) -> None:
    grown = judging_order([*docnos, *more], seed, "7")
    assert grown[: len(docnos)].tolist() == judging_order(docnos, seed, "7").tolist()


def test_priorities_fit_62_bits_and_differ() -> None:
    priorities = judging_order([f"FT911-{number}" for number in range(10_000)], 1, "401")
    assert priorities.dtype == np.int64
    assert priorities.min() >= 0
    assert priorities.max() < 2**62
    assert np.unique(priorities).size == 10_000


def test_the_order_stays_what_it_was_when_it_was_first_stored() -> None:
    # blake2b of "1", "401" and "FT911-3" with zero bytes between, 8 bytes, big-endian, without its last two bits:
    # printf '1\000401\000FT911-3' | b2sum -l 64
    assert judging_order(["FT911-3"], 1, "401").tolist() == [0xF6399AED33F5561A >> 2]


@pytest.mark.parametrize(
    ("seed", "topic", "docno"), [(2, "401", "a"), (1, "402", "a"), (1, "401", "b"), (1, "4", "01a")]
)
def test_seed_topic_and_docno_each_matter(seed: int, topic: str, docno: str) -> None:
    assert judging_order([docno], seed, topic)[0] != judging_order(["a"], 1, "401")[0]


def test_early_and_late_docnos_are_mixed() -> None:
    # Of 1,000 places, a random order has docnos 0-499 at mean place 499.5 with standard deviation about 9.1.
    places = np.argsort(np.argsort(judging_order([f"{number:04}" for number in range(1000)], 5, "1")))
    assert abs(places[:500].mean() - 499.5) < 5 * 9.1


def test_a_pool_is_shown_in_random_order_by_docno_or_as_it_was_chosen() -> None:
    docnos = ["d3", "d1", "d2"]
    assert showing_order("random", docnos, 7, "1", last=99).tolist() == judging_order(docnos, 7, "1").tolist()
    assert showing_order("docno", docnos, 7, "1").tolist() == [2, 0, 1]
    assert showing_order("docno", docnos, 7, "1", last=9).tolist() == [12, 10, 11]
    assert showing_order("selection", docnos, 7, "1", last=9).tolist() == [10, 11, 12]
    assert showing_order("selection", [], 7, "1").tolist() == []
