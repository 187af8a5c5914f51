"""Taking a topic along: what is held, for how long, and that it comes back."""

from datetime import timedelta

import pytest
from build import NOW, SLUG, document_file, member, news, pool, pooled_news, run, topic_file
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.storage import PoolItem
from annotator.storage.judging.judge_history import ShownDocument
from annotator.storage.judging.leases import Decision, give_back_expired, return_assignments
from annotator.storage.tables.judging import LEASE
from annotator.workflows.collections.collection import close_collection
from annotator.workflows.judging import judging, recording, taking_along
from annotator.workflows.judging.taking_along import MOST_TAKEN, Kept

DAY = timedelta(hours=24)


def taken_items(session: Session) -> int:
    return sum(session.scalars(select(PoolItem.taken)))


def test_a_topic_is_held_for_a_day_and_its_documents_go_to_nobody_else(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    [first, *_] = [one.assignment_id for one in shown(session, jo)]
    taken = taking_along.take_along(session, SLUG, "1", jo, now=NOW)
    assert len(taken.assignments) == 4
    assert taken.assignments[0] == first
    assert taken.until == NOW + DAY
    assert taking_along.show_kept(session, SLUG, "1", jo, now=NOW) == Kept(4, taken.until)
    assert judging.next_task(session, SLUG, "1", kim, now=NOW + 10 * LEASE) is None
    # Judging renews leases, and shortens none.
    recording.record_judgement(session, SLUG, first, jo, Decision(1), client_id="c", judged_at=NOW + LEASE)
    [row] = taking_along.list_taken(session, SLUG, now=NOW + LEASE)
    assert (row.judge, row.number, row.documents, row.until) == ("jo", "1", 3, taken.until)
    assert give_back_expired(session, NOW + DAY + LEASE) == 3
    assert judging.next_task(session, SLUG, "1", kim, now=NOW + DAY + LEASE) is not None


def shown(session: Session, judge: int) -> tuple[ShownDocument, ...]:
    task = judging.next_task(session, SLUG, "1", judge, now=NOW)
    assert task is not None
    return task.documents


def test_what_is_given_back_is_free_again(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    taking_along.take_along(session, SLUG, "1", jo, now=NOW)
    judging.next_task(session, SLUG, "2", jo, now=NOW)
    assert taking_along.give_back(session, SLUG, "1", jo, now=NOW) == 4
    assert taking_along.show_kept(session, SLUG, "1", jo, now=NOW) == Kept(0, None)
    assert taking_along.take_along(session, SLUG, "1", kim, now=NOW).assignments
    assert taken_items(session) == 6


def test_signing_out_gives_back_what_was_taken_along(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    taking_along.take_along(session, SLUG, "1", jo, now=NOW)
    assert return_assignments(session, jo) == 4
    assert taking_along.list_taken(session, SLUG, now=NOW) == []


def test_an_item_goes_to_no_more_judges_than_it_wants_and_at_most_two_hundred_to_one(session: Session) -> None:
    news(session)
    topic_file(session)
    docnos = [f"d{number:03}" for number in range(MOST_TAKEN + 20)]
    document_file(session, docnos)
    run(session, "alpha", {"1": docnos})
    pool(session, depth=len(docnos))
    jo, kim = member(session, "jo"), member(session, "kim")
    assert len(taking_along.take_along(session, SLUG, "1", jo, now=NOW).assignments) == MOST_TAKEN
    assert len(taking_along.take_along(session, SLUG, "1", kim, now=NOW).assignments) == 20
    assert taken_items(session) == MOST_TAKEN + 20


def test_nothing_is_taken_along_of_a_closed_collection(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="Judging has ended"):
        taking_along.take_along(session, SLUG, "1", jo, now=NOW)
