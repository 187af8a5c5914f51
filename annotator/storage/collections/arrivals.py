"""What an import stores before it is whole: hidden, in transactions so short that nobody waits for them."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import and_, delete, select, text
from sqlalchemy.orm import Session

from annotator.storage.collections.clearing import remove_rows
from annotator.storage.collections.collection import IMPORTED
from annotator.storage.site.database import Database
from annotator.storage.site.upkeep import Progress, UpkeepError
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.people import User

STEPS_BETWEEN_LOOKS = 100
# The number itself means nothing: it is the same in every process that imports.
IMPORT_LOCK = 7_105_222
# What was deleted is being removed for good, by somebody else.
IS_LEFT = and_(Collection.being_imported, Collection.deleted_at.is_(None))


class Steps:
    """Tells how many of the rows that an archive promises have come in."""

    def __init__(self, lines: object, progress: Progress | None) -> None:
        """Nothing has; `lines` are the manifest's, which may be anything."""
        counts = lines.values() if isinstance(lines, dict) else ()
        self._steps = sum(count for count in counts if isinstance(count, int))
        self._done = 0
        self._progress = progress

    def add(self) -> None:
        """One more; every now and then somebody is told."""
        self._done += 1
        if self._progress is not None and self._done % STEPS_BETWEEN_LOOKS == 0:
            self._progress(self._done, max(self._done, self._steps))


@contextmanager
def seeing_import(database: Database, collection_id: int) -> Iterator[Session]:
    """A session that reads, and finds this collection by its short name though it is still being imported."""
    with database.reading() as session:
        session.info[IMPORTED] = collection_id
        yield session


@contextmanager
def importing_alone(database: Database) -> Iterator[None]:
    """Be the only import while the block lasts; `UpkeepError` when there is another.

    So what is hidden outside of such a block was left by an import that was killed.
    """
    with _locked_file(database) if database.is_sqlite else database.locked_on_server(IMPORT_LOCK) as is_ours:
        if not is_ours:
            raise UpkeepError("Another archive is being imported here: import this one when that is done.")
        yield


@contextmanager
def _locked_file(database: Database) -> Iterator[bool]:
    """A lock on a file beside the database; the system gives it back when the process is gone."""
    with database.reading() as session:
        file = session.scalar(text("SELECT file FROM pragma_database_list WHERE name = 'main'"))
    if not file:  # in memory: nobody else is there
        yield True
        return
    path = Path(f"{file}-import")
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
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it before removes the file: then this is a lock on nothing.
            if path.exists() and path.stat().st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        os.close(descriptor)


def remove_interrupted(database: Database) -> bool:
    """Remove what interrupted imports have left, in short transactions; say whether there was any.

    To be called by whoever is `importing_alone`.
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
