"""What one judge has in hand or done, and what waits for them."""

from collections import Counter

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from annotator.storage.collection import Topic
from annotator.storage.judging import Assignment, AssignmentState
from annotator.storage.pools import PoolItem


def assignments_of(session: Session, collection_id: int, judge_id: int) -> dict[int, int]:
    """Pool item → this judge's assignment, live or done, of a collection."""
    rows = session.execute(
        select(Assignment.pool_item_id, Assignment.id)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(
            Topic.collection_id == collection_id,
            Assignment.judge_id == judge_id,
            Assignment.state != AssignmentState.RETURNED,
        )
    )
    return {item: id_ for item, id_ in rows}


def waiting_items(session: Session, judge_id: int, in_topics: ColumnElement[bool]) -> Counter[int]:
    """Topic id → how many of its pool items this judge holds or could draw; `in_topics` says which topics are counted.

    Free are the items that want a judge, less those that this one holds or has judged: counted so, and not by
    `free_items`, no item needs to be looked up among the assignments.
    """
    wants = PoolItem.taken < PoolItem.judgements_wanted
    own = (
        select(PoolItem.topic_id, Assignment.state, wants, func.count())
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .where(Assignment.judge_id == judge_id, Assignment.state != AssignmentState.RETURNED, in_topics)
        .group_by(PoolItem.topic_id, Assignment.state, wants)
    )
    waiting = Counter[int]()
    for topic_id, count in session.execute(
        select(PoolItem.topic_id, func.count()).where(wants, in_topics).group_by(PoolItem.topic_id)
    ):
        waiting[topic_id] += count
    for topic_id, state, also_free, count in session.execute(own):
        waiting[topic_id] += count * ((state == AssignmentState.LIVE) - bool(also_free))
    return waiting
