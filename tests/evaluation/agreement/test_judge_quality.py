"""Pace, streaks, shares and drift of judges: by hand, and against SciPy's own intervals."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as some
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]  # it ships no types

from annotator.evaluation.agreement.judge_quality import (
    Change,
    Lenience,
    Streak,
    change_of_lenience,
    change_of_means,
    difference_by_topic,
    fast_below,
    fast_streaks,
    least_seconds,
    lenience_of_judges,
    pace,
    share_of,
    wilson_interval,
    work_of_judges,
)


def column(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


@given(of=some.integers(1, 500), data=some.data())
def test_the_interval_of_a_share_is_wilsons(of: int, data: some.DataObject) -> None:
    count = data.draw(some.integers(0, of))
    oracle = stats.binomtest(count, of).proportion_ci(method="wilson")
    assert wilson_interval(count, of) == pytest.approx((oracle.low, oracle.high), abs=1e-12)


def test_a_share_of_nothing_is_none() -> None:
    assert share_of(0, 0) is None
    share = share_of(8, 10)
    assert share is not None
    # Wilson's of 8 in 10, as in Agresti and Coull's table: 0.490 to 0.943.
    assert share.interval == pytest.approx((0.490, 0.943), abs=5e-4)


def test_the_pace_has_the_median_and_the_documents_an_hour() -> None:
    measured = pace([4, 5, 6, 105])
    assert measured is not None
    # Two minutes for four documents: 120 an hour, although most take five seconds.
    assert (measured.documents, measured.median_seconds, measured.documents_an_hour) == (4, 5.5, 120)


@pytest.mark.parametrize("seconds", [[], [0.0, 0.0]])
def test_without_seconds_there_is_no_pace(seconds: list[float]) -> None:
    assert pace(seconds) is None


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        (20.0, [8.0, 10.0, 12.0], 5.0),  # of their own median, the greater
        (2.0, [8.0, 10.0, 12.0], 2.5),  # who always rushes is measured by the crowd
        (8.0, [], 2.0),
    ],
)
def test_very_fast_is_a_fraction_of_the_own_median_or_the_crowds(
    own: float, others: list[float], expected: float
) -> None:
    assert fast_below(own, others, 0.25) == expected


def test_streaks_are_runs_of_fast_documents_one_after_the_other() -> None:
    seconds = [1, 1, 9, 1, 1, 1, np.nan, 1, 1, 9, 1, 2, 1]
    assert fast_streaks(seconds, [2.5] * len(seconds), 3) == [Streak(3, 6, 1), Streak(10, 13, 1)]
    assert [streak.length for streak in fast_streaks(seconds, [2.5] * len(seconds), 2)] == [2, 3, 2, 3]
    assert fast_streaks(seconds, [1] * len(seconds), 1) == []  # below, not at


def test_shares_are_compared_topic_by_topic() -> None:
    # Own 6 of 10 and 1 of 10, others 4 of 10 and 1 of 30: weights 10·10/20 = 5 and 10·30/40 = 7.5.
    compared = difference_by_topic(column(6, 1), column(10, 10), column(4, 1), column(10, 30))
    assert compared is not None
    assert compared.own == pytest.approx((5 * 0.6 + 7.5 * 0.1) / 12.5)
    assert compared.others == pytest.approx((5 * 0.4 + 7.5 / 30) / 12.5)
    assert compared.difference.value == pytest.approx((5 * 0.2 + 7.5 * (0.1 - 1 / 30)) / 12.5)  # 0.12
    # Sato: P = 0 + (100·1 - 900·1 + 300·10)/1600 with (m-n)/2 = 10, by topic (100·4 - 100·6 + 0)/400 = -0.5;
    # Q = (6·6 + 4·4)/40 + (1·29 + 1·9)/80; variance = (0.12·P + Q)/12.5².
    p = -0.5 + (100 * 1 - 900 * 1 + 300 * 10) / 1600
    q = 52 / 40 + 38 / 80
    assert compared.difference.margin == pytest.approx(1.959963984540054 * ((0.12 * p + q) / 12.5**2) ** 0.5)


def test_topics_of_one_alone_are_no_comparison() -> None:
    assert difference_by_topic(column(3, 0), column(5, 0), column(0, 2), column(0, 5)) is None
    compared = difference_by_topic(column(3, 1), column(5, 4), column(0, 2), column(0, 4))
    assert compared is not None
    assert compared.documents == 4


def test_who_finds_nothing_where_nobody_does_has_no_interval() -> None:
    compared = difference_by_topic(column(0), column(9), column(0), column(9))
    assert compared is not None
    assert (compared.difference.value, compared.difference.interval) == (0, None)
    assert not compared.difference.is_clear


def test_the_interval_of_the_difference_covers_the_truth_as_often_as_it_says() -> None:
    random = np.random.default_rng(5)
    truth = 0.1
    covered = 0
    for _ in range(2000):
        of_others = random.uniform(0.1, 0.6, 20)
        own, others = random.binomial(6, of_others + truth), random.binomial(15, of_others)
        compared = difference_by_topic(own, np.full(20, 6), others, np.full(20, 15))
        assert compared is not None
        assert compared.difference.interval is not None
        low, high = compared.difference.interval
        covered += low <= truth <= high
    # 95 % of 2,000, give or take three standard errors.
    assert 0.935 <= covered / 2000 <= 0.965


@given(
    first=some.lists(some.floats(0, 1), min_size=2, max_size=20),
    second=some.lists(some.floats(0, 1), min_size=2, max_size=20),
)
def test_the_interval_of_a_change_of_means_is_welchs(first: list[float], second: list[float]) -> None:
    assume(min(np.var(first), np.var(second)) > 1e-6)  # SciPy warns of values that are nearly alike
    change = change_of_means(np.array(first), np.array(second))
    oracle = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    assert change is not None
    assert change.margin is not None
    assert (change.value - change.margin, change.value + change.margin) == pytest.approx(
        (oracle.low, oracle.high), abs=1e-9
    )


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([], [1.0], None),
        ([1.0], [], None),
        ([1.0], [0.0, 1.0], Change(-0.5, None)),
        ([1.0, 1.0], [0.0, 0.0], Change(-1, None)),
    ],
)
def test_a_change_of_too_little_has_no_interval(
    first: list[float], second: list[float], expected: Change | None
) -> None:
    assert change_of_means(np.array(first), np.array(second)) == expected


def test_an_interval_stays_within_what_a_share_can_change() -> None:
    assert Change(0.9, 0.3).interval == pytest.approx((0.6, 1))
    assert Change(0.9, 0.3).is_clear
    assert not Change(0.2, 0.3).is_clear


def test_the_margins_of_two_halves_add_up_as_their_squares() -> None:
    first, second = (Lenience(9, 0.5, 0.5, Change(value, margin)) for value, margin in ((0.1, 0.3), (0.2, 0.4)))
    change = change_of_lenience(first, second)
    assert change is not None
    assert (change.value, change.margin) == pytest.approx((0.1, 0.5))
    assert change_of_lenience(first, None) is None
    without = Lenience(9, 0.5, 0.5, Change(0.2, None))
    change = change_of_lenience(first, without)
    assert change is not None
    assert change.margin is None


def test_a_judges_work_stands_beside_that_of_the_others() -> None:
    # Topic 1 has the items 11 to 14, topic 2 the item 21; judge 7 graded all but 14, judge 8 all but 13.
    rows = [
        (7, 1, 11, 2),
        (8, 1, 11, 0),
        (7, 1, 12, 1),
        (8, 1, 12, 1),
        (9, 1, 12, 0),
        (7, 1, 13, 1),
        (8, 1, 14, 0),
        (7, 2, 21, 0),
        (8, 2, 21, 0),
    ]
    judges, topics, items, grades = map(list, zip(*rows, strict=True))
    work = work_of_judges(judges, topics, items, grades, relevant_from=1)
    assert sorted(work) == [7, 8, 9]
    seven = work[7]
    assert (seven.graded, seven.relevant.count, seven.shared) == (4, 3, 3)
    # On 11 nobody agrees, on 12 one of two others, on 21 the one other.
    assert seven.agreement == pytest.approx((0 + 0.5 + 1) / 3)
    assert seven.lenience is not None
    # Topic 1: 3 of 3, others 1 of 4, weight 12/7; topic 2: 0 of 1 and 0 of 1, weight 1/2.
    assert seven.lenience.own == pytest.approx(12 / 7 / (12 / 7 + 1 / 2))
    assert seven.lenience.others == pytest.approx(12 / 7 / 4 / (12 / 7 + 1 / 2))
    # First half: 11 and 12; second half: 13, which nobody shares, and 21.
    assert seven.drift.agreement is not None
    assert (seven.drift.agreement.value, seven.drift.agreement.margin) == (1 - 0.25, None)
    assert [stretch.until for stretch in seven.stretches] == [4]


def test_work_is_cut_into_stretches_of_like_length_in_its_order() -> None:
    judges = [1] * 23 + [2] * 23
    items = [*range(23)] * 2
    grades = [0] * 10 + [1] * 13 + [0] * 23
    work = work_of_judges(judges, [1] * 46, items, grades, relevant_from=1)
    assert [stretch.until for stretch in work[1].stretches] == [6, 12, 18, 23]
    assert [stretch.relevant for stretch in work[1].stretches] == pytest.approx([0, 2 / 6, 1, 1])
    assert [stretch.agreement for stretch in work[1].stretches] == pytest.approx([1, 4 / 6, 0, 0])
    assert [stretch.difference for stretch in work[1].stretches] == pytest.approx([0, 2 / 6, 1, 1])


def test_without_others_there_is_nothing_to_compare() -> None:
    assert work_of_judges([], [], [], [], relevant_from=1) == {}
    alone = work_of_judges([3, 3], [1, 1], [1, 2], [0, 1], relevant_from=1)[3]
    assert (alone.agreement, alone.lenience, alone.shared) == (None, None, 0)
    assert (alone.drift.agreement, alone.drift.lenience) == (None, None)


def test_the_least_time_of_a_document_depends_on_its_length_up_to_two_seconds() -> None:
    assert [least_seconds(characters) for characters in (0, 30, 120, 10_000)] == [0, 0.5, 2, 2]
    assert fast_streaks([0.4, 0.4, 0.4], [least_seconds(length) for length in (90, 12, 90)], 1) == [
        Streak(0, 1, 0.4),
        Streak(2, 3, 0.4),
    ]


def test_grades_without_a_time_of_their_own_do_not_drift() -> None:
    # In the order of the file, the first half is not relevant and the second is.
    columns = ([1] * 20 + [2] * 20, [1] * 40, [*range(20), *range(20)], [0] * 10 + [1] * 10 + [0, 1] * 10)
    drifting = work_of_judges(*columns, 1)[1]
    assert drifting.drift.lenience is not None
    assert drifting.drift.lenience.is_clear
    from_file = work_of_judges(*columns, 1, [False] * 20 + [True] * 20)[1]
    assert (from_file.drift.lenience, from_file.drift.agreement, from_file.drift.untimed) == (None, None, 20)
    assert from_file.stretches == ()
    assert (from_file.graded, from_file.agreement) == (drifting.graded, drifting.agreement)


def test_leniency_compares_each_judge_with_the_others_on_the_same_topics() -> None:
    # Topic 0: judge 0 finds 2 of 2 relevant, judge 1 finds 1 of 4. Topic 1 is judged by judge 2 alone.
    judge = np.array([0, 0, 1, 1, 1, 1, 2])
    topic = np.array([0, 0, 0, 0, 0, 0, 1])
    relevant = np.array([True, True, True, False, False, False, True])
    first, second, alone = lenience_of_judges(judge, topic, relevant, 3)
    assert first == difference_by_topic(*(np.array([one]) for one in (2, 2, 1, 4)))
    assert first is not None
    assert second is not None
    assert (first.own, first.others) == (1.0, 0.25)
    assert second.difference.value == -first.difference.value == -0.75
    assert alone is None
    nobody = np.zeros(0, np.intp)
    assert lenience_of_judges(nobody, nobody, np.zeros(0, np.bool_), 0) == []
