"""The sample that a pool is: the newest version of it that was drawn from strata."""

from collections.abc import Collection as SizedIterable
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.pools import Pool, Stratum
from annotator.storage.tables.topics import ACCEPTED, Topic

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
