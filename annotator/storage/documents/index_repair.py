"""A full-text index of SQLite that is missing or damaged: a clear refusal, and a new one in its place."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from annotator.errors import BusyError
from annotator.storage.documents.searchable import folder_of, forget_searchable, has_searchable
from annotator.storage.site.transient_errors import PRIMARY_CODE
from annotator.storage.tables.documents import SQLITE_INDEX

LOG = logging.getLogger("annotator.storage")

# FTS5 drops its tables only when it can read these two.
LEAST_FOR_DROPPING = (
    "CREATE TABLE IF NOT EXISTS document_words_index_data (id INTEGER PRIMARY KEY, block BLOB)",
    "CREATE TABLE IF NOT EXISTS document_words_index_config (k PRIMARY KEY, v) WITHOUT ROWID",
    "INSERT OR REPLACE INTO document_words_index_data VALUES (1, ''), (10, zeroblob(8))",
    "INSERT OR REPLACE INTO document_words_index_config VALUES ('version', 4)",
)
# The words are computed from the texts again: without the trigger they are deleted at once, however many.
FORGET = (
    "DROP TRIGGER IF EXISTS document_words_index_deleted",
    "DELETE FROM document_words",
    "DROP TABLE IF EXISTS document_words_index",
)
# Searches for one word, and for the size of a document, which ranking needs.
LOOKS = (
    "SELECT 1 FROM document_words_index WHERE document_words_index MATCH '\"a\"' LIMIT 1",
    "SELECT 1 FROM document_words_index_docsize LIMIT 1",
    "SELECT 1 FROM sqlite_master WHERE name = 'document_words_index_deleted'",
)


@contextmanager
def index_needed() -> Iterator[None]:
    """Raise `BusyError` in the block when SQLite's index is missing or damaged."""
    try:
        yield
    except DBAPIError as error:
        if _is_damage(error):
            LOG.error("The search index is missing or damaged: %s", error.orig)  # noqa: TRY400 - refused, not failed
            raise BusyError(
                "The search index is missing or damaged. Nothing was stored. The worker builds a new one, which takes "
                "minutes for a large corpus; judging continues. Try again later."
            ) from error
        raise


def _is_damage(error: DBAPIError) -> bool:
    code = getattr(error.orig, "sqlite_errorcode", None)
    if not isinstance(code, int):
        return False
    # A query that FTS5 cannot read would be our own fault.
    is_unreadable = code & PRIMARY_CODE == sqlite3.SQLITE_ERROR and "fts5:" not in str(error.orig)
    return code & PRIMARY_CODE == sqlite3.SQLITE_CORRUPT or is_unreadable


def has_usable_index(session: Session) -> bool:
    """Whether the index in SQLite's file, or in a folder, can be read; PostgreSQL looks after its own."""
    folder = folder_of(session)
    if folder is not None:
        # Documents that it lacks without a record are indexed like any others.
        return folder.is_usable() or not has_searchable(session)
    if session.get_bind().dialect.name != "sqlite":
        return True
    try:
        for look in LOOKS:
            row = session.execute(text(look)).first()
    except DBAPIError as error:
        if _is_damage(error):
            return False
        raise
    return row is not None


def mend_index(session: Session) -> bool:
    """Replace an unreadable index of SQLite, or in a folder, by an empty one; return whether it was replaced."""
    if has_usable_index(session):
        return False
    folder = folder_of(session)
    if folder is not None:
        folder.remove()
        forget_searchable(session)
        return True
    is_there = text("SELECT 1 FROM sqlite_master WHERE name = 'document_words_index'")
    least = LEAST_FOR_DROPPING if session.scalar(is_there) else ()
    for statement in (*least, *FORGET, *SQLITE_INDEX):
        session.execute(text(statement))
    return True
