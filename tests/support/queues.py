"""Pools for tests of the queue, straight from the tables: topics with documents of given texts, and what judges do."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from build import NOW, SLUG, news
from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from annotator.evaluation.pooling.ordering import judging_order
from annotator.storage import Assignment, Collection, Document, Judgement, PoolItem, Purpose, Topic
from annotator.storage.judging.duplicates import carry_over
from annotator.storage.judging.eligibility import FreeItem, next_free
from annotator.storage.judging.judgements_wanted import settle_needs
from annotator.storage.judging.leases import lend
from annotator.storage.pools.pool_items import add_pool_items
from annotator.storage.pools.pools import FIRST_SEED, next_pool

ENDLESS = 10_000


def queue(session: Session, *sizes: int, slug: str = SLUG, **settings: str | int) -> list[Topic]:
    """A collection with these settings whose topics 1, 2, … have pools of so many documents, no two texts the same."""
    news(session, slug)
    collection = session.scalars(select(Collection).where(Collection.slug == slug)).one()
    for name, value in settings.items():
        setattr(collection, name, value)
    topics = [add_topic(session, collection, str(number)) for number in range(1, len(sizes) + 1)]
    for topic, size in zip(topics, sizes, strict=True):
        grow(session, topic, [None] * size)
    return topics


def add_topic(session: Session, collection: Collection, number: str) -> Topic:
    topic = Topic(collection_id=collection.id, number=number, title=f"topic {number}", description="", narrative="")
    session.add(topic)
    session.flush()
    return topic


def grow(session: Session, topic: Topic, texts: Sequence[str | None], *, seed: int = FIRST_SEED) -> list[int]:
    """Pool new documents with these texts, None for one of their own; the ids of their items."""
    collection = session.get_one(Collection, topic.collection_id)
    known = session.scalars(select(func.count()).select_from(Document)).one()
    docnos = [f"d{number:05}" for number in range(known + 1, known + len(texts) + 1)]
    rows = [document(docno, docno if text is None else text) for docno, text in zip(docnos, texts, strict=True)]
    if not rows:
        return []
    session.execute(insert(Document), [{"collection_id": collection.id, **row} for row in rows])
    new = select(Document.docno, Document.id).where(Document.collection_id == collection.id)
    ids = {docno: id_ for docno, id_ in session.execute(new.where(Document.docno >= docnos[0]))}
    pool = next_pool(session, collection.id, strategy="depth", parameters={}, seed=seed, built_by_id=None, built_at=NOW)
    pairs = [(topic.id, ids[docno]) for docno in docnos]
    items = add_pool_items(session, pool, pairs, judgements_wanted=collection.judgements_wanted, order=judging_order)
    return [items[pair] for pair in pairs]


def document(docno: str, body: str) -> dict[str, Any]:
    """The columns of a document; its text is the body alone."""
    return {"docno": docno, "title": "", "body": body, "text_hash": hashlib.sha256(body.encode()).hexdigest()}


def retext(session: Session, item: int, body: str) -> None:
    """Give a pooled document another text; nothing is settled."""
    row = document("", body)
    one = select(PoolItem.document_id).where(PoolItem.id == item).scalar_subquery()
    session.execute(update(Document).where(Document.id == one).values(body=row["body"], text_hash=row["text_hash"]))


def items_of(session: Session, topic: Topic) -> list[PoolItem]:
    """In the order of their lots."""
    statement = select(PoolItem).where(PoolItem.topic_id == topic.id).order_by(PoolItem.lot, PoolItem.id)
    return list(session.scalars(statement.execution_options(populate_existing=True)))


def settle(session: Session, topic: Topic, **changed: object) -> None:
    """Change settings of the topic's collection and settle it."""
    collection = session.get_one(Collection, topic.collection_id)
    for name, value in changed.items():
        setattr(collection, name, value)
    settle_needs(session, collection.id, [topic.id])


def marks(session: Session, topic: Topic) -> list[tuple[bool, bool, int]]:
    """For everyone, overlap and judgements wanted of each item, in the order of the lots."""
    return [(item.for_everyone, item.is_overlap, item.judgements_wanted) for item in items_of(session, topic)]


def mode_of(session: Session, topic: Topic) -> str:
    return session.get_one(Collection, topic.collection_id).judging_mode


def free(session: Session, judge: int, topic: Topic, count: int = ENDLESS) -> list[FreeItem]:
    return next_free(session, judge, topic, mode_of(session, topic), count, skip_locked=True)


def take(session: Session, judge: int, topic: Topic, count: int = ENDLESS, *, at: datetime = NOW) -> list[int]:
    """Draw, at most so many items."""
    drawn = free(session, judge, topic, count)
    purposes = {item.id: item.purpose for item in drawn}
    if drawn:
        lend(session, list(purposes), judge, at, purposes)
    return list(purposes)


def judge(session: Session, who: int, items: Sequence[int], grade: int | None = 1, *, at: datetime = NOW) -> None:
    """Judge items that are in hand; as recording does it, less the checks."""
    for item in items:
        held = session.scalars(
            select(Assignment).where(
                Assignment.pool_item_id == item,
                Assignment.judge_id == who,
                Assignment.state != "returned",
                Assignment.purpose != Purpose.RE_SHOWN,
            )
        ).one()
        held.state = "done"
        current = (Judgement.pool_item_id == item) & (Judgement.judge_id == who) & Judgement.current
        session.execute(update(Judgement).where(current).values(current=False))
        said = session.scalars(select(func.count()).select_from(Judgement)).one()
        judgement = Judgement(
            client_id=f"said-{who}-{said}",
            assignment_id=held.id,
            pool_item_id=item,
            judge_id=who,
            grade=grade,
            cannot_judge=None if grade is not None else "broken",
            judged_at=at,
            received_at=at,
        )
        session.add(judgement)
        session.flush()
        carry_over(session, [judgement.client_id])


def grades(session: Session, item: int) -> dict[int, tuple[int | None, bool]]:
    """Judge → present grade of an item, and whether it was carried over."""
    rows = session.execute(
        select(Judgement.judge_id, Judgement.grade, Judgement.carried_from_id.is_not(None)).where(
            Judgement.pool_item_id == item, Judgement.current
        )
    )
    return {who: (grade, bool(carried)) for who, grade, carried in rows}
