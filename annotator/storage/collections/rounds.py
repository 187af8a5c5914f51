"""Rounds of runs on the same topics, as TREC-COVID had them; most collections have none."""

from datetime import datetime

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.storage.tables.collections import Round
from annotator.storage.tables.documents import Document
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.qrels import QrelsGrade, QrelsVersion
from annotator.storage.tables.runs import Run
from annotator.storage.tables.topics import Topic


def rounds_of(session: Session, collection_id: int) -> list[Round]:
    """Every round, oldest first; none where nobody has opened or closed one."""
    return list(session.scalars(select(Round).where(Round.collection_id == collection_id).order_by(Round.number)))


def find_round(session: Session, collection_id: int, number: int) -> Round:
    """The round of that number; `NotFoundError` when there is none."""
    for one in rounds_of(session, collection_id):
        if one.number == number:
            return one
    raise NotFoundError("There is no round %(number)d in this collection.", number=number)


def round_of_new_runs(session: Session, collection_id: int, number: int | None) -> int | None:
    """The id of the round that runs belong to which come now: the given one, else the one that is open.

    None where there are no rounds; `ConflictError` where none is open, `NotFoundError` for one there is not.
    """
    if number is not None:
        return find_round(session, collection_id, number).id
    rounds = rounds_of(session, collection_id)
    if rounds and rounds[-1].closed_at is not None:
        raise ConflictError(
            "Round %(number)d is closed and the next one is not open, so no runs are taken now.",
            number=rounds[-1].number,
        )
    return rounds[-1].id if rounds else None


def kept_before(session: Session, collection_id: int, number: int) -> tuple[int, ...]:
    """The numbers of the qrels that were kept when the rounds before this one were closed."""
    rows = session.scalars(
        select(QrelsVersion.number)
        .join(Round, Round.qrels_version_id == QrelsVersion.id)
        .where(Round.collection_id == collection_id, Round.number < number)
        # Nothing may have been judged from one round to the next.
        .group_by(QrelsVersion.number)
        .order_by(QrelsVersion.number)
    )
    return tuple(rows)


def judged_before(
    session: Session, collection_id: int, number: int, *, at: datetime | None = None
) -> dict[int, dict[int, str]]:
    """Topic id → {document id: docno} of what the kept qrels of the rounds before this one have a grade for.

    A document that was put back since, or until a moment, because its text had changed, is not among them: it is judged
    again.
    """
    still_stands = or_(
        PoolItem.requeued_at.is_(None),
        PoolItem.id.is_(None),
        PoolItem.requeued_at <= QrelsVersion.made_at,
        *(() if at is None else (PoolItem.requeued_at > at,)),
    )
    rows = session.execute(
        select(QrelsGrade.topic_id, QrelsGrade.document_id, Document.docno)
        .join(Round, Round.qrels_version_id == QrelsGrade.qrels_version_id)
        .join(QrelsVersion, QrelsVersion.id == QrelsGrade.qrels_version_id)
        .join(Document, Document.id == QrelsGrade.document_id)
        .outerjoin(
            PoolItem,
            (PoolItem.topic_id == QrelsGrade.topic_id) & (PoolItem.document_id == QrelsGrade.document_id),
        )
        .where(Round.collection_id == collection_id, Round.number < number, QrelsGrade.grade >= 0, still_stands)
    )
    judged: dict[int, dict[int, str]] = {}
    for topic, document, docno in rows:
        judged.setdefault(topic, {})[document] = docno
    return judged


def runs_of_round(session: Session, collection_id: int, number: int) -> frozenset[int]:
    """The ids of its runs, whether they are in force or not."""
    of_round = (Round.collection_id == collection_id) & (Round.number == number)
    return frozenset(session.scalars(select(Run.id).join(Round, Round.id == Run.round_id).where(of_round)))


def requeued_so_far(session: Session, collection_id: int, at: datetime | None = None) -> tuple[int, datetime | None]:
    """How many pooled documents were put back to be judged again, and when last: `judged_before` depends on it."""
    so_far = PoolItem.requeued_at.is_not(None) if at is None else PoolItem.requeued_at <= at
    count, last = session.execute(
        select(func.count(PoolItem.id), func.max(PoolItem.requeued_at))
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, so_far)
    ).one()
    return count, last
