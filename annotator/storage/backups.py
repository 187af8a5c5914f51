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
from annotator.storage.upkeep import Progress, UpkeepError, file_of

PAGES_AT_ONCE = 2_000
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
        kept = _put_aside(target, now) if target.exists() else None
        aside.replace(target)
        _write_through(target.parent)
    return kept


@contextmanager
def _aside(target: Path) -> Iterator[Path]:
    """A name beside the file that is to be, of which nothing is left when the block fails."""
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        yield aside
    except (OSError, sqlite3.Error) as error:
        raise UpkeepError("“%(file)s” cannot be written: %(reason)s.", file=target, reason=error) from error
    finally:
        for leftover in (aside, *(Path(f"{aside}{end}") for end in ("-wal", "-shm", "-journal"))):
            leftover.unlink(missing_ok=True)


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


def _put_aside(target: Path, now: datetime) -> Path:
    """Keep the present database under another name; `UpkeepError` while anybody has it open."""
    with closing(sqlite3.connect(target, timeout=0)) as present:
        try:
            # Only who is alone may leave the write-ahead log; what is in it goes into the file.
            present.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError as error:
            raise UpkeepError("The database is in use: stop the server first.") from error
    kept = target.with_name(f"{target.name}.replaced-{now:%Y%m%dT%H%M%SZ}")
    try:
        os.link(target, kept)
    except OSError:
        # Not every file system gives a file two names.
        shutil.copyfile(target, kept)
    return kept


def _refuse_file(target: Path) -> None:
    if target.exists():
        raise UpkeepError("“%(file)s” is there already, and a backup replaces nothing: give another name.", file=target)


def _write_through(path: Path) -> None:
    """Have the disk keep it, before anybody relies on it."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
