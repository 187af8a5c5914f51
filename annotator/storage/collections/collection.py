"""One evaluation exercise: its scale, its guidelines and its topics."""

import re
from collections.abc import Collection as Several

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage.tables.collections import (
    SHOWN,
    Collection,
    CollectionState,
    Grade,
    GuidelineVersion,
)
from annotator.storage.tables.topics import ACCEPTED, Topic

# In `Session.info`: the id of a collection that this session finds while it is being imported.
IMPORTED = "imported collection"


def find_collection(session: Session, slug: str) -> Collection:
    """The collection of that short name; `NotFoundError` when there is none."""
    is_found = or_(SHOWN, Collection.id == session.info[IMPORTED]) if IMPORTED in session.info else SHOWN
    collection = session.scalar(select(Collection).where(Collection.slug == slug, is_found))
    if collection is None:
        raise NotFoundError("There is no collection “%(slug)s”.", slug=slug)
    return collection


def refuse_unusable_slug(session: Session, slug: str) -> None:
    """Raise `InvalidValueError` for what is no short name, and `ConflictError` for one that is taken."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", slug):
        raise InvalidValueError(
            "“%(slug)s” is not a short name: up to 64 small letters, digits, “-”, “_” and “.”, not a sign first.",
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
    """The same, to check what could be changed; `ConflictError` when it is closed."""
    return _open(find_collection(session, slug))


def lock_collection(session: Session, slug: str, *, against_judging: bool = False) -> Collection:
    """The same, for whoever changes it or what belongs to it: on PostgreSQL one at a time until their transaction ends.

    Judging goes on beside it, unless the change is one that a judgement could contradict. (On SQLite there is one
    writer in any case.)
    """
    collection = session.scalar(
        select(Collection).where(Collection.slug == slug, SHOWN).with_for_update(key_share=not against_judging),
        # Whoever had to wait for the lock may have read before what the other has changed.
        execution_options={"populate_existing": True},
    )
    return collection or find_collection(session, slug)


def lock_open_collection(session: Session, slug: str, *, against_judging: bool = False) -> Collection:
    """The same, `ConflictError` when it is closed."""
    return _open(lock_collection(session, slug, against_judging=against_judging))


def refuse_closed_judging(session: Session, collection_id: int) -> None:
    """Tell a judge that the organiser has ended the judging, by `ConflictError`; else keep the scale as it is.

    Judges do not wait for each other, nor for imports, only for a change against judging; its settings are then read
    again.
    """
    collection = session.scalars(
        select(Collection).where(Collection.id == collection_id).with_for_update(read=True, key_share=True),
        execution_options={"populate_existing": True},
    ).one()
    if collection.state == CollectionState.CLOSED:
        raise ConflictError("Judging has ended: the organiser has closed this collection.")


def topic_ids(session: Session, collection_id: int, *conditions: ColumnElement[bool]) -> dict[str, int]:
    """Topic number → row id, of all topics or of those that fit, such as `ACCEPTED`."""
    rows = session.execute(select(Topic.number, Topic.id).where(Topic.collection_id == collection_id, *conditions))
    return {number: id_ for number, id_ in rows}


def accepted_topics(session: Session, collection_id: int, wanted: Several[str] | None = None) -> dict[int, str]:
    """Topic id → number, of all accepted topics or of those that are wanted; `NotFoundError` for one there is not."""
    ids = topic_ids(session, collection_id, ACCEPTED)
    for number in wanted or ():
        if number not in ids:
            raise NotFoundError("There is no topic “%(number)s” in this collection.", number=number)
    return {ids[number]: number for number in (ids if wanted is None else wanted)}


def find_topic(session: Session, collection_id: int, number: str, *conditions: ColumnElement[bool]) -> Topic:
    """The topic of that number, if it fits; `NotFoundError` otherwise."""
    topic = session.scalar(
        select(Topic).where(Topic.collection_id == collection_id, Topic.number == number, *conditions)
    )
    if topic is None:
        raise NotFoundError("There is no topic “%(number)s” in this collection.", number=number)
    return topic


def scale_of(session: Session, collection_id: int) -> list[Grade]:
    """The grades of a collection, lowest first."""
    return list(session.scalars(select(Grade).where(Grade.collection_id == collection_id).order_by(Grade.value)))


def latest_guidelines(session: Session, collection_id: int) -> GuidelineVersion | None:
    """The version in force, None when there is none yet."""
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
