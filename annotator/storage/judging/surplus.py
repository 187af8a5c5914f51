"""Takes documents back that are in more hands than are wanted, when fewer judgements are wanted than before."""

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from annotator.storage.judging.judgements_wanted import base_wanted
from annotator.storage.judging.judging import give_back
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.judging import Assignment, AssignmentState, Purpose
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic


def give_back_surplus(session: Session, collection: Collection) -> int:
    """Return to the queue what is too much by the collection's settings, and count it; call it before `settle_needs`.

    (Whoever gives something back locks assignments first, and then their items.) A judgement that still comes is stored
    as late. Items for everyone may be in any number of hands, and what a judge sees once more counts for none.
    """
    base = base_wanted(collection)
    need = case((PoolItem.duplicate_of_id.is_not(None), 0), (PoolItem.is_overlap, base + 1), else_=base)
    # What was drawn last goes back first.
    place = func.row_number().over(partition_by=Assignment.pool_item_id, order_by=Assignment.id.desc())
    drawn = (
        select(Assignment.id, place.label("place"), (PoolItem.taken - need).label("too_many"))
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(
            Topic.collection_id == collection.id,
            PoolItem.taken > need,
            ~PoolItem.for_everyone,
            Assignment.state.in_((AssignmentState.LIVE, AssignmentState.LATER)),
            Assignment.purpose.in_((Purpose.FIRST, Purpose.OVERLAP)),
        )
        .subquery()
    )
    return give_back(session, Assignment.id.in_(select(drawn.c.id).where(drawn.c.place <= drawn.c.too_many)))
