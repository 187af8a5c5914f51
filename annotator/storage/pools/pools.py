"""What is to be judged, since which version of the pool, and why."""

from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.storage.collections.deletions import deleted_subjects
from annotator.storage.site.bulk_insert import fetch_rows
from annotator.storage.tables.collections import DeletedKind
from annotator.storage.tables.pools import (
    Pool,
    PoolItem,
    Showing,
)
from annotator.storage.tables.topics import Topic

FIRST_SEED = 1
GREATEST_SEED = 2**62


def latest_pool(session: Session, collection_id: int) -> Pool | None:
    """The newest version, None before the first."""
    newest = select(func.max(Pool.version)).where(Pool.collection_id == collection_id).scalar_subquery()
    return session.scalar(select(Pool).where(Pool.collection_id == collection_id, Pool.version == newest))


def all_pools(session: Session, collection_id: int) -> list[Pool]:
    """Every version, oldest first."""
    return list(session.scalars(select(Pool).where(Pool.collection_id == collection_id).order_by(Pool.version)))


def next_seed(session: Session, collection_id: int) -> int:
    """The seed of the newest version, which the next one keeps unless told otherwise."""
    latest = latest_pool(session, collection_id)
    return latest.seed if latest else FIRST_SEED


def check_seed(session: Session, collection_id: int, seed: int | None) -> int:
    """The seed for the next version: the given one, else that of the newest; `InvalidValueError` out of range."""
    if seed is None:
        return next_seed(session, collection_id)
    if not 0 <= seed <= GREATEST_SEED:
        raise InvalidValueError("A seed is a whole number from 0 to 2^62, not %(seed)d.", seed=seed)
    return seed


def next_pool(
    session: Session,
    collection_id: int,
    *,
    strategy: str,
    parameters: dict[str, Any],
    seed: int,
    showing: Showing = Showing.RANDOM,
    built_by_id: int | None,
    built_at: datetime,
) -> Pool:
    """Begin the next version of a collection's pool."""
    pool = Pool(
        collection_id=collection_id,
        version=_next_version(session, collection_id),
        strategy=strategy,
        parameters=parameters,
        seed=seed,
        showing=showing,
        built_by_id=built_by_id,
        built_at=built_at,
    )
    session.add(pool)
    session.flush()
    return pool


def _next_version(session: Session, collection_id: int) -> int:
    """Beyond the newest version and every deleted one: the log, and a version that is restored, keep their numbers."""
    latest = latest_pool(session, collection_id)
    deleted = deleted_subjects(session, collection_id, DeletedKind.POOL)
    return max([latest.version if latest else 0, *map(int, deleted)]) + 1


def pool_item_ids(session: Session, collection_id: int) -> dict[tuple[int, int], int]:
    """(topic id, document id) → pool item id, for the whole pool."""
    items = (
        select(PoolItem.topic_id, PoolItem.document_id, PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
    )
    return {(topic_id, document_id): id_ for topic_id, document_id, id_ in fetch_rows(session, items)}
