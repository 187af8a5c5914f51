"""How far somebody is in a topic, as a judge or as an adjudicator."""

from collections import Counter
from datetime import datetime

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from annotator.storage.agreement.adjudication_queue import OwnDisputes, own_disputes
from annotator.storage.judging.conditions import JUDGES
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.eligibility import waiting_items
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.judging import Assignment, AssignmentState, Purpose
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic, TopicState


def judged_and_waiting(
    session: Session, collection: Collection, topic: Topic, judge_id: int, now: datetime, queue: Queue
) -> tuple[int, int]:
    """How many documents of a topic they judged there, and how many wait for them; of a dropped topic none waits."""
    in_topic = PoolItem.topic_id == topic.id
    is_accepted = topic.state == TopicState.ACCEPTED
    if queue == Queue.ADJUDICATION:
        own = own_disputes(session, collection.id, judge_id, in_topic).get(topic.id, OwnDisputes())
        return own.decided, own.waiting if is_accepted else 0
    waiting = waiting_items(session, judge_id, collection, in_topic, now)[topic.id] if is_accepted else 0
    return done_items(session, judge_id, in_topic)[topic.id], waiting


def done_items(session: Session, judge_id: int, in_topics: ColumnElement[bool]) -> Counter[int]:
    """Topic id → how many documents this judge has judged; one that was shown again counts again, as if it were new."""
    rows = session.execute(
        select(PoolItem.topic_id, func.count())
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .where(
            Assignment.judge_id == judge_id,
            Assignment.state == AssignmentState.DONE,
            Assignment.purpose.not_in((Purpose.CARRIED, Purpose.ADJUDICATION)),
            in_topics,
        )
        .group_by(PoolItem.topic_id)
    )
    return Counter({topic_id: count for topic_id, count in rows})


def put_off_items(session: Session, judge_id: int, in_topics: ColumnElement[bool]) -> Counter[int]:
    """Topic id → how many of its pool items this judge has put off and still holds."""
    rows = session.execute(
        select(PoolItem.topic_id, func.count())
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .where(Assignment.judge_id == judge_id, Assignment.state == AssignmentState.LATER, JUDGES, in_topics)
        .group_by(PoolItem.topic_id)
    )
    return Counter({topic_id: count for topic_id, count in rows})
