"""Sample sizes: budgets are kept, Neyman's allocation is the best one, and plans do what they promise."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.estimation.estimated_measures import estimated_measure
from annotator.evaluation.estimation.sample_sizes import (
    Allocation,
    Cells,
    allocate,
)
from annotator.evaluation.metrics.names import parse_measure

DCG = estimated_measure(parse_measure("DCG@10"), 1)
FIRST_RUN = np.array([1.0, 0.0, 0.0])


def made_cells(sizes: Sequence[int], deviations: Sequence[float], taken: Sequence[int] | None = None) -> Cells:
    """Cells of two topics, of which nothing is taken in any case unless told."""
    return Cells(np.array(sizes), np.array(deviations), np.array(taken) if taken else np.zeros(len(sizes), np.intp), 2)


cells = st.lists(st.tuples(st.integers(1, 50), st.floats(0, 3)), min_size=1, max_size=8).map(
    lambda pairs: made_cells([size for size, _ in pairs], [spread for _, spread in pairs])
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
    if (drawn < np.minimum(of.sizes, 2)).any():
        return
    giver, taker = giver % drawn.size, taker % drawn.size
    moved = drawn.copy()
    moved[giver] -= 3  # one or two may be due to rounding
    moved[taker] += 3
    if ((moved >= np.minimum(of.sizes, 2)) & (moved <= of.sizes)).all():
        assert of.error(moved) >= of.error(drawn) - 1e-9


def test_a_budget_below_one_document_a_stratum_and_what_is_taken_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="At least 6 documents must be judged: one of each of 3 strata"):
        allocate(made_cells([9, 9, 1], [1, 1, 1], [4, 0, 0]), 5, Allocation.EQUAL)


def test_every_cell_gets_a_second_document_before_any_gets_a_third() -> None:
    of = made_cells([50, 50, 50], [9, 0.1, 0])
    assert allocate(of, 5, Allocation.NEYMAN).tolist() == [2, 2, 1]
    assert allocate(of, 7, Allocation.NEYMAN).tolist() == [3, 2, 2]


@given(cells, st.integers(0, 100), st.sampled_from(Allocation))
def test_a_larger_budget_draws_the_same_documents_and_more(of: Cells, more: int, how: Allocation) -> None:
    budget = int(of.least.sum()) + more
    assert (allocate(of, budget + 1, how) >= allocate(of, budget, how)).all()
