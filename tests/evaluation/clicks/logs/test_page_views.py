"""Pages put together from events, against logs in which every page can be counted by eye."""

from dataclasses import replace

import pytest
from evaluation.online.made_logs import Line, log_of, pages, shown
from hypothesis import given
from hypothesis import strategies as st

from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Event
from annotator.clicks.evaluation.logs.page_views import Outside, PageViews, page_views


def views_of(*views: list[Line], is_line_a_result: bool = False) -> PageViews:
    return page_views(log_of(pages(*views), is_line_a_result=is_line_a_result))


def test_a_page_is_its_impressions_and_clicks() -> None:
    views = views_of(shown("A", "jo", clicks=(2, 1), at=0))
    assert (views.results.tolist(), views.clicks.tolist(), views.top_clicks.tolist()) == ([3], [2], [1])
    assert (views.first_click.tolist(), views.seconds_to_first.tolist()) == ([2], [10.0])
    assert views.has_top.tolist() == [True]
    assert views.outside == {}


def test_a_position_shown_again_begins_another_view() -> None:
    # The same page is loaded three times; the clicks after the second loading are of the second.
    again = shown("A", "jo", at=100, clicks=(3,))
    views = views_of(shown("A", "jo", at=0), again, shown("A", "jo", at=200))
    assert (views.results.tolist(), views.clicks.tolist()) == ([3, 3, 3], [0, 1, 0])


def test_a_view_holds_positions_that_were_not_yet_shown_in_it() -> None:
    # 1 2 | 1 3 2 | 3 1 2: the third line from the end repeats 3, which the second view has shown.
    lines = [Line(Event.IMPRESSION, "A", "jo", position=rank) for rank in (1, 2, 1, 3, 2, 3, 1, 2)]
    assert views_of(lines).results.tolist() == [2, 3, 3]


def test_users_queries_pages_and_variants_are_kept_apart() -> None:
    views = views_of(
        shown("A", "jo"),
        shown("A", "ola"),
        shown("A", "jo", query="other"),
        shown("A", "jo", page=2),
        shown("B", "jo"),
    )
    assert views.results.tolist() == [3] * 5
    assert views.variant.tolist() == [0, 0, 0, 0, 1]
    assert views.is_first_page.tolist() == [True, True, True, False, True]


def test_pages_of_two_users_at_once_are_not_mixed() -> None:
    jo, ola = shown("A", "jo", clicks=(1,), at=0), shown("A", "ola", clicks=(2, 3), at=0.5)
    mixed = [line for pair in zip(jo, ola, strict=False) for line in pair] + ola[len(jo) :]
    views = views_of(mixed)
    assert (views.results.tolist(), views.clicks.tolist(), views.first_click.tolist()) == ([3, 3], [1, 2], [1, 2])


def test_views_are_in_order_of_time_whatever_the_codes_are() -> None:
    views = views_of(shown("A", "jo", at=50), shown("A", "ola", at=10), shown("B", "jo", query="p", at=30))
    assert views.time.tolist() == sorted(views.time.tolist())
    assert views.user.tolist() == [1, 0, 0]


def test_an_impression_without_document_and_position_is_a_page() -> None:
    page, click = Line(Event.IMPRESSION, "A", "jo"), Line(Event.CLICK, "A", "jo", position=1)
    views = views_of([page, page, click])
    assert (views.clicks.tolist(), views.results.tolist()) == ([0, 1], [0, 0])
    assert (views.has_top.tolist(), views.top_clicks.tolist()) == ([True, True], [0, 1])


def test_without_positions_a_document_shown_again_begins_another_view() -> None:
    lines = [Line(Event.IMPRESSION, "A", "jo", docno=docno) for docno in ("a", "b", "a", "b")]
    assert views_of(lines).results.tolist() == [2, 2]


def test_where_nobody_says_who_saw_what_each_impression_is_a_view() -> None:
    lines = [Line(Event.IMPRESSION, "A", position=rank) for rank in (1, 2, 3)]
    assert views_of(lines).results.tolist() == [1, 1, 1]


def test_where_a_line_is_a_result_its_click_follows_it() -> None:
    # Two users' lines with the same time and position; only the second was clicked.
    first = Line(Event.IMPRESSION, "A", "jo", position=2, at=5)
    views = views_of([first, first, Line(Event.CLICK, "A", "jo", position=2, at=5), first], is_line_a_result=True)
    assert (views.clicks.tolist(), views.first_click.tolist()) == ([0, 1, 0], [0, 2, 0])
    assert views.has_top.tolist() == [False] * 3


def test_a_click_that_names_the_document_alone_is_at_the_position_where_it_was_shown() -> None:
    lines = [*shown("A", "jo"), Line(Event.CLICK, "A", "jo", query="q", page=1, docno="d1")]
    views = views_of(lines)
    assert (views.top_clicks.tolist(), views.first_click.tolist()) == ([1], [1])


def test_a_click_that_names_the_position_alone_is_on_the_document_shown_there() -> None:
    log = log_of([*shown("A", "jo"), Line(Event.CLICK, "A", "jo", query="q", page=1, position=3)])
    assert [log.docnos[code] for code in page_views(log).clicked.docno] == ["d3"]


def test_a_click_that_does_not_name_the_page_is_on_the_one_shown_last() -> None:
    click = Line(Event.CLICK, "A", "jo", query="q", position=2)
    views = views_of([*shown("A", "jo", page=1), *shown("A", "jo", page=2), click])
    assert views.clicks.tolist() == [0, 1]


def test_what_was_done_on_no_page_is_counted() -> None:
    lines = [
        Line(Event.CLICK, "A", "gus", position=1),
        Line(Event.DWELL, "A", "gus", position=1, value=40),
        *shown("A", "jo"),
        Line(Event.CLICK, "A", "jo", query="never asked", page=1, position=1),
    ]
    views = views_of(lines)
    assert views.outside == {Outside.CLICK: 2, Outside.DWELL: 1}
    assert views.clicks.tolist() == [0]


DWELL = Line(Event.DWELL, "A", "jo", query="q", page=1, value=30.0)


@pytest.mark.parametrize(
    ("dwell", "satisfies"),
    [
        (replace(DWELL, position=1, docno="d1"), [True]),
        (replace(DWELL, position=1, docno="d1", value=29.9), [False]),
        (replace(DWELL, docno="d1"), [True]),
        (replace(DWELL, position=1), [True]),
        (DWELL, [True]),
        (replace(DWELL, position=2, docno="d2"), [False]),  # which was not clicked
    ],
)
def test_a_click_satisfies_when_somebody_stays_half_a_minute(dwell: Line, satisfies: list[bool]) -> None:
    assert views_of([*shown("A", "jo", clicks=(1,)), dwell]).is_satisfied.tolist() == satisfies


def test_the_last_click_of_a_session_satisfies() -> None:
    views = views_of(
        shown("A", "jo", session="s", clicks=(1, 2), at=0),
        shown("A", "jo", session="s", query="more", clicks=(1,), at=100),
        shown("A", "jo", session="s", query="and more", at=200),
        shown("A", "jo", session="t", clicks=(3,), at=300),
    )
    assert views.is_satisfied.tolist() == [False, True, False, True]


def test_a_log_without_impressions_has_no_view() -> None:
    views = views_of([Line(Event.CLICK, "A", "jo", position=1, at=0)])
    assert (views.variant.size, views.outside) == (0, {Outside.CLICK: 1})


def by_hand(log: ClickLog) -> tuple[list[list[int]], dict[int, int]]:
    """The views by their impressions, and the view of each click, going through the events one by one."""
    views: list[list[int]] = []
    latest: dict[tuple[int, ...], int] = {}
    clicked: dict[int, int] = {}
    for place in range(log.event.size):
        key = tuple(int(codes[place]) for codes in (log.variant, log.user, log.session, log.query, log.page))
        position = int(log.position[place])
        if log.event[place] == Event.IMPRESSION:
            view = latest.get(key)
            seen = [] if view is None else [int(log.position[one]) for one in views[view]]
            if view is None or position == NOT_SAID or position in seen:
                latest[key] = view = len(views)
                views.append([])
            views[view].append(place)
        elif key in latest:
            clicked[place] = latest[key]
    return views, clicked


EVENTS = st.lists(
    st.tuples(
        st.sampled_from([Event.IMPRESSION, Event.IMPRESSION, Event.CLICK]),
        st.sampled_from(["A", "B"]),
        st.sampled_from(["jo", "ola"]),
        st.sampled_from(["p", "q"]),
        st.sampled_from([1, 2, 3, None]),
    ),
    max_size=40,
)


@given(EVENTS)
def test_views_are_those_that_going_through_the_events_gives(
    events: list[tuple[Event, str, str, str, int | None]],
) -> None:
    log = log_of(
        Line(event, variant, user, query=query, page=1, position=position)
        for event, variant, user, query, position in events
    )
    views, clicked = by_hand(log)
    found = page_views(log)
    assert found.results.tolist() == [sum(log.position[one] != NOT_SAID for one in view) for view in views]
    assert found.clicks.tolist() == [list(clicked.values()).count(view) for view in range(len(views))]
    assert found.outside.get(Outside.CLICK, 0) == int((log.event == Event.CLICK).sum()) - len(clicked)


@given(EVENTS)
def test_other_codes_for_the_same_users_change_nothing(events: list[tuple[Event, str, str, str, int | None]]) -> None:
    log = log_of(
        Line(event, variant, user, query=query, page=1, position=position)
        for event, variant, user, query, position in events
    )
    other = page_views(replace(log, user=(log.users - 1 - log.user).astype(log.user.dtype)))
    assert page_views(log).results.tolist() == other.results.tolist()
    assert page_views(log).clicks.tolist() == other.clicks.tolist()
