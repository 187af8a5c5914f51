"""What is looked at before a test of two variants is read."""

from dataclasses import replace

import pytest
from evaluation.online.made_logs import DAY, HOUR, Line, log_of, pages, shown

from annotator.clicks.evaluation.comparison.checks import (
    Check,
    CheckKind,
    CheckState,
    Expected,
    check_split,
    find_bots,
    split_p,
)
from annotator.clicks.evaluation.comparison.comparison import ComparisonWanted, compare_clicks, conclusion
from annotator.clicks.evaluation.logs.click_log import ClickLog, Dropped, Event
from annotator.clicks.evaluation.logs.page_views import page_views

EQUAL = pages(shown("A", "jo", clicks=(1,), at=0), shown("B", "ola", clicks=(2,), at=0))


def check_of(kind: CheckKind, log: ClickLog, wanted: ComparisonWanted | None = None) -> Check:
    checks = compare_clicks(log, wanted or ComparisonWanted()).checks
    assert [check.kind for check in checks] == [*CheckKind]
    return next(check for check in checks if check.kind is kind)


def test_the_split_is_tested_by_chi_square() -> None:
    # 500²/50000 twice is 10, of which chi-square with one degree of freedom has .00157 beyond.
    assert split_p(50_500, 49_500) == pytest.approx(0.00157, abs=5e-6)


@pytest.mark.parametrize(
    ("users", "share", "state"),
    [
        ((50_500, 49_500), 0.5, CheckState.FINE),  # p .00157 is no alarm
        ((50_600, 49_400), 0.5, CheckState.ALARM),  # 600²/50000 twice is 14.4: p .000148
        ((9_000, 1_000), 0.9, CheckState.FINE),
        ((9_000, 1_000), 0.5, CheckState.ALARM),
        ((7, 0), 0.5, CheckState.FINE),
        ((11, 0), 0.5, CheckState.ALARM),  # chi-square 11: p .00091
    ],
)
def test_a_split_that_is_not_by_chance_is_an_alarm(users: tuple[int, int], share: float, state: CheckState) -> None:
    check = check_split(users, Expected(first_share=share), has_users=True)
    assert check.state is state
    assert str(users[0]) in str(check.sentence)


def test_users_are_split_and_without_users_impressions() -> None:
    by_users = check_of(CheckKind.SPLIT, log_of(pages(EQUAL, *[shown("A", "jo", at=place) for place in range(1, 40)])))
    assert (by_users.state, str(by_users.sentence)[:13]) == (CheckState.FINE, "1 users and 1")
    nobody = [replace(line, user=None) for line in EQUAL]
    by_pages = check_of(CheckKind.SPLIT, log_of(nobody * 3))
    assert str(by_pages.sentence).startswith("3 impressions and 3: the first variant has 50.00 %")


def test_impressions_that_are_split_astray_are_an_alarm() -> None:
    check = check_split((100, 0), Expected(), has_users=False)
    assert check.state is CheckState.ALARM
    assert str(check.sentence).startswith("100 impressions and 0: the first variant has 100.00 % of them where 50.00 %")


def test_users_in_both_variants_are_counted() -> None:
    found = check_of(CheckKind.BOTH_VARIANTS, log_of([*EQUAL, *shown("B", "jo", at=HOUR)]))
    assert found.state is CheckState.ALARM
    assert str(found.sentence).startswith("1 of 2 users (50.00 %) were shown both variants")
    assert check_of(CheckKind.BOTH_VARIANTS, log_of(EQUAL)).state is CheckState.FINE


def test_a_few_users_in_both_variants_are_no_alarm() -> None:
    others = [shown("A" if number % 2 else "B", f"user{number}", at=0) for number in range(120)]
    found = check_of(CheckKind.BOTH_VARIANTS, log_of(pages(*others, shown("B", "user1", at=9))))
    assert found.state is CheckState.NOTICE


@pytest.mark.parametrize(("duplicates", "state"), [(0, CheckState.FINE), (1, CheckState.NOTICE), (2, CheckState.ALARM)])
def test_duplicate_events_are_told_by_their_share(duplicates: int, state: CheckState) -> None:
    log = replace(log_of(EQUAL), lines=100, dropped={Dropped.DUPLICATE: duplicates} if duplicates else {})
    assert check_of(CheckKind.DUPLICATES, log).state is state
    assert check_of(CheckKind.OTHER_EVENTS, log).state is CheckState.FINE


def test_events_that_do_not_count_are_told_with_those_the_reader_dropped() -> None:
    stray = Line(Event.CLICK, "A", "jo", query="never asked", position=1, at=5)
    log = replace(log_of([*EQUAL, stray]), dropped={Dropped.CLICK_WITHOUT_IMPRESSION: 3})
    found = check_of(CheckKind.OTHER_EVENTS, log)
    assert found.state is CheckState.ALARM
    assert str(found.sentence).startswith("4 events do not count")


def pages_within(seconds: float, count: int, user: str = "bot") -> list[Line]:
    return pages(*(shown("A", user, query=f"q{place}", at=place * seconds / count) for place in range(count)))


def test_users_with_more_pages_than_people_read_within_an_hour_are_bots() -> None:
    log = log_of([*EQUAL, *pages_within(HOUR, 101)])
    assert find_bots(log, page_views(log)).tolist() == [2]
    found = check_of(CheckKind.BOTS, log)
    assert found.state is CheckState.ALARM
    # 101 of 103 pages.
    assert str(found.sentence).startswith("1 users were shown more than 100 pages within an hour")
    assert "98.06 %" in str(found.sentence)


def test_a_hundred_pages_an_hour_or_more_in_two_hours_are_no_bot() -> None:
    log = log_of([*EQUAL, *pages_within(HOUR, 100), *pages_within(2 * HOUR, 200, user="reader")])
    assert check_of(CheckKind.BOTS, log).state is CheckState.FINE
    assert find_bots(log, page_views(log), pages_an_hour=99).tolist() == [2, 3]


def test_bots_can_be_left_out() -> None:
    log = log_of([*EQUAL, *pages_within(HOUR, 101)])
    comparison = compare_clicks(log, ComparisonWanted(expected=Expected(leaves_bots_out=True)))
    assert [one.pages for one in comparison.variants] == [1, 1]
    found = next(check for check in comparison.checks if check.kind is CheckKind.BOTS)
    assert (found.state, "are left out" in str(found.sentence)) == (CheckState.NOTICE, True)


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (CheckKind.BOTH_VARIANTS, [replace(line, user=None) for line in EQUAL]),
        (CheckKind.BOTS, [replace(line, user=None) for line in EQUAL]),
        (CheckKind.BOTS, [replace(line, at=None) for line in EQUAL]),
        (CheckKind.ENOUGH, EQUAL),  # one user of each: no spread
    ],
)
def test_a_check_for_which_the_log_says_too_little_is_not_available(kind: CheckKind, lines: list[Line]) -> None:
    found = check_of(kind, log_of(lines))
    assert found.state is CheckState.UNKNOWN
    assert str(found.sentence).startswith("Not available: ")


@pytest.mark.parametrize(
    ("lines", "state", "sentence"),
    [
        (EQUAL, CheckState.FINE, "There are clicks in both variants."),
        (
            pages(shown("A", "jo", clicks=(1,)), shown("B", "ola")),
            CheckState.ALARM,
            "Nobody clicked on anything in the variant “B”; perhaps its clicks are not in this log.",
        ),
        (
            pages(shown("A", "jo"), shown("B", "ola")),
            CheckState.ALARM,
            "Nobody clicked on anything in either variant; perhaps clicks are not in this log.",
        ),
    ],
)
def test_a_variant_without_any_click_is_an_alarm(lines: list[Line], state: CheckState, sentence: str) -> None:
    found = check_of(CheckKind.CLICKS, log_of(lines))
    assert (found.state, str(found.sentence)) == (state, sentence)


def one_page_each(users: int, clicking: int, variant: str, days: float = 1) -> list[Line]:
    """Users with a page each, spread over the days to the last."""
    return pages(
        *(
            shown(
                *(variant, f"{variant}{number}"),
                clicks=(1,) if number < clicking else (),
                results=1,
                at=number * days * DAY / (users - 1),
            )
            for number in range(users)
        )
    )


def test_too_few_users_are_told_with_the_days_it_takes() -> None:
    # Of 100 users 20 and 30 clicked: s² = (.2 · .8 + .3 · .7) / 2 · 100/99 = .186869; for .1 that takes
    # 16 · .186869 / .01 = 298.99 users, and for the 199 that lack 199/100 of the 2 days there were: 3.98.
    lines = one_page_each(100, 20, "A", days=2) + one_page_each(100, 30, "B", days=2)
    found = check_of(CheckKind.ENOUGH, log_of(lines), ComparisonWanted(difference=0.1))
    assert found.state is CheckState.NOTICE
    assert str(found.sentence) == (
        "Too few users: a difference of 0.1 in CTR@1 takes 299 of each variant, and one has 100. At this rate it takes "
        "4 more days."
    )


def test_enough_users_are_told() -> None:
    # For .2 it takes a quarter: 74.7.
    lines = one_page_each(100, 20, "A") + one_page_each(100, 30, "B")
    found = check_of(CheckKind.ENOUGH, log_of(lines), ComparisonWanted(difference=0.2))
    assert found.state is CheckState.FINE
    assert str(found.sentence) == (
        "Enough users: a difference of 0.2 in CTR@1 takes 75 of each variant, and there are 100 or more."
    )


def test_enough_impressions_are_told_by_the_first_pages_where_positions_are_not_said() -> None:
    # Of 100 pages 50 have a click: 16 · .25 · 100/99 / .25 is 16.2.
    page, click = Line(Event.IMPRESSION, "A"), Line(Event.CLICK, "A")
    half = [page, click, page] * 50
    log = log_of([*half, *(replace(line, variant="B") for line in half)])
    found = check_of(CheckKind.ENOUGH, log, ComparisonWanted(difference=0.5))
    assert found.state is CheckState.FINE
    assert str(found.sentence) == (
        "Enough impressions: a difference of 0.5 in first_page_CTR takes 17 of each variant, and there are 100 or more."
    )


def test_without_first_pages_it_cannot_be_told_how_many_users_are_enough() -> None:
    later = pages(shown("A", "jo", page=2), shown("B", "ola", page=2))
    assert check_of(CheckKind.ENOUGH, log_of(later)).state is CheckState.UNKNOWN


@pytest.mark.parametrize(
    ("has_users", "has_times", "words"),
    [
        (True, False, ("Too few users", "one has 100.")),
        (False, True, ("Too few impressions", "more days.")),
        (False, False, ("Too few impressions", "one has 100.")),
    ],
)
def test_without_times_no_days_are_told_and_without_users_impressions_are(
    *, has_users: bool, has_times: bool, words: tuple[str, str]
) -> None:
    lines = one_page_each(100, 20, "A") + one_page_each(100, 30, "B")
    own = [
        replace(line, user=line.user if has_users else None, at=line.at if has_times else None, query=None)
        for line in lines
    ]
    sentence = str(check_of(CheckKind.ENOUGH, log_of(own), ComparisonWanted(difference=0.1)).sentence)
    assert (sentence.startswith(words[0]), sentence.endswith(words[1])) == (True, True)


def test_where_no_difference_is_named_a_twentieth_of_the_mean_of_both_is_to_be_found() -> None:
    lines = one_page_each(100, 20, "A") + one_page_each(100, 30, "B")
    assert "a difference of 0.0125 in CTR@1" in str(check_of(CheckKind.ENOUGH, log_of(lines)).sentence)


@pytest.mark.parametrize("difference", [None, 0.1])
def test_as_many_users_are_needed_whichever_variant_is_named_first(difference: float | None) -> None:
    log = log_of(one_page_each(100, 20, "A") + one_page_each(90, 30, "B"))
    one, other = (
        check_of(CheckKind.ENOUGH, log, ComparisonWanted(variants=variants, difference=difference))
        for variants in (("A", "B"), ("B", "A"))
    )
    assert str(one.sentence) == str(other.sentence)


@pytest.mark.parametrize(
    ("clicks", "beginning", "state"),
    [
        (
            (20, 70),
            "Significant: CTR@1 of B less that of A is +0.5, which is +250.0 % of the value of A",
            CheckState.FINE,
        ),
        ((20, 22), "Not decided: CTR@1 of B less that of A is +0.02, which is +10.0 %", CheckState.NOTICE),
        ((0, 0), "No conclusion: see “Clicks at all”.", CheckState.UNKNOWN),
    ],
)
def test_there_is_one_conclusion_and_the_number_of_users_does_not_contradict_it(
    clicks: tuple[int, int], beginning: str, state: CheckState
) -> None:
    # A twentieth of the mean would take thousands of users, and there are a hundred.
    log = log_of(one_page_each(100, clicks[0], "A") + one_page_each(100, clicks[1], "B"))
    found = compare_clicks(log)
    assert str(conclusion(found)).startswith(beginning)
    assert check_of(CheckKind.ENOUGH, log).state is state
