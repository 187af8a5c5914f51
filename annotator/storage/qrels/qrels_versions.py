"""Stored versions of a collection's qrels, and a second, independent read of the grades to verify exports."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, case, func, or_, select
from sqlalchemy.orm import Session, aliased

from annotator.errors import InvalidValueError, NotFoundError
from annotator.storage.collections.collection import (
    find_round,
    judged_before,
    kept_before,
    requeued_so_far,
    runs_of_round,
)
from annotator.storage.site.bulk_insert import fetch_rows
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import Assignment, Judgement, Purpose
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import Pool, PoolItem
from annotator.storage.tables.qrels import KEPT, QrelsGrade, QrelsVersion
from annotator.storage.tables.topics import ACCEPTED, DROPPED, Topic

MOST_DIGITS = 9  # fits the integers of every database; longer numbers match no version
LONGEST_SHOWN = 40  # digits of it in an error message


def kept_version(session: Session, collection_id: int, number: str) -> QrelsVersion:
    """The stored version with that number, given as text; raises `NotFoundError` when there is none."""
    version = None
    if _is_number(number) and len(number) <= MOST_DIGITS:
        version = session.scalar(
            select(QrelsVersion).where(QrelsVersion.collection_id == collection_id, QrelsVersion.number == int(number))
        )
    if version is None:
        raise NotFoundError("There is no version %(number)s of these qrels.", number=_shown(number))
    return version


class ReleasedVersion(NamedTuple):
    """The stored qrels version from which released scores are computed."""

    number: int
    kept_at: datetime


def released_version(session: Session, collection_id: int, number: int | None) -> ReleasedVersion | None:
    """The qrels version of released scores; None for None, when they follow the live grades."""
    if number is None:
        return None
    version = kept_version(session, collection_id, str(number))
    return ReleasedVersion(version.number, version.made_at)


def versions_with(session: Session, collection_id: int, fingerprint: str) -> Sequence[QrelsVersion]:
    """Versions with this fingerprint, newest first."""
    found = select(QrelsVersion).where(
        QrelsVersion.collection_id == collection_id, QrelsVersion.fingerprint == fingerprint, KEPT
    )
    return session.scalars(found.order_by(QrelsVersion.number.desc())).all()


def dropped_since(session: Session, version: QrelsVersion) -> Sequence[str]:
    """The numbers of topics with a grade in the version that were dropped after it was kept, in no order."""
    is_graded = select(QrelsGrade.grade).where(
        QrelsGrade.qrels_version_id == version.id, QrelsGrade.topic_id == Topic.id
    )
    found = select(Topic.number).where(
        Topic.collection_id == version.collection_id, DROPPED, is_graded.correlate(Topic).exists()
    )
    return session.scalars(found).all()


def version_number(written: str) -> int:
    """Parse the number of a version.

    Raises `InvalidValueError` for text that is not a number, and `NotFoundError` for one too long for any version.
    """
    if not _is_number(written):
        raise InvalidValueError("“%(name)s” is neither the number of a version nor “live”.", name=_shown(written))
    if len(written) > MOST_DIGITS:
        raise NotFoundError("There is no version %(number)s of these qrels.", number=_shown(written))
    return int(written)


def _is_number(written: str) -> bool:
    return written.isascii() and written.isdecimal()


def _shown(written: str) -> str:
    return written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}…"


LIVE = "live"
UNJUDGED = -1  # the grade in qrels of a document that was pooled but not judged


@dataclass(frozen=True)
class KeptGrades:
    """The policy of a version, its full fingerprint, and its grades by (topic id, document id).

    `pool_version` is the newest pool version at the time; 0 without a pool.
    """

    policy: str
    fingerprint: str
    grades: dict[tuple[int, int], int]
    pool_version: int


def kept_grades(session: Session, collection_id: int, name: str) -> KeptGrades:
    """A version by number, with its grades in the topics that are accepted now.

    Raises `InvalidValueError` for text that is not a number and `NotFoundError` for an unknown version.
    """
    if not name.isdecimal():
        raise InvalidValueError("“%(name)s” is neither the number of a version nor “live”.", name=name)
    version = kept_version(session, collection_id, name)
    grades = grades_of_version(session, version.id)
    return KeptGrades(version.policy, version.fingerprint, grades, version.pool_version)


def grades_of_version(session: Session, version_id: int, *, every_topic: bool = False) -> dict[tuple[int, int], int]:
    """(topic id, document id) → grade, for the topics that are accepted now, or for all.

    Lines of unjudged documents are left out, so that they do not make a topic a scored one.
    """
    rows = (
        select(QrelsGrade.topic_id, QrelsGrade.document_id, QrelsGrade.grade)
        .join(Topic, Topic.id == QrelsGrade.topic_id)
        .where(QrelsGrade.qrels_version_id == version_id, QrelsGrade.grade > UNJUDGED)
    )
    if not every_topic:
        rows = rows.where(ACCEPTED)
    return {(topic, document): grade for topic, document, grade in session.execute(rows)}


def number_of_grades(session: Session, version_id: int) -> int:
    """How many grades a version has in the topics that are accepted now."""
    grades = (
        select(func.count())
        .select_from(QrelsGrade)
        .join(Topic, Topic.id == QrelsGrade.topic_id)
        .where(QrelsGrade.qrels_version_id == version_id, QrelsGrade.grade > UNJUDGED, ACCEPTED)
    )
    return session.scalar(grades) or 0


class RoundFacts(NamedTuple):
    """Inputs of scoring one round, besides the result of `judged_before_round`."""

    number: int
    residual: bool
    runs: frozenset[int]
    kept: tuple[int, ...]  # qrels versions stored when the earlier rounds were closed
    mark: tuple[int, datetime | None] | None  # cache key for the documents judged before


def facts_of_round(
    session: Session, collection_id: int, number: int | None, *, residual: bool, as_kept: int | None = None
) -> RoundFacts | None:
    """Inputs of scoring this round, None without one; raises `NotFoundError` for an unknown round.

    With `as_kept`, as of the time when that qrels version was stored.
    """
    if number is None:
        return None
    at = None if as_kept is None else kept_version(session, collection_id, str(as_kept)).made_at
    found = find_round(session, collection_id, number).number
    return RoundFacts(
        found,
        residual,
        runs_of_round(session, collection_id, found),
        kept_before(session, collection_id, found),
        requeued_so_far(session, collection_id, at) if residual else None,
    )


def judged_before_round(
    session: Session, collection_id: int, number: int, *, as_kept: int | None = None
) -> dict[int, dict[int, str]]:
    """Topic id → {document id: docno} judged before a round, as of now or of a stored qrels version."""
    at = None if as_kept is None else kept_version(session, collection_id, str(as_kept)).made_at
    return judged_before(session, collection_id, number, at=at)


class NamedOpinion(NamedTuple):
    """A judge's grade of a document for a topic.

    Within an item, the lowest `first` belongs to the judge who judged first, and the highest `latest` to the most
    recent judgement.
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
    session: Session, collection_id: int, topics: Sequence[str], *, machines: bool, at: datetime | None = None
) -> Iterator[NamedOpinion]:
    """Opinions on those of these topics, by number, that are accepted, now or at an earlier time, unordered.

    Machines only if requested.
    """
    repeated, decision = aliased(Judgement), aliased(Assignment)
    earlier = aliased(Judgement)
    # Fast path: most judgements replace none.
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
        # A carried judgement adjudicates if its original does.
        .join(decision, decision.id == func.coalesce(repeated.assignment_id, Judgement.assignment_id))
        .where(Topic.collection_id == collection_id, Topic.number.in_(topics), ACCEPTED)
        .where(Judgement.grade.is_not(None), _counted(at))
    )
    if not machines:
        statement = statement.where(User.kind != UserKind.MACHINE)
    for *columns, by_owner, adjudicates, is_machine in fetch_rows(session, statement):
        yield NamedOpinion._make((*columns, bool(by_owner), bool(adjudicates), bool(is_machine)))


def named_unjudged(
    session: Session,
    collection_id: int,
    topics: Sequence[str],
    *,
    machines: bool,
    judge: str | None = None,
    at: datetime | None = None,
) -> Iterator[tuple[str, str]]:
    """(topic number, docno) of documents pooled for these topics without a judgement by anybody, or by that judge."""
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
        # Correlated subquery: with a million judgements PostgreSQL would otherwise scan a list for each.
        .where(Topic.collection_id == collection_id, Topic.number.in_(topics), ACCEPTED)
        .where(~judged.where(of_item).exists())
    )
    if at is not None:
        statement = statement.where(Pool.built_at <= at)
    yield from fetch_rows(session, statement)


def _counted(at: datetime | None) -> ColumnElement[bool]:
    """Condition: a judgement counts now, or counted at that time."""
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
