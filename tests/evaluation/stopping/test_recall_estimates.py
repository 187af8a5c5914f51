"""Recall estimated from documents drawn at random, with exact bounds."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom  # type: ignore[import-untyped]  # SciPy ships no types

from annotator.evaluation.stopping.recall_estimates import (
    IntervalMethod,
    SampledStratum,
    estimate_recall,
    greatest_relevant,
    horvitz_thompson_deviation,
    hypergeometric_cdf,
    least_relevant,
)


@given(st.data())
def test_the_distribution_is_that_of_scipy(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 3_000))
    relevant, drawn = data.draw(st.integers(0, size)), data.draw(st.integers(0, size))
    found = data.draw(st.integers(-1, drawn))
    expected = hypergeom.cdf(found, size, relevant, drawn)
    assert float(hypergeometric_cdf(found, size, relevant, drawn)) == pytest.approx(expected, abs=1e-9)


def test_more_relevant_documents_than_documents_are_impossible() -> None:
    assert float(hypergeometric_cdf(3, 10, 11, 5)) == 0


def test_the_distribution_by_hand() -> None:
    """Two of four documents drawn, two relevant: none with 1/6, at most one with 5/6."""
    assert hypergeometric_cdf([0, 1, 2], 4, 2, 2).tolist() == pytest.approx([1 / 6, 5 / 6, 1])


def test_bounds_by_hand() -> None:
    """None of 2 drawn of 4: P(X = 0) is 1, 1/2, 1/6, 0 and 0 for 0 to 4 relevant documents."""
    assert [int(greatest_relevant(0, 4, 2, alpha)) for alpha in (0.6, 0.3, 0.1)] == [0, 1, 2]
    # Both relevant: 2 to 4 are possible, and 2 with probability 1/6.
    assert [int(least_relevant(2, 4, 2, alpha)) for alpha in (0.6, 0.3, 0.1)] == [4, 3, 2]


@given(st.data())
def test_bounds_contain_the_estimate_and_what_is_possible(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 300))
    drawn = data.draw(st.integers(1, size))
    found = data.draw(st.integers(0, drawn))
    low, high = (int(bound(found, size, drawn, 0.025)) for bound in (least_relevant, greatest_relevant))
    assert found <= low <= found * size / drawn <= high <= size - (drawn - found)


@pytest.mark.parametrize("relevant", [0, 1, 6, 20, 39, 40])
def test_intervals_contain_the_truth_with_their_confidence(relevant: int) -> None:
    """By the whole distribution, not by simulation: 12 of 40 documents."""
    missed = 0.0
    for found in range(max(0, relevant - 28), min(12, relevant) + 1):
        low, high = (int(bound(found, 40, 12, 0.025)) for bound in (least_relevant, greatest_relevant))
        if not low <= relevant <= high:
            missed += hypergeom.pmf(found, 40, relevant, 12)
    assert missed <= 0.05


def test_the_deviation_is_that_over_all_samples() -> None:
    """Of 5 documents 2 are relevant and 3 are drawn: the mean of the estimated variance is the variance."""
    truth = [1, 1, 0, 0, 0]
    drawn = [sum(truth[one] for one in sample) for sample in combinations(range(5), 3)]
    totals = [5 * found / 3 for found in drawn]
    estimated = [(horvitz_thompson_deviation([SampledStratum(5, 3, 3, one, 3, one)]) or 0) ** 2 for one in drawn]
    assert np.mean(totals) == pytest.approx(2)
    assert np.mean(estimated) == pytest.approx(np.var(totals))


def test_a_single_judged_document_has_no_deviation() -> None:
    assert horvitz_thompson_deviation([SampledStratum(5, 1, 1, 1, 1, 1)]) is None


def test_recall_of_a_sample_by_hand() -> None:
    """10 of 100 drawn, 2 relevant: about 20 relevant; with 6 more found otherwise recall is 8/20."""
    stratum = SampledStratum(100, 10, 10, 2, 40, 8)
    found = estimate_recall([stratum], outside=0)
    assert found is not None
    assert found.recall == pytest.approx(0.4)
    low, high = (int(bound(2, 100, 10, 0.025)) for bound in (least_relevant, greatest_relevant))
    assert found.low == pytest.approx(8 / min(high, 68))
    assert found.high == pytest.approx(8 / max(low, 8))
    assert found.method is IntervalMethod.HYPERGEOMETRIC


def test_nothing_is_estimated_without_a_sample() -> None:
    assert estimate_recall([], outside=4) is None
    assert estimate_recall([SampledStratum(10, 2, 0, 0, 0, 0)], outside=4) is None
    assert estimate_recall([SampledStratum(10, 2, 2, 0, 2, 0)], outside=0) is None


def test_topics_drawn_at_the_same_rate_are_one_sample() -> None:
    """Five topics of 100 at 10 %: the bounds of 50 of 500."""
    found = estimate_recall([SampledStratum(100, 10, 10, 1, 10, 1)] * 5, outside=0, pooled=True)
    assert found is not None
    assert found.method is IntervalMethod.HYPERGEOMETRIC
    assert found.low == pytest.approx(5 / int(greatest_relevant(5, 500, 50, 0.025)))


def test_topics_drawn_at_several_rates_have_a_normal_interval() -> None:
    strata = [SampledStratum(100, 10, 10, 2, 10, 2), SampledStratum(100, 50, 50, 20, 50, 20)]
    found = estimate_recall(strata, outside=0, pooled=True)
    assert found is not None
    deviation = horvitz_thompson_deviation(strata)
    assert deviation is not None
    assert found.method is IntervalMethod.NORMAL
    assert found.relevant == pytest.approx(20 + 40)
    assert found.low == pytest.approx(22 / (60 + 1.959964 * deviation))
    assert math.isclose(found.high, 22 / max(60 - 1.959964 * deviation, 22), rel_tol=1e-6)


def test_topics_whose_samples_are_judged_to_different_degrees_are_not_one_sample() -> None:
    """Drawn at one rate, but half of the second is not judged yet: 2 of 10 and 8 of 10 are 20 and 160 documents."""
    strata = [SampledStratum(100, 10, 10, 2, 10, 2), SampledStratum(200, 20, 10, 8, 10, 8)]
    found = estimate_recall(strata, outside=0, pooled=True)
    assert found is not None
    assert found.method is IntervalMethod.NORMAL
    assert found.relevant == pytest.approx(180)


def test_different_rates_without_a_deviation_take_the_exact_bounds_of_each() -> None:
    strata = [SampledStratum(100, 10, 1, 1, 1, 1), SampledStratum(100, 10, 10, 1, 10, 1)]
    found = estimate_recall(strata, outside=0, pooled=True)
    assert found is not None
    highs = greatest_relevant([1, 1], [100, 100], [1, 10], 0.0125)
    assert found.method is IntervalMethod.HYPERGEOMETRIC
    assert found.deviation is None
    assert found.low == pytest.approx(2 / int(highs.sum()))


@st.composite
def sampled_strata(draw: st.DrawFn) -> SampledStratum:
    size = draw(st.integers(2, 60))
    drawn = draw(st.integers(1, size))
    judged = draw(st.integers(1, drawn))
    relevant = draw(st.integers(0, judged))
    known = draw(st.integers(judged, size))
    return SampledStratum(size, drawn, judged, relevant, known, relevant + draw(st.integers(0, known - judged)))


@given(strata=st.lists(sampled_strata(), min_size=1, max_size=4), pooled=st.booleans())
def test_the_estimate_is_within_its_interval(*, strata: list[SampledStratum], pooled: bool) -> None:
    found = estimate_recall(strata, outside=1, pooled=pooled)
    assert found is not None
    assert 0 <= found.low <= found.recall <= found.high <= 1


def test_several_strata_of_a_topic_share_alpha() -> None:
    strata = [SampledStratum(100, 20, 20, 2, 20, 2), SampledStratum(200, 20, 20, 1, 20, 1)]
    found = estimate_recall(strata, outside=3)
    assert found is not None
    highs = greatest_relevant([2, 1], [100, 200], [20, 20], 0.0125)
    assert found.low == pytest.approx(6 / (3 + int(highs.sum())))
