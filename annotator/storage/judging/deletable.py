"""What has to be known of pool items before they are deleted: what was judged of them, and whether anybody has them."""

from datetime import datetime

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.tables.judging import Assignment, AssignmentState, Judgement, Purpose
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic


def items_of(condition: ColumnElement[bool]) -> Select[int]:
    """The pool items of the topics, or the items themselves, that fit."""
    return select(PoolItem.id).join(Topic, Topic.id == PoolItem.topic_id).where(condition)


def counts_of_items(session: Session, items: Select[int]) -> dict[str, int]:
    """How many documents are pooled, and how many judgements there are of how many judges, replaced ones too."""
    judged = Judgement.pool_item_id.in_(items), SHOWN
    judges = session.scalar(select(func.count(Judgement.judge_id.distinct())).where(*judged)) or 0
    judgements = count_rows(session, select(Judgement.id).where(*judged))
    return {"documents": count_rows(session, items), "judgements": judgements, "judges": judges}


def held_items_since(since: datetime) -> Select[int]:
    """The items somebody holds, or held until lately."""
    return select(Assignment.pool_item_id).where(
        Assignment.state != AssignmentState.DONE, Assignment.purpose != Purpose.CARRIED, Assignment.lease_until > since
    )


def count_in_hand(session: Session, items: Select[int], since: datetime) -> int:
    """How many of the items somebody holds, or held until lately."""
    held = held_items_since(since).where(Assignment.pool_item_id.in_(items)).distinct()
    return len(session.scalars(held).all())


def refuse_in_hand(session: Session, items: Select[int], since: datetime) -> None:
    """Raise `ConflictError` when somebody holds one of the items, or held it until lately."""
    count = count_in_hand(session, items, since)
    if count:
        raise ConflictError(
            "Documents that judges have in hand, or gave back lately and may still judge: %(count)d. Try again later.",
            count=count,
        )


def count_rows(session: Session, rows: Select[int]) -> int:
    """How many rows a statement finds."""
    return session.scalars(select(func.count()).select_from(rows.subquery())).one()
