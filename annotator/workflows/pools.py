"""Pools: build the depth-k union of the runs, and show how far it is judged. A pool only grows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.ordering import judging_order
from annotator.evaluation.pooling import depth_pool
from annotator.evaluation.rankings import DOCUMENT_BYTES, decode_documents
from annotator.storage import Contribution, Document, Judgement, Pool, PoolItem, PoolRun, RankedList, Run, Topic
from annotator.storage.collection import find_collection, lock_open_collection
from annotator.storage.pools import add_pool_items, latest_pool, next_pool, next_seed, pool_item_ids

GREATEST_DEPTH = 100_000
GREATEST_SEED = 2**62


@dataclass(frozen=True)
class TopicGrowth:
    """What a building of the pool did for one topic."""

    number: str
    added: int
    already_pooled: int


@dataclass(frozen=True)
class PoolSummary:
    """What a building of the pool did; `version` is the version now in force."""

    version: int
    topics: tuple[TopicGrowth, ...]

    @property
    def added(self) -> int:
        """Items new to the pool."""
        return sum(topic.added for topic in self.topics)

    @property
    def already_pooled(self) -> int:
        """Documents of this pool that had been in it before."""
        return sum(topic.already_pooled for topic in self.topics)


@dataclass(frozen=True)
class TopicProgress:
    """How far the pool of one topic is judged; `complete` items have all the judgements they want."""

    number: str
    title: str
    items: int
    judged: int
    complete: int


@dataclass(frozen=True)
class PoolVersion:
    """One version of a pool, as its history shows it."""

    version: int
    strategy: str
    parameters: dict[str, object]
    seed: int
    built_at: datetime
    added: int


@dataclass(frozen=True)
class _Pooled:
    """One contribution: a run has the document at this rank."""

    topic_id: int
    document_id: int
    run_id: int
    rank: int


def build_pool(
    session: Session,
    slug: str,
    *,
    depth: int,
    tags: Sequence[str] | None = None,
    seed: int | None = None,
    built_by_id: int | None,
    built_at: datetime,
) -> PoolSummary:
    """Pool the top `depth` documents of the runs (of `tags`, or of all) for every topic.

    What is pooled stays pooled, with its judgements; a building that changes nothing makes no new version. The seed
    of the order of showing is that of the version before unless given. Raises `InvalidValueError` for a depth or seed
    out of range, `NotFoundError` for an unknown tag, `ConflictError` when there is no run.
    """
    collection = lock_open_collection(session, slug)
    seed = next_seed(session, collection.id) if seed is None else seed
    _check_numbers(depth, seed)
    runs = _chosen_runs(session, collection.id, tags)
    pooled = _depth_pool(session, list(runs), depth)
    known = pool_item_ids(session, collection.id)
    summary = _growth(session, pooled, known)
    fresh = _fresh_contributions(session, pooled, known)
    if not fresh:
        latest = latest_pool(session, collection.id)
        return PoolSummary(latest.version if latest else 0, summary)
    pool = next_pool(
        session,
        collection.id,
        strategy="depth",
        parameters={"depth": depth, "runs": sorted(runs.values())},
        seed=seed,
        built_by_id=built_by_id,
        built_at=built_at,
    )
    session.execute(insert(PoolRun), [{"pool_id": pool.id, "run_id": id_, "depth": depth} for id_ in runs])
    items = add_pool_items(
        session,
        pool,
        {(one.topic_id, one.document_id) for one in pooled} - known.keys(),
        judgements_wanted=collection.judgements_wanted,
        order=judging_order,
    )
    session.execute(insert(Contribution), [_contribution(pool.id, items, one) for one in fresh])
    return PoolSummary(pool.version, summary)


def pool_progress(session: Session, slug: str) -> list[TopicProgress]:
    """The topics that have a pool, each with how far it is judged."""
    judgements = (
        select(Judgement.pool_item_id, func.count().label("judgements"))
        .where(Judgement.current)
        .group_by(Judgement.pool_item_id)
        .subquery()
    )
    given = func.coalesce(judgements.c.judgements, 0)
    rows = session.execute(
        select(
            Topic.number,
            Topic.title,
            func.count(),
            func.count(judgements.c.pool_item_id),
            func.count().filter(given >= PoolItem.judgements_wanted),
        )
        .join(PoolItem, PoolItem.topic_id == Topic.id)
        .outerjoin(judgements, judgements.c.pool_item_id == PoolItem.id)
        .where(Topic.collection_id == find_collection(session, slug).id)
        .group_by(Topic.id)
    )
    return sorted((TopicProgress(*row) for row in rows), key=lambda topic: natural_order(topic.number))


def pool_versions(session: Session, slug: str) -> list[PoolVersion]:
    """The versions of a pool, oldest first."""
    added = select(func.count()).where(PoolItem.first_pool_id == Pool.id).correlate(Pool).scalar_subquery()
    rows = session.execute(
        select(Pool, added).where(Pool.collection_id == find_collection(session, slug).id).order_by(Pool.version)
    )
    return [
        PoolVersion(pool.version, pool.strategy, pool.parameters, pool.seed, pool.built_at, count)
        for pool, count in rows
    ]


def pooled_docnos(session: Session, slug: str) -> set[tuple[str, str]]:
    """The whole pool as (topic number, docno)."""
    rows = session.execute(
        select(Topic.number, Document.docno)
        .select_from(PoolItem)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Topic.collection_id == find_collection(session, slug).id)
    )
    return {(number, docno) for number, docno in rows}


def _chosen_runs(session: Session, collection_id: int, tags: Sequence[str] | None) -> dict[int, str]:
    """Run id → tag of the runs to pool."""
    rows = session.execute(select(Run.id, Run.tag).where(Run.collection_id == collection_id))
    runs = {id_: tag for id_, tag in rows}
    if tags is not None:
        unknown = sorted(set(tags) - set(runs.values()))
        if unknown:
            raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=", ".join(unknown))
        runs = {id_: tag for id_, tag in runs.items() if tag in set(tags)}
    if not runs:
        raise ConflictError("There is no run to pool yet.")
    return runs


def _check_numbers(depth: int, seed: int) -> None:
    if not 1 <= depth <= GREATEST_DEPTH:
        raise InvalidValueError(
            "The depth of a pool lies between 1 and %(most)d, not at %(depth)d.", most=GREATEST_DEPTH, depth=depth
        )
    if not 0 <= seed <= GREATEST_SEED:
        raise InvalidValueError("A seed is a whole number from 0 to 2^62, not %(seed)d.", seed=seed)


def _depth_pool(session: Session, run_ids: Sequence[int], depth: int) -> list[_Pooled]:
    """Pool topic by topic; only the top of each ranked list leaves the database."""
    top = func.substr(RankedList.documents, 1, depth * DOCUMENT_BYTES)
    rows = session.execute(
        select(RankedList.topic_id, RankedList.run_id, top)
        .where(RankedList.run_id.in_(run_ids))
        .order_by(RankedList.topic_id, RankedList.run_id)
    )
    pooled: list[_Pooled] = []
    for topic_id, lists in groupby(rows, key=itemgetter(0)):
        tops = list(lists)
        topic = depth_pool([decode_documents(packed) for _, _, packed in tops], depth)
        pooled += [
            _Pooled(topic_id, document, tops[run][1], rank)
            for document, run, rank in zip(
                topic.document.tolist(), topic.run.tolist(), topic.rank.tolist(), strict=True
            )
        ]
    return pooled


def _growth(session: Session, pooled: Sequence[_Pooled], known: dict[tuple[int, int], int]) -> tuple[TopicGrowth, ...]:
    pairs = {(one.topic_id, one.document_id) for one in pooled}
    sizes = Counter(topic_id for topic_id, _ in pairs)
    added = Counter(topic_id for topic_id, _ in pairs - known.keys())
    numbers = session.execute(select(Topic.id, Topic.number).where(Topic.id.in_(sizes)))
    growth = [TopicGrowth(number, added[id_], sizes[id_] - added[id_]) for id_, number in numbers]
    return tuple(sorted(growth, key=lambda topic: natural_order(topic.number)))


def _fresh_contributions(
    session: Session, pooled: Sequence[_Pooled], known: dict[tuple[int, int], int]
) -> list[_Pooled]:
    """Those that no earlier version has recorded."""
    runs = {one.run_id for one in pooled}
    rows = session.execute(select(Contribution.pool_item_id, Contribution.run_id).where(Contribution.run_id.in_(runs)))
    recorded = {(item, run) for item, run in rows}
    return [one for one in pooled if (known.get((one.topic_id, one.document_id)), one.run_id) not in recorded]


def _contribution(pool_id: int, items: dict[tuple[int, int], int], one: _Pooled) -> dict[str, int]:
    return {
        "pool_item_id": items[one.topic_id, one.document_id],
        "pool_id": pool_id,
        "run_id": one.run_id,
        "rank": one.rank,
    }
