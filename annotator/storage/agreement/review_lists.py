"""Pool items to be reviewed one after the other: their ids in order, and one item with its judgements."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from annotator.storage.agreement.adjudication_queue import Repeated
from annotator.storage.judging.drawing import HeldDocument
from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.judging.judge_history import evidence_passages
from annotator.storage.judging.judgement_writing import Passage
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import CURRENT, JUDGES, OF_PEOPLE, Assignment, Judgement, Purpose
from annotator.storage.tables.people import User
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic


class ItemKey(NamedTuple):
    """The topic and the document of a pool item."""

    topic: str
    docno: str


class ReviewedItem(NamedTuple):
    """A pool item with its topic's id, its document, and the right grade of a gold question."""

    topic_id: int
    known_grade: int | None
    document: HeldDocument


class ReviewedJudgement(NamedTuple):
    """A person's current judgement; `adjudicates`: as adjudicator; `is_carried`: copied from the same text."""

    judge: str
    decision: Decision
    judged_at: datetime
    evidence: tuple[Passage, ...]
    adjudicates: bool
    is_carried: bool


def item_of(session: Session, collection_id: int, key: ItemKey) -> int | None:
    """The id of a pool item of an accepted topic; None when the document is not in the pool."""
    return session.scalar(
        select(PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, Topic.number == key.topic, Document.docno == key.docno)
    )


def keys_of(session: Session, item_ids: Sequence[int]) -> dict[int, ItemKey]:
    """Item id → its topic and document; `item_ids` must fit into one statement."""
    rows = session.execute(
        select(PoolItem.id, Topic.number, Document.docno)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(PoolItem.id.in_(item_ids))
    )
    return {id_: ItemKey(topic, docno) for id_, topic, docno in rows}


def reviewed_item(session: Session, item_id: int) -> ReviewedItem:
    """One pool item with its document, as if it were held without an assignment."""
    item = session.get_one(PoolItem, item_id)
    one = session.get_one(Document, item.document_id)
    document = HeldDocument(
        *(0, item.id, False, one.id, one.docno, one.title, one.body, one.url, one.language, one.text_hash),
        has_new_text=False,
    )
    return ReviewedItem(item.topic_id, item.known_grade, document)


def judgements_of(session: Session, item_id: int) -> list[ReviewedJudgement]:
    """People's current judgements of a pool item, oldest first and adjudicators' last."""
    source = func.coalesce(Repeated.id, Judgement.id).label("source")
    rows = session.execute(
        select(
            *(Judgement, User.name, source, func.coalesce(Repeated.note, Judgement.note).label("written")),
            (Assignment.purpose == Purpose.ADJUDICATION).label("adjudicates"),
        )
        .join(User, User.id == Judgement.judge_id)
        .outerjoin(Repeated, Repeated.id == Judgement.carried_from_id)
        .join(Assignment, Assignment.id == func.coalesce(Repeated.assignment_id, Judgement.assignment_id))
        .where(Judgement.pool_item_id == item_id, CURRENT, OF_PEOPLE)
        .order_by(Assignment.purpose == Purpose.ADJUDICATION, Judgement.id)
    ).all()
    evidence = evidence_passages(session, [row.source for row in rows])
    return [
        ReviewedJudgement(
            row.name,
            Decision(row.Judgement.grade, Decision.of(row.Judgement).cannot_judge, row.written),
            row.Judgement.judged_at,
            tuple(evidence.get(row.source, ())),
            row.adjudicates,
            row.Judgement.carried_from_id is not None,
        )
        for row in rows
    ]


def judged_by(
    session: Session, collection_id: int, judge_id: int, *, grade: int | None, without: bool, topic: str | None
) -> list[int]:
    """Items that a person judged, not as an adjudicator, the last judged first.

    `grade` restricts them to one grade, `without` to those that could not be judged.
    """
    statement = (
        select(Judgement.pool_item_id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, CURRENT, SHOWN, JUDGES, Judgement.judge_id == judge_id)
        .order_by(Judgement.id.desc())
    )
    if without:
        statement = statement.where(Judgement.grade.is_(None))
    elif grade is not None:
        statement = statement.where(Judgement.grade == grade)
    return list(session.scalars(statement if topic is None else statement.where(Topic.number == topic)))


def gold_missed(session: Session, collection_id: int, judge_id: int | None = None) -> dict[int, ItemKey]:
    """Gold questions that a person, or this one, graded wrongly or could not judge: item id → its key."""
    statement = (
        select(PoolItem.id, Topic.number, Document.docno)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .join(Judgement, Judgement.pool_item_id == PoolItem.id)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, CURRENT, SHOWN, JUDGES, OF_PEOPLE)
        .where(
            or_(Judgement.grade.is_(None), Judgement.grade != PoolItem.known_grade), PoolItem.known_grade.is_not(None)
        )
        .distinct()
    )
    rows = session.execute(statement if judge_id is None else statement.where(Judgement.judge_id == judge_id))
    return {id_: ItemKey(topic, docno) for id_, topic, docno in rows}


def person_who_judged(session: Session, collection_id: int, name: str) -> int | None:
    """The id of the person with this name, if they judged anything in the collection."""
    judged = (
        select(Judgement.id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, Judgement.judge_id == User.id, OF_PEOPLE)
    )
    return session.scalar(select(User.id).where(User.name == name, judged.exists()))
