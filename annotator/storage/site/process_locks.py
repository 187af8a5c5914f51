"""Locks that one process at a time holds on a database, and that the system releases when the process ends.

What a holder has stored and not finished was left, when nobody holds the lock, by a process that was killed.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from sqlalchemy import text

from annotator.files import OWNER_ONLY
from annotator.storage.site.database import Database
from annotator.storage.site.upkeep import UpkeepError


def held_alone(database: Database, name: str, number: int) -> AbstractContextManager[bool]:
    """Try to take a lock for the block, without waiting; yields whether it was acquired.

    SQLite has a file beside the database, whose name ends in `name`; PostgreSQL an advisory lock of this number.
    Raises `UpkeepError` when the file cannot be written.
    """
    return _locked_file(database, name) if database.is_sqlite else database.locked_on_server(number)


@contextmanager
def _locked_file(database: Database, name: str) -> Iterator[bool]:
    with database.reading() as session:
        file = session.scalar(text("SELECT file FROM pragma_database_list WHERE name = 'main'"))
    if not file:  # an in-memory database has no other process
        yield True
        return
    path = Path(f"{file}-{name}")
    try:
        descriptor = _try_to_lock(path)
    except OSError as error:
        raise UpkeepError("“%(file)s” cannot be written: %(reason)s.", file=path, reason=error.strerror) from error
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            path.unlink(missing_ok=True)
            os.close(descriptor)


def _try_to_lock(path: Path) -> int | None:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous holder deletes the file: then this lock is on a deleted inode.
            if path.exists() and path.stat().st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        os.close(descriptor)
