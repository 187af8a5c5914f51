"""Acts that a judge sends again after a restore: their documents are looked up by name."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.storage import Assignment, AssignmentState, Collection, Document, Judgement, PoolItem, Purpose, Topic
from annotator.storage.collections.collection import find_collection, refuse_closed_judging
from annotator.storage.judging.drawing import Queue, may_still_draw, wait_for_other_tabs
from annotator.storage.judging.eligibility import take_free
from annotator.storage.judging.leases import lend
from annotator.workflows.judging.act_decisions import Act

NO_ASSIGNMENT = 0


def with_own_assignments(
    session: Session, slug: str, judge_id: int, acts: Sequence[Act], now: datetime, queue: Queue
) -> Sequence[Act]:
    """The acts, with those sent again on the judge's assignment of the document that they name.

    A document that the judge has no longer is lent to them again if they may draw it; otherwise the act gets no
    assignment, and is refused. Raises `ConflictError` when judging has ended.
    """
    if not any(_is_named_again(act) for act in acts):
        return acts
    collection = find_collection(session, slug)
    refuse_closed_judging(session, collection.id)
    wait_for_other_tabs(session, judge_id)
    stored = _stored(session, acts)

    def own(act: Act) -> int:
        known = stored.get(act.id)
        return _assignment(session, collection, judge_id, act, now, queue) if known is None else known

    return [replace(act, assignment_id=own(act)) if _is_named_again(act) else act for act in acts]


def _is_named_again(act: Act) -> bool:
    return act.again and act.topic is not None and act.docno is not None


def _stored(session: Session, acts: Sequence[Act]) -> dict[str, int]:
    """Act id → assignment of the judgement that is stored under it."""
    ids = [act.id for act in acts if _is_named_again(act)]
    rows = session.execute(select(Judgement.client_id, Judgement.assignment_id).where(Judgement.client_id.in_(ids)))
    return {client_id: assignment_id for client_id, assignment_id in rows}


def _assignment(session: Session, collection: Collection, judge_id: int, act: Act, now: datetime, queue: Queue) -> int:
    row = session.execute(
        select(PoolItem.id, Topic)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Topic.collection_id == collection.id, Topic.number == act.topic, Document.docno == act.docno)
    ).one_or_none()
    if row is None:
        return NO_ASSIGNMENT
    decides = Assignment.purpose == Purpose.ADJUDICATION
    own = (
        select(Assignment.id)
        .where(
            Assignment.pool_item_id == row.id,
            Assignment.judge_id == judge_id,
            decides if queue == Queue.ADJUDICATION else ~decides,
        )
        # The one that the act named, if it is of this document; then one that is held or done; then the latest.
        .order_by(
            Assignment.id != act.assignment_id, Assignment.state == AssignmentState.RETURNED, Assignment.id.desc()
        )
    )
    known = session.scalars(own.limit(1)).first()
    if known is not None or queue == Queue.ADJUDICATION:
        return known or NO_ASSIGNMENT
    if not may_still_draw(session, collection, judge_id):
        return NO_ASSIGNMENT
    item = take_free(session, judge_id, row.Topic, collection.judging_mode, row.id)
    if item is None:
        return NO_ASSIGNMENT
    lend(session, [item.id], judge_id, now, {item.id: item.purpose})
    return session.scalars(own.limit(1)).one()
