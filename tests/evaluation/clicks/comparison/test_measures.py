"""Measures of clicks on logs that can be counted by eye, and why one is not available where a log says too little."""

import pytest
from evaluation.online.made_logs import DAY, HOUR, Line, log_of, pages, shown

from annotator.clicks.evaluation.comparison.measures import ClickMeasure, Counted, Source, Undefined, count_entries
from annotator.clicks.evaluation.logs.click_log import Event
from annotator.clicks.evaluation.logs.page_views import page_views


def counted(measure: ClickMeasure, lines: list[Line], days: int = 7, *, is_line_a_result: bool = False) -> Counted:
    found = outcome(measure, lines, days, is_line_a_result=is_line_a_result)
    assert isinstance(found, Counted)
    return found


def outcome(
    measure: ClickMeasure, lines: list[Line], days: int = 7, *, is_line_a_result: bool = False
) -> Counted | Undefined:
    log = log_of(lines, is_line_a_result=is_line_a_result)
    return count_entries(measure, Source(log, page_views(log), days))


# In order of time: jo's page with the top clicked and then the third; ola's with nothing, and her second page with its
# top clicked; jo's other query with the second clicked twice.
FOUR = pages(
    shown("A", "jo", clicks=(1, 3), at=0),
    shown("A", "ola", at=10),
    shown("A", "ola", page=2, clicks=(1,), at=60),
    shown("A", "jo", query="p", clicks=(2, 2), at=100),
)


@pytest.mark.parametrize(
    ("measure", "values"),
    [
        (ClickMeasure.TOP_CTR, [1, 0, 0]),  # of first pages, as the next two and the rank
        (ClickMeasure.FIRST_PAGE_CTR, [1, 0, 1]),
        (ClickMeasure.ABANDONMENT, [0, 1, 0]),
        (ClickMeasure.CLICKS_A_PAGE, [2, 0, 1, 2]),
        (ClickMeasure.RECIPROCAL_RANK, [1, 0, 1 / 2]),
        (ClickMeasure.SECONDS_TO_CLICK, [10, 10, 10]),
    ],
)
def test_a_measure_is_counted_page_by_page(measure: ClickMeasure, values: list[float]) -> None:
    assert counted(measure, FOUR).value.tolist() == values


def test_users_are_the_units_of_their_pages() -> None:
    found = counted(ClickMeasure.CLICKS_A_PAGE, FOUR)
    assert found.unit.tolist() == [0, 1, 1, 0]
    assert found.has_users


def test_pages_of_nobody_known_are_units_by_themselves() -> None:
    found = counted(ClickMeasure.FIRST_PAGE_CTR, pages(shown("A", "jo"), shown("A"), shown("A")))
    assert len(set(found.unit.tolist())) == 3


def test_a_page_whose_top_was_not_shown_takes_no_part_in_its_clicks() -> None:
    without_top = [line for line in shown("A", "jo", query="p") if line.position != 1]
    found = counted(ClickMeasure.TOP_CTR, pages(shown("A", "jo", clicks=(1,)), without_top))
    assert found.value.tolist() == [1]


def test_a_search_is_reformulated_when_another_query_follows_in_its_session() -> None:
    # Session s: p (two pages of it), q, p again, which is another search; session t: q alone.
    lines = pages(
        shown("A", "jo", session="s", query="p", at=0),
        shown("A", "jo", session="s", query="p", page=2, at=10),
        shown("A", "jo", session="s", query="q", at=20),
        shown("A", "ola", session="t", query="q", at=25),
        shown("A", "jo", session="s", query="p", at=30),
    )
    found = counted(ClickMeasure.REFORMULATION, lines)
    assert found.value.tolist() == [1, 1, 0, 0]  # p's second page stands for its search; then q, t's q, p
    assert found.unit.tolist() == [0, 0, 1, 0]


def visits(*days: float, user: str = "jo", session: bool = False) -> list[Line]:
    """A page of a user on each of so many days after the first."""
    names = [f"{user}{place}" if session else None for place in range(len(days))]
    return pages(*(shown("A", user, at=day * DAY, session=name) for day, name in zip(days, names, strict=True)))


END = visits(30, user="gus")  # somebody is there a month later, so that others are observed to the end


@pytest.mark.parametrize(
    ("days", "returns"),
    [
        ((0, 3), [1]),
        ((0, 7), [1]),  # just within seven days
        ((0, 7.001), [0]),
        ((0,), [0]),
        ((0, 0.5 / 24), [0]),  # half an hour later is the same visit
        ((0, 0.51 / 24), [1]),
        ((0, 8, 9), [0]),  # in time after another visit, not after the first
    ],
)
def test_a_user_returns_by_another_visit_within_the_days(days: tuple[float, ...], returns: list[int]) -> None:
    assert counted(ClickMeasure.RETURN, visits(*days) + END).value.tolist() == returns


def test_where_sessions_are_known_another_session_is_another_visit() -> None:
    lines = visits(0, 0.01, session=True) + visits(0, user="ola") + END
    assert counted(ClickMeasure.RETURN, lines).value.tolist() == [1, 0]


def test_users_who_came_too_late_to_return_are_left_out() -> None:
    # The log ends on day 30: who began on day 24 has not had seven days.
    lines = visits(0, 2) + visits(23, user="ola") + visits(24, 25, user="eve") + END
    assert counted(ClickMeasure.RETURN, lines).value.tolist() == [1, 0]
    assert counted(ClickMeasure.RETURN, lines, days=5).value.tolist() == [1, 0, 1]


def test_buyers_are_counted_once_among_who_was_shown_a_page() -> None:
    bought = Line(Event.CONVERSION, "A", "jo", at=5)
    nobody = Line(Event.CONVERSION, "A", "gus", at=5)  # was shown nothing
    lines = [*shown("A", "jo", at=0), *shown("A", "jo", at=9), *shown("A", "ola", at=0), bought, bought, nobody]
    assert counted(ClickMeasure.BUYERS, lines).value.tolist() == [1, 0]


def test_who_bought_by_the_other_variant_did_not_buy_by_this_one() -> None:
    lines = [*shown("A", "jo"), *shown("B", "jo"), Line(Event.CONVERSION, "B", "jo")]
    found = counted(ClickMeasure.BUYERS, lines)
    assert dict(zip(found.variant.tolist(), found.value.tolist(), strict=True)) == {0: 0, 1: 1}


def test_ratings_are_counted_as_they_are() -> None:
    lines = [*shown("A", "jo"), Line(Event.RATING, "A", "jo", value=4.0), Line(Event.RATING, "A", "ola", value=1.0)]
    assert counted(ClickMeasure.RATING, lines).value.tolist() == [4, 1]


def test_days_are_those_of_utc() -> None:
    lines = pages(shown("A", "jo", at=23 * HOUR), shown("A", "jo", at=25 * HOUR))
    first, second = counted(ClickMeasure.FIRST_PAGE_CTR, lines).day.tolist()
    assert second - first == 1


BARE = [Line(Event.IMPRESSION, "A"), Line(Event.IMPRESSION, "B")]
WITH_USERS = [Line(Event.IMPRESSION, "A", "jo")]


@pytest.mark.parametrize(
    ("measure", "lines", "reason"),
    [
        (ClickMeasure.TOP_CTR, BARE, Undefined.NO_POSITIONS),
        (ClickMeasure.RECIPROCAL_RANK, BARE, Undefined.NO_POSITIONS),
        (ClickMeasure.SATISFIED, BARE, Undefined.NO_SATISFACTION),
        (ClickMeasure.SECONDS_TO_CLICK, BARE, Undefined.NO_TIMES),
        (ClickMeasure.SECONDS_TO_CLICK, shown("A", "jo", at=0), Undefined.NO_ENTRY),
        (ClickMeasure.REFORMULATION, BARE, Undefined.NO_SESSIONS),
        (ClickMeasure.REFORMULATION, [Line(Event.IMPRESSION, "A", session="s")], Undefined.NO_QUERIES),
        (ClickMeasure.RETURN, BARE, Undefined.NO_USERS),
        (ClickMeasure.RETURN, WITH_USERS, Undefined.NO_TIMES),
        (ClickMeasure.RETURN, visits(0, 6), Undefined.LOG_TOO_SHORT),
        (ClickMeasure.BUYERS, BARE, Undefined.NO_USERS),
        (ClickMeasure.BUYERS, WITH_USERS, Undefined.NO_CONVERSIONS),
        (ClickMeasure.RATING, WITH_USERS, Undefined.NO_RATINGS),
    ],
)
def test_a_log_that_says_too_little_gives_the_reason(
    measure: ClickMeasure, lines: list[Line], reason: Undefined
) -> None:
    assert outcome(measure, lines) is reason


@pytest.mark.parametrize(
    "measure", [ClickMeasure.CLICKS_A_PAGE, ClickMeasure.RECIPROCAL_RANK, ClickMeasure.SECONDS_TO_CLICK]
)
def test_where_a_line_is_a_result_there_are_no_pages(measure: ClickMeasure) -> None:
    assert outcome(measure, shown("A", "jo", clicks=(3,), at=0), is_line_a_result=True) is Undefined.NO_PAGES
