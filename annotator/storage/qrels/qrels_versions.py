"""The kept versions of a collection's qrels, and the grades read in another way, to check what goes out."""

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
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import Assignment, Judgement, Purpose
from annotator.storage.tables.people import User, UserKind
from annotator.storage.tables.pools import Pool, PoolItem
from annotator.storage.tables.qrels import QrelsGrade, QrelsVersion
from annotator.storage.tables.topics import ACCEPTED, Topic

MOST_DIGITS = 9  # every database holds numbers of so many; one of more digits is of no version
LONGEST_SHOWN = 40  # of its digits, in the sentence that says so


def kept_version(session: Session, collection_id: int, number: str) -> QrelsVersion:
    """A version that is kept, by its number as it was written; `NotFoundError` when there is none of that number."""
    version = None
    if _is_number(number) and len(number) <= MOST_DIGITS:
        version = session.scalar(
            select(QrelsVersion).where(QrelsVersion.collection_id == collection_id, QrelsVersion.number == int(number))
        )
    if version is None:
        raise NotFoundError("There is no version %(number)s of these qrels.", number=_shown(number))
    return version


class ReleasedVersion(NamedTuple):
    """The kept version of the qrels that released scores are computed from."""

    number: int
    kept_at: datetime


def released_version(session: Session, collection_id: int, number: int | None) -> ReleasedVersion | None:
    """The version of that number, as released scores name it; None for none, where they follow the live grades."""
    if number is None:
        return None
    version = kept_version(session, collection_id, str(number))
    return ReleasedVersion(version.number, version.made_at)


def released_otherwise(
    session: Session, collection: Collection, fingerprint: str, relevant_from: int
) -> ReleasedVersion | None:
    """The version that released scores are computed from, if its grades, or which of them are relevant, are others.

    The fingerprint may be the beginning of one.
    """
    if collection.scores_qrels_version is None:
        return None
    version = kept_version(session, collection.id, str(collection.scores_qrels_version))
    is_same = version.fingerprint.startswith(fingerprint) and version.relevant_from == relevant_from
    return None if is_same else ReleasedVersion(version.number, version.made_at)


def versions_with(session: Session, collection_id: int, fingerprint: str) -> Sequence[QrelsVersion]:
    """The versions with exactly these lines, newest first."""
    found = select(QrelsVersion).where(
        QrelsVersion.collection_id == collection_id, QrelsVersion.fingerprint == fingerprint
    )
    return session.scalars(found.order_by(QrelsVersion.number.desc())).all()


def version_number(written: str) -> int:
    """The number of a version as it was written.

    Raises `InvalidValueError` for what is no number, and `NotFoundError` for one that no version can have.
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
UNJUDGED = -1  # what qrels say of a document that was pooled and not judged


@dataclass(frozen=True)
class KeptGrades:
    """The policy of a version, its fingerprint in full, and its grades by (topic id, document id).

    `pool_version` is the newest version of the pool when it was made; 0 when there was none.
    """

    policy: str
    fingerprint: str
    grades: dict[tuple[int, int], int]
    pool_version: int


def kept_grades(session: Session, collection_id: int, name: str) -> KeptGrades:
    """A version by its number as it was written, with its grades of the topics that count now.

    Raises `InvalidValueError` for what is no number and `NotFoundError` for a version that there is not.
    """
    if not name.isdecimal():
        raise InvalidValueError("“%(name)s” is neither the number of a version nor “live”.", name=name)
    version = kept_version(session, collection_id, name)
    grades = grades_of_version(session, version.id)
    return KeptGrades(version.policy, version.fingerprint, grades, version.pool_version)


def grades_of_version(session: Session, version_id: int, *, every_topic: bool = False) -> dict[tuple[int, int], int]:
    """The grades of what was judged, by (topic id, document id), of the topics that count now, or of every topic.

    Lines for documents that were pooled and not judged are no grades, and make no topic one that is scored.
    """
    rows = (
        select(QrelsGrade.topic_id, QrelsGrade.document_id, QrelsGrade.grade)
        .join(Topic, Topic.id == QrelsGrade.topic_id)
        .where(QrelsGrade.qrels_version_id == version_id, QrelsGrade.grade > UNJUDGED)
    )
    if not every_topic:
        rows = rows.where(ACCEPTED)
    return {(topic, document): grade for topic, document, grade in session.execute(rows)}


class RoundFacts(NamedTuple):
    """What scoring one round depends on, beside what `judged_before_round` reads."""

    number: int
    residual: bool
    runs: frozenset[int]
    kept: tuple[int, ...]  # versions of the qrels that the rounds before were closed with
    mark: tuple[int, datetime | None] | None  # changes when what counts as judged before may have changed


def facts_of_round(
    session: Session, collection_id: int, number: int | None, *, residual: bool, as_kept: int | None = None
) -> RoundFacts | None:
    """What scoring this round depends on, None for no round; `NotFoundError` for one there is not.

    With a version of the qrels it is as it was when that was kept.
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
    """What was judged before a round, {topic id: {document id: docno}}, by now or by when a version was kept."""
    at = None if as_kept is None else kept_version(session, collection_id, str(as_kept)).made_at
    return judged_before(session, collection_id, number, at=at)


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
