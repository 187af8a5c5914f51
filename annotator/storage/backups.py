"""Copies of an SQLite database that are made while it is in use, and put back; PostgreSQL has tools of its own."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from annotator.errors import ConflictError
from annotator.storage.checking import Examination, examine
from annotator.storage.database import Database
from annotator.storage.passing_faults import PRIMARY_CODE
from annotator.storage.upkeep import Progress, UpkeepError, file_of

PAGES_AT_ONCE = 2_000
# What SQLite keeps beside a file, and puts into whichever file it finds there under the name.
LOGS = ("-wal", "-shm", "-journal")
IN_USE = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
BY_PG_DUMP = "PostgreSQL is backed up by its own tool, while judging goes on: pg_dump --format=custom --file=FILE URL"
BY_PG_RESTORE = "PostgreSQL is restored by its own tool: pg_restore --clean --if-exists --dbname=URL FILE"


def back_up(database: Database, target: Path, *, progress: Progress | None = None) -> Examination:
    """Copy the database as it is at this moment into a new file, which counts once it was opened and examined.

    Nobody waits for it. Raises `UpkeepError` when the copy cannot be written or is not in order; no file is left then.
    """
    file_of(database, BY_PG_DUMP)
    _refuse_file(target)
    with _aside(target) as aside:
        _copy_pages(database, aside, progress)
        examination = _examined(aside)
        _close_to_one_file(aside)
        _write_through(aside)
        _refuse_file(target)
        aside.replace(target)
        _write_through(target.parent)
    return examination


def restore(database: Database, backup: Path, *, replace: bool, now: datetime) -> Path | None:
    """Put a backup in the database's place, once its copy was opened and examined; say where the old one is kept.

    A damaged one is kept as it is, and a log that is left beside it goes with it, also where the file itself is gone.
    Raises `UpkeepError` when the backup is not in order, when there is a database already that is not to be replaced,
    and while anybody has that one open.
    """
    target = file_of(database, BY_PG_RESTORE)
    if target.exists() and not replace:
        raise UpkeepError(
            "There is a database at “%(file)s”: --replace puts it aside and takes its place.", file=target
        )
    if not backup.is_file():
        raise UpkeepError("There is no backup “%(file)s”.", file=backup)
    with _aside(target) as aside:
        shutil.copyfile(backup, aside)
        _examined(aside)
        _close_to_one_file(aside)
        _write_through(aside)
        kept = _put_aside(target, now)
        aside.replace(target)
        _write_through(target.parent)
        _examined(target)
        _close_to_one_file(target)
    return kept


@contextmanager
def _aside(target: Path) -> Iterator[Path]:
    """A name beside the file that is to be, of which nothing is left when the block fails."""
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        # In a container the next process may have the number of one that was ended in the middle.
        _remove(aside)
        yield aside
    except (OSError, sqlite3.Error) as error:
        raise UpkeepError("“%(file)s” cannot be written: %(reason)s.", file=target, reason=error) from error
    finally:
        _remove(aside)


def _remove(path: Path) -> None:
    """Leave nothing of a database."""
    for leftover in (path, *_logs(path)):
        leftover.unlink(missing_ok=True)


def _logs(path: Path) -> list[Path]:
    return [Path(f"{path}{end}") for end in LOGS]


def _copy_pages(database: Database, target: Path, progress: Progress | None) -> None:
    with database.reading() as session, closing(sqlite3.connect(target)) as copy:
        # The session keeps to one state from its first look on: without one, SQLite would begin anew with each
        # judgement that is stored meanwhile.
        session.execute(text("SELECT count(*) FROM sqlite_master"))
        driver: Any = session.connection().connection.driver_connection
        driver.backup(
            copy,
            pages=PAGES_AT_ONCE,
            sleep=0,
            progress=None if progress is None else lambda _, left, pages: progress(pages - left, pages),
        )


def _examined(path: Path) -> Examination:
    """What is in a file, opened as the program opens its database; `UpkeepError` when that is not in order."""
    copy = Database(f"sqlite:///{path}")
    try:
        examination = examine(copy)
    except (ConflictError, DBAPIError) as error:
        raise UpkeepError("This is no database of annotator: %(reason)s", reason=error) from error
    finally:
        copy.close()
    if examination.is_broken:
        raise UpkeepError("The copy is not in order: %(found)s", found="; ".join(map(str, examination.wrong)))
    return examination


def _close_to_one_file(path: Path) -> None:
    """Without a log beside it, so that the file is all there is, also where nothing can be written."""
    with closing(sqlite3.connect(path)) as copy:
        copy.execute("PRAGMA journal_mode=DELETE")


def _put_aside(target: Path, now: datetime) -> Path | None:
    """Keep the present database and its logs under another name; `UpkeepError` while anybody has it open."""
    kept = target.with_name(f"{target.name}.replaced-{now:%Y%m%dT%H%M%SZ}")
    is_there = target.exists()
    if is_there:
        _settle(target)
        try:
            os.link(target, kept)
        except OSError:
            # Not every file system gives a file two names.
            shutil.copyfile(target, kept)
    for log, name in zip(_logs(target), _logs(kept), strict=True):
        if log.exists():
            log.replace(name)
    return kept if is_there else None


def _settle(target: Path) -> None:
    """Have what is in the log go into the file; of a damaged one both stay as they are."""
    with closing(sqlite3.connect(target, timeout=0)) as present:
        try:
            # Only who is alone may leave the write-ahead log.
            present.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & PRIMARY_CODE in IN_USE:
                raise UpkeepError("The database is in use: stop the server first.") from error


def _refuse_file(target: Path) -> None:
    for path in (target, *_logs(target)):
        if path.exists():
            raise UpkeepError(
                "“%(file)s” is there already, and a backup replaces nothing: give another name.", file=path
            )


def _write_through(path: Path) -> None:
    """Have the disk keep it, before anybody relies on it."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
