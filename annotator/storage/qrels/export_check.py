"""What the judges say by topic number and docno, read in another way than for settling, to check what goes out."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, case, func, or_, select
from sqlalchemy.orm import Session, aliased

from annotator.storage.site.bulk_insert import fetch_rows
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import Assignment, Judgement, Purpose
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import Pool, PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic


class NamedOpinion(NamedTuple):
    """A judge's grade of a document for a topic.

    Of an item, whose judge was the first to say anything of it has the lowest number `first`, and what was said last
    the highest number `latest`.
    """

    topic: str
    docno: str
    judge: str
    grade: int
    first: int
    latest: int
    by_owner: bool
    adjudicates: bool
    is_machine: bool


def named_opinions(
    session: Session, collection_id: int, *, machines: bool, at: datetime | None = None
) -> Iterator[NamedOpinion]:
    """Every opinion on accepted topics, now or at an earlier moment, in no order; of machines only if wanted."""
    repeated, decision = aliased(Judgement), aliased(Assignment)
    earlier = aliased(Judgement)
    # Most judges never change their mind.
    first = case(
        (Judgement.replaces_id.is_(None), Judgement.id),
        else_=select(func.min(earlier.id))
        .where(earlier.pool_item_id == Judgement.pool_item_id, earlier.judge_id == Judgement.judge_id)
        .scalar_subquery(),
    )
    statement = (
        select(
            *(Topic.number, Document.docno, User.name, Judgement.grade, first, Judgement.id),
            Topic.owner_id == Judgement.judge_id,
            decision.purpose == Purpose.ADJUDICATION,
            User.kind == UserKind.MACHINE,
        )
        .select_from(Judgement)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .join(User, User.id == Judgement.judge_id)
        .outerjoin(repeated, repeated.id == Judgement.carried_from_id)
        # What repeats another judgement decides as that one does.
        .join(decision, decision.id == func.coalesce(repeated.assignment_id, Judgement.assignment_id))
        .where(Topic.collection_id == collection_id, ACCEPTED, Judgement.grade.is_not(None), _counted(at))
    )
    if not machines:
        statement = statement.where(User.kind != UserKind.MACHINE)
    for *columns, by_owner, adjudicates, is_machine in fetch_rows(session, statement):
        yield NamedOpinion._make((*columns, bool(by_owner), bool(adjudicates), bool(is_machine)))


def named_unjudged(
    session: Session, collection_id: int, *, machines: bool, judge: str | None = None, at: datetime | None = None
) -> Iterator[tuple[str, str]]:
    """Topic number and docno of what is pooled and of which nobody, or not that judge, has said anything."""
    judged = select(Judgement.pool_item_id).join(User, User.id == Judgement.judge_id).where(_counted(at))
    if not machines:
        judged = judged.where(User.kind != UserKind.MACHINE)
    if judge is not None:
        judged = judged.where(User.name == judge)
    of_item = Judgement.pool_item_id == PoolItem.id
    statement = (
        select(Topic.number, Document.docno)
        .select_from(PoolItem)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .join(Pool, Pool.id == PoolItem.first_pool_id)
        # Looked up item by item: of a million judgements PostgreSQL would go through a list for each.
        .where(Topic.collection_id == collection_id, ACCEPTED, ~judged.where(of_item).exists())
    )
    if at is not None:
        statement = statement.where(Pool.built_at <= at)
    yield from fetch_rows(session, statement)


def _counted(at: datetime | None) -> ColumnElement[bool]:
    """Whether a judgement counts, or counted at that moment."""
    if at is None:
        return Judgement.current.is_(True)
    later = aliased(Judgement)
    replaced = select(later.replaces_id).where(later.replaces_id.is_not(None))
    shown_again = select(Assignment.id).where(Assignment.purpose == Purpose.RE_SHOWN)
    return and_(
        Judgement.received_at <= at,
        Judgement.assignment_id.not_in(shown_again),
        Judgement.id.not_in(replaced.where(later.received_at <= at)),
        or_(Judgement.current, Judgement.id.in_(replaced)),
    )
