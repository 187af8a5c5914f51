"""Insertion of pool items with their lots, and contributions (why each item is in the pool)."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple, cast

from sqlalchemy import Table, select
from sqlalchemy.orm import Session

from annotator.storage.collections.collection import topic_ids
from annotator.storage.documents.documents import docnos_of
from annotator.storage.judging.judgements_wanted import settle_needs
from annotator.storage.site.bulk_insert import FoldedRows, fetch_rows, fold_rows, insert_alike, insert_folded, next_ids
from annotator.storage.site.database import has_one_writer
from annotator.storage.tables.people import Team
from annotator.storage.tables.pools import Contribution, Pool, PoolItem
from annotator.storage.tables.runs import Run
from annotator.storage.tables.topics import ACCEPTED, Topic

ROWS_AT_ONCE = 10_000
ITEM_COLUMNS = ("id", "topic_id", "document_id", "priority", "lot")

# (docnos of a topic, seed of the pool, topic number) → a priority for each docno.
JudgingOrder = Callable[[Sequence[str], int, str], Iterable[int]]


class NewItem(NamedTuple):
    """A document to add to the pool, its priority for showing, and its stratum and sampling rate."""

    topic_id: int
    document_id: int
    priority: int
    stratum: int | None = None
    rate: float | None = None


class NewContribution(NamedTuple):
    """A run's rank of a pooled document."""

    pool_item_id: int
    run_id: int
    rank: int


class PlacedContribution(NamedTuple):
    """A run's rank of a document of the pool, or of one that joins it: of this place among the new items."""

    item: int
    run_id: int
    rank: int
    is_new: bool


class PreparedItems(NamedTuple):
    """New items by stratum and sampling rate, and contributions, as rows for SQLite; new items count from 0."""

    size: int
    topics: tuple[int, ...]
    items: tuple[tuple[int | None, float | None, FoldedRows], ...]
    contributions: tuple[FoldedRows, FoldedRows]  # of new items, and of others


class ContributedDocument(NamedTuple):
    """A document of the pool, and a run that contributed it; `team` is None for a run without one."""

    tag: str
    team: str | None
    topic_id: int
    document_id: int


# Core tables for bulk inserts: mapped classes cost ten times as much per row.
POOL_ITEMS = cast("Table", PoolItem.__table__)
CONTRIBUTIONS = cast("Table", Contribution.__table__)


def add_pool_items(
    session: Session, pool: Pool, pairs: Iterable[tuple[int, int]], *, judgements_wanted: int, order: JudgingOrder
) -> dict[tuple[int, int], int]:
    """Add (topic id, document id) pairs that are new to the pool; return pair → id of the version's items.

    `order` computes the priorities of a topic's documents.
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
    lots = [draw_lot(pool.seed, numbers[item.topic_id], docnos[item.document_id]) for item in items]
    ids = insert_items(session, pool, items, judgements_wanted=judgements_wanted, lots=lots)
    return {(item.topic_id, item.document_id): id_ for item, id_ in zip(items, ids, strict=True)}


def insert_items(
    session: Session,
    pool: Pool,
    items: Sequence[NewItem],
    *,
    judgements_wanted: int,
    lots: Sequence[int] | None = None,
) -> Sequence[int]:
    """Insert items that are new to the pool, update the wanted judgements of their topics, and return their ids.

    `lots` are those of `draw_lot` in the same order, where the caller has drawn them before.
    """
    ids = next_ids(session, POOL_ITEMS, len(items))
    drawn = _lots(session, pool, items) if lots is None else lots
    by_stratum: dict[tuple[int | None, float | None], list[tuple[int, ...]]] = {}
    for id_, item, lot in zip(ids, items, drawn, strict=True):
        row = (id_, item.topic_id, item.document_id, item.priority, lot)
        by_stratum.setdefault((item.stratum, item.rate), []).append(row)
    for (stratum, rate), rows in by_stratum.items():
        same = _of_new_items(pool, judgements_wanted, stratum, rate)
        insert_alike(session, POOL_ITEMS, ITEM_COLUMNS, rows, same=same, at_once=ROWS_AT_ONCE)
    settle_needs(session, pool.collection_id, sorted({item.topic_id for item in items}))
    return ids


def prepare_items(
    session: Session, items: Sequence[NewItem], lots: Sequence[int], contributions: Sequence[PlacedContribution]
) -> PreparedItems | None:
    """Make the rows of items with their lots, and of contributions, before SQLite's lock is taken; None elsewhere."""
    if not has_one_writer(session):
        return None
    by_stratum: dict[tuple[int | None, float | None], list[tuple[int, ...]]] = {}
    for place, (item, lot) in enumerate(zip(items, lots, strict=True)):
        row = (place, item.topic_id, item.document_id, item.priority, lot)
        by_stratum.setdefault((item.stratum, item.rate), []).append(row)
    strata = ((*key, fold_rows(ITEM_COLUMNS, rows, at_once=ROWS_AT_ONCE)) for key, rows in by_stratum.items())
    given = [[one[:3] for one in contributions if one.is_new is is_new] for is_new in (True, False)]
    new, others = (fold_rows(NewContribution._fields, rows, at_once=ROWS_AT_ONCE) for rows in given)
    return PreparedItems(len(items), tuple(sorted({item.topic_id for item in items})), tuple(strata), (new, others))


def insert_prepared_items(session: Session, pool: Pool, prepared: PreparedItems, *, judgements_wanted: int) -> None:
    """Insert what was prepared, as `insert_items` and `insert_contributions` do."""
    first = next_ids(session, POOL_ITEMS, prepared.size)[0] if prepared.size else 0
    for stratum, rate, rows in prepared.items:
        same = _of_new_items(pool, judgements_wanted, stratum, rate)
        insert_folded(session, POOL_ITEMS, rows, same=same, before={"id": first})
    if prepared.size:
        settle_needs(session, pool.collection_id, prepared.topics)
    new, others = prepared.contributions
    insert_folded(session, CONTRIBUTIONS, new, same={"pool_id": pool.id}, before={"pool_item_id": first})
    insert_folded(session, CONTRIBUTIONS, others, same={"pool_id": pool.id}, before={})


def _of_new_items(
    pool: Pool, judgements_wanted: int, stratum: int | None, rate: float | None
) -> dict[str, str | float | None]:
    """The columns in which new items of a stratum do not differ."""
    new = {"first_pool_id": pool.id, "judgements_wanted": judgements_wanted, "taken": 0}
    return {**new, "stratum": stratum, "rate": rate, "is_overlap": False, "for_everyone": False}


def _lots(session: Session, pool: Pool, items: Sequence[NewItem]) -> list[int]:
    numbers = {id_: number for number, id_ in topic_ids(session, pool.collection_id).items()}
    docnos = docnos_of(session, {item.document_id for item in items})
    return [draw_lot(pool.seed, numbers[item.topic_id], docnos[item.document_id]) for item in items]


def draw_lot(seed: int, topic: str, docno: str) -> int:
    """Hash-based lot of an item, independent of when and with what it joins the pool, and of its priority."""
    digest = blake2b(f"{seed}\0{topic}\0{docno}\0lot".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def insert_imported(session: Session, pool: Pool, pool_item_ids: Iterable[int], imported_from: str) -> None:
    """Record an import as the contributor of these items."""
    rows, same = ((item_id,) for item_id in pool_item_ids), {"pool_id": pool.id, "imported_from": imported_from}
    insert_alike(session, CONTRIBUTIONS, ("pool_item_id",), rows, same=same, at_once=ROWS_AT_ONCE)


def insert_contributions(session: Session, pool: Pool, contributions: Iterable[NewContribution]) -> None:
    """Record runs as contributors of items."""
    same = {"pool_id": pool.id}
    insert_alike(session, CONTRIBUTIONS, NewContribution._fields, contributions, same=same, at_once=ROWS_AT_ONCE)


def contributed_documents(session: Session, collection_id: int) -> list[ContributedDocument]:
    """The documents that runs contributed to accepted topics, also runs that were withdrawn or replaced since."""
    rows = fetch_rows(
        session,
        select(Run.tag, Team.name, PoolItem.topic_id, PoolItem.document_id)
        .join(Contribution, Contribution.run_id == Run.id)
        .join(PoolItem, PoolItem.id == Contribution.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Topic.collection_id == collection_id, ACCEPTED),
    )
    return [ContributedDocument(*row) for row in rows]
