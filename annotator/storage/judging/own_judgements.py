"""One judge's own judgements as they see them beside a document: graded documents of a topic, counts and times."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from annotator.storage.judging.leases import Decision
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import CURRENT, DECIDES, HAS_OWN_TIME, JUDGES, Assignment, Judgement, Purpose
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic


@dataclass(frozen=True)
class OwnGraded:
    """A document of the topic that the judge has judged, with their judgement."""

    assignment_id: int
    docno: str
    title: str
    decision: Decision
    decides: bool


class GradeCount(NamedTuple):
    """Own judgements with one grade, None for “cannot judge”: in all, in one topic, and since a time."""

    grade: int | None
    all: int
    topic: int
    since: int


def own_texts(session: Session, topic_id: int, judge_id: int, *, without: int, most: int) -> Iterator[tuple[int, str]]:
    """Judgement id and text of the documents that a judge has judged in a topic, the newest judgement first.

    The pool item `without` is left out; of each text come the first `most` characters.
    """
    statement = (
        _own(judge_id)
        .with_only_columns(Judgement.id, func.substr(Document.body, 1, most))
        .join(Document, Document.id == PoolItem.document_id)
        .where(PoolItem.topic_id == topic_id, PoolItem.id != without, Document.body.is_not(None))
        .order_by(Judgement.id.desc())
    )
    for row in session.execute(statement.execution_options(yield_per=200)):
        yield row[0], row[1]


def own_graded(session: Session, judge_id: int, *conditions: ColumnElement[bool], most: int) -> dict[int, OwnGraded]:
    """Judgement id → the judged document, the newest `most` that satisfy the conditions."""
    rows = session.execute(
        _own(judge_id)
        .with_only_columns(
            *(Judgement.id, Judgement.grade, Judgement.cannot_judge, Judgement.note, Judgement.seconds),
            *(
                Judgement.assignment_id,
                Document.docno,
                Document.title,
                (Assignment.purpose == Purpose.ADJUDICATION).label("decides"),
            ),
        )
        .join(Document, Document.id == PoolItem.document_id)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .where(*conditions)
        .order_by(Judgement.id.desc())
        .limit(most)
    )
    return {
        row.id: OwnGraded(row.assignment_id, row.docno, row.title, Decision.of(row), bool(row.decides)) for row in rows
    }


def count_graded(session: Session, judge_id: int, *conditions: ColumnElement[bool]) -> int:
    """The number of documents that a judge has judged and that satisfy the conditions."""
    return session.scalars(_own(judge_id).with_only_columns(func.count()).where(*conditions)).one()


def grade_counts(
    session: Session, collection_id: int, judge_id: int, topic_id: int, since: datetime, *, decides: bool
) -> list[GradeCount]:
    """How often a judge gave each grade in accepted topics, by grade; as an adjudicator with `decides`.

    Imported labels count in all and in the topic, but have no time of their own.
    """
    is_new = (Judgement.judged_at >= since) & HAS_OWN_TIME
    rows = session.execute(
        _of_queue(judge_id, collection_id, decides=decides)
        .with_only_columns(
            Judgement.grade,
            func.count(),
            func.count().filter(PoolItem.topic_id == topic_id),
            func.count().filter(is_new),
        )
        .where(CURRENT, Judgement.carried_from_id.is_(None), ACCEPTED)
        .group_by(Judgement.grade)
    )
    counts = [GradeCount(*row) for row in rows]
    return sorted(counts, key=lambda one: (one.grade is None, one.grade or 0))


def latest_seconds(session: Session, collection_id: int, judge_id: int, *, decides: bool, most: int) -> list[float]:
    """The seconds that the last `most` measured judgements of a judge took, the newest first."""
    statement = (
        _of_queue(judge_id, collection_id, decides=decides)
        .with_only_columns(Judgement.seconds)
        .where(Judgement.seconds.is_not(None))
        .order_by(Judgement.id.desc())
        .limit(most)
    )
    return [seconds for seconds in session.scalars(statement) if seconds is not None]


def _own(judge_id: int) -> Select[*tuple[Any, ...]]:
    """The judge's current judgements with their pool items, without those copied from a document with the same text."""
    return (
        select(Judgement)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .where(Judgement.judge_id == judge_id, CURRENT, Judgement.carried_from_id.is_(None))
    )


def _of_queue(judge_id: int, collection_id: int, *, decides: bool) -> Select[*tuple[Any, ...]]:
    return (
        select(Judgement)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Judgement.judge_id == judge_id, Topic.collection_id == collection_id, DECIDES if decides else JUDGES)
    )
