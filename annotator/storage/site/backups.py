"""Copies of an SQLite database that are made while it is in use, and put back; PostgreSQL has tools of its own."""

import fcntl
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Self
from urllib.parse import quote

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from annotator.errors import ConflictError
from annotator.files import create_for_owner
from annotator.storage.collections.checking import Examination, count_judgements, examine, examine_copy
from annotator.storage.site.database import FILE_URI, Database
from annotator.storage.site.transient_errors import PRIMARY_CODE, keeps_from_writing
from annotator.storage.site.upkeep import Progress, UpkeepError, file_of

PAGES_AT_ONCE = 2_000
# What SQLite keeps beside a file, and puts into whichever file it finds there under the name.
LOGS = ("-wal", "-shm", "-journal")
# The process that writes a copy holds this file beside it locked.
LOCK = ".lock"
# The file format versions for writing and reading in an SQLite header: with a write-ahead log, and without.
FORMAT_AT, WITH_LOG, WITHOUT_LOG = 18, b"\2\2", b"\1\1"
UNFINISHED = re.compile(rf"\..+\.\d+{re.escape(LOCK)}")
IN_USE = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
BY_PG_DUMP = (
    "PostgreSQL is backed up by its own tool, while judging goes on: pg_dump --format=custom --file=FILE %(url)s"
)
BY_PG_RESTORE = "PostgreSQL is restored by its own tool: pg_restore --clean --if-exists --dbname=%(url)s FILE"


def back_up(
    database: Database, target: Path, *, in_full: bool = False, progress: Progress | None = None
) -> Examination:
    """Copy the database as it is at this moment into a new file, which counts once it was opened and found whole.

    Nobody waits for it. Of the copy all tables and indexes are read, which takes a fraction of the time; `in_full`
    examines everything, as `restore` does. Raises `UpkeepError` when the copy cannot be written or is not in order; no
    file is left then, nor when it is interrupted.
    """
    file_of(database, BY_PG_DUMP)
    _refuse_file(target)
    with _aside(target) as aside, _WritingThrough(aside) as written:
        judgements = _copy_pages(database, aside, progress, written)
        _leave_log(aside)
        written.begin()
        look = partial(examine, progress=progress) if in_full else examine_copy
        examination = _examined(_unchanging(aside), look)
        written.finish()
        if examination.judgements != judgements:
            raise UpkeepError(
                "The copy has %(copied)d judgements, not %(count)d.", copied=examination.judgements, count=judgements
            )
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
        _examined(f"sqlite:///{aside}")
        _close_to_one_file(aside)
        _write_through(aside)
        if target.exists():
            shutil.copymode(target, aside)
        kept = _put_aside(target, now)
        aside.replace(target)
        _write_through(target.parent)
        _examined(f"sqlite:///{target}")
        _close_to_one_file(target)
    return kept


@contextmanager
def _aside(target: Path) -> Iterator[Path]:
    """An empty file of its owner's beside the one that is to be, of which nothing is left when the block fails.

    What processes that were killed have left for the same target is removed first.
    """
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        _remove_left(target, aside)
        # Not the copy itself is locked: over a network some file systems would keep SQLite from writing to it.
        with create_for_owner(_lock_of(aside)) as lock:
            try:
                with suppress(OSError):  # not every file system has locks
                    fcntl.flock(lock, fcntl.LOCK_EX)
                # What is copied into it has hashes of passwords, and everybody's notes.
                create_for_owner(aside).close()
                yield aside
            finally:
                _remove(aside)
                _lock_of(aside).unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        raise UpkeepError("“%(file)s” cannot be written: %(reason)s.", file=target, reason=error) from error


def _remove_left(target: Path, own: Path) -> None:
    """Remove the unfinished copies for this target whose processes are gone."""
    name = re.compile(rf"(\.{re.escape(target.name)}\.\d+)({'|'.join((LOCK, *LOGS))})?")
    found = [name.fullmatch(path.name) for path in target.parent.iterdir()]
    for copy in sorted({target.with_name(one[1]) for one in found if one}):
        # Another user's are left alone.
        with suppress(PermissionError), _lock_of(copy).open("ab") as lock:
            if _is_left(lock, is_own=copy == own):
                _remove(copy)
                _lock_of(copy).unlink(missing_ok=True)


def left_copies(folder: Path) -> list[Path]:
    """The unfinished copies in a folder whose processes are gone; the next one for the same target removes each."""
    copies = (path.with_suffix("") for path in sorted(folder.glob(f".*{LOCK}")) if UNFINISHED.fullmatch(path.name))
    return [copy for copy in copies if copy.exists() and _is_free(copy)]


def _is_free(copy: Path) -> bool:
    with suppress(OSError), _lock_of(copy).open("rb") as lock:
        return _is_left(lock, is_own=False)
    return False


def _lock_of(aside: Path) -> Path:
    return Path(f"{aside}{LOCK}")


def _is_left(lock: BinaryIO, *, is_own: bool) -> bool:
    """Lock the file of a copy; whether nobody writes that copy any more."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks. In a container the next process may have the number of one that was killed.
        return is_own
    return True


def _remove(path: Path) -> None:
    """Leave nothing of a database."""
    for leftover in (path, *_logs(path)):
        leftover.unlink(missing_ok=True)


def _logs(path: Path) -> list[Path]:
    return [Path(f"{path}{end}") for end in LOGS]


class _WritingThrough:
    """Has the disk take a file in a thread beside: while more is copied into it, and while it is read from memory."""

    def __init__(self, path: Path) -> None:
        """Begin nothing yet."""
        self._path = path
        self._beside = ThreadPoolExecutor(1)
        self._begun: list[Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._beside.shutdown(cancel_futures=True)

    def begin_if_idle(self) -> None:
        """Have it take what is there by now, unless it still takes what was there before."""
        if not self._begun or self._begun[-1].done():
            self.begin()

    def begin(self) -> None:
        """Have it take what is there by now."""
        self._begun.append(self._beside.submit(_write_through, self._path))

    def finish(self) -> None:
        """Wait for all of it; what the disk could not keep it says only once, of the first that asks."""
        for one in self._begun:
            one.result()


def _copy_pages(database: Database, target: Path, progress: Progress | None, written: _WritingThrough) -> int:
    """Copy the file, and count the judgements that are to be in it."""

    def show(_status: int, left: int, pages: int) -> None:
        # Called in any case, since Ctrl-C is heard of here.
        written.begin_if_idle()
        if progress is not None:
            progress(pages - left, pages)

    with database.reading() as session, closing(sqlite3.connect(target)) as copy:
        # The session keeps to one state from its first look on: without one, SQLite would begin again with each
        # judgement that is stored meanwhile.
        session.execute(text("SELECT count(*) FROM sqlite_master"))
        # Nobody relies on the copy before it is whole, and then it is written through at once.
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE"):
            copy.execute(f"PRAGMA {pragma}")
        driver: Any = session.connection().connection.driver_connection
        driver.backup(copy, pages=PAGES_AT_ONCE, sleep=0, progress=show)
        has_judgements = "SELECT count(*) FROM sqlite_master WHERE name = 'judgement'"
        return count_judgements(session) if session.scalar(text(has_judgements)) else 0


def _unchanging(path: Path) -> str:
    """The address of a database that nobody writes: neither locks nor logs are made for it."""
    return f"sqlite:///{FILE_URI}{quote(str(path.resolve()))}?immutable=1&mode=ro&uri=true"


def _examined(url: str, look: Callable[[Database], Examination] = examine) -> Examination:
    """What is in a file, opened as the program opens its database; `UpkeepError` when that is not in order."""
    copy = Database(url)
    try:
        examination = look(copy)
    except (ConflictError, DBAPIError) as error:
        _raise_fault_of_disk(error)
        raise UpkeepError("This is no database of annotator: %(reason)s", reason=error) from error
    finally:
        copy.close()
    if examination.is_broken:
        raise UpkeepError("The copy is not in order: %(found)s", found="; ".join(map(str, examination.wrong)))
    return examination


def _raise_fault_of_disk(error: Exception) -> None:
    """Raise what SQLite says of a disk that is full or fails, which is no fault of the copy; else do nothing."""
    fault = error if isinstance(error, DBAPIError) else error.__cause__
    if isinstance(fault, DBAPIError) and isinstance(fault.orig, sqlite3.Error) and keeps_from_writing(fault):
        raise fault.orig from error


def _leave_log(path: Path) -> None:
    """Let a copy be opened without a log, by the bytes of its header that say so; SQLite would need room to do it."""
    with path.open("r+b") as file:
        file.seek(FORMAT_AT)
        if file.read(len(WITH_LOG)) == WITH_LOG:
            file.seek(FORMAT_AT)
            file.write(WITHOUT_LOG)


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
            create_for_owner(kept).close()
            shutil.copyfile(target, kept)
            shutil.copymode(target, kept)
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
