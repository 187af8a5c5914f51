"""Cumulated gain, against sums by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.inspection.gain_curve import cumulated

GRADES = st.lists(st.integers(-2, 3), max_size=6)


def test_gain_is_the_sum_of_grades_down_to_a_rank() -> None:
    assert cumulated(np.array([2.0, 0.0, 1.0]), 5).tolist() == [2, 2, 3, 3, 3]
    assert cumulated(np.array([2.0, 0.0, 1.0]), 2).tolist() == [2, 2]
    assert cumulated(np.empty(0), 2).tolist() == [0, 0]


@given(GRADES, st.integers(1, 8))
def test_no_order_gains_more_than_the_sorted_one(grades: list[int], ranks: int) -> None:
    given_, best = np.array(grades, float), -np.sort(-np.array(grades, float))
    sums, ideal = cumulated(given_, ranks), cumulated(best, ranks)
    assert (sums <= ideal).all()
    assert (np.diff(sums) >= 0).all()
    if ranks >= len(grades):
        assert ideal[-1] == sums[-1] == sum(max(grade, 0) for grade in grades)
