"""What the judges say now: the present grades of a collection's accepted topics."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.storage.accounts import User
from annotator.storage.collection import ACCEPTED, Topic
from annotator.storage.documents import Document
from annotator.storage.duplicates import SHOWN
from annotator.storage.judging import Judgement
from annotator.storage.pools import PoolItem


class GradeRow(NamedTuple):
    """A judge's present grade of a pool item."""

    pool_item_id: int
    topic_id: int
    document_id: int
    judge: str
    grade: int


def current_grades(
    session: Session, collection_id: int, judge: str | None = None, *, only_shown: bool = False
) -> list[GradeRow]:
    """Every judge's present grades of accepted topics, or one judge's; what could not be judged is not among them.

    `only_shown` leaves out what was carried over from a document with the same text.
    """
    statement = (
        select(Judgement.pool_item_id, PoolItem.topic_id, PoolItem.document_id, User.name, Judgement.grade)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(User, User.id == Judgement.judge_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, Judgement.current, Judgement.grade.is_not(None))
    )
    if judge is not None:
        statement = statement.where(User.name == judge)
    if only_shown:
        statement = statement.where(SHOWN)
    return [
        GradeRow(item_id, topic_id, document_id, name, grade)
        for item_id, topic_id, document_id, name, grade in session.execute(statement)
        if grade is not None
    ]


def named_grades(session: Session, collection_id: int, judge: str | None = None) -> Iterator[tuple[str, str, int]]:
    """Topic number, docno and grade of every present judgement of accepted topics, from the tables by name."""
    statement = (
        select(Topic.number, Document.docno, Judgement.grade)
        .select_from(Judgement)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .join(User, User.id == Judgement.judge_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, Judgement.current, Judgement.grade.is_not(None))
    )
    if judge is not None:
        statement = statement.where(User.name == judge)
    for number, docno, grade in session.execute(statement):
        if grade is not None:
            yield number, docno, grade
