"""Which run gets the credit for a click, by the log itself or by the file of lists, and what counts for none."""

from dataclasses import replace

import pytest
from interleaved_logs import Happened, click, log_of, shown

from annotator.clicks.evaluation.interleaving.interleaving import NO_TEAM, InterleavedLists, Method, Placed, interleave
from annotator.clicks.evaluation.interleaving.interleaving_clicks import (
    CreditedLists,
    Uncounted,
    credited_by_lists,
    credited_by_variant,
)
from annotator.clicks.evaluation.logs.click_log import Dropped, Event
from annotator.errors import InvalidValueError, NotFoundError


def credit_of(*events: Happened, variants: tuple[str, ...] = ()) -> CreditedLists:
    return credited_by_variant(log_of(events), variants)


def rows(credited: CreditedLists) -> list[list[int]]:
    return sorted(credited.credit.tolist())


def test_a_click_counts_for_the_variant_on_its_line() -> None:
    found = credit_of(click("jo", "a", "A"), click("jo", "b", "B"), click("jo", "c", "A"), click("kim", "b", "B"))
    assert found.runs == ("A", "B")
    assert rows(found) == [[0, 1], [2, 1]]


def test_a_list_is_what_one_session_saw_for_one_query() -> None:
    found = credit_of(
        click("jo", "a", "A", session="1"),
        click("jo", "b", "B", session="2"),
        click("jo", "a", "A", session="1", query="other"),
        click("kim", "a", "A", session="1"),  # a session of another user, though it is called the same
        click("kim", "b", "B", session="1"),
    )
    assert rows(found) == [[0, 1], [1, 0], [1, 0], [1, 1]]
    # Jo has three lists, Kim one.
    assert sorted(found.unit.tolist()).count(found.unit[0]) in {1, 3}


def test_without_sessions_a_list_is_what_a_user_saw_and_without_users_sessions_are_the_units() -> None:
    assert rows(credit_of(click("jo", "a", "A"), click("jo", "b", "B"))) == [[1, 1]]
    found = credit_of(click(None, "a", "A", session="1"), click(None, "b", "B", session="2"))
    assert rows(found) == [[0, 1], [1, 0]]
    assert len(set(found.unit.tolist())) == 2


def test_users_and_sessions_that_lines_leave_out_are_never_taken_for_one_another() -> None:
    # The first user and the first session have the same code.
    found = credit_of(click("jo", "a", "A"), click(None, "b", "B", session="1"), click("kim", "c", "A", session="2"))
    assert rows(found) == [[0, 1], [1, 0], [1, 0]]
    assert len(set(found.unit.tolist())) == 3


def test_a_result_clicked_again_counts_once() -> None:
    found = credit_of(click("jo", "a", "A"), click("jo", "a", "A"), click("jo", "b", "B"), click("kim", "a", "A"))
    assert rows(found) == [[1, 0], [1, 1]]
    assert found.uncounted == {Uncounted.REPEATED: 1}


def test_results_without_a_document_are_told_apart_by_position_and_those_without_either_each_count() -> None:
    placed = [Happened(Event.CLICK, "1", None, "A", "jo", position=place) for place in (1, 2, 2)]
    nowhere = [Happened(Event.CLICK, "1", None, "B", "jo") for _ in range(3)]
    assert rows(credit_of(*placed, *nowhere)) == [[2, 3]]


def test_lists_without_a_click_that_counts_are_shown_and_not_counted() -> None:
    found = credit_of(
        *(shown(user, variant="mixed") for user in ("jo", "kim", "lee", "max")),
        click("jo", "a", "A"),
        click("kim", "b", "B"),
        click("lee", "c", None),
    )
    assert found.runs == ("A", "B")  # and not what the whole page is called
    assert found.shown == 4
    assert rows(found) == [[0, 1], [1, 0]]
    assert found.uncounted == {Uncounted.OF_NO_RUN: 1}
    assert credit_of(click("jo", "a", "A"), click("jo", "b", "B")).shown is None


def test_named_variants_come_in_their_order_and_the_others_count_for_nobody() -> None:
    events = [click("jo", "a", "A"), click("jo", "b", "B"), click("kim", "c", "C")]
    found = credit_of(*events, variants=("C", "A"))
    assert found.runs == ("C", "A")
    assert rows(found) == [[0, 1], [1, 0]]
    assert found.uncounted == {Uncounted.OF_NO_RUN: 1}


def test_clicks_of_nobody_are_counted_and_the_rest_is_scored() -> None:
    found = credit_of(click(None, "a", "A"), click("jo", "b", "B"))
    assert rows(found) == [[0, 1]]
    assert found.uncounted == {Uncounted.NOBODY: 1}


@pytest.mark.parametrize(
    ("events", "variants", "words"),
    [
        ([shown("jo")], (), "The log has no click"),
        ([click(None, "a", "A"), click(None, "b", "B")], (), "in which session or by which user"),
        ([click("jo", "a", "A")], (), "The log has one variant only, A"),
        ([click("jo", "a", None)], (), "The log has one variant only, -"),
        ([click("jo", "a", "A"), click("jo", "b", "B")], ("A",), "one variant only, A"),
        ([click("jo", "a", "A"), click("jo", "b", "B")], ("A", "A"), "given twice"),
        ([click("jo", "a", str(number)) for number in range(21)], (), "There are 21 variants, too many to be runs"),
    ],
)
def test_what_cannot_be_scored_is_refused(events: list[Happened], variants: tuple[str, ...], words: str) -> None:
    with pytest.raises(InvalidValueError, match=words):
        credit_of(*events, variants=variants)


def test_clicks_that_were_left_out_as_never_shown_are_not_called_none() -> None:
    log = replace(log_of([shown("jo")]), dropped={Dropped.CLICK_WITHOUT_IMPRESSION: 3})
    with pytest.raises(InvalidValueError, match="Clicks left out: 3"):
        credited_by_variant(log)


def test_an_unknown_variant_is_refused_with_those_there_are() -> None:
    with pytest.raises(NotFoundError, match="no variant “D”; it has: A, B"):
        credit_of(click("jo", "a", "A"), click("jo", "b", "B"), variants=("A", "D"))


TEAMS = InterleavedLists(
    Method.TEAM_DRAFT,
    ("A", "B"),
    {
        ("7", 1): (Placed("x", 1, 0, (1, 2)), Placed("y", 2, 1, (2, 1)), Placed("z", 3, NO_TEAM, (0, 3))),
        ("7", 2): (Placed("y", 1, 1, (2, 1)), Placed("x", 2, 0, (1, 2))),
        ("8", 1): (Placed("x", 1, 1, (1, 1)),),
    },
)


def test_by_the_file_of_lists_the_variant_is_the_lists_number_and_the_query_the_topic() -> None:
    found = credited_by_lists(
        log_of(
            [
                click("jo", "x", "1", "7"),
                click("kim", "x", "2", "7"),
                click("kim", "y", "2", "7"),
                click("lee", "x", "1", "8"),
            ]
        ),
        TEAMS,
    )
    assert (found.runs, found.method) == (("A", "B"), Method.TEAM_DRAFT)
    assert rows(found) == [[0, 1], [1, 0], [1, 1]]


def test_two_lists_of_a_topic_that_one_user_saw_are_two() -> None:
    log = log_of([click("jo", "x", "1", "7"), click("jo", "x", "2", "7")])
    assert rows(credited_by_lists(log, TEAMS)) == [[1, 0], [1, 0]]


def test_lists_are_told_apart_also_where_there_are_more_than_64_bits_can_number() -> None:
    # With 2**31 sessions, 2**16 queries and 2**17 lists (each less what is not said), session 0 and the first user
    # without a session are 2**64 apart.
    log = replace(
        log_of([click("jo", "x", "1", "7", session="s"), click("kim", "x", "1", "7")]),
        sessions=1 << 31,
        queries=("7", *(f"q{number}" for number in range((1 << 16) - 2))),
        variants=("1", *(f"v{number}" for number in range((1 << 17) - 2))),
    )
    log.user[1] = 0
    assert rows(credited_by_lists(log, TEAMS)) == [[1, 0], [1, 0]]


def test_clicks_that_the_file_of_lists_does_not_explain_are_counted_by_reason() -> None:
    events = [
        click("jo", "x", "1", "7"),
        click("jo", "z", "1", "7"),  # nobody's pick
        click("kim", "x", "3", "7"),  # no such list
        click("kim", "x", "1", "9"),  # no such topic
        click("kim", "x", None, "7"),
        click("lee", "w", "1", "7"),  # not on the list
        click("lee", "y", "1", "8"),  # on a list of another topic
        click("lee", None, "1", "7"),
    ]
    found = credited_by_lists(log_of(events), TEAMS)
    assert rows(found) == [[1, 0]]
    assert found.uncounted == {Uncounted.UNKNOWN_LIST: 3, Uncounted.NOT_IN_LIST: 3, Uncounted.OF_NO_RUN: 1}


def test_a_log_of_other_lists_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="No click of the log is on a list of the file"):
        credited_by_lists(log_of([click("jo", "x", "A", "7")]), TEAMS)


def balanced_lists() -> InterleavedLists:
    """The example of Radlinski, Kurup and Joachims (CIKM 2008); a list begins with a or with b."""
    ranked = {"A": {"1": "abcdgh"}, "B": {"1": "beafgh"}}
    return interleave(ranked, Method.BALANCED, depth=8, lists=20, seed=1)


@pytest.mark.parametrize(
    ("clicked", "credit"),
    [
        # The lowest is e, second of B: k is 2. A has b among its first two, B has b and e.
        ("be", [1, 2]),
        # The lowest is a, first of A: k is 1. In the list that begins with b it is lower than b.
        ("a", [1, 0]),
        ("b", [0, 1]),
        # The lowest is g, fifth of both: k is 5, and so each has all of its own.
        ("abg", [3, 3]),
        # The lowest is d, fourth of A: k is 4. A has a and d, B has a.
        ("ad", [2, 1]),
    ],
)
def test_of_balanced_lists_a_run_has_the_clicks_among_its_first_k(clicked: str, credit: list[int]) -> None:
    lists = balanced_lists()
    leading = {placed[0].docno: number for (_, number), placed in lists.lists.items()}
    log = log_of([click(f"u{number}", docno, str(number)) for number in leading.values() for docno in clicked])
    assert rows(credited_by_lists(log, lists)) == [credit, credit]


def test_one_click_at_random_on_a_balanced_list_prefers_the_run_of_the_shifted_list() -> None:
    # What Radlinski, Kurup and Joachims (CIKM 2008) found wrong with it: of a b c d and b c d a only a click on a is
    # for the first, those on b, c and d are for the second.
    lists = interleave({"A": {"1": "abcd"}, "B": {"1": "bcda"}}, Method.BALANCED, depth=4, lists=1, seed=1)
    log = log_of([click(f"u{docno}", docno, "1") for docno in "abcd"])
    credit = credited_by_lists(log, lists).credit
    assert ((credit[:, 0] > credit[:, 1]).sum(), (credit[:, 0] < credit[:, 1]).sum()) == (1, 3)


def test_a_document_past_the_end_of_the_shorter_run_counts_for_neither_and_sets_no_k() -> None:
    lists = interleave({"A": {"1": "a"}, "B": {"1": "bcd"}}, Method.BALANCED, depth=4, lists=1, seed=1)
    log = log_of([click("jo", "a", "1"), click("jo", "d", "1"), click("kim", "d", "1")])
    found = credited_by_lists(log, lists)
    assert rows(found) == [[1, 0]]
    assert found.uncounted == {Uncounted.OF_NO_RUN: 2}
