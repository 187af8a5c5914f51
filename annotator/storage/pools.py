"""What is to be judged, since which version of the pool, and why."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Any, NamedTuple, cast

from sqlalchemy import BigInteger, ForeignKey, Index, Table, UniqueConstraint, func, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.storage.collection import Topic, topic_ids
from annotator.storage.columns import Base
from annotator.storage.documents import docnos_of
from annotator.storage.rows import insert_rows

FIRST_SEED = 1
ROWS_AT_ONCE = 10_000

# The docnos of one topic, the pool's seed and the topic's number in; a priority for each docno out.
JudgingOrder = Callable[[Sequence[str], int, str], Iterable[int]]


class Showing(StrEnum):
    """In which order judges see the documents that a version adds. Only `SELECTION` tells something of the runs.

    Documents in random order mix with those of earlier versions; in any other order they come after them.
    """

    RANDOM = "random"
    DOCNO = "docno"
    SELECTION = "selection"


class Pool(Base):
    """One version of a collection's pool: every building or import adds a version, and versions only add items."""

    __tablename__ = "pool"
    __table_args__ = (UniqueConstraint("collection_id", "version"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    version: Mapped[int]
    strategy: Mapped[str]
    parameters: Mapped[dict[str, Any]]
    # Of the order in which judges see the documents, and of the strategy's own choices.
    seed: Mapped[int] = mapped_column(BigInteger)
    showing: Mapped[str] = mapped_column(default=Showing.RANDOM)
    built_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    built_at: Mapped[datetime]


class PoolRun(Base):
    __tablename__ = "pool_run"

    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"), primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    # None: the strategy looked at the whole of the run.
    depth: Mapped[int | None]


class Stratum(Base):
    """A part of one topic's documents of which a share was drawn for judging, for estimates from the sample."""

    __tablename__ = "stratum"

    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"), primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    # From 1, the top of the ranked lists.
    number: Mapped[int] = mapped_column(primary_key=True)
    rate: Mapped[float]
    # All its documents, packed as in a ranked list, in the order of the draw: the first `drawn` are the sample.
    drawn: Mapped[int]
    documents: Mapped[bytes]


class PoolItem(Base):
    __tablename__ = "pool_item"
    __table_args__ = (
        UniqueConstraint("topic_id", "document_id"),
        # What a draw reads: the items of a topic that still want a judge, in the order of showing.
        Index(
            "ix_pool_item_open",
            "topic_id",
            "priority",
            sqlite_where=text("taken < judgements_wanted"),
            postgresql_where=text("taken < judgements_wanted"),
        ),
        Index(
            "ix_pool_item_for_everyone",
            "topic_id",
            "priority",
            sqlite_where=text("for_everyone"),
            postgresql_where=text("for_everyone"),
        ),
        Index(
            "ix_pool_item_duplicate_of_id",
            "duplicate_of_id",
            sqlite_where=text("duplicate_of_id IS NOT NULL"),
            postgresql_where=text("duplicate_of_id IS NOT NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"))
    first_pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"), index=True)
    # The order of showing within the topic; tells nothing of ranks.
    priority: Mapped[int] = mapped_column(BigInteger)
    judgements_wanted: Mapped[int]
    # Assignments in somebody's hands or done: never above `judgements_wanted` by drawing, but for items for everyone.
    taken: Mapped[int] = mapped_column(default=0)
    # Where a sample put it: the number of its stratum, and the share of that stratum that was drawn.
    stratum: Mapped[int | None]
    rate: Mapped[float | None]
    # Drawn by the pool's seed when it joined, from 0 to 2^31 - 1: what is overlap, for everyone or shown again.
    lot: Mapped[int] = mapped_column(default=0)
    # Wants one judgement more than others, by another judge; counted in `judgements_wanted`.
    is_overlap: Mapped[bool] = mapped_column(default=False)
    # Every judge of the topic sees it: one of the common set, or a test question.
    for_everyone: Mapped[bool] = mapped_column(default=False)
    # A test question: the grade that the organiser knows to be right.
    known_grade: Mapped[int | None]
    # The item of the topic that has the very same text: its judgements are carried over, and this one is not shown.
    duplicate_of_id: Mapped[int | None] = mapped_column(ForeignKey("pool_item.id"))


class SelectionEvent(Base):
    """A choice of an adaptive strategy: what it chose, why, and what it knew, so that it can be replayed."""

    __tablename__ = "selection_event"
    __table_args__ = (UniqueConstraint("pool_id", "topic_id", "step"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"))
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    # From 1 within the version and topic.
    step: Mapped[int]
    pool_item_id: Mapped[int] = mapped_column(ForeignKey("pool_item.id"))
    # The last judgement that the choice knew of; None when there was none.
    seen_judgement_id: Mapped[int | None] = mapped_column(ForeignKey("judgement.id"))
    reason: Mapped[dict[str, Any]]
    chosen_at: Mapped[datetime]


class Contribution(Base):
    """Why a document is in the pool: a run at a rank, a person's search, or labels that were imported."""

    __tablename__ = "contribution"

    id: Mapped[int] = mapped_column(primary_key=True)
    pool_item_id: Mapped[int] = mapped_column(ForeignKey("pool_item.id"), index=True)
    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"))
    run_id: Mapped[int | None] = mapped_column(ForeignKey("run.id"))
    rank: Mapped[int | None]
    imported_from: Mapped[str | None]
    searched_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    query: Mapped[str | None]


class NewItem(NamedTuple):
    """A document that joins the pool, with its place in the order of showing, and where a sample put it."""

    topic_id: int
    document_id: int
    priority: int
    stratum: int | None = None
    rate: float | None = None


class NewContribution(NamedTuple):
    """That a run has a pooled document at this rank."""

    pool_item_id: int
    run_id: int
    rank: int


# Many rows go in through the tables themselves: the mapped classes cost ten times as much a row.
POOL_ITEMS = cast("Table", PoolItem.__table__)
CONTRIBUTIONS = cast("Table", Contribution.__table__)


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
    latest = latest_pool(session, collection_id)
    pool = Pool(
        collection_id=collection_id,
        version=latest.version + 1 if latest else 1,
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


def pool_item_ids(session: Session, collection_id: int) -> dict[tuple[int, int], int]:
    """(topic id, document id) → pool item id, for the whole pool."""
    rows = session.execute(
        select(PoolItem.topic_id, PoolItem.document_id, PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
    )
    return {(topic_id, document_id): id_ for topic_id, document_id, id_ in rows}


def add_pool_items(
    session: Session, pool: Pool, pairs: Iterable[tuple[int, int]], *, judgements_wanted: int, order: JudgingOrder
) -> dict[tuple[int, int], int]:
    """Add (topic id, document id) pairs that are new to the pool; the whole pool's ids by pair are returned.

    `order` gives the documents of a topic their priorities, from their docnos, the pool's seed and the topic's number.
    """
    by_topic: dict[int, list[int]] = {}
    for topic_id, document_id in sorted(pairs):
        by_topic.setdefault(topic_id, []).append(document_id)
    numbers = {id_: number for number, id_ in topic_ids(session, pool.collection_id).items()}
    docnos = docnos_of(session, {document_id for ids in by_topic.values() for document_id in ids})
    items = [
        NewItem(topic_id, document_id, int(priority))
        for topic_id, ids in by_topic.items()
        for document_id, priority in zip(
            ids, order([docnos[id_] for id_ in ids], pool.seed, numbers[topic_id]), strict=True
        )
    ]
    insert_items(session, pool, items, judgements_wanted=judgements_wanted)
    return pool_item_ids(session, pool.collection_id)


def insert_items(session: Session, pool: Pool, items: Iterable[NewItem], *, judgements_wanted: int) -> None:
    """Store items that no earlier version has."""
    items = list(items)
    numbers = {id_: number for number, id_ in topic_ids(session, pool.collection_id).items()}
    docnos = docnos_of(session, {item.document_id for item in items})
    columns = ("topic_id", "document_id", "first_pool_id", "priority", "judgements_wanted", "taken", "stratum", "rate")
    rows = (
        (
            *(item.topic_id, item.document_id, pool.id, item.priority, judgements_wanted, 0, item.stratum, item.rate),
            *(_lot(pool.seed, numbers[item.topic_id], docnos[item.document_id]), False, False),
        )
        for item in items
    )
    insert_rows(session, POOL_ITEMS, (*columns, "lot", "is_overlap", "for_everyone"), rows, at_once=ROWS_AT_ONCE)


def _lot(seed: int, topic: str, docno: str) -> int:
    """The lot of an item: the same whenever and with whatever else it joins the pool, and apart from its priority."""
    digest = blake2b(f"{seed}\0{topic}\0{docno}\0lot".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def insert_contributions(session: Session, pool: Pool, contributions: Iterable[NewContribution]) -> None:
    """Store that runs have these documents."""
    rows = ((one.pool_item_id, pool.id, one.run_id, one.rank) for one in contributions)
    insert_rows(session, CONTRIBUTIONS, ("pool_item_id", "pool_id", "run_id", "rank"), rows, at_once=ROWS_AT_ONCE)
