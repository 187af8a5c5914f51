"""A comparison of two variants as a whole: what is refused, what is told, and the way to JSON and back."""

import json
from dataclasses import replace

import pytest
from evaluation.online.made_logs import DAY, Line, log_of, pages, shown
from hypothesis import given
from hypothesis import strategies as st

from annotator.clicks.evaluation.comparison.checks import Expected
from annotator.clicks.evaluation.comparison.click_counts import DEEPEST, clicks_by_position, clicks_by_query
from annotator.clicks.evaluation.comparison.comparison import ComparisonWanted, compare_clicks, from_json, to_json
from annotator.clicks.evaluation.comparison.measures import ClickMeasure
from annotator.clicks.evaluation.comparison.tables import HEADINGS, ComparisonTable, table_of
from annotator.clicks.evaluation.logs.click_log import Dropped, Event
from annotator.clicks.evaluation.logs.page_views import page_views
from annotator.errors import InvalidValueError, NotFoundError

# Of A two pages on the first day and one on the third; of B one on each of these days; of C one.
LINES = pages(
    shown("A", "jo", clicks=(1, 3), at=0),
    shown("A", "ola", at=60),
    shown("A", "jo", query="p", clicks=(2,), at=2 * DAY),
    shown("B", "eve", clicks=(1,), at=0),
    shown("B", "max", query="p", clicks=(2,), at=2 * DAY),
    shown("C", "gus", clicks=(1,), at=0),
)
LOG = replace(log_of(LINES), dropped={Dropped.DUPLICATE: 2})
WANTED = ComparisonWanted(variants=("A", "B"))


def test_variants_are_counted_and_others_left_out() -> None:
    comparison = compare_clicks(LOG, WANTED)
    first, second = comparison.variants
    assert (first.name, first.users, first.sessions, first.pages, first.results, first.clicks) == (
        "A",
        2,
        None,
        3,
        9,
        3,
    )
    assert (second.name, second.users, second.pages, second.events) == ("B", 2, 2, 8)
    assert (comparison.other_events, comparison.dropped) == (4, {"duplicate": 2})
    assert (comparison.begins, comparison.ends) == ("2026-01-01T00:00:00+00:00", "2026-01-03T00:00:10+00:00")


def test_every_measure_has_a_row_with_its_values_or_the_reason() -> None:
    comparison = compare_clicks(LOG, WANTED)
    assert [row.measure for row in comparison.measures] == [*ClickMeasure]
    top = comparison.row(ClickMeasure.TOP_CTR)
    assert (top.first, top.second, top.difference) == pytest.approx((1 / 3, 1 / 2, 1 / 6))
    for row in comparison.measures:
        assert (row.p is None) == (row.reason is not None)


def test_the_second_variant_is_compared_with_the_first() -> None:
    turned = compare_clicks(LOG, replace(WANTED, variants=("B", "A")))
    assert turned.names == ("B", "A")
    assert turned.row(ClickMeasure.TOP_CTR).difference == pytest.approx(-1 / 6)


@pytest.mark.parametrize("bootstraps", [False, True])
def test_a_comparison_goes_to_json_and_back(*, bootstraps: bool) -> None:
    comparison = compare_clicks(LOG, replace(WANTED, bootstraps=bootstraps))
    said = json.dumps(to_json(comparison), allow_nan=False)
    assert from_json(json.loads(said)) == comparison


def test_a_measure_is_told_day_by_day() -> None:
    days = [one for one in compare_clicks(LOG, WANTED).days if one.measure is ClickMeasure.FIRST_PAGE_CTR]
    assert [(one.variant, one.day, one.value, one.entries) for one in days] == [
        ("A", "2026-01-01", 0.5, 2),
        ("A", "2026-01-03", 1.0, 1),
        ("B", "2026-01-01", 1.0, 1),
        ("B", "2026-01-03", 1.0, 1),
    ]
    # Two users of 0 and 1: the mean of the squares from 1/2 over 2 - 1 is 1/2, its half the variance of the mean; the
    # interval is 1/2 less and more 1.96 · 1/2, kept within 0 and 1. One user has none.
    assert [(one.low, one.high) for one in days] == [(0.0, 1.0), (None, None), (None, None), (None, None)]


def test_an_interval_of_a_day_is_that_of_the_delta_method() -> None:
    users = [shown("A", f"user{number}", clicks=(1,) if number < 40 else (), at=number) for number in range(100)]
    lines = pages(*users, shown("B", "eve", at=0))
    day = compare_clicks(log_of(lines)).days[0]
    # .4 of 100: the variance is .24/99, and 1.96 of its root .0965.
    assert [day.value, day.low, day.high] == pytest.approx([0.4, 0.4 - 0.0965, 0.4 + 0.0965], abs=5e-5)


def test_without_times_there_are_no_days() -> None:
    comparison = compare_clicks(log_of([replace(line, at=None) for line in LINES]), WANTED)
    assert (comparison.days, comparison.begins, comparison.ends) == ((), None, None)


def test_positions_count_pages_and_not_clicks() -> None:
    lines = pages(shown("A", "jo", clicks=(1, 1, 2)), shown("A", "ola", clicks=(1,)), shown("B", "eve"))
    log = log_of(lines)
    found = clicks_by_position(page_views(log), log.variants)
    assert [(one.variant, one.position, one.shown, one.clicked, one.rate) for one in found] == [
        ("A", 1, 2, 2, 1.0),
        ("A", 2, 2, 1, 0.5),
        ("A", 3, 2, 0, 0.0),
        ("B", 1, 1, 0, 0.0),
        ("B", 2, 1, 0, 0.0),
        ("B", 3, 1, 0, 0.0),
    ]


def test_positions_are_those_of_the_first_page() -> None:
    log = log_of(pages(shown("A", "jo", clicks=(1,)), shown("A", "jo", page=2, clicks=(1, 2))))
    assert [one.clicked for one in clicks_by_position(page_views(log), log.variants)] == [1, 0, 0]


def test_a_page_told_of_as_a_whole_shows_every_position_down_to_the_last_clicked() -> None:
    page = Line(Event.IMPRESSION, "A", "jo")
    log = log_of([page, Line(Event.CLICK, "A", "jo", position=2), page])
    found = clicks_by_position(page_views(log), log.variants)
    assert [(one.position, one.shown, one.clicked) for one in found] == [(1, 2, 0), (2, 2, 1)]


def test_positions_are_told_down_to_a_depth() -> None:
    log = log_of(shown("A", "jo", results=DEEPEST + 10, clicks=(DEEPEST + 5,)))
    found = clicks_by_position(page_views(log), log.variants)
    assert (len(found), sum(one.clicked for one in found)) == (DEEPEST, 0)


def test_a_position_that_a_variant_never_showed_has_no_rate() -> None:
    log = log_of(pages(shown("A", "jo", results=1), shown("B", "ola", results=2)))
    assert [one.rate for one in clicks_by_position(page_views(log), log.variants)] == [0.0, None, 0.0, 0.0]


def test_queries_are_told_with_what_was_clicked() -> None:
    lines = pages(
        shown("A", "jo", query="p", clicks=(1, 2)),
        shown("A", "ola", query="p", clicks=(2,)),
        shown("B", "eve", query="p"),
        shown("B", "eve", query="q", clicks=(3,)),
    )
    log = log_of(lines)
    rows = clicks_by_query(log, page_views(log), lambda _query: False).rows
    assert [(one.query, one.variant, one.views, one.top_clicks, one.ctr_at_1, one.clicked) for one in rows] == [
        ("p", "A", 2, 1, 0.5, (("d2", 2), ("d1", 1))),
        ("p", "B", 1, 0, 0.0, ()),
        ("q", "A", 0, 0, None, ()),
        ("q", "B", 1, 0, 0.0, (("d3", 1),)),
    ]


def test_queries_asked_seldom_are_left_out_but_for_wanted_ones() -> None:
    asked = [shown("A", f"user{number}", query=f"q{number % 4}") for number in range(11)]  # q3 twice, others thrice
    log = log_of(pages(*asked))
    views = page_views(log)
    few = clicks_by_query(log, views, lambda _query: False, most=2)
    assert ([one.query for one in few.rows], few.left_out) == (["q0", "q1"], 2)
    wanted = clicks_by_query(log, views, lambda query: query == "q3", most=2)
    assert ([one.query for one in wanted.rows], wanted.left_out) == (["q0", "q3"], 2)
    every = clicks_by_query(log, views, lambda _query: True, most=2)
    assert ([one.query for one in every.rows], every.left_out) == (["q0", "q1", "q2", "q3"], 0)


def test_a_query_tells_the_ten_documents_clicked_most() -> None:
    log = log_of(shown("A", "jo", results=12, clicks=(*range(1, 13), 12)))
    (row,) = clicks_by_query(log, page_views(log), lambda _query: True).rows
    assert (len(row.clicked), row.clicked[0]) == (10, ("d12", 2))


@pytest.mark.parametrize(
    ("wanted", "lines", "sentence"),
    [
        (("A", "X"), LINES, "The log has no variant “X”; it has A, B, C."),
        (("A", "A"), LINES, "The variant “A” cannot be compared with itself."),
        (None, LINES, "The log has 3 variants; name the two to compare: A, B, C."),
        (None, shown("A", "jo"), "The log has one variant only, “A”, so there is none to compare it with."),
        (None, [Line(Event.IMPRESSION, position=1)], "The log does not say which variant an event is of."),
        (
            None,
            [Line(Event.CONVERSION, "A", "jo"), Line(Event.CLICK, "B", "ola", position=1)],
            "Nobody was shown a result in either variant, so there is nothing to compare.",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(wanted: tuple[str, str] | None, lines: list[Line], sentence: str) -> None:
    with pytest.raises((InvalidValueError, NotFoundError)) as refusal:
        compare_clicks(log_of(lines), ComparisonWanted(variants=wanted))
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    "wanted",
    [
        ComparisonWanted(return_days=0),
        ComparisonWanted(return_days=366),
        ComparisonWanted(expected=Expected(first_share=0.0)),
        ComparisonWanted(expected=Expected(first_share=1.0)),
        ComparisonWanted(expected=Expected(first_share=float("nan"))),
        ComparisonWanted(expected=Expected(pages_an_hour=0)),
        ComparisonWanted(difference=0.0),
        ComparisonWanted(difference=float("nan")),
    ],
)
def test_numbers_that_do_not_fit_are_refused(wanted: ComparisonWanted) -> None:
    with pytest.raises(InvalidValueError):
        compare_clicks(log_of(LINES), replace(wanted, variants=("A", "B")))


def test_a_log_without_any_click_is_compared_and_says_so() -> None:
    comparison = compare_clicks(log_of(pages(shown("A", "jo"), shown("B", "ola"))))
    row = comparison.row(ClickMeasure.TOP_CTR)
    assert (row.first, row.second, row.p) == (0, 0, None)
    assert row.reason is not None
    assert str(row.reason.sentence) == "Not tested: nobody clicked on anything in either variant."


@pytest.mark.parametrize("part", ComparisonTable)
def test_each_table_has_a_cell_under_each_heading(part: ComparisonTable) -> None:
    headings, rows = table_of(compare_clicks(LOG, WANTED), part)
    assert headings == HEADINGS[part]
    assert rows
    assert {len(row) for row in rows} == {len(headings)}


VIEWS = st.lists(
    st.builds(
        shown,
        st.sampled_from(["A", "B"]),
        st.sampled_from(["jo", "ola", "eve", None]),
        clicks=st.lists(st.integers(1, 3), max_size=3),
        query=st.sampled_from(["p", "q", None]),
        session=st.none(),
        page=st.sampled_from([1, 2, None]),
        at=st.integers(0, 3 * DAY).map(float),
    ),
    min_size=1,
    max_size=12,
)


@given(VIEWS)
def test_any_log_of_two_variants_is_compared(views: list[list[Line]]) -> None:
    both = pages(*views, shown("A", "jo", at=0.0), shown("B", "ola", at=0.0))
    comparison = compare_clicks(log_of(both), WANTED)
    assert from_json(json.loads(json.dumps(to_json(comparison), allow_nan=False))) == comparison
    assert sum(one.pages for one in comparison.variants) == len(page_views(log_of(both)).variant)
    turned = compare_clicks(log_of(both), replace(WANTED, variants=("B", "A")))
    for row, other in zip(comparison.measures, turned.measures, strict=True):
        assert (row.first, row.second) == (other.second, other.first)
        assert row.p == pytest.approx(other.p)
        assert row.difference is None or row.difference == pytest.approx(-(other.difference or 0))
