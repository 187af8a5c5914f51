"""Versions of the qrels whose grades are stored in short transactions before anybody can find them.

Such a version has a negative number until one short transaction gives it its own. Only a process that holds the lock of
the collection stores one: without the lock it was left by a process that was killed, and is removed.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import partial
from typing import NamedTuple, cast

from sqlalchemy import Table, delete, func, insert, select, update
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import MANY, ROW, PreparedRows, insert_prepared, prepare_rows, write_in_batches
from annotator.storage.site.database import Database
from annotator.storage.site.process_locks import held_alone
from annotator.storage.site.upkeep import UpkeepError
from annotator.storage.tables.qrels import KEPT, QrelsGrade, QrelsVersion

VERSIONS, GRADES = (cast("Table", model.__table__) for model in (QrelsVersion, QrelsGrade))
COLUMNS = ("qrels_version_id", "topic_id", "document_id", "grade")
# The locks of PostgreSQL that have this number in their upper half; the lower is the collection.
LOCKS = 7_105_223 << 32
# Removing the grades of a topic takes as long as so many other rows.
WEIGHT_OF_A_TOPIC = 1_000 * ROW


class NewVersion(NamedTuple):
    """What a version has beside its number and its grades."""

    policy: str
    manifest: dict[str, object]
    fingerprint: str
    made_at: datetime


@contextmanager
def storing_alone(database: Database, collection_id: int) -> Iterator[bool]:
    """Try to hold the lock for storing a version of this collection; yields whether it is held.

    Not held where a file for it cannot be made.
    """
    with ExitStack() as until_stored:
        try:
            lock = held_alone(database, f"qrels-{collection_id}", LOCKS + collection_id)
            is_ours = until_stored.enter_context(lock)
        except UpkeepError:
            is_ours = False
        yield is_ours


def store_unfinished(
    database: Database, collection_id: int, version: NewVersion, grades: Sequence[tuple[int, int, int]]
) -> int:
    """Store a version that nobody finds, with its grades by topic id, document id and grade; returns its id.

    Call it within `storing_alone`.
    """
    with database.transaction() as session:
        lowest = select(func.min(QrelsVersion.number)).where(QrelsVersion.collection_id == collection_id)
        number = min(session.scalar(lowest) or 0, 0) - 1
        values = {"collection_id": collection_id, "number": number, **version._asdict()}
        version_id = session.scalars(insert(QrelsVersion).returning(QrelsVersion.id), [values]).one()
    rows = ((version_id, *grade) for grade in sorted(grades))
    prepared = prepare_rows(database.engine.dialect, GRADES, COLUMNS, rows)
    write_in_batches(database, prepared, _insert, weigh=lambda _: MANY * ROW)
    return version_id


def _insert(session: Session, rows: Sequence[PreparedRows]) -> None:
    insert_prepared(session, rows)


def finish_version(session: Session, version: QrelsVersion, unfinished_id: int, lines: int) -> bool:
    """Let an unfinished version become this one, which is not stored; returns whether it was there with its lines."""
    unfinished = select(QrelsVersion.id).where(QrelsVersion.id == unfinished_id, ~KEPT)
    count = select(func.count()).select_from(QrelsGrade).where(QrelsGrade.qrels_version_id == unfinished_id)
    # Locked, so that on PostgreSQL nobody removes its grades after they are counted.
    if session.scalar(unfinished.with_for_update()) is None or session.scalar(count) != lines:
        return False
    values = {name: getattr(version, name) for name in ("number", "made_by_id", "made_at")}
    session.execute(update(VERSIONS).where(VERSIONS.c.id == unfinished_id).values(values))
    return True


def remove_unfinished(database: Database, collection_id: int) -> None:
    """Remove the unfinished versions of a collection, in short transactions; call it within `storing_alone`."""
    of_collection = QrelsVersion.collection_id == collection_id, ~KEPT
    with database.reading() as session:
        ids = session.scalars(select(QrelsVersion.id).where(*of_collection)).all()
    for version_id in ids:
        with database.reading() as session:
            of_version = select(QrelsGrade.topic_id).where(QrelsGrade.qrels_version_id == version_id)
            topics = session.scalars(of_version.distinct()).all()
        remove = partial(_remove_topics, version_id)
        write_in_batches(database, topics, remove, weigh=lambda _: WEIGHT_OF_A_TOPIC)
        with database.transaction() as session:
            session.execute(delete(VERSIONS).where(VERSIONS.c.id == version_id, VERSIONS.c.number < 0))


def _remove_topics(version_id: int, session: Session, topics: Sequence[int]) -> None:
    unfinished = select(QrelsVersion.id).where(QrelsVersion.id == version_id, ~KEPT).with_for_update()
    if session.scalar(unfinished) is not None:
        of_topics = GRADES.c.qrels_version_id == version_id, GRADES.c.topic_id.in_(topics)
        session.execute(delete(GRADES).where(*of_topics))


def remove_interrupted_versions(database: Database) -> None:
    """Remove the versions of the qrels that processes which were killed have left."""
    with database.reading() as session:
        ids = session.scalars(select(QrelsVersion.collection_id).where(~KEPT).distinct()).all()
    for collection_id in ids:
        with storing_alone(database, collection_id) as is_alone:
            if is_alone:
                remove_unfinished(database, collection_id)
