"""A baseline against all, with Holm's correction and MaxT, against their definitions done step by step."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]  # it ships no types

from annotator.errors import NotFoundError
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.comparisons import compare_with_baseline, holm
from annotator.evaluation.significance.results import Undefined
from annotator.evaluation.significance.two_runs import compare_two_runs

NAMES = ["base", "one", "two", "three"]
SCORES = np.random.default_rng(8).normal([[0.0], [0.3], [0.9], [0.5]], 0.7, (4, 7))


def test_holm_multiplies_step_by_step() -> None:
    # Sorted .005 * 4, .01 * 3, .03 * 2, .04 * 1, which may not be below the one before.
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.5, 0.6])).tolist() == [1, 1]
    # What is no test does not count.
    assert holm(np.array([0.01, np.nan, 0.04])) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert holm(np.array([])).size == 0


def test_each_run_is_tested_as_it_would_be_alone() -> None:
    together = compare_with_baseline(NAMES, SCORES, "base", seed=1)
    assert (together.topics, together.flips, together.is_exact) == (7, 128, True)
    assert [run.run for run in together.runs] == ["one", "two", "three"]
    for place, run in enumerate(together.runs, start=1):
        alone = compare_two_runs(SCORES[0], SCORES[place], seed=1)
        assert run.mean == alone.second_mean
        assert run.t == alone.t
        assert run.randomised.value == pytest.approx(alone.randomisation.p.value)
    raised = holm(np.array([run.randomised.value for run in together.runs], np.float64))
    assert [run.randomised_holm.value for run in together.runs] == pytest.approx(raised.tolist())
    raised = holm(np.array([run.t.p.value for run in together.runs], np.float64))
    assert [run.t_holm.value for run in together.runs] == pytest.approx(raised.tolist())


def test_max_t_steps_down_as_westfall_and_young_say() -> None:
    differences = SCORES[1:] - SCORES[0]
    order = np.argsort(-_ts(differences))
    counts, flips = np.zeros(3), list(product((1, -1), repeat=7))
    for flip in flips:
        flipped = _ts(differences * np.array(flip))
        for step in range(3):
            counts[step] += flipped[order[step:]].max() >= _ts(differences)[order[step]] - 1e-9
    expected = np.empty(3)
    expected[order] = np.maximum.accumulate(counts / len(flips))
    compared = compare_with_baseline(NAMES, SCORES, "base", seed=1)
    assert [run.max_t.value for run in compared.runs] == pytest.approx(expected.tolist())


def _ts(differences: Values) -> Values:
    distances: Values = np.abs(stats.ttest_1samp(differences, 0, axis=1).statistic)
    return distances


@given(st.integers(0, 1000), st.integers(2, 6), st.integers(2, 12))
def test_corrections_raise_p_to_no_more_than_the_sum_of_all(seed: int, runs: int, topics: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 5, (runs, topics)).astype(np.float64)
    names = [str(run) for run in range(runs)]
    compared = compare_with_baseline(names, scores, "0", seed=seed, flips=100).runs
    # However alike the runs are, the best of them is no oftener so good than all of them together.
    of_any = sum(run.randomised.value or 0.0 for run in compared)
    for run in compared:
        values = [figure.value for figure in (run.randomised, run.max_t, run.randomised_holm)]
        if None in values:
            assert values == [None] * 3
            assert run.max_t.reason is Undefined.NO_DIFFERENCE
        else:
            alone, max_t, raised = (value or 0.0 for value in values)
            assert 0 < alone <= max_t <= min(1, of_any + 1e-12)
            assert alone <= raised <= 1


def test_flips_are_the_same_for_the_same_seed_and_however_many_are_done_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = np.random.default_rng(2).normal(0, 1, (4, 40))
    once, other = (compare_with_baseline(NAMES, scores, "two", seed=seed, flips=500) for seed in (1, 2))
    monkeypatch.setattr("annotator.evaluation.significance.two_runs.MOST_CELLS", 40 * 8)
    assert compare_with_baseline(NAMES, scores, "two", seed=1, flips=500) == once
    assert once.runs != other.runs


def test_a_run_equal_to_the_baseline_does_not_count_among_the_tests() -> None:
    scores = np.concatenate([SCORES, SCORES[:1]])
    with_copy = compare_with_baseline([*NAMES, "copy"], scores, "base", seed=1)
    assert with_copy.runs[:3] == compare_with_baseline(NAMES, SCORES, "base", seed=1).runs
    copy = with_copy.runs[3]
    figures = [copy.t.p, copy.t_holm, copy.randomised, copy.randomised_holm, copy.max_t]
    assert {(figure.value, figure.reason) for figure in figures} == {(None, Undefined.NO_DIFFERENCE)}


def test_the_baseline_must_be_there() -> None:
    with pytest.raises(NotFoundError, match="“bm25” is not among the runs"):
        compare_with_baseline(NAMES, SCORES, "bm25", seed=1)


def test_a_baseline_alone_one_topic_and_no_topic_are_said() -> None:
    assert compare_with_baseline(["base"], SCORES[:1], "base", seed=1).runs == ()
    [one] = compare_with_baseline(NAMES[:2], SCORES[:2, :1], "base", seed=1).runs
    assert one.mean.value == SCORES[1, 0]
    assert {one.t.p.reason, one.randomised.reason, one.max_t.reason} == {Undefined.ONE_TOPIC}
    nothing = compare_with_baseline(NAMES[:2], np.full((2, 3), np.nan), "base", seed=1)
    assert (nothing.topics, nothing.left_out, nothing.flips) == (0, 3, 0)
    assert {nothing.runs[0].mean.reason, nothing.runs[0].max_t.reason} == {Undefined.NO_TOPIC}
