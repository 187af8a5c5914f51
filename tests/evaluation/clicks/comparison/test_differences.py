"""Two variants by a measure: against sums by hand, published formulas, and what must hold of any log."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.clicks.evaluation.comparison.differences import (
    Difference,
    Method,
    Resampling,
    difference_of,
    ratios,
    two_proportions,
)
from annotator.clicks.evaluation.comparison.measure_rows import measure_rows
from annotator.clicks.evaluation.comparison.measures import NO_DAY, ClickMeasure, Counted, Undefined

# Users of either variant by clicks and views. R = Σc/Σv; var(R) = [s_c² + R² s_v² - 2 R s_cv] / (m v̄²).
FIRST = ([1, 0, 2, 1, 0, 3], [4, 2, 5, 3, 1, 9])
SECOND = ([2, 1, 2, 1, 1, 4], [4, 3, 4, 2, 2, 8])


def counted(*variants: list[list[float]], is_share: bool = False, has_users: bool = True) -> Counted:
    """Entries, from the entries of each user of each variant."""
    every = [
        (variant, user, value)
        for variant, users in enumerate(variants)
        for user, entries in enumerate(users)
        for value in entries
    ]
    variant, user, value = zip(*every, strict=True) if every else ((), (), ())
    unit = np.array(user) if has_users else np.arange(len(every))
    day = np.full(len(every), NO_DAY)
    return Counted(np.array(variant, np.int32), unit, day, np.array(value, np.float64), is_share, has_users)


def users_of(clicks: list[int], views: list[int]) -> list[list[float]]:
    """Users by the clicks and the views of each, the clicks all on the first view."""
    return [[float(own), *[0.0] * (seen - 1)] for own, seen in zip(clicks, views, strict=True)]


def test_the_delta_method_is_the_published_formula() -> None:
    part, whole = np.array([*FIRST[0], *SECOND[0]], np.float64), np.array([*FIRST[1], *SECOND[1]], np.float64)
    found = ratios(np.repeat([0, 1], 6), part, whole, 2)
    # 7 of 24 and 11 of 23. The first: s_c² = 1.366667, s_v² = 8, s_cv = 3.2: 1.366667 + .680556 - 1.866667 = .180556,
    # and over 6 · 4² = 96 that is .00188079.
    assert found.value == pytest.approx([0.291667, 0.478261], abs=5e-7)
    assert found.variance == pytest.approx([0.00188079, 0.00054031], abs=5e-9)


def test_two_variants_are_compared_by_the_delta_method_over_users() -> None:
    found = difference_of(counted(users_of(*FIRST), users_of(*SECOND)))
    # (.478261 - .291667) / √(.00188079 + .00054031) = .186594 / .0492047
    assert found.tested.z == pytest.approx(3.79221, abs=5e-6)
    assert found.tested.method is Method.DELTA
    assert found.difference == pytest.approx(11 / 23 - 7 / 24)
    assert found.tested.low == pytest.approx(0.186594 - 1.959964 * 0.0492047, abs=1e-6)
    assert found.tested.high == pytest.approx(0.186594 + 1.959964 * 0.0492047, abs=1e-6)
    assert (found.counts.first_units, found.counts.second_units) == (6, 6)
    assert (found.counts.first_entries, found.counts.second_entries) == (24, 23)


def test_one_page_a_user_is_a_test_of_two_proportions() -> None:
    # Pooled 2490/20000 = .1245: z = .009 / √(.1245 · .8755 · 2/10000); the interval by .12 · .88 and .129 · .871.
    found = two_proportions(1200, 10000, 1290, 10000)
    assert found.z == pytest.approx(1.92759, abs=5e-6)
    assert found.p == pytest.approx(0.053906, abs=5e-7)
    assert [found.low, found.high] == pytest.approx([-0.00015, 0.01815], abs=5e-6)
    in_entries = difference_of(counted([[1.0]] * 3 + [[0.0]] * 5, [[1.0]] * 4 + [[0.0]] * 2, is_share=True))
    assert in_entries.tested == two_proportions(3, 8, 4, 6)


@pytest.mark.parametrize(
    ("first", "second", "z", "p"),
    [(46, 69, 2.15, 0.03), (38, 42, 0.45, 0.65), (46, 46, 0, 1)],
)
def test_clicks_of_the_open_bandit_sample_differ_as_is_known(first: int, second: int, z: float, p: float) -> None:
    # Of 10,000 impressions each of random choice and Thompson sampling: men, all, women.
    found = two_proportions(first, 10_000, second, 10_000)
    assert found.z == pytest.approx(z, abs=5e-3)
    assert found.p == pytest.approx(p, abs=5e-3)


def test_shares_of_several_pages_a_user_are_compared_by_user() -> None:
    found = difference_of(counted([[1, 0], [0]], [[1, 1], [0]], is_share=True))
    assert found.tested.method is Method.DELTA


def test_without_users_shares_are_two_proportions_and_means_have_no_test() -> None:
    one, other = [[1.0, 0.0, 1.0]], [[0.0, 0.0, 1.0]]
    shares = difference_of(counted(one, other, is_share=True, has_users=False))
    assert shares.tested == two_proportions(2, 3, 1, 3)
    means = difference_of(counted(one, other, has_users=False))
    assert (means.first, means.second, means.difference) == pytest.approx((2 / 3, 1 / 3, -1 / 3))
    assert (means.tested.p, means.tested.reason) == (None, Undefined.MEAN_WITHOUT_USERS)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        (counted([[1.0], [0.0]]), Undefined.NO_ENTRY_OF_ONE),
        (counted([[0.0]], [[0.0], [0.0]], is_share=True), Undefined.ALWAYS_THE_SAME),
        (counted([[1.0]], [[1.0], [1.0]], is_share=True), Undefined.ALWAYS_THE_SAME),
        (counted([[2.0, 3.0]], [[1.0], [3.0]]), Undefined.ONE_USER),
        (counted([[2.0], [2.0]], [[3.0], [3.0, 3.0]]), Undefined.NO_SPREAD),
        (counted([[2.0], [2.0]], [[2.0], [2.0, 2.0]]), Undefined.ALWAYS_THE_SAME),
    ],
)
@pytest.mark.parametrize("resampling", [None, Resampling(1, ("A", "B"))])
def test_what_cannot_be_tested_says_why(entries: Counted, reason: Undefined, resampling: Resampling | None) -> None:
    if resampling is not None and entries.is_share and reason is Undefined.ALWAYS_THE_SAME:
        reason = Undefined.ONE_USER  # a bootstrap draws users, of whom the first variant has one
    found = difference_of(entries, resampling).tested
    assert (found.low, found.high, found.z, found.p) == (None, None, None, None)
    assert found.reason is reason


def test_the_bootstrap_finds_what_the_delta_method_finds() -> None:
    random = np.random.default_rng(5)
    arms = [
        [random.binomial(1, share, size=views).astype(float).tolist() for views in random.integers(1, 6, size=400)]
        for share in (0.30, 0.36)
    ]
    entries = counted(*arms, is_share=True)
    delta = difference_of(entries).tested
    drawn = difference_of(entries, Resampling(7, ("A", "B"), draws=4000)).tested
    assert drawn.method is Method.BOOTSTRAP
    assert drawn.z is None
    assert drawn.low == pytest.approx(delta.low, abs=0.005)
    assert drawn.high == pytest.approx(delta.high, abs=0.005)
    assert drawn.p == pytest.approx(delta.p, abs=0.02)


def test_the_bootstrap_draws_the_same_by_the_same_seed() -> None:
    entries = counted(users_of(*FIRST), users_of(*SECOND))
    one, same, other = (difference_of(entries, Resampling(seed, ("A", "B"))) for seed in (1, 1, 2))
    assert one == same
    assert one.tested.low != other.tested.low


USERS = st.lists(st.lists(st.integers(0, 3).map(float), min_size=1, max_size=4), min_size=2, max_size=8)
RESAMPLING = st.sampled_from([None, Resampling(3, ("A", "B"), draws=50)])


@given(USERS, USERS, RESAMPLING)
def test_the_variants_the_other_way_round_turn_the_signs(
    first: list[list[float]], second: list[list[float]], resampling: Resampling | None
) -> None:
    turned = None if resampling is None else replace(resampling, names=("B", "A"))
    one, other = difference_of(counted(first, second), resampling), difference_of(counted(second, first), turned)
    assert (other.first, other.second) == (one.second, one.first)
    assert _signed(other) == pytest.approx(_signed(one, turned=True))
    assert other.tested.p == pytest.approx(one.tested.p)
    assert other.tested.reason is one.tested.reason


def _signed(found: Difference, *, turned: bool = False) -> list[float]:
    tested = found.tested
    values = [found.difference, tested.z, tested.low, tested.high]
    if turned:
        values = [found.difference, tested.z, tested.high, tested.low]
    return [0.0 if value is None else -value if turned else value for value in values]


@given(USERS, RESAMPLING)
def test_two_equal_variants_differ_by_nothing(users: list[list[float]], resampling: Resampling | None) -> None:
    found = difference_of(counted(users, users), resampling)
    assert found.difference == 0
    assert found.tested.p is None or found.tested.p > 0.1
    if found.tested.method is Method.DELTA:
        assert (found.tested.z, found.tested.p) == (0, 1)


@given(USERS, USERS, RESAMPLING, st.randoms(use_true_random=False))
def test_users_in_another_order_change_nothing(
    first: list[list[float]], second: list[list[float]], resampling: Resampling | None, random: np.random.Generator
) -> None:
    shuffled = [list(first), list(second)]
    for users in shuffled:
        random.shuffle(users)
    one, other = difference_of(counted(first, second), resampling), difference_of(counted(*shuffled), resampling)
    assert _signed(other) == pytest.approx(_signed(one), abs=1e-9)
    assert one.tested.p == pytest.approx(other.tested.p)


def test_p_is_corrected_for_the_number_of_measures_as_holm_does() -> None:
    few, many = [[1.0]] * 30 + [[0.0]] * 70, [[1.0]] * 45 + [[0.0]] * 55
    found: dict[ClickMeasure, Counted | Undefined] = {
        ClickMeasure.TOP_CTR: counted(few, many, is_share=True),
        ClickMeasure.FIRST_PAGE_CTR: counted(few, few, is_share=True),
        ClickMeasure.ABANDONMENT: counted(few, few, is_share=True),
        ClickMeasure.REFORMULATION: Undefined.NO_SESSIONS,
    }
    top, first_page, abandonment, reformulation = measure_rows(found, None, has_clicks=True)
    # Two tests, for abandonment is the first page's CTR the other way round: twice the smaller p, once the greater.
    assert top.p is not None
    assert top.p_corrected == pytest.approx(2 * top.p)
    assert first_page.p_corrected == 1
    assert abandonment.p_corrected == first_page.p_corrected
    assert (reformulation.p_corrected, reformulation.reason) == (None, Undefined.NO_SESSIONS)


@pytest.mark.parametrize("resampling", [None, Resampling(3, ("A", "B"))])
def test_abandonment_is_the_first_pages_ctr_the_other_way_round(resampling: Resampling | None) -> None:
    shares = counted([[1.0, 0.0], [0.0], [1.0]], [[1.0], [1.0, 1.0], [0.0]], is_share=True)
    left = replace(shares, value=1 - shares.value)
    found = {ClickMeasure.FIRST_PAGE_CTR: shares, ClickMeasure.ABANDONMENT: left}
    first_page, abandonment = measure_rows(found, resampling, has_clicks=True)
    alone = difference_of(left)
    assert [abandonment.first, abandonment.second] == pytest.approx([alone.first, alone.second])
    assert [abandonment.low, abandonment.high] == [-(first_page.high or 0), -(first_page.low or 0)]
    assert (abandonment.p, abandonment.method) == (first_page.p, first_page.method)
    if resampling is None:
        assert abandonment.z == pytest.approx(alone.tested.z)


def test_abandonment_of_a_variant_without_pages_has_no_difference() -> None:
    shares = counted([[1.0]], [], is_share=True)
    found = {ClickMeasure.FIRST_PAGE_CTR: shares, ClickMeasure.ABANDONMENT: replace(shares, value=1 - shares.value)}
    _, abandonment = measure_rows(found, None, has_clicks=True)
    assert (abandonment.first, abandonment.second, abandonment.difference) == (0, None, None)
    assert abandonment.reason is Undefined.NO_ENTRY_OF_ONE


def test_without_any_click_that_is_the_reason() -> None:
    nothing = counted([[0.0]], [[0.0]], is_share=True)
    found = {ClickMeasure.FIRST_PAGE_CTR: nothing, ClickMeasure.REFORMULATION: nothing}
    first_page, reformulation, _ = measure_rows(found, None, has_clicks=False)
    assert first_page.reason is Undefined.NO_CLICK
    assert (first_page.first, first_page.second, first_page.difference) == (0, 0, 0)
    assert reformulation.reason is Undefined.ALWAYS_THE_SAME
