"""Clicks beside judgements: what a difference says, how two of them stand to each other, and the queries apart."""

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.clicks.evaluation.judgements.together import (
    Difference,
    QueryBeside,
    Says,
    Verdict,
    folded,
    judged_difference,
    most_apart,
    topics_of_queries,
    verdict,
)

SECOND, FIRST = Difference(0.2, (0.1, 0.3)), Difference(-0.2, (-0.3, -0.1))
UNSURE, NOTHING = Difference(0.1, (-0.1, 0.3)), Difference()


@pytest.mark.parametrize(
    ("difference", "says"),
    [
        (SECOND, Says.SECOND),
        (FIRST, Says.FIRST),
        (UNSURE, Says.UNSURE),
        (Difference(0.1, (0.0, 0.2)), Says.UNSURE),  # 0 is in it
        (NOTHING, Says.NOTHING),
        (Difference(0.5), Says.NOTHING),  # without an interval nobody knows
    ],
)
def test_a_difference_says_who_is_better_when_its_interval_leaves_0_out(difference: Difference, says: Says) -> None:
    assert difference.says is says


@pytest.mark.parametrize(
    ("judged", "clicks", "expected"),
    [
        (SECOND, [SECOND], Verdict.AGREE),
        (FIRST, [FIRST, FIRST], Verdict.AGREE),
        (SECOND, [UNSURE, SECOND], Verdict.AGREE),
        (SECOND, [FIRST], Verdict.OPPOSE),
        (SECOND, [FIRST, SECOND], Verdict.CLICKS_OPPOSE),
        (SECOND, [UNSURE], Verdict.ONLY_JUDGED),
        (UNSURE, [FIRST], Verdict.ONLY_CLICKS),
        (UNSURE, [UNSURE], Verdict.UNSURE),
        (NOTHING, [SECOND], Verdict.UNKNOWN),
        (SECOND, [], Verdict.UNKNOWN),
        (SECOND, [NOTHING], Verdict.UNKNOWN),
    ],
)
def test_two_kinds_of_difference_stand_to_each_other(
    judged: Difference, clicks: list[Difference], expected: Verdict
) -> None:
    assert verdict(judged, clicks) is expected


def test_the_judged_difference_is_that_of_the_paired_t_test() -> None:
    # Differences .1 .2 .3: mean .2, deviation .1, t(2; .975) 4.302653, half of the interval .1 / sqrt(3) * that.
    found = judged_difference([0.1, 0.1, 0.1, nan], [0.2, 0.3, 0.4, 0.9])
    assert found.value == pytest.approx(0.2)
    assert found.bounds == pytest.approx((0.2 - 0.248414, 0.2 + 0.248414), abs=1e-6)


def test_runs_of_equal_values_differ_by_0_and_one_topic_has_no_interval() -> None:
    equal = [0.5, 0.25]
    assert judged_difference(equal, equal) == Difference(0.0, (0.0, 0.0))
    assert judged_difference([0.5], [0.75]) == Difference(0.25, None)
    assert judged_difference([], []).says is Says.NOTHING


def beside(topic: str, clicked: tuple[float, float], judged: tuple[float, float], views: int = 10) -> QueryBeside:
    return QueryBeside(topic, (views, views), clicked, judged)


def test_queries_stand_by_how_far_clicks_and_judgements_are_apart() -> None:
    queries = [
        beside("10", (0.2, 0.4), (0.5, 0.5)),  # .2 apart
        beside("2", (0.5, 0.25), (0.5, 1.0)),  # .75 apart: they say the opposite
        beside("3", (0.25, 0.75), (0.25, 0.75)),  # the same
        beside("4", (0.0, 1.0), (1.0, 0.0), views=9),  # 2 apart, and shown too seldom
        beside("1", (0.4, 0.2), (0.5, 0.5)),  # .2 apart, as 10
    ]
    assert [one.topic for one in most_apart(queries)] == ["2", "1", "10"]
    assert [one.topic for one in most_apart(queries, most=1)] == ["2"]


shares = st.floats(0, 1)


@given(st.lists(st.tuples(shares, shares, shares, shares), max_size=8))
def test_which_variant_comes_first_changes_nothing_of_the_order(values: list[tuple[float, ...]]) -> None:
    queries = [beside(str(place), (a, b), (c, d)) for place, (a, b, c, d) in enumerate(values)]
    turned = [beside(one.topic, one.shares[::-1], one.judged[::-1]) for one in queries]
    assert [one.topic for one in most_apart(queries)] == [one.topic for one in most_apart(turned)]


def test_a_query_is_a_topic_by_its_number_or_by_a_title_that_no_other_has() -> None:
    known = topics_of_queries({"1": "Cats  in Rome", "2": "dogs", "3": "Dogs", "4": "", "Q5": "1"})
    assert known == {"cats in rome": "1", "1": "1", "2": "2", "3": "3", "4": "4", "q5": "Q5"}
    assert known.get(folded(" CATS in\trome ")) == "1"
    assert known.get(folded("dogs")) is None
