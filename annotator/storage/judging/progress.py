"""How far the items of a pool are judged, duplicates as far as the items that stand for them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, and_, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from annotator.storage.judging.judging import DECIDING
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.judging import Judgement
from annotator.storage.tables.people import MACHINES
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic


def item_progress(collection_id: int) -> Select[*tuple[Any, ...]]:
    """Of a collection's pool items: `topic_id`, `document_id`, `is_judged`, `missing` judgements and `is_complete`.

    An item may have more judgements than it wants; then a negative number is missing. What machines say counts for
    nothing here, nor what adjudicators decide.
    """
    given = (
        select(Judgement.pool_item_id, func.count().label("count"))
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
        .where(Judgement.current, Judgement.judge_id.not_in(MACHINES), Judgement.assignment_id.not_in(DECIDING))
        .group_by(Judgement.pool_item_id)
        .cte("given")
    )
    of_standing = given.alias("given_to_standing")
    standing = aliased(PoolItem)
    missing = PoolItem.judgements_wanted - func.coalesce(given.c.count, 0)
    missing_of_standing = standing.judgements_wanted - func.coalesce(of_standing.c.count, 0)
    return (
        select(
            PoolItem.topic_id,
            PoolItem.document_id,
            given.c.pool_item_id.is_not(None).label("is_judged"),
            missing.label("missing"),
            and_(missing <= 0, or_(standing.id.is_(None), missing_of_standing <= 0)).label("is_complete"),
        )
        .join(Topic, Topic.id == PoolItem.topic_id)
        .outerjoin(given, given.c.pool_item_id == PoolItem.id)
        .outerjoin(standing, standing.id == PoolItem.duplicate_of_id)
        .outerjoin(of_standing, of_standing.c.pool_item_id == standing.id)
        .where(Topic.collection_id == collection_id)
    )


def judged_topic_ids(session: Session, ids: Sequence[int]) -> set[int]:
    """Those of the topics of which anything was ever judged, replaced judgements included."""
    statement = select(PoolItem.topic_id).where(exists().where(Judgement.pool_item_id == PoolItem.id)).distinct()
    return {
        topic_id
        for chunk in chunks(list(ids))
        for topic_id in session.scalars(statement.where(PoolItem.topic_id.in_(chunk)))
    }
