"""Online backup and restore of an SQLite database; PostgreSQL has its own tools."""

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
from annotator.storage.site.epoch import begin_epoch
from annotator.storage.site.schema import newest_version, version_of
from annotator.storage.site.transient_errors import PRIMARY_CODE, keeps_from_writing
from annotator.storage.site.upkeep import Progress, UpkeepError, file_of

PAGES_AT_ONCE = 2_000
# Files that SQLite keeps beside a database, and applies to any file of that name.
LOGS = ("-wal", "-shm", "-journal")
# The process that writes a copy holds a lock on this file beside it.
LOCK = ".lock"
# File format versions (write, read) in an SQLite header: with and without a write-ahead log.
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
    """Copy the current state of the database into a new file, verified before it gets its final name.

    Nothing is blocked meanwhile. All tables and indexes of the copy are read, a fraction of the time; `in_full` runs
    all checks, as `restore` does. Raises `UpkeepError` when the copy cannot be written or fails a check; no file is
    left then, nor after an interruption.
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
    """Replace the database with a verified copy of a backup; return the path of the previous database.

    A damaged database is kept unchanged, together with its log, also when only the log exists. Raises `UpkeepError`
    when the backup fails a check, when a database exists and `replace` is not set, and while it is open elsewhere.
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
        _begin_epoch(f"sqlite:///{aside}")
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
    """An empty temporary file (owner-only) beside the target, removed when the block ends.

    Temporary files of killed processes for the same target are removed first.
    """
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        _remove_left(target, aside)
        # The copy itself is not locked: on some network file systems SQLite could not write to it.
        with create_for_owner(_lock_of(aside)) as lock:
            try:
                with suppress(OSError):  # some file systems have no locks
                    fcntl.flock(lock, fcntl.LOCK_EX)
                # The copy contains password hashes and everybody's notes.
                create_for_owner(aside).close()
                yield aside
            finally:
                _remove(aside)
                _lock_of(aside).unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        raise UpkeepError("“%(file)s” cannot be written: %(reason)s.", file=target, reason=error) from error


def _remove_left(target: Path, own: Path) -> None:
    """Remove unfinished copies for this target whose processes have ended."""
    name = re.compile(rf"(\.{re.escape(target.name)}\.\d+)({'|'.join((LOCK, *LOGS))})?")
    found = [name.fullmatch(path.name) for path in target.parent.iterdir()]
    for copy in sorted({target.with_name(one[1]) for one in found if one}):
        # Skip those of another user.
        with suppress(PermissionError), _lock_of(copy).open("ab") as lock:
            if _is_left(lock, is_own=copy == own):
                _remove(copy)
                _lock_of(copy).unlink(missing_ok=True)


def left_copies(folder: Path) -> list[Path]:
    """Unfinished copies in a folder whose processes have ended; the next backup to the same target removes them."""
    copies = (path.with_suffix("") for path in sorted(folder.glob(f".*{LOCK}")) if UNFINISHED.fullmatch(path.name))
    return [copy for copy in copies if copy.exists() and _is_free(copy)]


def _is_free(copy: Path) -> bool:
    with suppress(OSError), _lock_of(copy).open("rb") as lock:
        return _is_left(lock, is_own=False)
    return False


def _lock_of(aside: Path) -> Path:
    return Path(f"{aside}{LOCK}")


def _is_left(lock: BinaryIO, *, is_own: bool) -> bool:
    """Lock the lock file of a copy; return whether its process has ended."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks. In a container a new process may reuse the id of a killed one.
        return is_own
    return True


def _remove(path: Path) -> None:
    """Delete a database file and its logs."""
    for leftover in (path, *_logs(path)):
        leftover.unlink(missing_ok=True)


def _logs(path: Path) -> list[Path]:
    return [Path(f"{path}{end}") for end in LOGS]


class _WritingThrough:
    """Runs fsync on a file in a background thread, while it is still being copied to or verified."""

    def __init__(self, path: Path) -> None:
        """Prepare the thread; nothing is written yet."""
        self._path = path
        self._beside = ThreadPoolExecutor(1)
        self._begun: list[Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._beside.shutdown(cancel_futures=True)

    def begin_if_idle(self) -> None:
        """Start an fsync unless the previous one is still running."""
        if not self._begun or self._begun[-1].done():
            self.begin()

    def begin(self) -> None:
        """Start an fsync of the present contents."""
        self._begun.append(self._beside.submit(_write_through, self._path))

    def finish(self) -> None:
        """Wait for all of them; the kernel reports a write error only once, so every result is checked."""
        for one in self._begun:
            one.result()


def _copy_pages(database: Database, target: Path, progress: Progress | None, written: _WritingThrough) -> int:
    """Copy the file page by page, and return the number of judgements in the snapshot."""

    def show(_status: int, left: int, pages: int) -> None:
        # Called even without progress, so that Ctrl-C is handled.
        written.begin_if_idle()
        if progress is not None:
            progress(pages - left, pages)

    with database.reading() as session, closing(sqlite3.connect(target)) as copy:
        # The first query fixes the session's snapshot: without it SQLite would restart the copy with every commit.
        session.execute(text("SELECT count(*) FROM sqlite_master"))
        # The copy needs no durability until it is complete; then it is synced at once.
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE"):
            copy.execute(f"PRAGMA {pragma}")
        driver: Any = session.connection().connection.driver_connection
        driver.backup(copy, pages=PAGES_AT_ONCE, sleep=0, progress=show)
        has_judgements = "SELECT count(*) FROM sqlite_master WHERE name = 'judgement'"
        return count_judgements(session) if session.scalar(text(has_judgements)) else 0


def _unchanging(path: Path) -> str:
    """URL of a database that nobody writes: SQLite uses neither locks nor logs."""
    return f"sqlite:///{FILE_URI}{quote(str(path.resolve()))}?immutable=1&mode=ro&uri=true"


def _begin_epoch(url: str) -> None:
    """Tell browsers that row ids may be of other rows now; an upgrade does so where the table is still missing."""
    copy = Database(url)
    try:
        if version_of(copy) == newest_version():
            with copy.transaction() as session:
                begin_epoch(session)
    finally:
        copy.close()


def _examined(url: str, look: Callable[[Database], Examination] = examine) -> Examination:
    """Open a file as the program's database and check it; raises `UpkeepError` when a check fails."""
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
    """Raise SQLite's error for a full or failing disk, which is not a fault of the copy; otherwise do nothing."""
    fault = error if isinstance(error, DBAPIError) else error.__cause__
    if isinstance(fault, DBAPIError) and isinstance(fault.orig, sqlite3.Error) and keeps_from_writing(fault):
        raise fault.orig from error


def _leave_log(path: Path) -> None:
    """Set the header of a copy to non-WAL mode; a pragma would need free disk space to do so."""
    with path.open("r+b") as file:
        file.seek(FORMAT_AT)
        if file.read(len(WITH_LOG)) == WITH_LOG:
            file.seek(FORMAT_AT)
            file.write(WITHOUT_LOG)


def _close_to_one_file(path: Path) -> None:
    """Leave WAL mode, so that the file is complete without a log and can be opened read-only."""
    with closing(sqlite3.connect(path)) as copy:
        copy.execute("PRAGMA journal_mode=DELETE")


def _put_aside(target: Path, now: datetime) -> Path | None:
    """Rename the present database and its logs; raises `UpkeepError` while it is open elsewhere."""
    kept = target.with_name(f"{target.name}.replaced-{now:%Y%m%dT%H%M%SZ}")
    is_there = target.exists()
    if is_there:
        _settle(target)
        try:
            os.link(target, kept)
        except OSError:
            # Some file systems do not support hard links.
            create_for_owner(kept).close()
            shutil.copyfile(target, kept)
            shutil.copymode(target, kept)
    for log, name in zip(_logs(target), _logs(kept), strict=True):
        if log.exists():
            log.replace(name)
    return kept if is_there else None


def _settle(target: Path) -> None:
    """Move the log's contents into the file; a damaged database and its log are left unchanged."""
    with closing(sqlite3.connect(target, timeout=0)) as present:
        try:
            # Leaving WAL mode requires exclusive access.
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
    """Flush a file or directory to disk (fsync)."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
