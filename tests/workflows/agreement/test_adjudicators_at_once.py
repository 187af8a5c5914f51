"""Adjudicators at once, some of whom go away in the middle, beside judges: nothing decided twice, nothing left."""

from collections import Counter
from collections.abc import Callable
from random import Random
from threading import Thread

import pytest
from build import NOW, SLUG, labels, member
from queues import grow, queue
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import BusyError
from annotator.storage import Assignment, Database, Document, Judgement, PoolItem, Purpose, Role
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.leases import Decision, return_assignments
from annotator.workflows.judging import judging
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging_turn import Turn, submit

ITEMS = 60
ADJUDICATORS = 5
JUDGES = 2


def fill(session: Session) -> tuple[list[int], list[int]]:
    """A topic of documents in dispute that want one more judge each; its adjudicators and judges."""
    [topic] = queue(session, 0, judgements_wanted=3)
    items = grow(session, topic, [None] * ITEMS)
    docnos = session.scalars(
        select(Document.docno).join(PoolItem, PoolItem.document_id == Document.id).where(PoolItem.id.in_(items))
    ).all()
    for judge, given in (("ann", 0), ("bob", 2)):
        labels(session, judge, "".join(f"1 0 {docno} {given}\n" for docno in docnos), name=judge)
    adjudicators = [member(session, f"ada{number}", Role.ADJUDICATOR) for number in range(ADJUDICATORS)]
    return adjudicators, [member(session, f"jo{number}") for number in range(JUDGES)]


def turn_of(who: int, act: Act, kind: Queue) -> Callable[[Session], Turn]:
    """What a browser sends for one document, drawing nothing."""
    return lambda session: submit(session, SLUG, "1", who, [act], holds=None, known=None, at=NOW, queue=kind)


def work(database: Database, who: int, kind: Queue, errors: list[BaseException]) -> None:
    """Judge whatever comes until nothing does; now and then sign out with documents in hand."""
    random = Random(who)  # noqa: S311 - the same each time
    try:
        while True:
            try:
                task = database.attempt(lambda session: judging.next_task(session, SLUG, "1", who, now=NOW, queue=kind))
            except BusyError:
                continue
            if task is None:
                return
            for one in task.documents[: random.randint(1, 8)]:
                act = Act(f"{who}-{one.assignment_id}", one.assignment_id, Decision(1))
                turn = database.attempt(turn_of(who, act, kind))
                assert not turn.recorded.refused
            if random.random() < 1 / 4:
                database.attempt(lambda session: return_assignments(session, who))
    except BaseException as error:  # noqa: BLE001 - told to the test, in the thread it would be lost
        errors.append(error)


@pytest.mark.parametrize("with_judges", [False, True])
def test_every_dispute_is_decided_once_and_no_place_is_taken_by_it(database: Database, *, with_judges: bool) -> None:
    with database.transaction() as session:
        adjudicators, judges = fill(session)
    errors: list[BaseException] = []
    kinds = [(who, Queue.ADJUDICATION) for who in adjudicators]
    kinds += [(who, Queue.JUDGING) for who in judges] if with_judges else []
    threads = [Thread(target=work, args=(database, who, kind, errors)) for who, kind in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert errors == []
    # Who found nothing free while others held the rest has gone home: what those gave back, somebody takes now.
    work(database, adjudicators[0], Queue.ADJUDICATION, errors)
    assert errors == []
    with database.reading() as session:
        check(session, places=3 if with_judges else 2)


def check(session: Session, *, places: int) -> None:
    decided = select(Judgement.pool_item_id).join(Assignment, Assignment.id == Judgement.assignment_id)
    items = Counter(session.scalars(decided.where(Assignment.purpose == Purpose.ADJUDICATION)))
    assert set(items.values()) == {1}
    assert len(items) == ITEMS
    taken = session.scalars(select(PoolItem.taken)).all()
    assert set(taken) == {places}
    assert set(session.scalars(select(Assignment.state))) <= {"done", "returned"}
