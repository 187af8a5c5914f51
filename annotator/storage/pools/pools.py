"""A pool's versions and items, the sample that it drew, and who contributed each document."""

from collections.abc import Collection as SizedIterable
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.storage.site.bulk_insert import chunks, fetch_rows
from annotator.storage.tables.collections import DeletedKind, Deletion
from annotator.storage.tables.people import Team
from annotator.storage.tables.pools import Contribution, Pool, PoolItem, Showing, Stratum
from annotator.storage.tables.runs import IN_FORCE, Run
from annotator.storage.tables.topics import ACCEPTED, Topic

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


GREATEST_VERSION = 1 << 30  # every database holds it
DOCUMENT_BYTES = 4  # of each document of a stratum


class DrawnSample(NamedTuple):
    """A sample with all that changes when another one is drawn; the numbers are those of the accepted topics."""

    pool_id: int
    version: int
    built_at: datetime
    rates: tuple[float, ...]  # of the strata, from the top of the ranked lists down
    documents: int
    drawn: int


def sampled_pool(
    session: Session, collection_id: int, *, version: int | None = None, up_to: int | None = None
) -> Pool | None:
    """The version of the pool that drew a sample: this one, or the newest, or the newest up to another version."""
    statement = select(Pool).where(Pool.collection_id == collection_id, exists().where(Stratum.pool_id == Pool.id))
    if version is not None:
        statement = statement.where(Pool.version == min(version, GREATEST_VERSION))
    if up_to is not None:
        statement = statement.where(Pool.version <= up_to)
    return session.scalar(statement.order_by(Pool.version.desc()).limit(1))


def drawn_sample(session: Session, collection_id: int, *, up_to: int | None = None) -> DrawnSample | None:
    """The newest sample, or the newest up to a version of the pool; None when there is none."""
    pool = sampled_pool(session, collection_id, up_to=up_to)
    if pool is None:
        return None
    rows = session.execute(
        select(Stratum.number, Stratum.rate, func.sum(func.length(Stratum.documents)), func.sum(Stratum.drawn))
        .join(Topic, Topic.id == Stratum.topic_id)
        .where(Stratum.pool_id == pool.id, ACCEPTED)
        .group_by(Stratum.number, Stratum.rate)
        .order_by(Stratum.number)
    ).all()
    documents, drawn = sum(int(row[2]) for row in rows) // DOCUMENT_BYTES, sum(int(row[3]) for row in rows)
    return DrawnSample(pool.id, pool.version, pool.built_at, tuple(row[1] for row in rows), documents, drawn)


def strata_of(session: Session, sample: DrawnSample | None, topics: SizedIterable[int]) -> list[Stratum]:
    """The strata of a sample, of these topics; none without a sample."""
    if sample is None:
        return []
    statement = select(Stratum).where(Stratum.pool_id == sample.pool_id).order_by(Stratum.topic_id, Stratum.number)
    return [
        stratum
        for some in chunks(sorted(topics))
        for stratum in session.scalars(statement.where(Stratum.topic_id.in_(some)))
    ]


class Finder(NamedTuple):
    """A run, and the team that sent it."""

    run_id: int
    tag: str
    team: str | None
    counts: bool  # neither withdrawn nor replaced


class Find(NamedTuple):
    """That a document of a topic is in the pool because a run has it, or None: because a search found it."""

    topic_id: int
    document_id: int
    run_id: int | None


def finders(session: Session, collection_id: int) -> list[Finder]:
    """Every run there ever was, in the order of arrival."""
    rows = session.execute(
        select(Run.id, Run.tag, Team.name, IN_FORCE)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == collection_id)
        .order_by(Run.id)
    )
    return [Finder(*row) for row in rows]


def finds_of_runs(session: Session, collection_id: int) -> list[Find]:
    """What runs put into the pool; a document that several versions of the pool took from a run may come twice."""
    statement = (
        select(PoolItem.topic_id, PoolItem.document_id, Contribution.run_id)
        .join(Contribution, Contribution.pool_item_id == PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, Contribution.run_id.is_not(None))
    )
    return list(map(Find._make, fetch_rows(session, statement)))


def finds_of_searches(session: Session, collection_id: int) -> list[Find]:
    """What people found by searching."""
    statement = (
        select(PoolItem.topic_id, PoolItem.document_id)
        .join(Contribution, Contribution.pool_item_id == PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, Contribution.searched_by_id.is_not(None))
    )
    return [Find(topic, document, None) for topic, document in session.execute(statement)]


def feeding_runs(session: Session, collection_id: int) -> set[int]:
    """The ids of the runs that put anything into the pool."""
    statement = (
        select(Contribution.run_id)
        .join(PoolItem, PoolItem.id == Contribution.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
        .distinct()
    )
    return {run for run in session.scalars(statement) if run is not None}


def deleted_subjects(session: Session, collection_id: int, kind: DeletedKind) -> list[str]:
    """What was ever deleted of a kind and was not restored."""
    return list(
        session.scalars(
            select(Deletion.subject).where(
                Deletion.collection_id == collection_id, Deletion.kind == kind, Deletion.restored_at.is_(None)
            )
        )
    )
