"""Decisions to stop judging topics, and to go on with them, of organisers and of rules: appended, never changed."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from annotator.storage.tables.people import User
from annotator.storage.tables.pools import Pool, StoppingDecision
from annotator.storage.tables.topics import Topic


class DecisionRow(NamedTuple):
    """A decision with the name of the person who took it, None for a command, a rule and a deleted account.

    `version` is that of the pool whose rule took it.
    """

    topic_id: int
    stops: bool
    rule: str
    reason: str
    judged: int
    relevant: int
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    decided_by: str | None
    version: int | None
    decided_at: datetime


def decisions_of(session: Session, collection_id: int) -> list[DecisionRow]:
    """All decisions on the topics of a collection, in order of time."""
    one = StoppingDecision
    rows = session.execute(
        select(
            *(one.topic_id, one.stops, one.rule, one.reason, one.judged, one.relevant),
            *(one.recall, one.recall_low, one.recall_high, User.name, Pool.version, one.decided_at),
        )
        .join(Topic, Topic.id == one.topic_id)
        .outerjoin(User, User.id == one.decided_by_id)
        .outerjoin(Pool, Pool.id == one.pool_id)
        .where(Topic.collection_id == collection_id)
        .order_by(one.id)
    )
    return [DecisionRow._make(row) for row in rows]


def latest_decisions(session: Session, collection_id: int) -> dict[int, int]:
    """Topic id → id of the decision on it that counts, for topics with one."""
    latest = (
        select(StoppingDecision.topic_id, func.max(StoppingDecision.id))
        .join(Topic, Topic.id == StoppingDecision.topic_id)
        .where(Topic.collection_id == collection_id)
        .group_by(StoppingDecision.topic_id)
    )
    return {topic_id: decision_id for topic_id, decision_id in session.execute(latest)}


def stopped_topics(session: Session, collection_id: int) -> set[int]:
    """The ids of the topics whose latest decision is to stop."""
    return set(session.scalars(_latest(collection_id).where(StoppingDecision.stops)))


def is_stopped(session: Session, topic_id: int) -> bool:
    """Whether the latest decision on a topic is to stop."""
    latest = latest_decision(session, topic_id)
    return latest is not None and latest.stops


def latest_decision(session: Session, topic_id: int) -> StoppingDecision | None:
    """The decision on a topic that counts."""
    statement = select(StoppingDecision).where(StoppingDecision.topic_id == topic_id)
    return session.scalar(statement.order_by(StoppingDecision.id.desc()).limit(1))


def _latest(collection_id: int) -> Select[int]:
    latest = (
        select(func.max(StoppingDecision.id))
        .join(Topic, Topic.id == StoppingDecision.topic_id)
        .where(Topic.collection_id == collection_id)
        .group_by(StoppingDecision.topic_id)
    )
    return select(StoppingDecision.topic_id).where(StoppingDecision.id.in_(latest))
