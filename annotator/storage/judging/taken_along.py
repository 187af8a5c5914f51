"""Documents that judges take along to judge without a network: held with a longer lease than others."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, func, select, update
from sqlalchemy.orm import Session

from annotator.storage.judging.leases import give_back
from annotator.storage.tables.judging import HELD, IS_HELD, LEASE, Assignment, Purpose
from annotator.storage.tables.people import User
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

TAKEN_FOR = timedelta(hours=24)


class TakenTopic(NamedTuple):
    """Documents of a topic that a judge has taken along, and until when the first of them is held."""

    judge: str
    number: str
    title: str
    documents: int
    until: datetime


def extend_leases(session: Session, assignment_ids: Sequence[int], until: datetime) -> None:
    """Hold assignments of the judge until a moment."""
    session.flush()
    held = update(Assignment).where(Assignment.id.in_(assignment_ids), Assignment.state.in_(HELD))
    session.execute(held.values(lease_until=until))


def taken_topics(session: Session, collection_id: int, now: datetime, judge_id: int | None = None) -> list[TakenTopic]:
    """What the judges of a collection, or one of them, have taken along."""
    statement = (
        select(User.name, Topic.number, Topic.title, func.count(), func.min(Assignment.lease_until))
        .select_from(Assignment)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(User, User.id == Assignment.judge_id)
        .where(Topic.collection_id == collection_id, _is_taken(now))
        .group_by(User.name, Topic.number, Topic.title)
    )
    if judge_id is not None:
        statement = statement.where(Assignment.judge_id == judge_id)
    return [TakenTopic(*row) for row in session.execute(statement)]


def taken_by(session: Session, topic_id: int, judge_id: int, now: datetime) -> tuple[int, datetime | None]:
    """The number of documents of a topic that a judge has taken along, and until when the first of them is held."""
    statement = (
        select(func.count(), func.min(Assignment.lease_until))
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .where(PoolItem.topic_id == topic_id, Assignment.judge_id == judge_id, _is_taken(now))
    )
    count, until = session.execute(statement).one()
    return count, until


def return_taken(session: Session, topic_id: int, judge_id: int, now: datetime) -> int:
    """Return to the queue what a judge has taken along of a topic; return the number."""
    items = select(PoolItem.id).where(PoolItem.topic_id == topic_id)
    return give_back(session, Assignment.judge_id == judge_id, Assignment.pool_item_id.in_(items), _is_taken(now))


def _is_taken(now: datetime) -> ColumnElement[bool]:
    """No other lease lasts as long."""
    return and_(
        IS_HELD,
        Assignment.lease_until > now + LEASE,
        Assignment.purpose != Purpose.ADJUDICATION,
    )
