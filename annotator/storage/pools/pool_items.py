"""What joins a pool: its items, each with its lot, and why they are in it."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple, cast

from sqlalchemy import Table, select
from sqlalchemy.orm import Session

from annotator.storage.collections.collection import topic_ids
from annotator.storage.documents.documents import docnos_of
from annotator.storage.judging.judgements_wanted import settle_needs
from annotator.storage.site.bulk_insert import fetch_rows, insert_rows
from annotator.storage.tables.pools import Contribution, Pool, PoolItem

ROWS_AT_ONCE = 10_000

# The docnos of one topic, the pool's seed and the topic's number in; a priority for each docno out.
JudgingOrder = Callable[[Sequence[str], int, str], Iterable[int]]


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


def add_pool_items(
    session: Session, pool: Pool, pairs: Iterable[tuple[int, int]], *, judgements_wanted: int, order: JudgingOrder
) -> dict[tuple[int, int], int]:
    """Add (topic id, document id) pairs that are new to the pool; the ids of the version's items, by pair.

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
    new = select(PoolItem.topic_id, PoolItem.document_id, PoolItem.id).where(PoolItem.first_pool_id == pool.id)
    return {(topic_id, document_id): item_id for topic_id, document_id, item_id in fetch_rows(session, new)}


def insert_items(session: Session, pool: Pool, items: Iterable[NewItem], *, judgements_wanted: int) -> None:
    """Store items that no earlier version has, and settle again how often each item of their topics is judged."""
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
    settle_needs(session, pool.collection_id, sorted({item.topic_id for item in items}))


def _lot(seed: int, topic: str, docno: str) -> int:
    """The lot of an item: the same whenever and with whatever else it joins the pool, and apart from its priority."""
    digest = blake2b(f"{seed}\0{topic}\0{docno}\0lot".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def insert_imported(session: Session, pool: Pool, pool_item_ids: Iterable[int], imported_from: str) -> None:
    """Store that an import has these documents."""
    rows = ((item_id, pool.id, imported_from) for item_id in pool_item_ids)
    insert_rows(session, CONTRIBUTIONS, ("pool_item_id", "pool_id", "imported_from"), rows, at_once=ROWS_AT_ONCE)


def insert_contributions(session: Session, pool: Pool, contributions: Iterable[NewContribution]) -> None:
    """Store that runs have these documents."""
    rows = ((one.pool_item_id, pool.id, one.run_id, one.rank) for one in contributions)
    insert_rows(session, CONTRIBUTIONS, ("pool_item_id", "pool_id", "run_id", "rank"), rows, at_once=ROWS_AT_ONCE)
