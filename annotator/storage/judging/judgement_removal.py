"""Removal of judgements with their items: counts shown before, and what is counted again after."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Select, func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.judging import (
    TAKES_NO_PLACE,
    Assignment,
    AssignmentState,
    Judgement,
    Purpose,
)
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic


def recount_taken(session: Session, topic_ids: Sequence[int]) -> None:
    """Recompute `taken` of all pool items of these topics."""
    person = select(User.id).where(User.kind == UserKind.PERSON)
    places = (
        select(func.count(Assignment.id))
        .where(
            Assignment.pool_item_id == PoolItem.id,
            Assignment.state != AssignmentState.RETURNED,
            Assignment.purpose.not_in(TAKES_NO_PLACE),
            Assignment.judge_id.in_(person),
        )
        .scalar_subquery()
    )
    for some in chunks(list(topic_ids)):
        session.execute(
            update(PoolItem).where(PoolItem.topic_id.in_(some), PoolItem.taken != places).values(taken=places),
            execution_options={"synchronize_session": False},
        )


def items_of(condition: ColumnElement[bool]) -> Select[int]:
    """Pool items whose topic or own columns satisfy the condition."""
    return select(PoolItem.id).join(Topic, Topic.id == PoolItem.topic_id).where(condition)


def counts_of_items(session: Session, items: Select[int]) -> dict[str, int]:
    """Numbers of pooled documents, of judgements (replaced ones included) and of judges."""
    judged = Judgement.pool_item_id.in_(items), SHOWN
    judges = session.scalar(select(func.count(Judgement.judge_id.distinct())).where(*judged)) or 0
    judgements = count_rows(session, select(Judgement.id).where(*judged))
    return {"documents": count_rows(session, items), "judgements": judgements, "judges": judges}


def held_items_since(since: datetime) -> Select[int]:
    """Items that somebody holds, or held until after `since`."""
    return select(Assignment.pool_item_id).where(
        Assignment.state != AssignmentState.DONE, Assignment.purpose != Purpose.CARRIED, Assignment.lease_until > since
    )


def count_in_hand(session: Session, items: Select[int], since: datetime) -> int:
    """Number of items that somebody holds, or held until after `since`."""
    # Few assignments are held: looking up their items takes a fraction of listing all items.
    is_one = items.where(PoolItem.id == Assignment.pool_item_id).correlate(Assignment).exists()
    return len(session.scalars(held_items_since(since).where(is_one).distinct()).all())


def refuse_in_hand(session: Session, items: Select[int], since: datetime) -> None:
    """Raise `ConflictError` when somebody holds one of the items, or held it until after `since`."""
    count = count_in_hand(session, items, since)
    if count:
        raise ConflictError(
            "Documents held by judges, or recently released and still open to them: %(count)d. Try again later.",
            count=count,
        )


def count_rows(session: Session, rows: Select[int]) -> int:
    """Number of rows that a query returns."""
    return session.scalars(select(func.count()).select_from(rows.subquery())).one()
