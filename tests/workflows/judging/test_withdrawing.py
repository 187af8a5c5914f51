"""Withdrawn judgements, and acts that are sent again after the database was restored."""

from dataclasses import replace
from datetime import timedelta

import pytest
from build import NOW, SLUG, member, pooled_news
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.qrels.topic_judgements import CURRENT
from annotator.storage import Assignment, Document, Judgement, PoolItem
from annotator.storage.collections.checking import examine_collection
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.judge_history import recent_judgements
from annotator.storage.judging.leases import Decision, return_assignments
from annotator.storage.judging.progress import days_of_judges
from annotator.storage.site.epoch import begin_epoch, current_epoch
from annotator.workflows.judging import judging
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging_turn import count_on, count_topic
from annotator.workflows.judging.recording import Recorded, record_acts, record_judgement
from annotator.workflows.judging.topic_judgements import read_judgements


def drawn(session: Session, judge: int, topic: str = "1") -> dict[str, int]:
    """Docno → the judge's assignment, in the order of showing."""
    task = judging.next_task(session, SLUG, topic, judge, now=NOW)
    assert task is not None
    return {one.docno: one.assignment_id for one in task.documents}


def send(session: Session, judge: int, *acts: Act, minutes: float = 0) -> Recorded:
    return record_acts(session, SLUG, judge, acts, received_at=NOW + timedelta(minutes=minutes))


def grade(id_: str, assignment: int, value: int = 1) -> Act:
    return Act(id_, assignment, Decision(value), tab="t")


def withdrawal(id_: str, assignment: int, judgement: str) -> Act:
    return Act(id_, assignment, None, tab="t", withdraws=judgement)


def counting(session: Session) -> list[str]:
    """Ids of the judgements that count."""
    return list(session.scalars(select(Judgement.client_id).where(Judgement.current).order_by(Judgement.id)))


def is_in_order(session: Session) -> bool:
    return not any(finding.count for finding in examine_collection(session, find_collection(session, SLUG).id))


def test_a_withdrawn_judgement_does_not_count_and_the_document_is_the_judges_again(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    held = drawn(session, jo)
    first, second = list(held.values())[:2]
    send(session, jo, grade("a", first, 2), grade("b", second))
    assert send(session, jo, withdrawal("w", first, "a"), minutes=20) == Recorded(("w",), ())
    assert send(session, jo, withdrawal("w", first, "a"), minutes=21) == Recorded(("w",), ())
    assert counting(session) == ["b"]
    again = session.get_one(Assignment, first, populate_existing=True)
    assert (again.state, again.lease_until) == ("live", NOW + timedelta(minutes=50))
    assert drawn(session, jo)[next(iter(held))] == first
    assert is_in_order(session)
    send(session, jo, grade("c", first, 0), minutes=22)
    assert counting(session) == ["b", "c"]
    assert is_in_order(session)


def test_a_withdrawn_judgement_is_left_out_of_quality_and_pace_and_stays_in_the_history(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first, second, *_ = drawn(session, jo).values()
    send(session, jo, grade("a", first), grade("b", second), withdrawal("w", first, "a"), grade("c", first, 2))
    collection_id = find_collection(session, SLUG).id
    given = read_judgements(session, collection_id)
    assert (given.grade.tolist(), given.have(CURRENT).tolist()) == ([1, 2], [True, True])
    topic_id = session.scalars(select(PoolItem.topic_id).order_by(PoolItem.id)).first()
    assert topic_id is not None
    assert [one.judged for one in days_of_judges(session, [topic_id])[topic_id]] == [2]
    assert [one.client_id for one in recent_judgements(session, topic_id, jo, most=10)] == ["b", "c"]
    stored = session.scalars(select(Judgement.client_id).order_by(Judgement.id)).all()
    assert stored == ["a", "b", "w", "c"]


def test_a_cached_count_is_counted_again_after_a_withdrawal(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first, second, *_ = drawn(session, jo).values()
    send(session, jo, grade("a", first), grade("b", second))
    known = count_topic(session, SLUG, "1", jo, to_come=0, now=NOW)
    send(session, jo, withdrawal("w", first, "a"))
    assert count_on(session, known, jo) is None
    known = count_topic(session, SLUG, "1", jo, to_come=0, now=NOW)
    assert (known.counts.judged, known.counts.total) == (1, 4)
    send(session, jo, grade("c", first))
    later = count_on(session, known, jo)
    assert later is not None
    assert (later.counts.judged, later.counts.total) == (2, 4)


def test_a_form_withdraws_a_judgement(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    first, *_ = drawn(session, jo).values()
    send(session, jo, grade("a", first))
    number = record_judgement(session, SLUG, first, jo, None, client_id="form", judged_at=NOW, withdraws="a")
    assert (number, counting(session)) == ("1", [])
    send(session, jo, grade("b", first))
    with pytest.raises(ConflictError, match="judged this document again since"):
        record_judgement(session, SLUG, first, jo, None, client_id="form2", judged_at=NOW, withdraws="a")


def restored_without(session: Session, assignment: int) -> None:
    """As after a restore of a backup from before the assignment was drawn."""
    item = session.get_one(Assignment, assignment).pool_item_id
    session.execute(delete(Judgement).where(Judgement.assignment_id == assignment))
    session.execute(delete(Assignment).where(Assignment.id == assignment))
    session.execute(update(PoolItem).where(PoolItem.id == item).values(taken=0))


def test_what_a_restore_lost_is_stored_when_it_is_sent_again(session: Session) -> None:
    pooled_news(session)
    jo = member(session, "jo")
    held = drawn(session, jo)
    docno, first = next(iter(held.items()))
    act = replace(grade("a", first, 2), topic="1", docno=docno)
    send(session, jo, act)
    return_assignments(session, jo)
    restored_without(session, first)
    # Another judgement has the number by now.
    taken = list(held.values())[1]
    [refusal] = send(session, jo, replace(act, assignment_id=taken)).refused
    assert isinstance(refusal.error, ConflictError)
    assert counting(session) == []
    assert send(session, jo, replace(act, assignment_id=taken, again=True)) == Recorded(("a",), ())
    judged = (
        select(Document.docno, Judgement.grade)
        .join(PoolItem, PoolItem.document_id == Document.id)
        .join(Judgement, Judgement.pool_item_id == PoolItem.id)
    )
    assert [tuple(row) for row in session.execute(judged)] == [(docno, 2)]
    assert send(session, jo, replace(act, assignment_id=taken, again=True)) == Recorded(("a",), ())


def test_a_document_that_another_judge_has_by_now_is_not_judged_again(session: Session) -> None:
    pooled_news(session)
    jo, kim = member(session, "jo"), member(session, "kim")
    docno, first = next(iter(drawn(session, jo).items()))
    act = replace(grade("a", first), topic="1", docno=docno, again=True)
    return_assignments(session, jo)
    restored_without(session, first)
    send(session, kim, grade("k", drawn(session, kim)[docno]))
    for one in (act, replace(act, docno="nowhere")):
        [refusal] = send(session, jo, one).refused
        assert "no longer open to you" in str(refusal.error)


def test_every_restore_begins_an_epoch(session: Session) -> None:
    seen = [current_epoch(session)]
    for _ in range(2):
        begin_epoch(session)
        seen.append(current_epoch(session))
    assert len({one for one in seen if one}) == 3
