"""The rounds of training behind the strategy `cal`: which topics wait for one, and what the last one ranked."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from annotator.storage.tables.collections import Collection, CollectionState
from annotator.storage.tables.judging import Judgement
from annotator.storage.tables.people import MACHINES
from annotator.storage.tables.pools import LearningRound, Pool, PoolItem


def collections_that_learn(session: Session, strategies: tuple[str, ...]) -> list[Collection]:
    """The open collections with a version of the pool by one of these strategies."""
    learning = select(Pool.collection_id).where(Pool.strategy.in_(strategies))
    is_open = Collection.state == CollectionState.OPEN
    return list(session.scalars(select(Collection).where(Collection.id.in_(learning), is_open).order_by(Collection.id)))


def last_round(session: Session, pool_id: int, topic_id: int) -> LearningRound | None:
    """The last round of training of a topic."""
    return session.get(LearningRound, (pool_id, topic_id))


def record_round(session: Session, row: Mapping[str, Any]) -> bool:
    """Record a round in place of the one before it; False if another worker has recorded this one or a later."""
    of_topic = (LearningRound.pool_id == row["pool_id"], LearningRound.topic_id == row["topic_id"])
    known = session.scalar(select(LearningRound.number).where(*of_topic))
    if known is not None and known >= row["number"]:
        return False
    session.execute(delete(LearningRound).where(*of_topic))
    session.execute(insert(LearningRound), [dict(row)])
    return True


def count_judgements_of_people(session: Session, topic_id: int, *, up_to: int) -> int:
    """How many judgements people have given in a topic, replaced ones included, with ids up to this one."""
    counted = (
        select(func.count())
        .select_from(Judgement)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .where(PoolItem.topic_id == topic_id, Judgement.id <= up_to, Judgement.judge_id.not_in(MACHINES))
    )
    return session.scalars(counted).one()
