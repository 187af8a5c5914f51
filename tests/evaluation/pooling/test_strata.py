"""Stratified samples: how bands are written, what is drawn of each, and that the draw can be done again."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.pooling.pool_simulation import simulate
from annotator.evaluation.pooling.strata import Band, format_bands, parse_bands, stratified
from annotator.evaluation.pooling.strategies import parse_strategy
from annotator.evaluation.pooling.topic_runs import TopicRuns, topic_runs

RUNS = st.lists(st.lists(st.integers(0, 39), unique=True, max_size=30), max_size=4)
BANDS = parse_bands("1-2:1, 3-10:0.5, 11-20:0.1")


def numbered(runs: Sequence[Sequence[int]], numbers: Sequence[int] = range(40), topic: str = "7") -> TopicRuns:
    docnos = {number: f"D{name:02}" for name, number in enumerate(numbers)}
    return topic_runs(topic, [np.array([numbers[name] for name in run], np.int32) for run in runs], docnos)


def one_run(length: int, topic: str = "7") -> TopicRuns:
    docnos = {number: f"D{number:04}" for number in range(length)}
    return topic_runs(topic, [np.arange(length, dtype=np.int32)], docnos)


@pytest.mark.parametrize(
    ("written", "bands", "printed"),
    [
        (
            "1-10:1, 11-50:0.2, 51-100:0.05",
            (Band(1, 10, 1), Band(11, 50, 0.2), Band(51, 100, 0.05)),
            "1-10:1, 11-50:0.2, 51-100:0.05",
        ),
        (" 1 - 10 : 1.0,11-50:.20", (Band(1, 10, 1), Band(11, 50, 0.2)), "1-10:1, 11-50:0.2"),
        ("1:1,2-3:0.000000001", (Band(1, 1, 1), Band(2, 3, 1e-9)), "1-1:1, 2-3:0.000000001"),
    ],
)
def test_bands_are_read_and_written(written: str, bands: tuple[Band, ...], printed: str) -> None:
    assert parse_bands(written) == bands
    assert format_bands(bands) == printed
    assert parse_bands(printed) == bands


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "The stratum “” cannot be read; strata look like 1-10:1, 11-50:0.2, 51-100:0.05."),
        ("1-10", "“1-10” cannot be read"),
        ("1-10:1,", "“” cannot be read"),
        ("a-b:1", "“a-b:1” cannot be read"),
        ("1-10:1;11-20:1", "cannot be read"),
        ("10-1:1", "“10-1:1” ends before it begins"),
        ("2-10:1", "“2-10:1” must begin at rank 1"),
        ("0-10:1", "“0-10:1” must begin at rank 1"),
        ("1-10:1, 12-20:0.5", "“12-20:0.5” must begin at rank 11"),
        ("1-10:1, 10-20:0.5", "“10-20:0.5” must begin at rank 11"),
        ("1-10:0", "“1-10:0” must be a number above 0"),
        ("1-10:0.0", "above 0 and at most 1"),
        ("1-10:1.5", "above 0 and at most 1"),
        ("1-10:20", "above 0 and at most 1"),
        ("1-10:0.1.2", "above 0 and at most 1"),
        ("1-10:0.0000000001", "at most nine decimals"),
    ],
)
def test_bands_that_make_no_sense_are_refused(written: str, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        parse_bands(written)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 10**9)), min_size=1, max_size=5))
def test_what_is_written_is_read_back(widths: list[tuple[int, int]]) -> None:
    ends = np.cumsum([width for width, _ in widths]).tolist()
    bands = tuple(Band(end - width + 1, end, share / 10**9) for (width, share), end in zip(widths, ends, strict=True))
    assert parse_bands(format_bands(bands)) == bands


def test_each_stratum_gives_its_share_rounded_up() -> None:
    # Ranks 1 to 10 whole; of the 30 below, a tenth is 3 exactly, though 0.1 * 30 is more in binary; of the 5 left, a
    # tenth is half a document.
    strata = stratified(one_run(45), parse_bands("1-10:1, 11-40:0.1, 41-60:0.1"), 1)
    assert [(stratum.documents.size, stratum.drawn) for stratum in strata] == [(10, 10), (30, 3), (5, 1)]
    assert sorted(strata[0].sample.tolist()) == list(range(10))
    assert set(strata[1].sample.tolist()) < set(range(10, 40))


def test_a_document_belongs_to_the_stratum_of_its_best_rank() -> None:
    # 4 is at rank 5 in run 1 and at rank 1 in run 2.
    strata = stratified(numbered([[0, 1, 2, 3, 4], [4]]), parse_bands("1-1:1, 2-5:0.5"), 1)
    assert sorted(strata[0].documents.tolist()) == [0, 4]
    assert sorted(strata[1].documents.tolist()) == [1, 2, 3]


def test_a_stratum_without_documents_has_no_sample() -> None:
    empty = stratified(one_run(3), BANDS, 1)[2]
    assert (empty.documents.size, empty.drawn) == (0, 0)


def test_another_seed_and_another_topic_draw_another_sample() -> None:
    bands = parse_bands("1-1000:0.5")
    samples = [
        frozenset(stratified(one_run(1000, topic), bands, seed)[0].sample.tolist())
        for topic, seed in [("7", 1), ("7", 2), ("8", 1)]
    ]
    assert len(set(samples)) == 3


def test_every_part_of_a_stratum_has_the_same_chance() -> None:
    # Draws of a tenth of 1,000 take 50 of the first 500 on average, with a standard deviation of
    # sqrt(100 * 0.5 * 0.5 * 900 / 999) = 4.75, which for the mean of 100 draws is 0.475; five times that is allowed.
    bands = parse_bands("1-1000:0.1")
    low = [int((stratified(one_run(1000), bands, seed)[0].sample < 500).sum()) for seed in range(100)]
    assert np.mean(low) == pytest.approx(50, abs=2.4)


@given(RUNS, st.permutations(range(40)), st.randoms(use_true_random=False), st.integers(0, 2**62))
def test_neither_numbers_nor_the_order_of_upload_show_in_a_sample(
    runs: list[list[int]], numbers: list[int], shuffle: Random, seed: int
) -> None:
    one = stratified(numbered(runs), BANDS, seed)
    other = stratified(numbered(shuffle.sample(runs, len(runs)), numbers), BANDS, seed)
    for stratum, again in zip(one, other, strict=True):
        assert [numbers.index(number) for number in again.documents.tolist()] == stratum.documents.tolist()
        assert again.drawn == stratum.drawn


@given(RUNS, st.integers(0, 2**62))
def test_strata_share_out_the_documents_down_to_the_last_band(runs: list[list[int]], seed: int) -> None:
    strata = stratified(numbered(runs), BANDS, seed)
    documents = [document for stratum in strata for document in stratum.documents.tolist()]
    assert sorted(documents) == sorted({name for run in runs for name in run[:20]})


def test_a_sample_from_more_runs_keeps_the_turns_of_the_draw() -> None:
    few = stratified(numbered([range(20)]), parse_bands("1-20:0.3"), 5)[0]
    more = stratified(numbered([range(20), range(20, 40)]), parse_bands("1-20:0.3"), 5)[0]
    kept = [document for document in more.documents.tolist() if document < 20]
    assert kept == few.documents.tolist()


def test_a_simulated_sample_is_judged_stratum_by_stratum() -> None:
    runs = one_run(20)
    order = simulate(parse_strategy("stratified", {"strata": "1-5:1, 6-20:0.2"}), runs, dict.fromkeys(range(20), True))
    strata = stratified(runs, parse_bands("1-5:1, 6-20:0.2"), 1)
    assert order.tolist() == [*strata[0].sample.tolist(), *strata[1].sample.tolist()]
