"""All pairs of runs: Tukey's test from the model and by permuting, Holm's, and the studentised range below it."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]  # it ships no types
from thorough import examples

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.comparisons import holm, paired_tests
from annotator.evaluation.significance.results import Undefined
from annotator.evaluation.significance.tukey import (
    critical_range,
    randomised_tukey_hsd,
    steps_of_permuting,
    studentised_range_p,
    tukey_hsd,
)
from annotator.evaluation.significance.two_runs import compare_two_runs


def scores_with(means: list[float], mean_square: float, topics: int) -> Values:
    """Give scores of runs that have these means, and around them this mean square of what neither explains."""
    rest = np.random.default_rng(1).normal(0, 1, (len(means), topics))
    rest -= rest.mean(axis=0)
    rest -= rest.mean(axis=1, keepdims=True)
    rest *= np.sqrt(mean_square * (len(means) - 1) * (topics - 1) / (rest**2).sum())
    scores: Values = np.array(means)[:, np.newaxis] + rest + np.random.default_rng(2).random(topics)
    return scores


# The five best runs of TREC-8 by mean average precision over 50 topics (data of Urbano, Lima and Hanjalic, SIGIR 2019):
# runs 95, 83, 51, 94 and 23. Of all 129, the mean square of the rest alone is known.
BEST = [0.469244, 0.413044, 0.410358, 0.400058, 0.376546]


def test_published_runs_of_trec_8_differ_by_tukeys_test() -> None:
    scores = scores_with(BEST, 0.0201109, 50)
    test = tukey_hsd(scores)
    assert test.mean_square.value == pytest.approx(0.0201109)
    assert test.degrees == 196
    assert test.critical_difference.value == pytest.approx(0.0780919, abs=1e-7)
    assert test.p.of(0, 4).value == pytest.approx(0.01107, abs=5e-6)
    assert test.p.of(3, 0).value == pytest.approx(0.10931, abs=5e-6)
    assert np.argwhere(np.triu(test.p.at_most())).tolist() == [[0, 4]]


def test_the_critical_difference_of_all_runs_of_trec_8_is_as_published() -> None:
    # Twice the last digit: the mean square is rounded as well.
    assert critical_range(0.05, 129, 49 * 128) * (0.0136082 / 50) ** 0.5 == pytest.approx(0.1029857, abs=3e-7)


# 95 % points as tables print them (Harter 1960): means, degrees of freedom, range.
@pytest.mark.parametrize(
    ("means", "degrees", "printed"), [(2, 1, 17.97), (3, 10, 3.877), (5, 20, 4.232), (10, 3, 9.462), (20, 120, 5.126)]
)
def test_critical_ranges_are_those_of_the_tables(means: int, degrees: int, printed: float) -> None:
    critical = critical_range(0.05, means, degrees)
    assert critical == pytest.approx(printed, rel=2e-4)
    assert studentised_range_p(np.array([critical]), means, degrees)[0] == pytest.approx(0.05)


@pytest.mark.parametrize(("means", "degrees"), [(3, 1), (3, 2), (5, 20), (10, 441), (129, 6272), (300, 299)])
def test_the_range_is_scipys(means: int, degrees: int) -> None:
    ranges = np.array([0, 0.5, 2, 3, 4, 5, 6, 8])
    expected = stats.studentized_range.sf(ranges, means, degrees)
    # SciPy takes its p from 1, and so has ten decimals.
    assert studentised_range_p(ranges, means, degrees) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("degrees", [1, 2, 5, 49, 1000])
def test_the_range_of_two_is_students_t(degrees: int) -> None:
    ranges = np.array([0, 0.01, 0.5, 1, 3, 10, 30])
    assert studentised_range_p(ranges, 2, degrees) == pytest.approx(2 * stats.t.sf(ranges / 2**0.5, degrees), rel=1e-9)


@pytest.mark.parametrize(("means", "degrees"), [(17, 16), (50, 2401), (300, 14651)])
def test_many_values_at_once_are_those_one_by_one(means: int, degrees: int) -> None:
    ranges = np.linspace(0, 25, 500)
    together = studentised_range_p(ranges.reshape(20, 25), means, degrees)
    few = np.concatenate([studentised_range_p(some, means, degrees) for some in np.split(ranges, 10)])
    assert together.shape == (20, 25)
    assert together.ravel() == pytest.approx(few, rel=1e-6)
    # But for what one polynomial through all of them makes of values near 1.
    assert np.diff(together.ravel()).max() < 1e-7


def test_ranges_too_large_for_a_number_are_still_above_nothing() -> None:
    assert 0 < studentised_range_p(np.array([1e6]), 3, 5000)[0] < 1e-300


def test_the_model_by_hand() -> None:
    # Means of runs 2, 3, 4 and of topics 2, 4, all 3; the rest is 1 0 -1 on the first topic and the opposite on the
    # other: squares 4 over 2 degrees of freedom, so 2. The range of 4 - 2 is 2 / sqrt(2 / 2).
    test = tukey_hsd(np.array([[2, 2], [2, 4], [2, 6]], np.float64))
    assert (test.mean_square.value, test.degrees, test.means.tolist()) == (2, 2, [2, 3, 4])
    assert test.p.of(0, 2).value == pytest.approx(stats.studentized_range.sf(2, 3, 2))
    assert test.p.of(0, 1).value == test.p.of(2, 1).value == pytest.approx(stats.studentized_range.sf(1, 3, 2))
    assert test.critical_difference.value == pytest.approx(stats.studentized_range.isf(0.05, 3, 2))


def test_permuting_comes_near_all_permutations() -> None:
    scores = np.array([[0.1, 0.5, 0.2, 0.0], [0.3, 0.4, 0.6, 0.3], [0.4, 0.9, 0.5, 0.8]])
    ways = [np.array(list(permutations(topic))) for topic in scores.T]
    ranges = [np.ptp(sum(chosen)) / 4 for chosen in product(*ways)]
    apart = np.abs(np.subtract.outer(scores.mean(axis=1), scores.mean(axis=1)))
    done: list[None] = []
    test = randomised_tukey_hsd(scores, seed=1, advance=lambda: done.append(None))
    for first, second in [(0, 1), (0, 2), (1, 2)]:
        exact = np.mean(np.array(ranges) >= apart[first, second] - 1e-12)
        assert test.p.of(first, second).value == pytest.approx(exact, abs=0.012)  # four standard errors
        assert test.p.of(first, second) == test.p.of(second, first)
    assert len(done) == steps_of_permuting(scores) == 1
    assert test.permutations == 20_000


def test_permuting_agrees_with_the_model_where_the_model_holds() -> None:
    scores = scores_with(BEST, 0.0201109, 50)
    model, permuted = tukey_hsd(scores), randomised_tukey_hsd(scores, seed=1)
    assert permuted.critical_difference.value == pytest.approx(model.critical_difference.value, rel=0.03)
    assert permuted.p.values == pytest.approx(model.p.values, abs=0.02, nan_ok=True)


def test_permuting_in_pieces_advances_with_each(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(4).random((4, 5))
    monkeypatch.setattr("annotator.evaluation.significance.tukey.MOST_CELLS", 20 * 30)
    done: list[None] = []
    once = randomised_tukey_hsd(scores, seed=1, permutations=100, advance=lambda: done.append(None))
    assert len(done) == steps_of_permuting(scores, 100) == 4
    again, other = (randomised_tukey_hsd(scores, seed=seed, permutations=100) for seed in (1, 2))
    assert once.p.values.tobytes() == again.p.values.tobytes() != other.p.values.tobytes()
    assert np.nanmin(once.p.values) >= 1 / 101


@given(st.integers(0, 1000), st.integers(20, 300))
@settings(max_examples=examples(25))
def test_runs_further_apart_than_the_critical_difference_are_those_that_differ(seed: int, permutations: int) -> None:
    scores = np.random.default_rng(seed).normal(np.arange(6)[:, np.newaxis] / 3, 1, (6, 8))
    for test in (tukey_hsd(scores), randomised_tukey_hsd(scores, seed=seed, permutations=permutations)):
        apart = np.abs(test.means[:, np.newaxis] - test.means)
        assert test.critical_difference.value is not None
        assert (test.p.at_most() == (apart > test.critical_difference.value)).all()


def test_pairs_are_tested_as_they_would_be_alone_and_raised_together() -> None:
    scores = np.random.default_rng(6).normal([[0.0], [0.4], [1.0], [0.2]], 0.5, (4, 9))
    scores[3] = scores[0]
    tests = paired_tests(scores)
    pairs = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    alone = [compare_two_runs(scores[first], scores[second], seed=1).t.p.value for first, second in pairs]
    assert [tests.p.of(*pair).value for pair in pairs] == pytest.approx(alone)
    assert [tests.p.of(second, first).value for first, second in pairs] == pytest.approx(alone)
    # Runs 0 and 3 are the same: five tests and not six.
    assert [tests.holm.of(*pair).value for pair in pairs] == pytest.approx(holm(np.array(alone, float)).tolist())
    assert tests.holm.of(0, 3).reason is tests.p.of(3, 0).reason is tests.p.of(2, 2).reason is Undefined.NO_DIFFERENCE


SIZES = {Undefined.NO_RUN: (0, 3), Undefined.ONE_RUN: (1, 3), Undefined.ONE_TOPIC: (3, 1), Undefined.NO_TOPIC: (3, 0)}


@pytest.mark.parametrize(("reason", "shape"), SIZES.items())
def test_too_few_runs_or_topics_are_said(reason: Undefined, shape: tuple[int, int]) -> None:
    scores = np.random.default_rng(1).random(shape)
    model, permuted, paired = tukey_hsd(scores), randomised_tukey_hsd(scores, seed=1), paired_tests(scores)
    assert {model.critical_difference.reason, permuted.critical_difference.reason, model.mean_square.reason} == {reason}
    assert (permuted.permutations, len(permuted.means)) == (0, shape[0])
    for figures in (model.p, permuted.p, paired.p, paired.holm):
        assert figures.values.shape == (shape[0], shape[0])
        assert figures.reason is (reason if shape[0] > 1 else Undefined.ONE_RUN if shape[0] else Undefined.NO_RUN)
        assert not figures.at_most(1).any()
        assert shape[0] <= 1 or (figures.of(0, 1).value, figures.of(0, 1).reason) == (None, reason)


def test_runs_that_are_equal_or_apart_by_the_same_everywhere_are_said() -> None:
    equal = np.tile([0.1, 0.5, 0.3], (3, 1))
    for test in (tukey_hsd(equal), randomised_tukey_hsd(equal, seed=1)):
        assert test.critical_difference.reason is test.p.of(0, 1).reason is Undefined.NO_DIFFERENCE
    apart = equal + np.array([[0.0], [0.1], [0.3]])
    assert tukey_hsd(apart).p.of(0, 1).reason is Undefined.SAME_DIFFERENCE
    assert tukey_hsd(apart).mean_square.value == 0
    assert paired_tests(apart).holm.of(0, 1).reason is Undefined.SAME_DIFFERENCE
    # Permuted, few are as far apart on all three topics: on each one way in three, and either may be the better.
    assert randomised_tukey_hsd(apart, seed=1).p.of(0, 2).value == pytest.approx(6 / 6**3, abs=0.006)


def test_topics_without_a_score_of_every_run_are_left_out() -> None:
    scores = np.random.default_rng(1).random((3, 6))
    with_gap = np.concatenate([scores, [[0.1], [np.nan], [0.2]]], axis=1)
    for test in (tukey_hsd, paired_tests):
        assert (test(with_gap).topics, test(with_gap).left_out) == (6, 1)
    assert tukey_hsd(with_gap).critical_difference == tukey_hsd(scores).critical_difference


def test_too_few_permutations_are_refused() -> None:
    scores = np.array([[0.0] * 40, [1.0] * 40])
    # What was observed is one of twenty, so p is 5 % at best.
    assert randomised_tukey_hsd(scores, seed=1, permutations=19).p.of(0, 1).value == 1 / 20
    with pytest.raises(InvalidValueError, match="at least 19"):
        randomised_tukey_hsd(scores, seed=1, permutations=18)
