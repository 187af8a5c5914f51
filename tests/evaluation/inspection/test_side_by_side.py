"""Two runs side by side, on values and rankings short enough to count by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.inspection.side_by_side import ListedDocument, TwoLists, conclude, listed_documents
from annotator.evaluation.inspection.two_runs import PairByMeasure, topic_differences
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.significance.two_runs import compare_two_runs

VALUES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8)


def pair(first: list[float], second: list[float], better: Better = Better.MORE) -> PairByMeasure:
    one, other = np.array(first, float), np.array(second, float)
    topics = [str(number) for number in range(len(first))]
    tests, differences = compare_two_runs(one, other, seed=1), topic_differences(topics, one, other)
    return PairByMeasure("AP", better, one.mean(), other.mean(), tests, differences)


def test_the_run_with_the_higher_mean_leads_by_the_difference() -> None:
    found = conclude("a", "b", pair([0.1, 0.5, 0.5, 0.3], [0.4, 0.4, 0.5, 0.7]))
    assert (found.leader, found.other, found.won, found.lost, found.tied) == ("b", "a", 2, 1, 1)
    assert found.lead == pytest.approx(0.15)
    assert found.low is not None
    assert found.high is not None
    assert (found.low + found.high) / 2 == pytest.approx(found.lead)
    assert not found.is_significant


def test_where_less_is_better_the_lower_mean_leads() -> None:
    found = conclude("a", "b", pair([1, 2, 3], [2, 2, 5], Better.LESS))
    assert (found.leader, found.lead, found.won, found.lost, found.tied) == ("a", 1, 2, 0, 1)


def test_two_equal_runs_tie_without_a_test() -> None:
    found = conclude("a", "b", pair([0.5, 0.25], [0.5, 0.25]))
    assert (found.is_tie, found.p, found.low, found.won, found.lost, found.tied) == (True, None, None, 0, 0, 2)
    assert not found.is_significant


@given(VALUES, st.sampled_from([Better.MORE, Better.LESS]))
def test_swapping_the_runs_does_not_change_the_conclusion(values: list[tuple[int, int]], better: Better) -> None:
    first, second = [float(one) for one, _ in values], [float(other) for _, other in values]
    one, turned = conclude("a", "b", pair(first, second, better)), conclude("b", "a", pair(second, first, better))
    assert one.lead == turned.lead
    assert one.won + one.lost + one.tied == len(values)
    if not one.is_tie:
        assert one == turned


def test_a_list_has_the_ranks_of_the_other_list() -> None:
    first, second = np.array([7, 8, 9], np.int32), np.array([9, 7], np.int32)
    listed = listed_documents(first, second, {7: 2, 8: -1}, top=2)
    assert listed == (ListedDocument(7, 1, 2, 2), ListedDocument(8, 2, None, None))
    assert [one.moved for one in listed] == [1, None]
    lists = TwoLists("1", listed, listed_documents(second, first, {}, top=1))
    assert lists.shared == 0  # 9 alone is in the other top
