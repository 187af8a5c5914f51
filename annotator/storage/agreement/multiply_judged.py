"""What people said of pool items that two of them or more graded. Machines are left out; adjudicators decide.

For organisers, who also read of agreed and decided items; `adjudication_queue` has what is still to be decided.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnExpressionArgument, and_, func, or_, select, text
from sqlalchemy.orm import Session

from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.judging.judging import DECIDING
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import OF_PEOPLE, Assignment, Evidence, Judgement
from annotator.storage.tables.people import User
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic

_BY_ADJUDICATOR = Judgement.assignment_id.in_(DECIDING)
# From the few assignments of adjudicators to their judgements, which an index finds by item and judge.
_DECISIONS = select(Judgement.id).join(
    Assignment,
    and_(
        Assignment.id == Judgement.assignment_id,
        Assignment.pool_item_id == Judgement.pool_item_id,
        Assignment.judge_id == Judgement.judge_id,
        text("assignment.purpose = 'adjudication'"),
    ),
)
# What adjudicators said themselves, or what was carried over from it.
DECIDED = or_(
    _BY_ADJUDICATOR,
    func.coalesce(Judgement.carried_from_id, 0).in_(_DECISIONS),
)


class GradedItem(NamedTuple):
    """A pool item that two judges or more graded: from the lowest of their grades to the highest."""

    id: int
    topic_id: int
    low: int
    high: int


class ItemRow(NamedTuple):
    """A pool item as a reader of a list knows it; `known_grade` is that of a test question."""

    docno: str
    title: str
    has_text: bool
    known_grade: int | None


class JudgementRow(NamedTuple):
    """What one person says of a pool item now; `is_carried`: it was said of another document with the same text."""

    judgement_id: int
    judge: str
    grade: int | None
    cannot_judge: str | None
    note: str
    judged_at: datetime
    is_carried: bool


def graded_twice(session: Session, collection_id: int, judge_ids: Sequence[int] | None = None) -> list[GradedItem]:
    """The items of accepted topics that two judges or more graded, one of whom was shown the item itself.

    With `judge_ids` these judges alone count.
    """
    statement = (
        select(PoolItem.id, PoolItem.topic_id, func.min(Judgement.grade), func.max(Judgement.grade))
        .select_from(Judgement)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(*_graded(collection_id), ~DECIDED)
        .group_by(PoolItem.id, PoolItem.topic_id)
        .having(func.count() > 1, func.count().filter(SHOWN) > 0)
    )
    if judge_ids is not None:
        statement = statement.where(Judgement.judge_id.in_(judge_ids))
    return [GradedItem._make(row) for row in session.execute(statement)]


def graded_by(session: Session, collection_id: int, judge_id: int) -> set[int]:
    """The items that one person graded, not as an adjudicator."""
    return set(
        session.scalars(
            select(Judgement.pool_item_id)
            .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
            .join(Topic, Topic.id == PoolItem.topic_id)
            .where(*_graded(collection_id), ~DECIDED, Judgement.judge_id == judge_id)
        )
    )


def people_who_graded(session: Session, collection_id: int) -> dict[str, int]:
    """The names of all people who graded anything of an accepted topic, in order, with their ids."""
    graded = (
        select(Judgement.id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(*_graded(collection_id), Judgement.judge_id == User.id)
    )
    rows = session.execute(select(User.name, User.id).where(graded.exists()).order_by(User.name))
    return {name: id_ for name, id_ in rows}


def items_by_id(session: Session, item_ids: Sequence[int]) -> dict[int, ItemRow]:
    """These items, as many as a statement may name."""
    rows = session.execute(
        select(PoolItem.id, Document.docno, Document.title, Document.body.is_not(None), PoolItem.known_grade)
        .join(Document, Document.id == PoolItem.document_id)
        .where(PoolItem.id.in_(item_ids))
    )
    return {id_: ItemRow._make(row) for id_, *row in rows}


def judgements_on(session: Session, item_ids: Sequence[int]) -> dict[int, list[JudgementRow]]:
    """Item → its current judgements by people, in their order, for as many items as a statement may name."""
    rows = session.execute(
        select(
            *(Judgement.pool_item_id, Judgement.id, User.name, Judgement.grade, Judgement.cannot_judge),
            *(Judgement.note, Judgement.judged_at, ~SHOWN),
        )
        .join(User, User.id == Judgement.judge_id)
        .where(Judgement.pool_item_id.in_(item_ids), Judgement.current, OF_PEOPLE)
        .order_by(Judgement.id)
    )
    words: dict[int, list[JudgementRow]] = defaultdict(list)
    for item_id, *row in rows:
        words[item_id].append(JudgementRow._make(row))
    return words


def evidence_of(session: Session, item_ids: Sequence[int]) -> dict[int, list[str]]:
    """Judgement → the passages for which it was made, in order, for judgements of these items."""
    rows = session.execute(
        select(Evidence.judgement_id, Evidence.text)
        .join(Judgement, Judgement.id == Evidence.judgement_id)
        .where(Judgement.pool_item_id.in_(item_ids))
        .order_by(Evidence.judgement_id, Evidence.start, Evidence.id)
    )
    evidence: dict[int, list[str]] = defaultdict(list)
    for judgement_id, marked in rows:
        evidence[judgement_id].append(marked)
    return evidence


def _graded(collection_id: int) -> tuple[ColumnExpressionArgument[bool], ...]:
    """The present grades of people, in a collection's accepted topics."""
    return (
        Topic.collection_id == collection_id,
        ACCEPTED,
        Judgement.current,
        Judgement.grade.is_not(None),
        OF_PEOPLE,
    )
