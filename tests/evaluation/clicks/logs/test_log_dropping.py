"""Events of a click log that do not count: what comes twice, and what was never shown."""

import pytest
from evaluation.online.log_text import read

from annotator.clicks.evaluation.logs.click_log import Dropped


def test_the_same_event_twice_counts_once() -> None:
    line = "10,u1,q,A,d1,impression\n"
    text = f"time,user,query,variant,docno,event\n{line}{line}10,u2,q,A,d1,impression\n11,u1,q,A,d1,impression\n{line}"
    log = read(text)
    assert (log.user.tolist(), log.dropped, log.lines) == ([0, 1, 0], {Dropped.DUPLICATE: 2}, 5)


@pytest.mark.parametrize("heading", ["time,query", "user,query"], ids=["without users", "without times"])
def test_where_it_is_not_known_who_did_it_or_when_nothing_is_a_duplicate(heading: str) -> None:
    log = read(f"{heading},event\n10,q,impression\n10,q,impression\n")
    assert (log.event.size, log.dropped) == (2, {})


NEVER_SHOWN = [
    ("shown", "u1,q,1,d1", "u1,q,1,d1", True),
    ("another document", "u1,q,1,d1", "u1,q,1,d2", False),
    ("another user", "u1,q,1,d1", "u2,q,1,d1", False),
    ("another query", "u1,q,1,d1", "u1,r,1,d1", False),
    ("the document has moved", "u1,q,1,d1", "u1,q,5,d1", True),
    ("by position alone", "u1,q,1,d1", "u1,q,1,", True),
    ("another position", "u1,q,1,d1", "u1,q,2,", False),
    ("shown without document", "u1,q,1,", "u1,q,1,d1", True),
    ("shown elsewhere without document", "u1,q,1,", "u1,q,2,d1", False),
    ("shown as a page", "u1,q,,", "u1,q,2,d1", True),
    ("of another page", "u1,q,,", "u1,r,2,d1", False),
    ("on what was not said", "u1,q,1,d1", "u1,q,,", True),
]


@pytest.mark.parametrize(
    ("impression", "click", "counts"), [pytest.param(*case[1:], id=case[0]) for case in NEVER_SHOWN]
)
def test_a_click_counts_when_what_it_is_on_was_shown(impression: str, click: str, *, counts: bool) -> None:
    log = read(f"user,query,position,docno,event\n{impression},impression\n{click},click\n")
    assert log.dropped == ({} if counts else {Dropped.CLICK_WITHOUT_IMPRESSION: 1})
    assert log.event.tolist() == ([0, 1] if counts else [0])


def test_users_and_documents_of_whom_nothing_counts_are_not_in_the_log() -> None:
    text = "user,docno,event,value\nu1,d1,click,\nu2,d2,impression,\nu1,d1,dwell,3\nu3,d3,impression,\n"
    log = read(text)
    assert log.dropped == {Dropped.CLICK_WITHOUT_IMPRESSION: 1, Dropped.DWELL_WITHOUT_IMPRESSION: 1}
    assert (log.users, log.user.tolist(), log.docnos, log.docno.tolist()) == (2, [0, 1], ("d2", "d3"), [0, 1])


def test_a_log_without_impressions_keeps_its_clicks() -> None:
    assert read("docno,event\nd1,click\n").dropped == {}
