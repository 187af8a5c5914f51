"""How many documents of each topic are pooled, and how many of them wait for anybody to say anything."""

from typing import NamedTuple

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from annotator.storage.tables.judging import Judgement
from annotator.storage.tables.people import MACHINES
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic


class TopicCount(NamedTuple):
    """An accepted topic with a pool: its items, and those of which nobody has said anything."""

    id: int
    number: str
    pooled: int
    waiting: int


def topic_counts(session: Session, collection_id: int, *, machines: bool) -> list[TopicCount]:
    """Each accepted topic with a pool; what machines said counts only if wanted."""
    is_said = exists().where(Judgement.pool_item_id == PoolItem.id, Judgement.current)
    if not machines:
        is_said = is_said.where(Judgement.judge_id.not_in(MACHINES))
    rows = session.execute(
        select(Topic.id, Topic.number, func.count(), func.count().filter(~is_said))
        .join(PoolItem, PoolItem.topic_id == Topic.id)
        .where(Topic.collection_id == collection_id, ACCEPTED)
        .group_by(Topic.id, Topic.number)
    )
    return [TopicCount(*row) for row in rows]
