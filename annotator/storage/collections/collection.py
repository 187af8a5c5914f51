"""Look-up and locking of collections, topics, grading scales, guidelines and rounds."""

import re
from collections import defaultdict
from collections.abc import Collection as Several
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, exists, func, or_, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage.tables.collections import (
    SHOWN,
    Collection,
    CollectionState,
    Grade,
    GuidelineVersion,
    Round,
)
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import QualifyingItem
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.qrels import QrelsGrade, QrelsVersion
from annotator.storage.tables.runs import Run
from annotator.storage.tables.topics import ACCEPTED, Topic

# Key of `Session.info`: id of a collection that this session finds although it is being imported.
IMPORTED = "imported collection"


def find_collection(session: Session, slug: str) -> Collection:
    """The collection with that short name; raises `NotFoundError` when there is none."""
    is_found = or_(SHOWN, Collection.id == session.info[IMPORTED]) if IMPORTED in session.info else SHOWN
    collection = session.scalar(select(Collection).where(Collection.slug == slug, is_found))
    if collection is None:
        raise NotFoundError("There is no collection “%(slug)s”.", slug=slug)
    return collection


def refuse_unusable_slug(session: Session, slug: str) -> None:
    """Raise `InvalidValueError` for an invalid short name, and `ConflictError` for one that exists."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", slug):
        raise InvalidValueError(
            "“%(slug)s” is not a short name: up to 64 small letters, digits, “-”, “_” and “.”, beginning with a "
            "letter or a digit.",
            slug=slug,
        )
    state = select(Collection.deleted_at, Collection.being_imported).where(Collection.slug == slug)
    taken = session.execute(state).one_or_none()
    if taken is not None and taken.deleted_at is not None:
        raise ConflictError("The collection “%(slug)s” was deleted and can still be restored.", slug=slug)
    if taken is not None and taken.being_imported:
        raise ConflictError("The collection “%(slug)s” is being imported.", slug=slug)
    if taken is not None:
        raise ConflictError("There is a collection “%(slug)s” already.", slug=slug)


def find_open_collection(session: Session, slug: str) -> Collection:
    """The collection with that short name; raises `ConflictError` when it is closed, `NotFoundError` when missing."""
    return _open(find_collection(session, slug))


def lock_collection(session: Session, slug: str, *, against_judging: bool = False) -> Collection:
    """Find a collection and, on PostgreSQL, lock it against other changes until the transaction ends.

    Judging continues in parallel unless `against_judging` is set, for changes that could conflict with a judgement.
    (SQLite has a single writer.)
    """
    collection = session.scalar(
        select(Collection).where(Collection.slug == slug, SHOWN).with_for_update(key_share=not against_judging),
        # Reread after waiting for the lock: the previous holder may have changed it.
        execution_options={"populate_existing": True},
    )
    return collection or find_collection(session, slug)


def lock_open_collection(session: Session, slug: str, *, against_judging: bool = False) -> Collection:
    """`lock_collection`; also raises `ConflictError` when it is closed."""
    return _open(lock_collection(session, slug, against_judging=against_judging))


def refuse_closed_judging(session: Session, collection_id: int) -> None:
    """Raise `ConflictError` when judging has ended; otherwise lock the collection's settings, such as the scale.

    The lock is shared: judges do not wait for each other or for imports, only for changes locked against judging.
    """
    collection = session.scalars(
        select(Collection).where(Collection.id == collection_id).with_for_update(read=True, key_share=True),
        execution_options={"populate_existing": True},
    ).one()
    if collection.state == CollectionState.CLOSED:
        raise ConflictError("Judging has ended: the organiser has closed this collection.")


def topic_ids(session: Session, collection_id: int, *conditions: ColumnElement[bool]) -> dict[str, int]:
    """Topic number → row id, of all topics or of those that satisfy the conditions, such as `ACCEPTED`."""
    rows = session.execute(select(Topic.number, Topic.id).where(Topic.collection_id == collection_id, *conditions))
    return {number: id_ for number, id_ in rows}


def accepted_topics(session: Session, collection_id: int, wanted: Several[str] | None = None) -> dict[int, str]:
    """Topic id → number, of all accepted topics or of the `wanted` ones; raises `NotFoundError` for an unknown one."""
    ids = topic_ids(session, collection_id, ACCEPTED)
    for number in wanted or ():
        if number not in ids:
            raise NotFoundError("There is no topic “%(number)s” in this collection.", number=number)
    return {ids[number]: number for number in (ids if wanted is None else wanted)}


def find_topic(session: Session, collection_id: int, number: str, *conditions: ColumnElement[bool]) -> Topic:
    """The topic with that number that satisfies the conditions; raises `NotFoundError` otherwise."""
    topic = session.scalar(
        select(Topic).where(Topic.collection_id == collection_id, Topic.number == number, *conditions)
    )
    if topic is None:
        raise NotFoundError("There is no topic “%(number)s” in this collection.", number=number)
    return topic


def scale_of(session: Session, collection_id: int) -> list[Grade]:
    """The grades of a collection, lowest first."""
    return list(session.scalars(select(Grade).where(Grade.collection_id == collection_id).order_by(Grade.value)))


def scales_of(session: Session, collection_ids: Sequence[int]) -> Mapping[int, list[Grade]]:
    """Collection id → its grades, lowest first."""
    scales = defaultdict[int, list[Grade]](list)
    for grade in session.scalars(select(Grade).where(Grade.collection_id.in_(collection_ids)).order_by(Grade.value)):
        scales[grade.collection_id].append(grade)
    return scales


def collections_with_training(session: Session, collection_ids: Sequence[int]) -> set[int]:
    """Those of these collections that have training documents."""
    has_some = exists().where(QualifyingItem.collection_id == Collection.id)
    return set(session.scalars(select(Collection.id).where(Collection.id.in_(collection_ids), has_some)))


def latest_guidelines(session: Session, collection_id: int) -> GuidelineVersion | None:
    """The newest version of the guidelines, or None when there are none."""
    newest = select(func.max(GuidelineVersion.number)).where(GuidelineVersion.collection_id == collection_id)
    return session.scalar(
        select(GuidelineVersion).where(
            GuidelineVersion.collection_id == collection_id, GuidelineVersion.number == newest.scalar_subquery()
        )
    )


def _open(collection: Collection) -> Collection:
    if collection.state == CollectionState.CLOSED:
        raise ConflictError("The collection “%(slug)s” is closed: it takes no more changes.", slug=collection.slug)
    return collection


def rounds_of(session: Session, collection_id: int) -> list[Round]:
    """All rounds, oldest first; empty when none was ever opened."""
    return list(session.scalars(select(Round).where(Round.collection_id == collection_id).order_by(Round.number)))


def find_round(session: Session, collection_id: int, number: int) -> Round:
    """The round with that number; raises `NotFoundError` when there is none."""
    for one in rounds_of(session, collection_id):
        if one.number == number:
            return one
    raise NotFoundError("There is no round %(number)d in this collection.", number=number)


def round_of_new_runs(session: Session, collection_id: int, number: int | None) -> int | None:
    """The id of the round for newly submitted runs: the given one, else the open one; None without rounds.

    Raises `ConflictError` when no round is open, and `NotFoundError` for an unknown one.
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
    """Numbers of the qrels versions that were stored when earlier rounds were closed."""
    rows = session.scalars(
        select(QrelsVersion.number)
        .join(Round, Round.qrels_version_id == QrelsVersion.id)
        .where(Round.collection_id == collection_id, Round.number < number)
        # A later round without new judgements may share the version of the previous one.
        .group_by(QrelsVersion.number)
        .order_by(QrelsVersion.number)
    )
    return tuple(rows)


def judged_before(
    session: Session, collection_id: int, number: int, *, at: datetime | None = None
) -> dict[int, dict[int, str]]:
    """Topic id → {document id: docno}, graded in the qrels of earlier rounds (residual evaluation leaves them out).

    Documents requeued since because their text changed (until `at`, if given) are not among them: they are judged
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
    """Run ids of a round, withdrawn runs included."""
    of_round = (Round.collection_id == collection_id) & (Round.number == number)
    return frozenset(session.scalars(select(Run.id).join(Round, Round.id == Run.round_id).where(of_round)))


def requeued_so_far(session: Session, collection_id: int, at: datetime | None = None) -> tuple[int, datetime | None]:
    """Number of pooled documents that were requeued, and the last time; together a cache key for `judged_before`."""
    so_far = PoolItem.requeued_at.is_not(None) if at is None else PoolItem.requeued_at <= at
    count, last = session.execute(
        select(func.count(PoolItem.id), func.max(PoolItem.requeued_at))
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, so_far)
    ).one()
    return count, last
