"""The queue as a judge sees it: which topics have work, draw a few documents of one, show one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.evaluation.natural_order import natural_order
from annotator.storage import Assignment, AssignmentState, Document, Judgement, PoolItem, Topic, TopicState, User
from annotator.storage.collection import find_collection, find_topic, refuse_closed_judging
from annotator.storage.judge_queue import waiting_items
from annotator.storage.judging import LEASE as LEASE
from annotator.storage.judging import (
    Decision,
    current_judgement,
    free_items,
    give_back,
    judged_items,
    lend,
)

DRAWN_AT_ONCE = 8
SHOWN_TO_JUDGES = Topic.state != TopicState.DRAFT


@dataclass(frozen=True)
class TopicWork:
    """A topic as one judge sees it: what they judged of it, and what waits for them."""

    number: str
    title: str
    judged: int
    waiting: int
    dropped: bool = False


@dataclass(frozen=True)
class JudgingTask:
    """One document beside its topic, and nothing that tells run, rank, score or another's grade."""

    assignment_id: int
    topic_number: str
    topic_title: str
    topic_description: str
    topic_narrative: str
    topic_language: str | None
    docno: str
    title: str
    body: str | None
    url: str | None
    language: str | None
    judged: int
    waiting: int
    decision: Decision | None
    previous_assignment_id: int | None


def topics_to_judge(
    session: Session, slug: str, judge_id: int, *, now: datetime, to_come: Mapping[str, int] | None = None
) -> list[TopicWork]:
    """The topics that have pool items for this judge, judged or waiting; leases that ran out are given back first.

    Of a dropped topic nothing waits, and drafts are not for judges. `to_come` says of topics, by number, how many items
    will still be chosen; they wait, too.
    """
    collection = find_collection(session, slug)
    give_back(session, Assignment.lease_until < now)
    topics = session.scalars(select(Topic).where(Topic.collection_id == collection.id, SHOWN_TO_JUDGES)).all()
    judged = _judged(session, judge_id)
    waiting = waiting_items(session, judge_id, PoolItem.topic_id.in_([topic.id for topic in topics]))
    work = [
        TopicWork(
            topic.number,
            topic.title,
            judged.get(topic.id, 0),
            waiting[topic.id] + (to_come or {}).get(topic.number, 0) if topic.state == TopicState.ACCEPTED else 0,
            topic.state == TopicState.DROPPED,
        )
        for topic in topics
    ]
    return sorted((row for row in work if row.judged or row.waiting), key=lambda row: natural_order(row.number))


def next_task(session: Session, slug: str, topic_number: str, judge_id: int, *, now: datetime) -> JudgingTask | None:
    """The judge's next document of a topic, None when nothing waits for them, as in one that was dropped.

    What they hold already comes first and its lease is renewed; otherwise a few items are drawn in one go.
    """
    collection_id = find_collection(session, slug).id
    refuse_closed_judging(session, collection_id)
    # Read behind that lock: who drops a topic waits for it.
    topic = find_topic(session, collection_id, topic_number, SHOWN_TO_JUDGES)
    if topic.state != TopicState.ACCEPTED:
        return None
    give_back(session, Assignment.lease_until < now)
    held = _renew_or_draw(session, topic.id, judge_id, now)
    return _task(session, topic, held, judge_id) if held is not None else None


def open_task(session: Session, slug: str, assignment_id: int, judge_id: int) -> JudgingTask:
    """One of the judge's own assignments, judged or not; `NotFoundError` for anybody else's."""
    row = session.execute(
        select(Assignment, Topic)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(
            Assignment.id == assignment_id,
            Assignment.judge_id == judge_id,
            Topic.collection_id == find_collection(session, slug).id,
        )
    ).one_or_none()
    if row is None:
        raise NotFoundError("You have no such assignment.")
    return _task(session, row.Topic, row.Assignment, judge_id)


def return_assignments(session: Session, judge_id: int) -> int:
    """Give everything a judge holds back to the queue, as signing out does, and count it."""
    return give_back(session, Assignment.judge_id == judge_id)


def _judged(session: Session, judge_id: int, *conditions: ColumnElement[bool]) -> dict[int, int]:
    """Topic id → how many of its pool items this judge has judged."""
    rows = session.execute(
        select(PoolItem.topic_id, func.count())
        .where(PoolItem.id.in_(judged_items(judge_id)), *conditions)
        .group_by(PoolItem.topic_id)
    )
    return {topic_id: count for topic_id, count in rows}


def _renew_or_draw(session: Session, topic_id: int, judge_id: int, now: datetime) -> Assignment | None:
    # A judge in two tabs draws in one after the other.
    session.execute(select(User.id).where(User.id == judge_id).with_for_update(key_share=True))
    held = _first_held(session, topic_id, judge_id)
    if held is None:
        # What another draw holds at this moment may still want this judge, too: only then is it worth waiting for.
        if not _draw(session, topic_id, judge_id, now, skip_locked=True):
            _draw(session, topic_id, judge_id, now, skip_locked=False)
        return _first_held(session, topic_id, judge_id)
    session.execute(
        update(Assignment)
        .where(Assignment.judge_id == judge_id, Assignment.state == AssignmentState.LIVE)
        .values(lease_until=now + LEASE)
    )
    return held


def _first_held(session: Session, topic_id: int, judge_id: int) -> Assignment | None:
    return session.scalar(
        select(Assignment)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .where(
            Assignment.judge_id == judge_id,
            Assignment.state == AssignmentState.LIVE,
            PoolItem.topic_id == topic_id,
        )
        .order_by(PoolItem.priority, PoolItem.id)
        .limit(1)
    )


def _draw(session: Session, topic_id: int, judge_id: int, now: datetime, *, skip_locked: bool) -> bool:
    """Take a few free items of a topic; whether there were any.

    On PostgreSQL those that another draw holds at this moment are passed over or waited for.
    """
    items = session.scalars(
        free_items(judge_id)
        .where(PoolItem.topic_id == topic_id)
        .order_by(PoolItem.priority, PoolItem.id)
        .limit(DRAWN_AT_ONCE)
        .with_for_update(skip_locked=skip_locked, of=PoolItem)
    ).all()
    if not items:
        return False
    lend(session, items, judge_id, now)
    return True


def _task(session: Session, topic: Topic, assignment: Assignment, judge_id: int) -> JudgingTask:
    document = session.scalars(
        select(Document)
        .join(PoolItem, PoolItem.document_id == Document.id)
        .where(PoolItem.id == assignment.pool_item_id)
    ).one()
    present = current_judgement(session, assignment.pool_item_id, judge_id)
    in_topic = PoolItem.topic_id == topic.id
    waiting = waiting_items(session, judge_id, in_topic)[topic.id] if topic.state == TopicState.ACCEPTED else 0
    return JudgingTask(
        assignment_id=assignment.id,
        topic_number=topic.number,
        topic_title=topic.title,
        topic_description=topic.description,
        topic_narrative=topic.narrative,
        topic_language=topic.language,
        docno=document.docno,
        title=document.title,
        body=document.body,
        url=document.url,
        language=document.language,
        judged=_judged(session, judge_id, in_topic).get(topic.id, 0),
        waiting=waiting,
        decision=Decision.of(present) if present else None,
        previous_assignment_id=_previous(session, topic.id, judge_id, present),
    )


def _previous(session: Session, topic_id: int, judge_id: int, present: Judgement | None) -> int | None:
    """The assignment judged just before this one (before now, when this one is not judged yet)."""
    statement = (
        select(Judgement.assignment_id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .where(PoolItem.topic_id == topic_id, Judgement.judge_id == judge_id, Judgement.current)
        .order_by(Judgement.id.desc())
        .limit(1)
    )
    return session.scalar(statement.where(Judgement.id < present.id) if present else statement)
