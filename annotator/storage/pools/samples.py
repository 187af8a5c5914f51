"""Samples whose budget is divided among strata: their versions, and what was found otherwise by then."""

from collections.abc import Collection as SizedIterable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.pools import Contribution, Pool, PoolItem, SelectionEvent, Stratum
from annotator.storage.tables.topics import Topic

STRATEGY = "sample"


def newest_sample(session: Session, collection_id: int, *, before: Pool | None = None) -> Pool | None:
    """The newest version that the strategy `sample` built, of all or of those before a version."""
    statement = select(Pool).where(Pool.collection_id == collection_id, Pool.strategy == STRATEGY)
    if before is not None:
        statement = statement.where(Pool.version < before.version)
    return session.scalar(statement.order_by(Pool.version.desc()).limit(1))


def strata_of_pool(session: Session, pool: Pool, topics: SizedIterable[int]) -> list[Stratum]:
    """The strata of a version for some topics, by topic and number."""
    wanted = set(topics)
    statement = select(Stratum).where(Stratum.pool_id == pool.id).order_by(Stratum.topic_id, Stratum.number)
    return [stratum for stratum in session.scalars(statement) if stratum.topic_id in wanted]


def found_otherwise(session: Session, collection_id: int, *, before: Pool | None = None) -> dict[int, list[int]]:
    """Topic id → documents that an adaptive strategy chose or a person's search found, ascending.

    With `before`, a version, only those that were found when it was built.
    """
    of_collection = (
        select(PoolItem.topic_id, PoolItem.document_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
    )
    searched = of_collection.join(Contribution, Contribution.pool_item_id == PoolItem.id).where(
        Contribution.query.is_not(None)
    )
    # Not those of a sample, to which a strategy came again.
    chosen = of_collection.join(SelectionEvent, SelectionEvent.pool_item_id == PoolItem.id).where(
        PoolItem.first_pool_id == SelectionEvent.pool_id
    )
    if before is not None:
        at = select(Pool.id).where(Pool.collection_id == collection_id, Pool.version < before.version)
        searched = searched.where(Contribution.pool_id.in_(at))
        chosen = chosen.where(SelectionEvent.chosen_at <= before.built_at)
    found: dict[int, set[int]] = {}
    for statement in (searched, chosen):
        for topic, document in session.execute(statement):
            found.setdefault(topic, set()).add(document)
    return {topic: sorted(documents) for topic, documents in found.items()}


def target_set(session: Session, pool: Pool, topic_id: int) -> frozenset[int]:
    """The documents of a simple random sample of a topic that was drawn before this version; empty without one.

    Only the newest earlier sample counts, if it has a single stratum for the topic and drew a part of it.
    """
    before = select(Pool.id).where(Pool.collection_id == pool.collection_id, Pool.version < pool.version)
    newest = select(func.max(Stratum.pool_id)).where(Stratum.pool_id.in_(before)).scalar_subquery()
    of_topic = (Stratum.pool_id == newest, Stratum.topic_id == topic_id)
    rates = list(session.scalars(select(Stratum.rate).where(*of_topic)))
    if len(rates) != 1 or rates[0] >= 1:
        return frozenset()
    drawn = select(PoolItem.document_id).where(
        PoolItem.topic_id == topic_id, PoolItem.first_pool_id == newest, PoolItem.stratum.is_not(None)
    )
    return frozenset(session.scalars(drawn))


def choices_since(session: Session, pool: Pool, topics: SizedIterable[int]) -> dict[int, list[int]]:
    """Topic id → documents that later versions chose adaptively, in order, where some are of this version's sample.

    A strategy that chooses only among documents outside the pool never comes to one of the sample.
    """
    later = select(Pool.id).where(Pool.collection_id == pool.collection_id, Pool.version > pool.version)
    chosen = (
        select(SelectionEvent.topic_id, PoolItem.document_id, PoolItem.first_pool_id == pool.id)
        .join(PoolItem, PoolItem.id == SelectionEvent.pool_item_id)
        .where(SelectionEvent.pool_id.in_(later))
        .order_by(SelectionEvent.id)
    )
    found: dict[int, list[int]] = {}
    again: set[int] = set()
    for some in chunks(sorted(topics)):
        for topic, document, is_of_sample in session.execute(chosen.where(SelectionEvent.topic_id.in_(some))):
            found.setdefault(topic, []).append(document)
            if is_of_sample:
                again.add(topic)
    return {topic: found[topic] for topic in again}


def topics_of_sample(session: Session, pool: Pool) -> dict[int, str]:
    """Topic id → number, for the topics with strata of a version."""
    statement = select(Topic.id, Topic.number).join(Stratum, Stratum.topic_id == Topic.id)
    return {id_: number for id_, number in session.execute(statement.where(Stratum.pool_id == pool.id).distinct())}
