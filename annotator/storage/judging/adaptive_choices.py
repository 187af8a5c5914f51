"""Input of adaptive pooling strategies for a topic, and storage of the documents that they select."""

from collections.abc import Collection as SizedIterable
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, exists, func, insert, select
from sqlalchemy.orm import Session

from annotator.storage.judging.eligibility import free_items
from annotator.storage.pools.pool_items import (
    NewContribution,
    NewItem,
    insert_contributions,
    insert_items,
)
from annotator.storage.tables.collections import Collection, CollectionState
from annotator.storage.tables.judging import Assignment, AssignmentState, Judgement, Purpose
from annotator.storage.tables.people import MACHINES
from annotator.storage.tables.pools import Pool, PoolItem, PoolRun, SelectionEvent, Stratum
from annotator.storage.tables.runs import IN_FORCE, Run
from annotator.storage.tables.topics import ACCEPTED, Topic


class JudgementRow(NamedTuple):
    """A judgement of a document of a topic; ids increase in order of storage."""

    id: int
    document_id: int
    judge_id: int
    grade: int | None


class ItemRow(NamedTuple):
    """A pool item; ids increase in order of addition."""

    id: int
    document_id: int


class Made(NamedTuple):
    """Number of documents that a strategy has selected for a topic: in all its versions, and before the newest."""

    total: int
    before: int


@dataclass(frozen=True)
class Knowledge:
    """How much of a topic has been read, by which later additions and judgements are detected."""

    items: int
    judgements: int
    last_judgement_id: int | None


@dataclass(frozen=True)
class NewChoice:
    """A document to add to the pool, the reason, and (run id, rank) for each run that retrieved it."""

    document_id: int
    priority: int
    reason: dict[str, Any]
    ranks: tuple[tuple[int, int], ...]


def newest_pool(session: Session, collection_id: int, strategies: SizedIterable[str]) -> Pool | None:
    """The newest pool version that was built by one of these strategies."""
    return session.scalar(
        select(Pool)
        .where(Pool.collection_id == collection_id, Pool.strategy.in_(strategies))
        .order_by(Pool.version.desc())
        .limit(1)
    )


def runs_in_force(session: Session, pool_id: int) -> dict[int, bool]:
    """Run id → whether the run is in force now, for the runs from which a version selects."""
    rows = session.execute(
        select(PoolRun.run_id, IN_FORCE)
        .join(Run, Run.id == PoolRun.run_id)
        .where(PoolRun.pool_id == pool_id)
        .order_by(PoolRun.run_id)
    )
    return {run_id: bool(counts) for run_id, counts in rows}


def items_of(session: Session, topic_id: int) -> list[ItemRow]:
    """The pool items of a topic, in order of addition."""
    rows = session.execute(
        select(PoolItem.id, PoolItem.document_id).where(PoolItem.topic_id == topic_id).order_by(PoolItem.id)
    )
    return [ItemRow(id_, document_id) for id_, document_id in rows]


def items_by_topic(session: Session, collection_id: int) -> dict[int, int]:
    """Topic id → number of its pool items."""
    rows = session.execute(
        select(PoolItem.topic_id, func.count())
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
        .group_by(PoolItem.topic_id)
    )
    return {topic_id: count for topic_id, count in rows}


def judgements_of(session: Session, topic_id: int) -> list[JudgementRow]:
    """All judgements by people of a topic's documents, replaced ones included, in order of storage."""
    rows = session.execute(
        select(Judgement.id, PoolItem.document_id, Judgement.judge_id, Judgement.grade)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .where(PoolItem.topic_id == topic_id, Judgement.judge_id.not_in(MACHINES))
        .order_by(Judgement.id)
    )
    return [JudgementRow(id_, document_id, judge_id, grade) for id_, document_id, judge_id, grade in rows]


def events_of(session: Session, pool_id: int, topic_id: int) -> list[tuple[SelectionEvent, int]]:
    """Selections of a version for a topic in order of steps, each with its document id."""
    rows = session.execute(
        select(SelectionEvent, PoolItem.document_id)
        .join(PoolItem, PoolItem.id == SelectionEvent.pool_item_id)
        .where(SelectionEvent.pool_id == pool_id, SelectionEvent.topic_id == topic_id)
        .order_by(SelectionEvent.step)
    )
    return [(event, document_id) for event, document_id in rows]


def chosen_runs(session: Session, pool_id: int, topic_id: int) -> dict[int, int]:
    """Document id → id of the run from which a version selected it."""
    rows = session.execute(
        select(PoolItem.document_id, SelectionEvent.reason["run"].as_integer())
        .join(SelectionEvent, SelectionEvent.pool_item_id == PoolItem.id)
        .where(SelectionEvent.pool_id == pool_id, SelectionEvent.topic_id == topic_id)
    )
    return {document_id: run_id for document_id, run_id in rows}


def choices_made(session: Session, pool_id: int) -> dict[int, int]:
    """Topic id → number of documents that a version has selected."""
    rows = session.execute(
        select(SelectionEvent.topic_id, func.count())
        .where(SelectionEvent.pool_id == pool_id)
        .group_by(SelectionEvent.topic_id)
    )
    return {topic_id: count for topic_id, count in rows}


def judged_before_choosing(session: Session, pool: Pool, topic_id: int) -> int | None:
    """How many documents of a topic were judged when the version's strategy first chose one; None before it has.

    Choices of earlier versions by the same strategy count.
    """
    first = session.execute(
        select(SelectionEvent.seen_judgement_id)
        .join(Pool, Pool.id == SelectionEvent.pool_id)
        .where(
            Pool.collection_id == pool.collection_id,
            Pool.strategy == pool.strategy,
            Pool.version <= pool.version,
            SelectionEvent.topic_id == topic_id,
        )
        .order_by(Pool.version, SelectionEvent.step)
        .limit(1)
    ).one_or_none()
    if first is None:
        return None
    judged = (
        select(func.count(PoolItem.document_id.distinct()))
        .join(Judgement, Judgement.pool_item_id == PoolItem.id)
        .where(PoolItem.topic_id == topic_id, Judgement.id <= (first.seen_judgement_id or 0))
    )
    return session.scalar(judged) or 0


def choices_of_strategy(session: Session, pool: Pool) -> dict[int, Made]:
    """Topic id → number of documents that this version and earlier ones of the same strategy have selected.

    Documents of a target set were in the pool before, and take nothing of a budget.
    """
    is_before = SelectionEvent.pool_id != pool.id
    statement = (
        select(SelectionEvent.topic_id, func.count(), func.count().filter(is_before))
        .join(Pool, Pool.id == SelectionEvent.pool_id)
        .where(Pool.collection_id == pool.collection_id, Pool.strategy == pool.strategy, Pool.version <= pool.version)
        .group_by(SelectionEvent.topic_id)
    )
    made = {topic_id: Made(total, before) for topic_id, total, before in session.execute(statement)}
    samples = select(Stratum.pool_id).join(Pool, Pool.id == Stratum.pool_id)
    drawn = list(session.scalars(samples.where(Pool.collection_id == pool.collection_id).distinct()))
    if drawn:
        of_sample = statement.join(PoolItem, PoolItem.id == SelectionEvent.pool_item_id)
        for topic_id, total, before in session.execute(of_sample.where(PoolItem.first_pool_id.in_(drawn))):
            made[topic_id] = Made(made[topic_id].total - total, made[topic_id].before - before)
    return made


def items_before_choices(session: Session, pool: Pool) -> dict[int, list[int]]:
    """Topic id → ids of the documents that were pooled before a version began to select."""
    chosen = exists().where(
        SelectionEvent.pool_item_id == PoolItem.id,
        SelectionEvent.pool_id == pool.id,
        PoolItem.first_pool_id == pool.id,
    )
    rows = session.execute(
        select(PoolItem.topic_id, PoolItem.document_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == pool.collection_id, PoolItem.first_pool_id <= pool.id, ~chosen)
    )
    found: dict[int, list[int]] = {}
    for topic_id, document_id in rows:
        found.setdefault(topic_id, []).append(document_id)
    return found


def items_of_later_versions(session: Session, pool: Pool, *, after: int) -> tuple[dict[int, list[int]], int]:
    """Topic id → documents that later versions added, and the greatest of their pool item ids (else `after`).

    Only items with ids greater than `after`. Later versions grow one at a time under the collection's lock, so that no
    item with a smaller id can appear afterwards.
    """
    later = select(Pool.id).where(Pool.collection_id == pool.collection_id, Pool.version > pool.version)
    rows = session.execute(
        select(PoolItem.id, PoolItem.topic_id, PoolItem.document_id)
        .where(PoolItem.first_pool_id.in_(later), PoolItem.id > after)
        .order_by(PoolItem.id)
    )
    found: dict[int, list[int]] = {}
    for item_id, topic_id, document_id in rows:
        found.setdefault(topic_id, []).append(document_id)
        after = item_id
    return found, after


def held_and_free(session: Session, collection: Collection, topic_id: int, judge_id: int) -> tuple[int, int]:
    """Number of items of a topic that this judge holds, and number that they could draw."""
    topic = session.get_one(Topic, topic_id)
    held = select(PoolItem.id).where(PoolItem.id.in_(_held_items(judge_id)), PoolItem.topic_id == topic_id)
    counts = [
        session.scalars(select(func.count()).select_from(items.subquery())).one()
        for items in (held, free_items(judge_id, topic, collection.judging_mode))
    ]
    return counts[0], counts[1]


def greatest_priority(session: Session, topic_id: int) -> int | None:
    """The priority of the topic's item that is shown last; None for an empty pool."""
    return session.scalar(select(func.max(PoolItem.priority)).where(PoolItem.topic_id == topic_id))


def hold_back_choices(session: Session, topic_id: int) -> None:
    """Lock a topic against new selections while it is judged; the lock is shared among judges.

    So no judgement is stored behind a selection that has seen later ones, and selections can be replayed.
    """
    session.execute(select(Topic.id).where(Topic.id == topic_id).with_for_update(read=True, key_share=True))


def lock_for_choices(session: Session, pool: Pool, topic_id: int, *, wait: bool) -> bool:
    """Lock the topic against pool additions and judging until the transaction ends; return whether that succeeded.

    False when judging has ended, the topic is dropped or, unless `wait`, an organiser is changing the collection. The
    collection's settings are reread after locking.
    """
    collection = session.scalar(
        select(Collection).where(Collection.id == pool.collection_id).with_for_update(read=True, skip_locked=not wait),
        execution_options={"populate_existing": True},
    )
    if collection is None or collection.state != CollectionState.OPEN:
        return False
    # The exclusive lock, for which writers of judgements wait; see `hold_back_choices`.
    topic = session.scalar(select(Topic.id).where(Topic.id == topic_id, ACCEPTED).with_for_update())
    # Selections of different topics share one budget.
    session.execute(select(Pool.id).where(Pool.id == pool.id).with_for_update())
    return topic is not None


def still_so(session: Session, topic_id: int, knowledge: Knowledge) -> bool:
    """Whether the topic's pool is unchanged and no judgement with an id up to the last one read has been added."""
    items = select(func.count()).select_from(PoolItem).where(PoolItem.topic_id == topic_id)
    judgements = (
        select(func.count())
        .select_from(Judgement)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .where(
            PoolItem.topic_id == topic_id,
            Judgement.id <= (knowledge.last_judgement_id or 0),
            Judgement.judge_id.not_in(MACHINES),
        )
    )
    return (session.scalar(items), session.scalar(judgements)) == (knowledge.items, knowledge.judgements)


def insert_choices(
    session: Session,
    pool: Pool,
    topic_id: int,
    choices: Sequence[NewChoice],
    *,
    seen_judgement_id: int | None,
    judgements_wanted: int,
    at: datetime,
) -> None:
    """Store selected documents: items and contributions of those that are not yet pooled, and selection events."""
    made = choices_made(session, pool.id).get(topic_id, 0)
    items = {item.document_id: item.id for item in items_of(session, topic_id)}
    added = [choice for choice in choices if choice.document_id not in items]
    new = [NewItem(topic_id, choice.document_id, choice.priority) for choice in added]
    ids = insert_items(session, pool, new, judgements_wanted=judgements_wanted)
    items |= {choice.document_id: id_ for choice, id_ in zip(added, ids, strict=True)}
    insert_contributions(
        session,
        pool,
        [NewContribution(items[choice.document_id], run, rank) for choice in added for run, rank in choice.ranks],
    )
    session.execute(
        insert(SelectionEvent),
        [
            {
                "pool_id": pool.id,
                "topic_id": topic_id,
                "step": step,
                "pool_item_id": items[choice.document_id],
                "seen_judgement_id": seen_judgement_id,
                "reason": choice.reason,
                "chosen_at": at,
            }
            for step, choice in enumerate(choices, start=made + 1)
        ],
    )


def _held_items(judge_id: int) -> Select[int]:
    """Ids of the pool items that this judge holds for judging."""
    is_live = and_(Assignment.state == AssignmentState.LIVE, Assignment.purpose != Purpose.ADJUDICATION)
    return select(Assignment.pool_item_id).where(Assignment.judge_id == judge_id, is_live)


def chosen_before(session: Session, collection_id: int, strategy: str) -> dict[int, int]:
    """Topic id → number of documents that the strategy has selected adaptively; empty for other strategies."""
    newest = newest_pool(session, collection_id, [strategy])
    made = {} if newest is None else choices_of_strategy(session, newest)
    return {topic: each.total for topic, each in made.items()}


def chosen_documents(session: Session, collection_id: int, strategies: SizedIterable[str]) -> dict[int, list[int]]:
    """Accepted topic id → documents that these strategies have selected adaptively."""
    rows = session.execute(
        select(PoolItem.topic_id, PoolItem.document_id)
        .join(SelectionEvent, SelectionEvent.pool_item_id == PoolItem.id)
        .join(Pool, Pool.id == SelectionEvent.pool_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Pool.collection_id == collection_id, Pool.strategy.in_(strategies), ACCEPTED)
        .order_by(PoolItem.topic_id, SelectionEvent.step)
    )
    found: dict[int, list[int]] = {}
    for topic_id, document_id in rows:
        found.setdefault(topic_id, []).append(document_id)
    return found
