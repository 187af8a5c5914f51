"""Hidden rows of an unfinished import, and the permanent removal of collections; both in short transactions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import ColumnElement, Delete, Select, Table, Update, and_, delete, select, tuple_, update
from sqlalchemy.orm import Session

from annotator.storage.collections.bundles import FEW_AT_ONCE, OF_SITE, TABLES, belongs
from annotator.storage.collections.collection import IMPORTED
from annotator.storage.site.bulk_insert import FIRST_WEIGHT, ROW, chunks, write_in_batches
from annotator.storage.site.database import Database
from annotator.storage.site.process_locks import held_alone
from annotator.storage.site.upkeep import Progress, UpkeepError
from annotator.storage.tables.collections import Collection, DeletedPart, Deletion
from annotator.storage.tables.columns import Base
from annotator.storage.tables.documents import DOCUMENTS, WORDS
from annotator.storage.tables.people import User

KEYS_AT_ONCE = 20_000
# A part holds up to a thousand rows.
PARTS_AT_ONCE = 50
BEING_REMOVED = and_(Collection.being_imported, Collection.deleted_at.is_not(None))


def finish_removals(database: Database) -> None:
    """Finish permanent removals that were interrupted: remaining rows of collections, and saved rows of deletions."""
    with database.reading() as session:
        ids = session.scalars(select(Collection.id).where(BEING_REMOVED)).all()
    for collection_id in ids:
        remove_rows(database, collection_id)
        with database.transaction() as session:
            removed = update(Collection).where(Collection.id == collection_id, BEING_REMOVED)
            session.execute(removed.values(being_imported=False))
    parts = Base.metadata.tables[DeletedPart.__tablename__]
    needless = parts.c.deletion_id.in_(select(Deletion.id).where(Deletion.removed_at.is_not(None)))
    _change(database, parts, needless, delete(parts))


def remove_rows(database: Database, collection_id: int) -> None:
    """Remove every row of a collection except its own, audit log entries and deletions.

    Until the last row is gone the collection stays marked as being imported, so that database checks skip it.
    """
    outside = [Base.metadata.tables[name] for name in OF_SITE]
    for table in (*outside, *reversed(TABLES)):
        # A document without indexed words would be indexed again: both are deleted together.
        if table is WORDS:
            continue
        rows = belongs(table, collection_id)
        for link in [link.parent for link in table.foreign_keys if link.column.table is table]:
            _change(database, table, and_(rows, link.is_not(None)), update(table).values({link.name: None}))
        _change(database, table, rows, delete(table))


def _change(database: Database, table: Table, rows: ColumnElement[bool], change: Update | Delete) -> None:
    """Update or delete matching rows in batches until none are left; rows are looked up outside the write lock."""
    key = tuple_(*table.primary_key)
    wanted: Select[tuple[object, ...]] = select(*table.primary_key).where(rows).limit(KEYS_AT_ONCE)
    at_once = PARTS_AT_ONCE if table.name == DeletedPart.__tablename__ else FEW_AT_ONCE.get(table.name, KEYS_AT_ONCE)
    weight = max(ROW, FIRST_WEIGHT // at_once)

    def write(session: Session, some: Sequence[tuple[object, ...]]) -> None:
        for chunk in chunks(list(some)):
            if table is DOCUMENTS and isinstance(change, Delete):
                _remove_words(session, [id_ for (id_,) in chunk])
            session.execute(change.where(key.in_(chunk)))

    while True:
        with database.reading() as session:
            found = [tuple(row) for row in session.execute(wanted)]
        if not found:
            return
        write_in_batches(database, found, write, weigh=lambda _: weight)


def _remove_words(session: Session, documents: Sequence[object]) -> None:
    """Delete the indexed words of documents; on PostgreSQL the documents are locked so that nobody reindexes them."""
    session.execute(select(DOCUMENTS.c.id).where(DOCUMENTS.c.id.in_(documents)).with_for_update())
    session.execute(delete(WORDS).where(WORDS.c.document_id.in_(documents)))


STEPS_BETWEEN_LOOKS = 100
# An arbitrary number, shared by all processes that import.
IMPORT_LOCK = 7_105_222
# Left by an interrupted import; a collection with `deleted_at` is being removed by another process.
IS_LEFT = and_(Collection.being_imported, Collection.deleted_at.is_(None))


class Steps:
    """Progress of an import, in rows out of the number that the archive's manifest announces."""

    def __init__(self, lines: object, progress: Progress | None) -> None:
        """Start at 0. `lines` comes from the manifest unchecked: part → number of rows."""
        counts = lines.values() if isinstance(lines, dict) else ()
        self._steps = sum(count for count in counts if isinstance(count, int))
        self._done = 0
        self._progress = progress

    def add(self) -> None:
        """Count one row; report to the progress callback at intervals."""
        self._done += 1
        if self._progress is not None and self._done % STEPS_BETWEEN_LOOKS == 0:
            self._progress(self._done, max(self._done, self._steps))


@contextmanager
def seeing_import(database: Database, collection_id: int) -> Iterator[Session]:
    """A read session in which `find_collection` also finds this collection while it is being imported."""
    with database.reading() as session:
        session.info[IMPORTED] = collection_id
        yield session


@contextmanager
def importing_alone(database: Database) -> Iterator[None]:
    """Hold the import lock within the block; raises `UpkeepError` when another import holds it.

    Hidden rows that exist without this lock were left by an import that was killed.
    """
    with held_alone(database, "import", IMPORT_LOCK) as is_ours:
        if not is_ours:
            raise UpkeepError("Another archive is being imported here: import this one when that is done.")
        yield


def remove_interrupted(database: Database) -> bool:
    """Remove what interrupted imports have left, in short transactions; return whether there was anything.

    Call it within `importing_alone`.
    """
    with database.reading() as session:
        ids = session.scalars(select(Collection.id).where(IS_LEFT)).all()
        has_people = session.scalar(select(User.id).where(User.being_imported).limit(1)) is not None
    for collection_id in ids:
        remove_rows(database, collection_id)
    if ids or has_people:
        with database.transaction() as session:
            session.execute(delete(Collection).where(Collection.id.in_(ids), IS_LEFT))
            session.execute(delete(User).where(User.being_imported))
    return bool(ids or has_people)
