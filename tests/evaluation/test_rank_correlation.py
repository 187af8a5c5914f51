"""Kendall's tau-b, against sums by hand."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.rank_correlation import kendall_tau_b

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
