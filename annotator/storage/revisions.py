"""The revision of a topic: every change of what is said of its documents raises it, in the same transaction.

Whoever has computed something from a topic's judgements keeps it with the revision, and computes it anew when the
number is another. What else the settled grades depend on (policy, accepted topics, machines) has no part in it.
"""

from collections.abc import Collection as SizedIterable

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.storage.collection import ACCEPTED, Topic
from annotator.storage.documents import chunks
from annotator.storage.pools import PoolItem


def revisions(session: Session, collection_id: int) -> dict[int, int]:
    """Accepted topic → its revision, in the order of their ids."""
    rows = session.execute(
        select(Topic.id, Topic.revision).where(Topic.collection_id == collection_id, ACCEPTED).order_by(Topic.id)
    )
    return {topic_id: revision for topic_id, revision in rows}


def raise_revisions(session: Session, pool_item_ids: SizedIterable[int]) -> None:
    """Raise those of the topics of these items, topics in one order for everybody."""
    topics: set[int] = set()
    for some in chunks(list(pool_item_ids)):
        topics |= set(session.scalars(select(PoolItem.topic_id).where(PoolItem.id.in_(some)).distinct()))
    for some in chunks(sorted(topics)):
        session.execute(
            update(Topic)
            .where(Topic.id.in_(some))
            .values(revision=Topic.revision + 1)
            .execution_options(synchronize_session=False)
        )
