"""Removing the rows of a collection that nobody finds any more, in transactions so short that nobody waits for them.

Until its last row is gone such a collection counts as being imported: what is left of it does not fit together, and a
check of the database leaves it out.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Delete, Select, Table, Update, and_, delete, select, tuple_, update
from sqlalchemy.orm import Session

from annotator.storage.collections.bundles import FEW_AT_ONCE, OF_SITE, TABLES, belongs
from annotator.storage.site.batches import FIRST_WEIGHT, ROW, write_in_batches
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.site.database import Database
from annotator.storage.tables.collections import Collection, DeletedPart, Deletion
from annotator.storage.tables.columns import Base
from annotator.storage.tables.documents import DOCUMENTS, WORDS

KEYS_AT_ONCE = 20_000
# Parts hold up to a thousand rows each.
PARTS_AT_ONCE = 50
BEING_REMOVED = and_(Collection.being_imported, Collection.deleted_at.is_not(None))


def finish_removals(database: Database) -> None:
    """Remove what was given up for good and is still there: rows of collections, and what was kept of deletions."""
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
    """Remove every row of a collection but its own, what the audit log refers to, and its deletions."""
    outside = [Base.metadata.tables[name] for name in OF_SITE]
    for table in (*outside, *reversed(TABLES)):
        # A document without its words is one to be indexed: they go together.
        if table is WORDS:
            continue
        rows = belongs(table, collection_id)
        for link in [link.parent for link in table.foreign_keys if link.column.table is table]:
            _change(database, table, and_(rows, link.is_not(None)), update(table).values({link.name: None}))
        _change(database, table, rows, delete(table))


def _change(database: Database, table: Table, rows: ColumnElement[bool], change: Update | Delete) -> None:
    """Change or delete rows, looking for them outside of the lock, until there are none of that kind."""
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
    """Remove the words of documents that go; on PostgreSQL they are locked, so that nobody indexes them meanwhile."""
    session.execute(select(DOCUMENTS.c.id).where(DOCUMENTS.c.id.in_(documents)).with_for_update())
    session.execute(delete(WORDS).where(WORDS.c.document_id.in_(documents)))
