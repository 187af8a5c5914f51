"""Transient errors that abort a transaction: concurrent writers, and a full, read-only or failing disk."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.orm import Session

from annotator.errors import BusyError, ConflictError

LOG = logging.getLogger("annotator.storage")
# unique_violation. Not handled for SQLite: with a single writer it is a programming error there.
STORED_MEANWHILE = "23505"
# PostgreSQL aborts one of two conflicting transactions: serialization_failure and deadlock_detected.
GAVE_WAY = frozenset({"40001", "40P01"})
# The low byte of an SQLite code is the primary code, the rest the extended one.
PRIMARY_CODE = 0xFF
# PostgreSQL's SQLSTATEs are strings, SQLite's codes integers.
NO_ROOM = frozenset({"53100", sqlite3.SQLITE_FULL})
ONLY_READ = frozenset({"25006", sqlite3.SQLITE_READONLY})
# lock_not_available: another transaction held a row for longer than this one may wait.
HELD_TOO_LONG = "55P03"
# PostgreSQL ends the connection: it shuts down, has crashed, begins, or this transaction was idle for too long.
ENDS = frozenset({"57P01", "57P02", "57P03", "25P03"})
DISK_FAILS = frozenset({"58030", sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})


def refuse_for_now(error: DBAPIError) -> None:
    """Raise `BusyError` for a transient error or one of the server's disk; do nothing for other errors.

    Raises `ConflictError` when a concurrent transaction has stored the same row (PostgreSQL).
    """
    _refuse_what_is_stored(error)
    if gave_way(error):
        raise BusyError("Another user changed the same data at this moment. Nothing was stored: try again.") from error
    if is_interrupted(error):
        LOG.warning("The database was interrupted: %s", error.orig)
        raise BusyError(
            "The database was interrupted. If this request was to change something, see whether it did, and try again."
        ) from error
    code = _code(error)
    if code == HELD_TOO_LONG:
        raise BusyError("Another user changed the same data at this moment. Nothing was stored: try again.") from error
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        raise BusyError("The database is busy with a large import. Nothing was stored: try again.") from error
    if code in NO_ROOM:
        raise BusyError(
            "The server's disk is full. Nothing was stored: inform the organisers, and try again later."
        ) from error
    if code in ONLY_READ:
        raise BusyError(
            "The database is read-only. Nothing was stored: inform the organisers, and try again later."
        ) from error
    if code in DISK_FAILS:
        raise BusyError(
            "The server's disk fails. Nothing was stored: inform the organisers, and try again later."
        ) from error


def is_interrupted(error: DBAPIError) -> bool:
    """Whether PostgreSQL cannot be reached, or has ended the connection, so that it is uncertain what a commit did."""
    state = getattr(error.orig, "sqlstate", "")
    # Without a state it is the driver's own error: no connection could be opened, or it broke.
    return error.connection_invalidated or state in ENDS or (state is None and isinstance(error, OperationalError))


@contextmanager
def stored_before_others(session: Session) -> Iterator[None]:
    """Flush after the block; raises `ConflictError` when a concurrent transaction stored the same (PostgreSQL)."""
    try:
        yield
        session.flush()
    except IntegrityError as error:
        _refuse_what_is_stored(error)
        raise


def gave_way(error: BaseException | None) -> bool:
    """Whether PostgreSQL aborted this transaction in favour of another, so that it can be retried."""
    return isinstance(error, OperationalError) and getattr(error.orig, "sqlstate", None) in GAVE_WAY


def came_second(error: BaseException | None) -> bool:
    """Whether a concurrent transaction has stored the same row, which a retry will see."""
    return isinstance(error, IntegrityError) and getattr(error.orig, "sqlstate", None) == STORED_MEANWHILE


def keeps_from_writing(error: DBAPIError) -> bool:
    """Whether the disk is full, fails or is read-only."""
    return _code(error) in NO_ROOM | ONLY_READ | DISK_FAILS


def _refuse_what_is_stored(error: DBAPIError) -> None:
    if not came_second(error):
        return
    # It may also be a bug that stores the same row twice: then this warning recurs.
    rule = getattr(getattr(error.orig, "diag", None), "constraint_name", None)
    LOG.warning("Refused by %s, as if somebody else had been quicker.", rule)
    raise ConflictError("Another user changed the same data at this moment. Nothing was stored: try again.") from error


def _code(error: DBAPIError) -> str | int | None:
    state: str | None = getattr(error.orig, "sqlstate", None)
    code: int | None = getattr(error.orig, "sqlite_errorcode", None)
    return state if code is None else code & PRIMARY_CODE
