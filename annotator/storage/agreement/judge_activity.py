"""People's judgements of documents that were shown to them, with the time taken: input for judge quality."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, cast

from sqlalchemy import Table, func, select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import BESIDES_JUDGING, HAS_OWN_TIME, Assignment, Judgement, not_withdrawn
from annotator.storage.tables.people import MACHINES, User
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic

# Core tables: mapped classes cost several times as much, and every judgement is read.
JUDGEMENTS = cast("Table", Judgement.__table__).c
ITEMS = cast("Table", PoolItem.__table__).c


class Judged(NamedTuple):
    """A stored judgement of a document that was shown to the judge."""

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
    """People's judgements of documents shown to them, in order of storage; replaced ones too, withdrawn ones not."""
    statement = (
        select(
            *(JUDGEMENTS.id, JUDGEMENTS.pool_item_id, ITEMS.topic_id, JUDGEMENTS.judge_id, JUDGEMENTS.assignment_id),
            *(JUDGEMENTS.grade, JUDGEMENTS.seconds, JUDGEMENTS.current, JUDGEMENTS.replaces_id, HAS_OWN_TIME),
        )
        .join(PoolItem.__table__, ITEMS.id == JUDGEMENTS.pool_item_id)
        .join(Topic.__table__, Topic.id == ITEMS.topic_id)
        .where(Topic.collection_id == collection_id, ACCEPTED)
        .where(JUDGEMENTS.carried_from_id.is_(None), JUDGEMENTS.judge_id.not_in(MACHINES))
        .where(not_withdrawn(Judgement.__table__))
        .order_by(JUDGEMENTS.id)
    )
    # Fetch all rows at once: one by one takes twice as long.
    return map(Judged._make, session.connection().execute(statement).all())


def special_purposes(session: Session, collection_id: int) -> dict[int, str]:
    """Assignment id → purpose, for second showings and adjudications."""
    rows = session.execute(
        select(Assignment.id, Assignment.purpose)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, BESIDES_JUDGING)
    )
    return {id_: purpose for id_, purpose in rows}


def known_grades(session: Session, collection_id: int) -> dict[int, int]:
    """Pool item id → correct grade, for gold questions."""
    rows = session.execute(
        select(PoolItem.id, PoolItem.known_grade)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, PoolItem.known_grade.is_not(None))
    )
    return {item: grade for item, grade in rows if grade is not None}


def text_lengths(session: Session, items: Iterable[int], most: int) -> dict[int, int]:
    """Pool item id → length of its text in characters, counted up to `most`."""
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
    """Judgement id → topic number and time of the judgement."""
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
    """Names and ids of judges, sorted by name."""
    statement = select(User.name, User.id)
    return sorted(
        (name, id_) for some in chunks(sorted(ids)) for name, id_ in session.execute(statement.where(User.id.in_(some)))
    )
