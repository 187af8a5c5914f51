"""What people said of documents that were shown to them, with how long it took: all that tells how they work."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, cast

from sqlalchemy import Table, func, select, text
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import HAS_OWN_TIME, Assignment, Judgement
from annotator.storage.tables.people import MACHINES, User
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic

# The tables themselves cost a fraction of what the mapped classes do, and all judgements are read.
JUDGEMENTS = cast("Table", Judgement.__table__).c
ITEMS = cast("Table", PoolItem.__table__).c


class Judged(NamedTuple):
    """A judgement as it is stored, of a document that was shown."""

    id: int
    item: int
    topic: int
    judge: int
    assignment: int
    grade: int | None
    seconds: float | None
    is_current: bool
    replaces: int | None
    has_own_time: bool


def words_of_people(session: Session, collection_id: int) -> Iterator[Judged]:
    """Everything that people said of documents shown to them, in the order in which it was stored."""
    statement = (
        select(
            *(JUDGEMENTS.id, JUDGEMENTS.pool_item_id, ITEMS.topic_id, JUDGEMENTS.judge_id, JUDGEMENTS.assignment_id),
            *(JUDGEMENTS.grade, JUDGEMENTS.seconds, JUDGEMENTS.current, JUDGEMENTS.replaces_id, HAS_OWN_TIME),
        )
        .join(PoolItem.__table__, ITEMS.id == JUDGEMENTS.pool_item_id)
        .join(Topic.__table__, Topic.id == ITEMS.topic_id)
        .where(Topic.collection_id == collection_id, ACCEPTED)
        .where(JUDGEMENTS.carried_from_id.is_(None), JUDGEMENTS.judge_id.not_in(MACHINES))
        .order_by(JUDGEMENTS.id)
    )
    # All at once: one by one, fetching them takes twice as long.
    return map(Judged._make, session.connection().execute(statement).all())


def special_purposes(session: Session, collection_id: int) -> dict[int, str]:
    """Assignment → its purpose, of those that no judge does as the others do."""
    rows = session.execute(
        select(Assignment.id, Assignment.purpose)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
        # Word for word as the partial index has it.
        .where(text("assignment.purpose IN ('re-shown', 'adjudication')"))
    )
    return {id_: purpose for id_, purpose in rows}


def known_grades(session: Session, collection_id: int) -> dict[int, int]:
    """Pool item → the grade that the organiser knows to be right, of test questions."""
    rows = session.execute(
        select(PoolItem.id, PoolItem.known_grade)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, PoolItem.known_grade.is_not(None))
    )
    return {item: grade for item, grade in rows if grade is not None}


def text_lengths(session: Session, items: Iterable[int], most: int) -> dict[int, int]:
    """Pool item → how many characters its text has, up to so many; the rest of a text is not read."""
    length = func.length(func.substr(Document.body, 1, most))
    statement = (
        select(PoolItem.id, length)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Document.body.is_not(None))
    )
    return {
        item: characters
        for some in chunks(sorted(items))
        for item, characters in session.execute(statement.where(PoolItem.id.in_(some)))
    }


def begun(session: Session, judgement_ids: Sequence[int]) -> dict[int, tuple[str, datetime]]:
    """Judgement → the number of its topic, and when it was made."""
    statement = (
        select(Judgement.id, Topic.number, Judgement.judged_at)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
    )
    return {
        id_: (number, judged_at)
        for some in chunks(sorted(judgement_ids))
        for id_, number, judged_at in session.execute(statement.where(Judgement.id.in_(some)))
    }


def names_of(session: Session, ids: Iterable[int]) -> list[tuple[str, int]]:
    """The names of judges with their ids, by name."""
    statement = select(User.name, User.id)
    return sorted(
        (name, id_) for some in chunks(sorted(ids)) for name, id_ in session.execute(statement.where(User.id.in_(some)))
    )
