"""The distribution of seconds per document."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as some

from annotator.evaluation.agreement.judging_seconds import SecondsBin, judging_seconds


def test_without_times_there_is_no_distribution() -> None:
    assert judging_seconds([]) is None


def test_bins_double_and_begin_and_end_where_there_are_documents() -> None:
    found = judging_seconds([1.0, 1.9, 2.0, 9.0])
    assert found is not None
    assert found.bins == (SecondsBin(1, 2, 2), SecondsBin(2, 4, 1), SecondsBin(4, 8, 0), SecondsBin(8, 16, 1))


def test_the_shortest_and_the_longest_times_have_bins_without_a_bound() -> None:
    found = judging_seconds([0.0, 5000.0])
    assert found is not None
    assert found.bins[0] == SecondsBin(0, 0.5, 1)
    assert found.bins[-1] == SecondsBin(1024, None, 1)


@given(some.lists(some.floats(0, 1e5), min_size=1))
def test_every_document_is_in_one_bin_and_percentiles_are_in_order(seconds: list[float]) -> None:
    found = judging_seconds(seconds)
    assert found is not None
    assert sum(one.documents for one in found.bins) == len(seconds)
    assert found.median == pytest.approx(statistics.median(seconds))
    in_order = [found.p5, found.p25, found.median, found.p75, found.p95]
    assert in_order == pytest.approx(sorted(in_order))
    for one in found.bins:
        inside = [each for each in seconds if one.low <= each and (one.high is None or each < one.high)]
        assert len(inside) == one.documents
