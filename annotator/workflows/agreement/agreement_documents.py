"""The documents behind a number: what two judges both graded, and each of them how."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, aliased

from annotator.errors import NotFoundError
from annotator.storage import ACCEPTED, Document, Judgement, PoolItem, Topic, User, UserKind
from annotator.storage.collections.collection import find_collection, scale_of, topic_ids
from annotator.storage.judging.judging import DECIDING

ONE, OTHER = aliased(Judgement), aliased(Judgement)


@dataclass(frozen=True)
class GradedTwice:
    """A document, and the grades that the first and the second judge gave it."""

    topic: str
    topic_title: str
    docno: str
    title: str
    first: int
    second: int


@dataclass(frozen=True)
class DocumentsOfTwo:
    """One page of them, of `count` in all; `names` gives the grades of the scale their names."""

    count: int
    documents: tuple[GradedTwice, ...]
    names: dict[int, str]


def documents_of_two(
    session: Session,
    slug: str,
    judges: tuple[str, str],
    grades: tuple[int | None, int | None] = (None, None),
    *,
    topics: Sequence[str] = (),
    skip: int = 0,
    most: int,
) -> DocumentsOfTwo:
    """What both judges graded, in accepted topics or those of `topics`, if need be with just these two grades.

    The same judgements count as in the report of agreement. Raises `NotFoundError` for a topic that is not
    there, and for names that are not those of two people.
    """
    collection = find_collection(session, slug)
    first, second = _ids_of_two(session, judges)
    counting = topic_ids(session, collection.id, ACCEPTED)
    for number in topics:
        if number not in counting:
            raise NotFoundError("There is no accepted topic “%(number)s” in this collection.", number=number)
    chosen = [id_ for number, id_ in counting.items() if not topics or number in topics]
    statement = _both(first, second, grades).where(PoolItem.topic_id.in_(chosen))
    count = session.scalar(select(func.count()).select_from(statement.subquery())) or 0
    rows = session.execute(statement.order_by(Topic.id, Document.docno).offset(skip).limit(most)).all()
    return DocumentsOfTwo(
        count,
        tuple(
            GradedTwice(number, topic_title, docno, title, first_grade, second_grade)
            for number, topic_title, docno, title, first_grade, second_grade in rows
            if first_grade is not None and second_grade is not None
        ),
        {grade.value: grade.name for grade in scale_of(session, collection.id)},
    )


def _ids_of_two(session: Session, judges: tuple[str, str]) -> list[int]:
    people = select(User.name, User.id).where(User.name.in_(judges), User.kind == UserKind.PERSON)
    ids = {name: id_ for name, id_ in session.execute(people)}
    if len(ids) != 2:  # noqa: PLR2004 - two judges
        raise NotFoundError("There are no two judges “%(first)s” and “%(second)s”.", first=judges[0], second=judges[1])
    return [ids[name] for name in judges]


def _both(
    first: int, second: int, grades: tuple[int | None, int | None]
) -> Select[str, str, str, str, int | None, int | None]:
    statement = (
        select(Topic.number, Topic.title, Document.docno, Document.title, ONE.grade, OTHER.grade)
        .select_from(ONE)
        .join(OTHER, OTHER.pool_item_id == ONE.pool_item_id)
        .join(PoolItem, PoolItem.id == ONE.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(ONE.judge_id == first, OTHER.judge_id == second)
    )
    for judgement, grade in zip((ONE, OTHER), grades, strict=True):
        own = judgement.carried_from_id.is_(None) & judgement.assignment_id.not_in(DECIDING)
        statement = statement.where(judgement.current, own)
        statement = statement.where(judgement.grade.is_not(None) if grade is None else judgement.grade == grade)
    return statement
