"""Means with intervals, letters and stars, shares of variance and topics needed, by hand and by known values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]  # it ships no types

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.figures import Figure, SentenceEnum
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.comparisons import Letters, letter, letters, stars
from annotator.evaluation.significance.means import IntervalMethod, run_means
from annotator.evaluation.significance.results import PairFigures, Undefined
from annotator.evaluation.significance.tukey import tukey_hsd
from annotator.evaluation.significance.variance import (
    deviation_of_differences,
    power_of_paired_t,
    topics_needed,
    topics_to_tell_apart,
    variance_shares,
)

BOOTSTRAP = IntervalMethod.BOOTSTRAP


def test_a_mean_has_its_interval_by_t() -> None:
    # 1, 2, 3: mean 2, standard error 1 / sqrt(3), the 97.5 % point of two degrees of freedom 4.302653.
    [mean] = run_means(np.array([[1.0, 2.0, 3.0]]))
    assert (mean.mean.value, mean.topics) == (2, 3)
    assert mean.interval.bounds == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5))


def test_a_mean_has_its_interval_by_drawing_topics() -> None:
    # Of two topics 0 and 1, a quarter of the draws have the first twice and a quarter the second.
    [two] = run_means(np.array([[0.0, 1.0]]), BOOTSTRAP, seed=1)
    assert two.interval.bounds == pytest.approx((0, 1))
    # Of twenty, half of them 1, draws are binomial: P(at most 5 of 20) = 0.0207, P(at most 6) = 0.0577.
    [twenty] = run_means(np.repeat([[0.0, 1.0]], 10, axis=1), BOOTSTRAP, seed=1)
    assert twenty.interval.bounds == pytest.approx((0.3, 0.7))
    scores = np.random.default_rng(1).beta(1, 3, (1, 60))
    [own] = run_means(scores, BOOTSTRAP, seed=1)
    by_scipy = stats.bootstrap(scores, np.mean, method="percentile", rng=2)
    assert own.interval.bounds == pytest.approx(tuple(by_scipy.confidence_interval), abs=0.003)


def test_draws_depend_on_the_seed_and_not_on_the_other_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(3).random((4, 25))
    scores[2, 5] = np.nan
    once, other = (run_means(scores, BOOTSTRAP, seed=seed, draws=200) for seed in (1, 2))
    assert once != other
    monkeypatch.setattr("annotator.evaluation.significance.means.MOST_CELLS", 25 * 30)
    assert run_means(scores, BOOTSTRAP, seed=1, draws=200) == once
    for run, mean in zip(scores, once, strict=True):
        [alone] = run_means(run[np.newaxis], BOOTSTRAP, seed=1, draws=200)
        assert alone.interval.bounds == pytest.approx(mean.interval.bounds)


@pytest.mark.parametrize("method", IntervalMethod)
def test_what_has_no_mean_or_no_interval_says_why(method: IntervalMethod) -> None:
    scores = np.array([[0.5, np.nan, np.nan], [np.nan] * 3, [0.2, 0.2, 0.2], [0.1, 0.2, 0.3]])
    one, none, equal, usual = run_means(scores, method)
    assert (one.mean.value, one.topics, one.interval.reason) == (0.5, 1, Undefined.ONE_TOPIC)
    assert (none.mean, none.topics) == (Figure(None, Undefined.NO_TOPIC), 0)
    assert equal.mean.value == pytest.approx(0.2)
    assert (equal.interval.bounds, equal.interval.reason) == (None, Undefined.NO_SPREAD)
    assert usual.interval.bounds is not None
    assert run_means(np.empty((0, 3)), method) == ()
    assert {mean.mean.reason for mean in run_means(np.empty((2, 0)), method)} == {Undefined.NO_TOPIC}


def p_of(differing: NDArray[np.bool_]) -> PairFigures:
    """Give p values that are small where runs differ."""
    return PairFigures.of_matrix(np.where(differing, 0.01, 0.9))


def test_runs_that_share_a_letter_do_not_differ() -> None:
    # By means 0.4, 0.3, 0.2, 0.1; only those 0.2 or more apart differ: ab bc cd, in another order.
    means = np.array([0.2, 0.4, 0.1, 0.3])
    found = letters(means, p_of(np.abs(np.subtract.outer(means, means)) > 0.15))
    assert found.of_runs == ("bc", "a", "c", "ab")
    assert found.groups == ((1, 3), (3, 0), (0, 2))


def test_runs_all_alike_or_all_apart_have_the_plainest_letters() -> None:
    means = np.array([0.3, 0.1, 0.2])
    assert letters(means, p_of(np.zeros((3, 3), bool))).of_runs == ("a", "a", "a")
    assert letters(means, p_of(~np.eye(3, dtype=bool))).of_runs == ("a", "c", "b")
    assert [letter(number) for number in (0, 25, 26, 52)] == ["a", "z", "a1", "a2"]


@given(st.integers(2, 9), st.integers(0, 10_000), st.floats(0, 1))
def test_groups_are_as_large_as_they_can_be_and_no_larger(runs: int, seed: int, share: float) -> None:
    chance = np.random.default_rng(seed)
    differing = np.triu(chance.random((runs, runs)) < share, 1)
    differing |= differing.T
    groups = [set(group) for group in letters(chance.random(runs), p_of(differing)).groups]
    for first in range(runs):
        for second in range(runs):
            assert any({first, second} <= group for group in groups) != differing[first, second]
    for group in groups:
        assert all(any(differing[run, member] for member in group) for run in set(range(runs)) - group)


def test_letters_that_would_say_nothing_are_not_given() -> None:
    # Twenty runs in ten pairs that differ: a group has one of each pair, and there are 2^10 ways.
    differing = np.kron(np.eye(10, dtype=bool), np.array([[False, True], [True, False]]))
    found = letters(np.arange(20.0), p_of(differing))
    assert (found.reason, found.groups, found.of_runs) == (Undefined.TOO_MANY_GROUPS, (), ("",) * 20)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (np.empty((0, 4)), Undefined.NO_RUN),
        (np.ones((1, 4)), Undefined.ONE_RUN),
        (np.array([[0.1], [0.9]]), Undefined.ONE_TOPIC),
        (np.ones((3, 4)), Undefined.NO_DIFFERENCE),
    ],
)
def test_runs_that_were_not_tested_have_no_letters(scores: Values, reason: Undefined) -> None:
    test = tukey_hsd(scores)
    assert letters(test.means, test.p) == Letters((), ("",) * len(scores), reason)


@pytest.mark.parametrize(
    ("p", "mark"), [(0.0005, "***"), (0.001, "***"), (0.01, "**"), (0.03, "*"), (0.05, "*"), (0.051, ""), (None, "")]
)
def test_stars_are_for_small_p(p: float | None, mark: str) -> None:
    assert stars(Figure(p, None if p is not None else Undefined.ONE_TOPIC)) == mark


def test_variance_is_shared_out_by_hand() -> None:
    # Means of runs 1, 3, of topics 0, 2, 4, all 2; the rest is 1 -1 0 / -1 1 0. Mean squares: runs 3 * (1 + 1) / 1 = 6,
    # topics 2 * (4 + 0 + 4) / 2 = 8, the rest 4 / 2 = 2. Topics (8 - 2) / 2 = 3, runs (6 - 2) / 3 = 4/3, the rest 2.
    shares = variance_shares(np.array([[0.0, 0.0, 3.0], [0.0, 4.0, 5.0]]))
    parts = (shares.of_topics, shares.of_runs, shares.of_interaction)
    assert [part.variance for part in parts] == pytest.approx([3, 4 / 3, 2])
    assert [part.share for part in parts] == pytest.approx([9 / 19, 4 / 19, 6 / 19])
    assert {part.reason for part in parts} == {None}


def test_an_estimate_below_nothing_counts_as_nothing_and_says_so() -> None:
    # Runs are equal in the mean: (0 - mean square of the rest) / topics; topics 0.5, 0.5 likewise.
    shares = variance_shares(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert (shares.of_runs.variance, shares.of_runs.share, shares.of_runs.reason) == (0, 0, Undefined.NEGATIVE_ESTIMATE)
    assert shares.of_runs.estimate == pytest.approx(-0.5)
    assert (shares.of_interaction.share, shares.of_interaction.reason) == (1, None)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (np.full((3, 4), 0.1), Undefined.ALL_EQUAL),
        (np.ones((1, 4)), Undefined.ONE_RUN),
        (np.ones((3, 1)), Undefined.ONE_TOPIC),
        (np.full((3, 4), np.nan), Undefined.NO_TOPIC),
    ],
)
def test_variance_that_cannot_be_shared_out_says_why(scores: Values, reason: Undefined) -> None:
    shares = variance_shares(scores)
    assert {part.reason for part in (shares.of_topics, shares.of_runs, shares.of_interaction)} == {reason}
    assert shares.of_topics.share is None
    assert deviation_of_differences(scores).reason is (None if reason is Undefined.ALL_EQUAL else reason)


def test_differences_of_all_pairs_spread_as_the_rest_does() -> None:
    scores = np.random.default_rng(7).random((5, 12))
    pairs = [np.var(scores[one] - scores[other], ddof=1) for one in range(5) for other in range(one)]
    assert deviation_of_differences(scores).value == pytest.approx(np.mean(pairs) ** 0.5)


# Paired, two-sided, 5 %, power 0.8: small, medium and large effects of Cohen (1988), as G*Power 3.1 gives them.
@pytest.mark.parametrize(("effect", "topics"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_topics_needed_are_those_of_the_tables(effect: float, topics: int) -> None:
    needed = topics_needed(effect * 0.3, 0.3)
    assert (needed.topics, needed.reason) == (topics, None)
    assert power_of_paired_t(effect, topics - 1) < 0.8 <= power_of_paired_t(effect, topics)


@given(st.floats(0.003, 1e6), st.floats(0.05, 0.99), st.floats(0.001, 0.2))
def test_one_topic_less_would_not_do(effect: float, power: float, alpha: float) -> None:
    needed = topics_needed(effect, 1, power=power, alpha=alpha).topics
    if needed is None:
        return
    assert power_of_paired_t(effect, needed, alpha) >= power
    assert needed == 2 or power_of_paired_t(effect, needed - 1, alpha) < power


def test_power_is_how_often_the_test_finds_it() -> None:
    differences = np.random.default_rng(1).normal(0.6, 1, (20_000, 20))
    found = np.mean(stats.ttest_1samp(differences, 0, axis=1).pvalue <= 0.05)
    assert power_of_paired_t(0.6, 20) == pytest.approx(found, abs=0.012)  # four standard errors


def test_two_runs_say_how_many_topics_would_tell_them_apart() -> None:
    # Differences 0, 0.1, 0.2, 0.3: mean 0.15, standard deviation 0.1291, an effect of 1.16: 8 topics. For 0.05: 55.
    first, second = np.array([0.5, 0.4, 0.3, 0.2]), np.full(4, 0.5)
    observed, wished = topics_to_tell_apart(first, second), topics_to_tell_apart(second, first, 0.05)
    assert observed.difference == pytest.approx(0.15)
    assert observed.deviation == pytest.approx((0.05 / 3) ** 0.5)
    assert observed == topics_needed(observed.difference or 0, observed.deviation or 0)
    assert (observed.topics, wished.topics) == (8, 55)


def test_runs_that_no_number_of_topics_tells_apart_say_why() -> None:
    def reason(first: list[float], second: list[float]) -> tuple[int | None, SentenceEnum | None]:
        needed = topics_to_tell_apart(np.array(first), np.array(second))
        return needed.topics, needed.reason

    assert reason([0.1, 0.3], [0.3, 0.1]) == (None, Undefined.SAME_MEAN)
    assert reason([0.1, 0.3], [0.1, 0.3]) == (None, Undefined.NO_DIFFERENCE)
    assert reason([0.1, 0.3], [0.2, 0.4]) == (None, Undefined.SAME_DIFFERENCE)
    assert reason([0.1], [0.2]) == (None, Undefined.ONE_TOPIC)
    assert reason([], []) == (None, Undefined.NO_TOPIC)
    assert topics_needed(0.001, 1).reason is Undefined.TOO_MANY_TOPICS


@pytest.mark.parametrize(
    ("difference", "deviation", "power"), [(0, 0.1, 0.8), (0.1, 0, 0.8), (0.1, float("nan"), 0.8), (0.1, 0.1, 1)]
)
def test_what_cannot_be_asked_for_is_refused(difference: float, deviation: float, power: float) -> None:
    with pytest.raises(InvalidValueError):
        topics_needed(difference, deviation, power=power)
