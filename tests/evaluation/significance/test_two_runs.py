"""Two runs on the same topics, against R's published output, sums by hand and SciPy."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]  # it ships no types

from annotator.evaluation.significance.results import Undefined
from annotator.evaluation.significance.two_runs import TwoRuns, compare_two_runs, signed_ranks, signs

# Student's own data (Biometrika 1908), R's data set `sleep`: hours of sleep gained with two drugs by ten people.
FIRST_DRUG = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SECOND_DRUG = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
SCORES = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=10)


def compared(*pairs: tuple[float, float], **choices: float) -> TwoRuns:
    """Compare two runs by their scores, topic by topic."""
    first, second = np.array(pairs, np.float64).reshape(-1, 2).T
    return compare_two_runs(first, second, seed=1, largest_tie=choices.get("largest_tie", 0.0))


def test_the_t_test_of_students_sleepers_is_r_s() -> None:
    # t.test(extra ~ group, data = sleep, paired = TRUE): t = -4.0621, df = 9, p-value = 0.002833, 0.7001142 2.4598858.
    test = compare_two_runs(FIRST_DRUG, SECOND_DRUG, seed=1).t
    assert test.difference.value == pytest.approx(1.58)
    assert test.statistic.value == pytest.approx(4.0621, abs=5e-5)
    assert test.p.value == pytest.approx(0.002833, abs=5e-7)
    assert test.interval.bounds == pytest.approx((0.7001142, 2.4598858), abs=5e-8)


def test_wilcoxons_test_of_students_sleepers_is_r_s() -> None:
    # wilcox.test of the same: V = 0 of first less second, p-value = 0.009091, with a zero and ties.
    test = compare_two_runs(SECOND_DRUG, FIRST_DRUG, seed=1).signed_ranks
    assert (test.statistic.value, test.topics) == (0, 9)
    assert test.p.value == pytest.approx(0.009091, abs=5e-7)


def test_wilcoxons_test_of_scores_with_many_ties_is_r_s() -> None:
    # R's output in R-help, 25 August 2006: V = 13, p-value = 0.1436.
    first = np.array([9, 14, 8, 11, 14, 10, 8, 14, 12, 14, 13, 9, 15, 12, 9], np.float64)
    second = np.array([13, 15, 9, 12, 16, 10, 8, 13, 12, 16, 9, 10, 16, 12, 9], np.float64)
    test = signed_ranks(first - second)
    assert test.statistic.value == 13
    assert test.p.value == pytest.approx(0.1436, abs=5e-5)


# Average precision of two runs of TREC-8 (Urbano, Lima and Hanjalic, SIGIR 2019), by what is known of it in sum.
MEAN, DEVIATION, TOPICS = 0.053008, 0.110006, 50


def test_published_runs_of_trec_8_differ_by_the_t_test() -> None:
    # Any differences of this mean and standard deviation will do: half of them above, half below by the same.
    half = DEVIATION * ((TOPICS - 1) / TOPICS) ** 0.5
    differences = MEAN + np.repeat([half, -half], TOPICS // 2)
    test = compare_two_runs(np.zeros(TOPICS), differences, seed=1).t
    assert test.deviation.value == pytest.approx(DEVIATION)
    # To as many digits as the mean and the deviation, rounded, allow.
    assert test.statistic.value == pytest.approx(3.407297, abs=2e-5)
    assert test.p.value == pytest.approx(0.0013193972, abs=1e-7)
    assert test.interval.bounds == pytest.approx((0.021745, 0.084271), abs=1e-6)
    assert test.effect_size.value == pytest.approx(0.481865, abs=2e-6)


def test_published_runs_of_trec_8_differ_by_wilcoxons_test() -> None:
    # The ranks on which the second is better, none tied, add up to 941, and the others to 1275 - 941 = 334. So do 1 to
    # 13, which are 91, and 50 + 48 + 47 + 46 + 35 + 17 = 243.
    ranks = np.arange(1, TOPICS + 1)
    negative = (ranks < 14) | np.isin(ranks, [50, 48, 47, 46, 35, 17])
    test = signed_ranks(np.where(negative, -ranks, ranks).astype(np.float64))
    assert test.statistic.value == 941
    assert test.p.value == pytest.approx(0.003445188, abs=5e-10)


def test_published_runs_of_trec_8_differ_by_the_sign_test() -> None:
    # One is better on 31 topics, the other on 13, and six differences of at most 0.01 are ties.
    test = signs(np.repeat([0.5, -0.5, 0.01, -0.005], [31, 13, 3, 3]), largest_tie=0.01)
    assert (test.better, test.worse, test.tied) == (31, 13, 6)
    assert test.p.value == pytest.approx(0.009559879, abs=5e-10)


def test_few_topics_have_all_their_signs_flipped() -> None:
    # 1 + 2 - 4: of ±1 ± 2 ± 4 the sums 7, 5, 3, 1 with either sign; all are at least as far as 1. Of 1 + 2 + 4 two.
    assert compared((0, 1), (0, 2), (4, 0)).randomisation.p.value == 1
    test = compared((0, 1), (0, 2), (0, 4)).randomisation
    assert (test.p.value, test.flips, test.is_exact) == (2 / 8, 8, True)


def test_equal_topics_take_no_part_in_the_flips() -> None:
    assert compared((0, 1), (3, 3), (0, 2), (0, 4)).randomisation.flips == 8


@given(SCORES)
def test_exact_flips_are_all_flips(pairs: list[tuple[int, int]]) -> None:
    test = compared(*pairs)
    differences = [second - first for first, second in pairs]
    if not any(differences):
        assert test.randomisation.p.reason is Undefined.NO_DIFFERENCE
        return
    sums = [sum(sign * one for sign, one in zip(flip, differences, strict=True)) for flip in _flips(len(differences))]
    as_far = sum(abs(one) >= abs(sum(differences)) for one in sums)
    assert test.randomisation.p.value == pytest.approx(as_far / len(sums))
    assert test.randomisation.is_exact


def _flips(topics: int) -> list[tuple[int, ...]]:
    return list(product((1, -1), repeat=topics))


def test_flips_are_drawn_where_there_are_too_many() -> None:
    differences = np.random.default_rng(3).normal(0.1, 0.3, 12)
    exact = compare_two_runs(np.zeros(12), differences, seed=1).randomisation
    drawn = compare_two_runs(np.zeros(12), differences, seed=1, flips=4095).randomisation
    assert (exact.is_exact, exact.flips, drawn.is_exact, drawn.flips) == (True, 4096, False, 4095)
    assert exact.p.value is not None
    assert drawn.p.value == pytest.approx(exact.p.value, abs=0.03)
    # What was observed counts among the flips, so p is a multiple of one in 4,096 and never 0.
    assert (drawn.p.value or 0.5) * 4096 % 1 == 0
    far = compare_two_runs(np.zeros(40), np.ones(40) + np.arange(40) / 100, seed=1, flips=1000).randomisation
    assert far.p.value == 1 / 1001


def test_the_same_seed_draws_the_same_flips() -> None:
    first, second = np.random.default_rng(5).normal(0, 1, (2, 30))
    once, again, other = (compare_two_runs(first, second, seed=seed, flips=999) for seed in (1, 1, 2))
    assert once == again
    assert once.randomisation.p != other.randomisation.p
    assert once.randomisation.p.value == pytest.approx(once.t.p.value, abs=0.05)


@given(SCORES)
def test_whichever_run_comes_first_p_is_the_same(pairs: list[tuple[int, int]]) -> None:
    one, other = compared(*pairs), compared(*((second, first) for first, second in pairs))
    assert one.t.p.value == pytest.approx(other.t.p.value)
    assert one.signed_ranks.p.value == pytest.approx(other.signed_ranks.p.value)
    assert (one.signs.p, one.signs.better) == (other.signs.p, other.signs.worse)
    assert one.t.difference.value == pytest.approx(-(other.t.difference.value or 0))


@given(SCORES)
def test_scipy_says_the_same(pairs: list[tuple[int, int]]) -> None:
    test = compared(*pairs)
    differences = np.array([second - first for first, second in pairs], np.float64)
    if np.ptp(differences):
        by_t = stats.ttest_1samp(differences, 0)
        assert test.t.p.value == pytest.approx(by_t.pvalue)
        assert test.t.interval.bounds == pytest.approx(tuple(by_t.confidence_interval()))
    if differences.any():
        by_sign = stats.binomtest(int((differences > 0).sum()), int((differences != 0).sum()))
        assert test.signs.p.value == pytest.approx(by_sign.pvalue)
        by_rank = stats.wilcoxon(differences, correction=True, method="asymptotic", zero_method="wilcox")
        assert test.signed_ranks.p.value == pytest.approx(min(by_rank.pvalue, 1))


def test_runs_without_a_difference_have_no_test() -> None:
    # The second differs by rounding alone.
    test = compare_two_runs(np.array([0.3, 0.5, 0.7]), np.array([0.1 + 0.2, 0.5, 0.7]), seed=1)
    assert (test.t.difference.value, test.t.deviation.value) == (0, 0)
    figures = [test.t.statistic, test.t.p, test.t.effect_size, test.randomisation.p, test.signed_ranks.p, test.signs.p]
    assert {figure.reason for figure in figures} == {Undefined.NO_DIFFERENCE}
    assert {figure.value for figure in figures} == {None}
    assert (test.t.interval.bounds, test.t.interval.reason) == (None, Undefined.NO_DIFFERENCE)
    assert str(Undefined.NO_DIFFERENCE.sentence).startswith("Not defined: no difference.")


def test_a_difference_that_is_the_same_everywhere_can_be_flipped_only() -> None:
    test = compared((0.1, 0.2), (0.4, 0.5), (0.6, 0.7))
    assert test.t.difference.value == pytest.approx(0.1)
    assert (test.t.deviation.value, test.t.p.value, test.t.p.reason) == (0, None, Undefined.SAME_DIFFERENCE)
    assert test.randomisation.p.value == 2 / 8


def test_one_topic_tells_nothing() -> None:
    test = compared((0.1, 0.4))
    assert (test.topics, test.first_mean.value) == (1, 0.1)
    assert test.t.difference.value == pytest.approx(0.3)
    figures = [test.t.deviation, test.t.p, test.randomisation.p, test.signed_ranks.statistic, test.signs.p]
    assert {figure.reason for figure in figures} == {Undefined.ONE_TOPIC}


def test_topics_without_a_score_are_left_out() -> None:
    test = compared((0.1, 0.4), (np.nan, 0.2), (0.3, np.nan), (0.3, 0.5))
    assert (test.topics, test.left_out, test.first_mean.value, test.second_mean.value) == (2, 2, 0.2, 0.45)
    nothing = compared((np.nan, 0.2), (0.3, np.nan))
    figures = [nothing.first_mean, nothing.t.difference, nothing.t.p, nothing.randomisation.p, nothing.signs.p]
    assert {figure.reason for figure in figures} == {Undefined.NO_TOPIC}


def test_differences_that_are_all_ties_have_no_sign_test() -> None:
    test = compared((0.1, 0.105), (0.2, 0.2), largest_tie=0.01)
    assert (test.signs.tied, test.signs.p.reason) == (2, Undefined.ALL_TIED)
