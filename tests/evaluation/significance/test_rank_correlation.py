"""Kendall's tau-b, AP correlation and rank-biased overlap, against sums by hand and published values."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.significance.rank_correlation import (
    Similarity,
    kendall_tau_b,
    similarities,
    similarity_of,
)

VALUES = st.lists(st.integers(0, 5).map(float), min_size=2, max_size=12)


@pytest.mark.parametrize(
    ("first", "second", "tau"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 40], 1),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1),
        # Of six pairs one is turned round: (5 - 1) / 6.
        ([1, 2, 3, 4], [1, 2, 4, 3], 4 / 6),
        # Three pairs: one tied in the second list, two alike: 2 / sqrt(3 * 2).
        ([1, 2, 3], [1, 1, 2], 2 / sqrt(6)),
    ],
)
def test_tau_counts_pairs(first: list[float], second: list[float], tau: float) -> None:
    assert kendall_tau_b(first, second) == pytest.approx(tau)


@pytest.mark.parametrize(("first", "second"), [([], []), ([1], [2]), ([1, 1], [1, 2]), ([3, 3, 3], [3, 3, 3])])
def test_without_an_order_there_is_no_tau(first: list[float], second: list[float]) -> None:
    assert kendall_tau_b(first, second) is None


@given(st.data(), VALUES)
def test_tau_is_symmetric_and_between_its_bounds(data: st.DataObject, first: list[float]) -> None:
    second = data.draw(st.permutations(first))
    tau = kendall_tau_b(first, second)
    assert tau == kendall_tau_b(second, first)
    assert (tau is None) == (len(set(first)) == 1)
    assert tau is None or -1 - 1e-12 <= tau <= 1 + 1e-12
    assert tau is None or kendall_tau_b(first, [-value for value in second]) == pytest.approx(-tau)


def values_of(order: str) -> list[float]:
    """Give a, b, c, d and e values that rank them in this order."""
    return [-float(order.index(letter)) for letter in "abcde"]


# tau_AP of one list against another by hand: of abcde against bacde both ways 2/4 (0 + 1 + 1 + 1) - 1 = 0.5; of abced
# 2/4 (1 + 1 + 1 + 3/4) - 1 = 0.875. RBO at 0.9: bacde has its overlap of 1 from depth 2 on, so that 1 - 0.1 is left; of
# edcba the shares are 0, 0, 1/3, 1/2 + 1/2 - 1/2 ... as in Webber, Moffat and Zobel's formula of RBO_EXT.
@pytest.mark.parametrize(
    ("order", "tau", "tau_ap", "rbo"),
    [
        ("abcde", 1, 1, 1),
        ("bacde", 0.8, 0.5, 0.9),
        ("abced", 0.8, 0.875, 1 - 0.1 * 0.9**3 / 4),
        ("edcba", -1, -1, 0.737775),
    ],
)
def test_the_top_weighs_most(order: str, tau: float, tau_ap: float, rbo: float) -> None:
    first, second = values_of("abcde"), values_of(order)
    assert kendall_tau_b(first, second) == pytest.approx(tau)
    assert similarity_of(first, second).tau_ap == pytest.approx(tau_ap)
    assert similarity_of(first, second).rbo == pytest.approx(rbo)


# Values of Urbano and Marrero's R package ircor for its own test data, rounded to four decimals by them.
@pytest.mark.parametrize(
    ("first", "second", "tau_ap"),
    [
        (
            [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
            [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
            0.8333,
        ),
        (
            [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1],
            [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
            0.7321,
        ),
        (
            [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4],
            [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
            0.297,
        ),
        (
            [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4],
            [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
            -0.7047,
        ),
    ],
)
def test_ap_correlation_with_ties_is_that_of_its_authors(
    first: list[float], second: list[float], tau_ap: float
) -> None:
    assert similarity_of(first, second).tau_ap == pytest.approx(tau_ap, abs=5e-5)
    assert similarity_of(second, first).tau_ap == pytest.approx(tau_ap, abs=5e-5)


def test_overlap_counts_a_tied_run_as_far_as_its_group_is_in_the_top() -> None:
    # First a, then b and c tied; second a and b tied, then c. Shares within depths 1, 2, 3 of a, b and c: 1 1 1,
    # 0 1/2 1, 0 1/2 1 against 1/2 1 1, 1/2 1 1, 0 0 1. Agreement 1/2 / (1 * sqrt(1/2)) = sqrt(1/2), then
    # 3/2 / (sqrt(3/2) * sqrt(2)) = sqrt(3)/2, then 1, each weighing 0.1 * 0.9^(depth - 1), and 1 beyond.
    expected = 0.1 * sqrt(1 / 2) + 0.09 * sqrt(3) / 2 + 0.81
    assert similarity_of([3, 2, 2], [3, 3, 2]).rbo == pytest.approx(expected)


def test_similarities_are_those_of_each_pair() -> None:
    chance = np.random.default_rng(1)
    first, second = chance.integers(0, 6, (2, 20, 9)).astype(np.float64)
    expected = [similarity_of(one.tolist(), other.tolist()) for one, other in zip(first, second, strict=True)]
    assert similarities(first, second) == expected
    assert expected[0].tau == kendall_tau_b(first[0], second[0])


@pytest.mark.parametrize(("first", "second"), [([], []), ([1], [2]), ([1, 1], [1, 2]), ([3, 3, 3], [3, 3, 3])])
def test_without_an_order_nothing_is_similar(first: list[float], second: list[float]) -> None:
    assert similarity_of(first, second) == Similarity(None, None, None)


@given(st.data(), VALUES)
def test_similarity_is_symmetric_and_1_of_a_list_with_itself(data: st.DataObject, first: list[float]) -> None:
    second = data.draw(st.permutations(first))
    assert similarity_of(first, second) == similarity_of(second, first)
    if len(set(first)) > 1:
        itself = similarity_of(first, first)
        assert (itself.tau, itself.tau_ap, itself.rbo) == pytest.approx((1, 1, 1))
        other = similarity_of(first, second)
        assert -1 - 1e-12 <= (other.tau_ap or 0) <= 1 + 1e-12
        assert 0 <= (other.rbo or 0) <= 1 + 1e-12
