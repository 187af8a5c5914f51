"""The burn-down of judging: what remained after each day, and the projected end."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.pooling.burn_down import NoProjection, Projection, burn_down

TODAY = date(2027, 3, 31)


def ago(days: int) -> date:
    return TODAY - timedelta(days=days)


def projected(judged: dict[date, int], remaining: int) -> Projection:
    found = burn_down(judged, remaining, TODAY).projection
    assert found is not None
    return found


def test_every_day_until_today_has_what_remained_at_its_end() -> None:
    days = burn_down({ago(3): 10, ago(1): 5}, 20, TODAY).days
    assert [(one.day, one.given, one.remaining) for one in days] == [
        (ago(3), 10, 25),
        (ago(2), 0, 25),
        (ago(1), 5, 20),
        (TODAY, 0, 20),
    ]


def test_at_a_constant_pace_the_end_is_exact() -> None:
    found = projected({ago(days): 10 for days in range(5)}, 95)
    assert found.rate == 10
    assert found.end == found.earliest == found.latest == TODAY + timedelta(days=10)


def test_only_the_last_seven_active_days_count() -> None:
    slow = {ago(days): 1 for days in range(7, 30)}
    assert projected({**slow, **{ago(days): 10 for days in range(7)}}, 100).rate == 10


def test_days_off_make_the_pace_slower() -> None:
    every_other_day = {ago(days): 10 for days in range(1, 14, 2)}
    assert projected(every_other_day, 100).rate == pytest.approx(70 / 13)


def test_a_morning_without_judgements_does_not_count_as_a_day() -> None:
    assert projected({ago(days): 10 for days in range(1, 5)}, 100).rate == 10


def test_an_uneven_pace_has_an_earlier_and_a_later_end() -> None:
    found = projected({ago(3): 12, ago(2): 8, ago(1): 12, TODAY: 8}, 100)
    assert found.latest is not None
    assert found.earliest < found.end < found.latest


def test_a_pace_that_may_be_a_standstill_has_no_latest_end() -> None:
    assert projected({ago(9): 100, ago(5): 1, TODAY: 1}, 100).latest is None


def test_why_there_is_no_projection() -> None:
    def reason(judged: dict[date, int], remaining: int) -> NoProjection | None:
        return burn_down(judged, remaining, TODAY).reason

    assert reason({ago(1): 5}, 0) is NoProjection.NOTHING_LEFT
    assert reason({}, 10) is NoProjection.FEW_DAYS
    assert reason({ago(1): 5, TODAY: 5}, 10) is NoProjection.FEW_DAYS
    assert reason({ago(days): 5 for days in (15, 16, 17)}, 10) is NoProjection.PAUSED
    assert reason({ago(days): 5 for days in (14, 15, 16)}, 10) is None
    assert reason({ago(days): 1 for days in (1, 2, 3)}, 100_000) is NoProjection.TOO_FAR


def test_the_line_ahead_ends_at_nothing_or_where_it_is_cut() -> None:
    found = burn_down({ago(days): 10 for days in range(5)}, 25, TODAY)
    assert found.ahead(TODAY, 90) == tuple((TODAY + timedelta(days=one), max(25 - 10 * one, 0)) for one in range(4))
    assert len(found.ahead(TODAY, 2)) == 3
    assert burn_down({}, 25, TODAY).ahead(TODAY, 90) == ()


@given(st.dictionaries(st.integers(0, 40).map(ago), st.integers(0, 500)), st.integers(0, 5000))
def test_what_was_judged_and_what_remains_add_up(judged: dict[date, int], remaining: int) -> None:
    found = burn_down(judged, remaining, TODAY)
    assert (found.projection is None) != (found.reason is None)
    assert sum(one.given for one in found.days) == sum(judged.values())
    if found.days:
        assert found.days[-1].remaining == remaining
        assert found.days[0].remaining + found.days[0].given == remaining + sum(judged.values())
    if found.projection is not None:
        assert found.projection.earliest <= found.projection.end
        assert found.projection.latest is None or found.projection.end <= found.projection.latest
