"""Which run is preferred: Δ and its tests by hand, and over users that are made at random."""

import json
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interleaved_logs import click, clicked_by_users, log_of

from annotator.clicks.evaluation.interleaving.interleaving import Method, interleave
from annotator.clicks.evaluation.interleaving.interleaving_clicks import (
    CreditedLists,
    credited_by_lists,
    credited_by_variant,
)
from annotator.clicks.evaluation.interleaving.interleaving_scores import (
    InterleavingResult,
    ListTest,
    NotTested,
    PairScore,
    from_json,
    score_interleaving,
    score_pair,
    to_json,
)


def score_of(outcomes: list[int], units: list[int] | None = None, seed: int | None = None) -> PairScore:
    unit = np.arange(len(outcomes)) if units is None else np.array(units, np.int64)
    return score_pair("A", "B", np.array(outcomes, np.int64), unit, seed)


def test_delta_is_that_of_chapelle_and_p_that_of_the_binomial() -> None:
    # (60 + 30/2) / 130 - 1/2 = .076923; exact two-sided binomial of 60 in 100: .056888.
    score = score_of([1] * 60 + [-1] * 40 + [0] * 30)
    assert (score.wins_first, score.wins_second, score.ties) == (60, 40, 30)
    assert score.delta == pytest.approx(75 / 130 - 0.5, abs=1e-15)
    assert score.delta == pytest.approx(0.076923, abs=5e-7)
    assert score.p == pytest.approx(0.056888, abs=5e-7)


def test_the_interval_of_users_with_one_list_each_is_that_of_a_mean() -> None:
    # Of 130 values, 100 are 1/2 or -1/2: squares add up to 25. Variance (25 - 130 * .076923**2) / 129 = .187835, over
    # 130 .00144489; the root .0380117 times 1.978524 (t, 129 degrees of freedom) is .0752070.
    score = score_of([1] * 60 + [-1] * 40 + [0] * 30)
    assert score.low == pytest.approx(0.076923 - 0.0752070, abs=1e-6)
    assert score.high == pytest.approx(0.076923 + 0.0752070, abs=1e-6)


def test_users_with_several_lists_are_the_units_of_a_t_test() -> None:
    # Jo wins twice and loses once, Kim ties twice, Lee wins all of four, Max wins once: Δ of 1/6, 0, 1/2, 1/2 with the
    # mean .291667, the deviation .25 and its error .125: t = 2.333333 of 3 degrees of freedom, p = .101838.
    score = score_of([1, 1, -1, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 2, 2, 2, 2, 3])
    assert score.test is ListTest.T_OVER_USERS
    assert score.delta == pytest.approx((7 + 2 / 2) / 10 - 1 / 2)
    assert score.user_delta == pytest.approx(0.291667, abs=1e-6)
    assert score.p == pytest.approx(0.101838, abs=1e-6)
    assert (score.low, score.high) == pytest.approx((0.291667 - 3.182446 * 0.125, 0.5), abs=1e-6)


def test_one_list_per_user_is_tested_by_the_exact_binomial() -> None:
    assert score_of([1, -1, 1], [0, 1, 2]).test is ListTest.BINOMIAL
    assert score_of([1] * 9, list(range(9))).is_significant


def test_nothing_is_significant_where_users_are_unknown() -> None:
    outcomes = np.array([1] * 60 + [-1] * 10)
    for units, test in ((70, ListTest.BINOMIAL_OF_SESSIONS), (35, ListTest.T_OVER_SESSIONS)):
        unit = np.arange(70) % units
        known, unknown = (score_pair("A", "B", outcomes, unit, has_users=has_users) for has_users in (True, False))
        assert (known.is_significant, unknown.is_significant) == (True, False)
        assert (unknown.test, unknown.p) == (test, known.p)
    # A list of a session whose user is not named makes them unknown.
    log = log_of([click("jo", "a", "A"), click(None, "b", "B", session="s")])
    assert not score_interleaving(log, credited_by_variant(log)).has_users


def experiments(users: int, lists: int, taste: float, preference: float = 0.0, count: int = 400) -> list[PairScore]:
    """Experiments in which the log-odds of the first run are normal over users; numbers of lists differ by user."""
    chance = np.random.default_rng([users, lists, int(10 * taste)])
    found = []
    for _ in range(count):
        each = chance.integers(1, 2 * lists, users)
        wins = 1 / (1 + np.exp(-chance.normal(preference, taste, users)))
        unit = np.repeat(np.arange(users), each)
        drawn = np.where(chance.random(unit.size) < wins[unit], 1, -1) * (chance.random(unit.size) < 0.7)
        found.append(score_pair("A", "B", drawn, unit))
    return found


def share_below_5_percent(found: list[PairScore]) -> float:
    return float(np.mean([one.p is not None and one.p < 0.05 for one in found]))


@pytest.mark.parametrize(("users", "lists", "taste"), [(100, 20, 0.5), (100, 20, 1.5), (6, 20, 1.5), (30, 3, 1.0)])
def test_of_experiments_without_a_preference_about_5_in_100_are_significant(
    users: int, lists: int, taste: float
) -> None:
    # Binomial of 400 and 1/20: from 2.5 % to 8 % but for one in 100. Lists taken for independent have 7 to 40 %.
    found = experiments(users, lists, taste)
    assert {one.test for one in found} == {ListTest.T_OVER_USERS}
    assert 0.025 <= share_below_5_percent(found) <= 0.08


@pytest.mark.parametrize(("taste", "power"), [(0.5, 0.8), (1.5, 0.3)])
def test_a_preference_of_most_users_is_found(taste: float, power: float) -> None:
    assert share_below_5_percent(experiments(100, 20, taste, preference=0.3, count=200)) >= power


def test_a_result_that_an_earlier_version_kept_is_not_tested_by_user() -> None:
    kept = to_json(scored(("jo", "x", "A"), ("kim", "x", "A"), ("lee", "y", "B")))
    for pair in kept["pairs"]:
        del pair["test"], pair["user_delta"]
    [pair] = from_json(json.loads(json.dumps(kept))).pairs
    assert (pair.wins_first, pair.p, pair.is_significant) == (2, None, False)
    assert pair.no_p is pair.no_interval is NotTested.KEPT_EARLIER


@pytest.mark.parametrize(
    ("outcomes", "units", "no_interval", "no_p"),
    [
        ([], [], NotTested.NO_LIST, NotTested.NO_LIST),
        ([0, 0], [0, 1], NotTested.NO_SPREAD, NotTested.ALL_TIED),
        ([1, -1, 1], [0, 0, 0], NotTested.ONE_UNIT, NotTested.ONE_UNIT),
        ([1, 1, 1, 1], [0, 0, 1, 1], NotTested.NO_SPREAD, NotTested.NO_SPREAD),
        ([1, 1], [0, 1], NotTested.NO_SPREAD, None),
    ],
)
def test_what_is_not_available_has_its_reason(
    outcomes: list[int], units: list[int], no_interval: NotTested, no_p: NotTested | None
) -> None:
    score = score_of(outcomes, units, seed=1)
    assert (score.low, score.high, score.bootstrap) == (None, None, None)
    assert (score.no_interval, score.no_p) == (no_interval, no_p)
    assert (score.delta is None) is (not outcomes)
    assert (score.p is None) is (no_p is not None)


outcome_lists = st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 5)), min_size=1, max_size=30)


def compact(units: list[int]) -> list[int]:
    return [sorted(set(units)).index(unit) for unit in units]


@given(outcome_lists)
def test_two_runs_the_other_way_round_have_the_same_numbers_with_the_other_sign(pairs: list[tuple[int, int]]) -> None:
    outcomes, units = [one for one, _ in pairs], np.array(compact([unit for _, unit in pairs]))
    score = score_pair("A", "B", np.array(outcomes), units, 1)
    turned = score_pair("B", "A", -np.array(outcomes), units, 1)
    assert score.delta is not None
    assert (turned.wins_first, turned.wins_second, turned.delta) == (score.wins_second, score.wins_first, -score.delta)
    assert turned.p == score.p
    if score.low is not None and score.bootstrap is not None and turned.bootstrap is not None:
        assert turned.high == pytest.approx(-score.low, abs=1e-12)
        assert turned.bootstrap.high == pytest.approx(-score.bootstrap.low, abs=1e-12)
        assert turned.bootstrap.p == score.bootstrap.p


@given(outcome_lists, st.randoms(use_true_random=False))
def test_the_order_of_lists_and_of_users_changes_nothing(pairs: list[tuple[int, int]], random: Random) -> None:
    other = list(pairs)
    random.shuffle(other)
    renamed = {unit: (unit * 5 + 2) % 7 for unit in range(6)}
    score, shuffled = (
        score_of([one for one, _ in some], compact([name[unit] for _, unit in some]), seed=3)
        for some, name in ((pairs, dict(zip(range(6), range(6), strict=True))), (other, renamed))
    )
    assert shuffled.low == (None if score.low is None else pytest.approx(score.low, abs=1e-12))
    assert replace(shuffled, low=score.low, high=score.high) == score


def test_the_bootstrap_of_users_with_one_list_each_is_near_the_delta_method() -> None:
    score = score_of([1] * 600 + [-1] * 400 + [0] * 300, seed=1)
    assert score.bootstrap is not None
    assert score.bootstrap.low == pytest.approx(score.low, abs=0.002)
    assert score.bootstrap.high == pytest.approx(score.high, abs=0.002)
    assert score.bootstrap.p < 0.001


def test_users_with_many_lists_widen_the_interval_as_they_should() -> None:
    # Ten users with a hundred equal lists each know no more than ten.
    many = score_of([1] * 600 + [-1] * 400, [place // 100 for place in range(1000)], seed=1)
    few = score_of([1] * 6 + [-1] * 4, seed=1)
    assert many.delta == few.delta
    assert many.low == pytest.approx(few.low)
    assert many.bootstrap == few.bootstrap


def scored(*clicks: tuple[str, str, str], seed: int | None = None) -> InterleavingResult:
    """Score (user, query, variant) clicks, each on a document of its own."""
    log = log_of([click(user, f"d{place}", run, query) for place, (user, query, run) in enumerate(clicks)])
    return score_interleaving(log, credited_by_variant(log), seed=seed)


def test_of_three_runs_every_two_are_compared_and_p_is_corrected_for_three() -> None:
    result = scored(*[(f"u{place}", "q", "A") for place in range(8)], ("v", "q", "B"), ("v", "q", "C"))
    assert [(one.first, one.second) for one in result.pairs] == [("A", "B"), ("A", "C"), ("B", "C")]
    a_b, a_c, b_c = result.pairs
    # A wins 8 and loses 1 against either: p = 2 (1 + 9) / 512. B and C have one click each of one user, else nothing.
    assert (a_b.wins_first, a_b.wins_second, a_b.ties) == (8, 1, 0)
    assert (b_c.wins_first, b_c.wins_second, b_c.ties) == (0, 0, 9)
    assert [a_b.p, a_c.p] == pytest.approx([20 / 512] * 2)
    # Two tests there are: the third has no p and does not count.
    assert b_c.p is None
    assert [a_b.p_holm, a_c.p_holm] == pytest.approx([40 / 512] * 2)


def test_queries_are_scored_each_by_itself_those_with_the_most_lists_first() -> None:
    result = scored(("jo", "x", "A"), ("kim", "x", "A"), ("jo", "q10", "B"), ("jo", "q9", "A"), ("lee", "x", "B"))
    assert [(one.query, one.wins_first, one.wins_second, one.ties) for one in result.queries] == [
        ("x", 2, 1, 0),
        ("q9", 1, 0, 0),
        ("q10", 0, 1, 0),
    ]
    assert result.queries[0].delta == pytest.approx(2 / 3 - 1 / 2)
    assert (result.queries_in_all, result.lists, result.units, result.has_users) == (3, 5, 3, True)
    assert result.clicks == (3, 2)


@pytest.mark.parametrize("seed", [None, 4])
def test_a_result_goes_through_json_and_back(seed: int | None) -> None:
    result = scored(("jo", "x", "A"), ("jo", "x", "A"), ("kim", "x", "B"), ("lee", "y", "C"), seed=seed)
    assert from_json(json.loads(json.dumps(to_json(result), allow_nan=False))) == result
    nothing = score_interleaving(log_of([]), replace(without_credit(), method=Method.BALANCED))
    assert from_json(json.loads(json.dumps(to_json(nothing), allow_nan=False))) == nothing
    assert nothing.pairs[0].no_p is NotTested.NO_LIST


def without_credit() -> CreditedLists:
    log = log_of([click("jo", "a", "A"), click("jo", "b", "B")])
    found = credited_by_variant(log)
    return replace(found, credit=found.credit[:0], query=found.query[:0], unit=found.unit[:0], rows=found.rows[:0])


USERS = 10_000
# With what chance users click a document, whoever picked it.
CHANCES = {"a": 0.5, "b": 0.3, "c": 0.2, "d": 0.1, "e": 0.05}
WAYS = [(Method.TEAM_DRAFT, True), (Method.TEAM_DRAFT, False), (Method.BALANCED, True)]


def simulated(
    *rankings: str, method: Method = Method.TEAM_DRAFT, by_list: bool = True, users: int = USERS, seed: int = 1
) -> InterleavingResult:
    """Interleave rankings of one topic, show each user one of 100 lists, and score the clicks."""
    runs = {f"R{place}": {"1": ranking} for place, ranking in enumerate(rankings)}
    lists = interleave(runs, method, depth=5, lists=100, seed=seed)
    log = log_of(clicked_by_users(lists, CHANCES, users, seed, by_list=by_list))
    credited = credited_by_lists(log, lists) if by_list else credited_by_variant(log)
    return score_interleaving(log, credited, seed=seed)


@pytest.mark.parametrize(("method", "by_list"), WAYS)
def test_of_runs_that_are_the_same_10_000_users_prefer_neither(method: Method, *, by_list: bool) -> None:
    result = simulated("abcdefgh", "abcdefgh", method=method, by_list=by_list)
    [pair] = result.pairs
    assert result.shown == USERS
    assert pair.delta == pytest.approx(0, abs=0.02)
    if method is Method.BALANCED:
        # Each click is for both alike.
        assert (pair.wins_first, pair.wins_second, pair.no_p) == (0, 0, NotTested.ALL_TIED)
        return
    assert pair.low is not None
    assert pair.high is not None
    assert pair.bootstrap is not None
    assert pair.low < 0 < pair.high
    assert pair.bootstrap.low < 0 < pair.bootstrap.high
    assert pair.p is not None
    assert pair.p > 0.05


@pytest.mark.parametrize(("method", "by_list"), WAYS)
def test_a_planted_preference_is_found(method: Method, *, by_list: bool) -> None:
    # The second run has what users want on top, the first has it further down.
    [pair] = simulated("edcbafgh", "abcdefgh", method=method, by_list=by_list, users=500).pairs
    assert pair.high is not None
    assert pair.bootstrap is not None
    assert pair.p is not None
    assert pair.high < 0
    assert pair.bootstrap.high < 0
    assert max(pair.p, pair.bootstrap.p) < 0.001


def test_of_three_runs_the_one_that_is_better_is_found_and_the_two_that_are_the_same_are_not_told_apart() -> None:
    first, second, third = simulated("edcbafgh", "edcbafgh", "abcdefgh", by_list=False).pairs
    assert first.low is not None
    assert first.high is not None
    assert first.low < 0 < first.high
    for pair in (second, third):
        assert (pair.first, pair.second) in {("R0", "R2"), ("R1", "R2")}
        assert pair.high is not None
        assert pair.high < 0
        assert pair.p_holm is not None
        assert pair.p_holm < 1e-6


def test_of_a_hundred_experiments_without_a_preference_about_five_intervals_miss_0() -> None:
    results = [simulated("abcdefgh", "abcdefgh", users=200, seed=seed).pairs[0] for seed in range(100)]
    missed = sum(not pair.low < 0 < pair.high for pair in results if pair.low is not None and pair.high is not None)
    # Binomial of 100 and 1/20: from 0 to 12 but for one in 500.
    assert missed <= 12
