"""The engine and its two kinds of session, one that only reads and one that writes; and how tables are changed."""

import os
import random
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import unquote

from sqlalchemy import Connection, Engine, String, cast, create_engine, event, func, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.orm import Session, SessionTransaction

from annotator.errors import BusyError, ConflictError, InvalidValueError
from annotator.files import OWNER_ONLY
from annotator.installed import how_to_install
from annotator.storage.site.transient_errors import PRIMARY_CODE, came_second, gave_way, refuse_for_now


def refused_url(url: str, error: Exception) -> InvalidValueError:
    """Say why it is refused, without its password."""
    return InvalidValueError(
        "“%(url)s” is not a database this installation can open: %(reason)s",
        url=_without_password(url),
        reason=_without_password(str(error)),
    )


def _without_password(url: str) -> str:
    return re.sub(r"(://[^:/@]*:)[^@]*@", r"\1***@", url)


IN_MEMORY = frozenset({"", ":memory:"})
FILE_URI = "file:"


def file_behind(url: URL) -> Path | None:
    """The file that an address names; None for one in memory and for PostgreSQL."""
    name = url.database or ""
    if url.get_backend_name() != "sqlite" or url.query.get("mode") == "memory":
        return None
    if url.query.get("uri") and name.startswith(FILE_URI):
        name = unquote(name.removeprefix(FILE_URI))
    return None if name in IN_MEMORY else Path(name)


def create_private(url: URL) -> None:
    """Create the empty file of a database that is not there yet, so that SQLite does not, for everybody to read.

    SQLite gives the logs beside it the same mode. One that is there is not even opened: to close it again would take
    away the locks that other connections of this process have on it.
    """
    path = file_behind(url)
    if path is None or url.query.get("mode") in {"ro", "rw"}:
        return
    # What stands in the way SQLite meets as well, and reports.
    with suppress(OSError):
        os.close(os.open(path.resolve(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))


BUSY_TIMEOUT_MS = 15_000
# How long a writer waits between looks at the lock, about, and that for so long; then each wait is a little longer.
SECONDS_BETWEEN_LOOKS = 0.0003
LONGEST_BETWEEN_LOOKS = 0.01
LONGER_EACH_TIME = 1.02
# The number itself means nothing: it is the same in every process that migrates.
MIGRATION_LOCK = 7_105_221
MILLISECONDS_APART = 50
MOST_ATTEMPTS = 3

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

# For how many seconds the present request may wait for another writer, if for less than the usual time.
patience: ContextVar[float | None] = ContextVar("patience", default=None)


class HeldUpError(BaseException):
    """Another writer has the lock for longer than `patience`. Nothing was done: the request can be made again.

    No `Exception`, since nobody but who set the patience is to handle it.
    """


class Database:
    """Gives out sessions; one transaction each, committed when the block ends and rolled back when it raises."""

    def __init__(self, url: str) -> None:
        """Prepare an engine for `url`; nothing is opened yet."""
        try:
            backend = make_url(url).get_backend_name()
            # What goes wrong is logged with its statement; its values may be secrets.
            self.engine: Engine = create_engine(url, hide_parameters=True)
        except ModuleNotFoundError as error:
            if error.name != "psycopg":
                raise refused_url(url, error) from error
            raise InvalidValueError(
                "The PostgreSQL driver is not installed: %(command)s adds it.", command=how_to_install("postgres")
            ) from error
        except (ArgumentError, ValueError) as error:
            raise refused_url(url, error) from error
        self.is_sqlite = backend == "sqlite"
        self._watcher = _Watcher(self.engine)
        if self.is_sqlite:
            event.listen(self.engine, "do_connect", lambda *_: create_private(self.engine.url))
            event.listen(self.engine, "connect", _prepare_sqlite)
        # PostgreSQL would let each statement see another state.
        self._reading = (
            self.engine if self.is_sqlite else self.engine.execution_options(isolation_level="REPEATABLE READ")
        )

    @contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[Session]:
        """A session that writes; on SQLite it holds the only write lock from its first statement.

        Without `keep` everything is done as ever and rolled back at the end: a dry run meets what the real one would.

        Raises `BusyError` when another writer kept that lock for too long, or, on PostgreSQL, when this one had to give
        way to another, and when there is no room or the database may only be read; and there `ConflictError` when
        another has stored the same meanwhile. Nothing is stored then.
        """
        try:
            with _WritingSession(self.engine, expire_on_commit=False) as session, session.begin() as transaction:
                yield session
                if not keep:
                    session.flush()  # what the database would refuse is refused here, too
                    transaction.rollback()
        except DBAPIError as error:
            refuse_for_now(error)
            raise

    def attempt(self, work: Callable[[Session], Result]) -> Result:
        """Do `work` in a transaction, once more and again when another was in its way, and return its result.

        For what a person must not be asked to do again. Raises what `transaction` does.
        """
        for _ in range(MOST_ATTEMPTS - 1):
            try:
                with self.transaction() as session:
                    return work(session)
            except (BusyError, ConflictError) as refused:
                if not gave_way(refused.__cause__) and not came_second(refused.__cause__):
                    raise
            # Two that crossed each other's way do not begin again at the same moment.
            time.sleep(secrets.randbelow(MILLISECONDS_APART) / 1_000)
        with self.transaction() as session:
            return work(session)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that reads one consistent state and never waits for a writer."""
        with _ReadingSession(self._reading, expire_on_commit=False) as session:
            yield session

    def read(
        self,
        query: Callable[Concatenate[Session, Arguments], Result],
        *args: Arguments.args,
        **values: Arguments.kwargs,
    ) -> Result:
        """What one function reads, which takes the session first, in a reading of its own."""
        with self.reading() as session:
            return query(session, *args, **values)

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """A connection for changing tables, alone: who else would migrate waits until this block has ended.

        Raises `ConflictError` when rows of SQLite would then refer to rows that are not there, and `BusyError` when
        another writer kept its lock for too long; nothing is changed then. PostgreSQL checks each statement itself.
        """
        links = _links_checked_at_the_end if self.is_sqlite else _alone_on_postgresql
        try:
            with self.engine.connect() as connection, links(connection):
                yield connection
        except OperationalError as error:
            if self.is_sqlite and "locked" in str(error.orig):
                raise BusyError(
                    "Another program is writing to the database. Nothing was changed: stop it, or try again."
                ) from error
            raise

    @contextmanager
    def locked_on_server(self, number: int) -> Iterator[bool]:
        """Whether a lock of PostgreSQL is ours while the block, or the process, lasts; without waiting for it."""
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            is_ours = bool(connection.scalar(select(func.pg_try_advisory_lock(number))))
            try:
                yield is_ours
            finally:
                if is_ours:
                    connection.execute(select(func.pg_advisory_unlock(number)))

    def state(self) -> Hashable:
        """A value that is another one after every commit, by this process or any other; None where nothing tells.

        To be asked for before the session begins whose results are kept under it: what is stored between the two makes
        the results newer than the value says, never older.
        """
        if self.is_sqlite:
            return self._watcher.state()
        with self.reading() as session:
            # Of equal snapshots the same transactions are visible.
            return session.scalar(select(cast(func.pg_current_snapshot(), String)))

    def close(self) -> None:
        """Give every connection back."""
        self._watcher.close()
        self.engine.dispose()


class _Watcher:
    """A connection to SQLite that never writes, which therefore hears of every commit."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._connection: Any = None
        self._process = 0
        self._opened = 0  # the numbers of two connections are not to be compared

    def state(self) -> Hashable:
        with self._lock:
            if self._connection is None or self._process != os.getpid():
                pooled = self._engine.raw_connection()
                self._connection, self._process = pooled.dbapi_connection, os.getpid()
                pooled.detach()
                self._opened += 1
            # In memory, each connection may have a database of its own.
            if not self._connection.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()[0]:
                return None
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
            return self._process, self._opened, version

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None


class _OurSession(Session):
    """A session that keeps its connection while a transaction, or a savepoint, lasts.

    To ask for it, as is done with each statement that does without mapped classes, takes as long as the statement.
    """

    _kept: Connection | None = None

    def connection(self, *arguments: Any, **options: Any) -> Connection:  # noqa: ANN401 - what SQLAlchemy takes
        """The connection of the transaction, which begins when it has not."""
        if arguments or options:
            return super().connection(*arguments, **options)
        if self._kept is None:
            self._kept = super().connection()
        return self._kept

    def forget_connection(self) -> None:
        """Ask for the connection again the next time: a transaction has begun or ended."""
        self._kept = None


class _WritingSession(_OurSession):
    """A session that changes something."""


class _ReadingSession(_OurSession):
    """A session that reads."""


@event.listens_for(_WritingSession, "after_begin")
def _begin_to_write(_session: Session, _transaction: object, connection: Connection) -> None:
    # A transaction that reads first and then writes cannot wait for the lock (SQLite refuses at once,
    # whatever the timeout), so one that may write takes the lock at its beginning.
    if _is_to_begin(connection):
        with _useless_unless_begun(connection):
            _begin_writing(connection)


@event.listens_for(_ReadingSession, "after_begin")
def _begin_to_read(_session: Session, _transaction: object, connection: Connection) -> None:
    if _is_to_begin(connection):
        with _useless_unless_begun(connection):
            connection.exec_driver_sql("BEGIN")


@event.listens_for(_OurSession, "after_transaction_create")
@event.listens_for(_OurSession, "after_transaction_end")
def _forget_connection(session: _OurSession, transaction: SessionTransaction) -> None:
    # A savepoint is made when the connection is asked for; flushing is a transaction within, and changes nothing.
    if transaction.parent is None or transaction.nested:
        session.forget_connection()


@contextmanager
def _useless_unless_begun(connection: Connection) -> Iterator[None]:
    # The session has the connection by now and would go on with it when the refusal is caught, each statement stored
    # by itself: so it refuses them all until the session is rolled back.
    try:
        yield
    except BaseException:
        connection.invalidate()
        raise


def _is_to_begin(connection: Connection) -> bool:
    """Whether SQLite has not begun, as it has when a savepoint does; PostgreSQL's driver begins by itself."""
    driver: Any = connection.connection.dbapi_connection
    return isinstance(driver, sqlite3.Connection) and not driver.in_transaction


def has_one_writer(session: Session) -> bool:
    """Whether there is one writer at a time, as on SQLite; on PostgreSQL rows are locked."""
    return session.get_bind().dialect.name == "sqlite"


@contextmanager
def _alone_on_postgresql(connection: Connection) -> Iterator[None]:
    # Two servers that start on one empty database would both make its tables.
    with connection.begin():
        connection.execute(select(func.pg_advisory_xact_lock(MIGRATION_LOCK)))
        yield


@contextmanager
def _links_checked_at_the_end(connection: Connection) -> Iterator[None]:
    # SQLite changes a column by way of a copy of the table, and refuses to drop the old one while others refer to it.
    # The pragma counts outside of a transaction only, so it goes past SQLAlchemy, which would begin one.
    cursor = connection.connection.cursor()
    cursor.execute("PRAGMA foreign_keys=OFF")
    try:
        with connection.begin():
            _begin_writing(connection)
            yield
            _refuse_broken_links(connection)
    finally:
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()


def _refuse_broken_links(connection: Connection) -> None:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    if broken:
        table, _row, parent, _key = broken[0]
        raise ConflictError(
            "The tables stay as they were: %(count)d rows, the first of them in “%(table)s”, would refer to rows of "
            "“%(parent)s” that do not exist. Restore a copy of the database, or report this.",
            count=len(broken),
            table=table,
            parent=parent,
        )


def _prepare_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own type
    # The driver would begin transactions only before INSERT, UPDATE and DELETE, leaving a SELECT that decides
    # what to write outside of them: with eight threads it gave 651 of 2,000 items out twice. We begin ourselves.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # a judgement is human work: it outlives a power cut
    cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin_writing(connection: Connection) -> None:
    # SQLite itself would sleep for longer and longer, up to 100 ms, while others come and go: with two processes half
    # of the time passed asleep, and some waited for seconds.
    driver: Any = connection.connection.dbapi_connection
    seconds = patience.get()
    end = time.monotonic() + (BUSY_TIMEOUT_MS / 1000 if seconds is None else seconds)
    pause = SECONDS_BETWEEN_LOOKS
    driver.execute("PRAGMA busy_timeout=0")
    try:
        while not _has_begun(driver):
            if time.monotonic() > end:
                if seconds is not None:
                    raise HeldUpError
                # Once more by way of SQLAlchemy, which raises its own error.
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                return
            time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - so that two do not wake together
            pause = min(pause * LONGER_EACH_TIME, LONGEST_BETWEEN_LOOKS)
    finally:
        driver.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")


def _has_begun(driver: Any) -> bool:  # noqa: ANN401 - the driver's own type
    try:
        driver.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & PRIMARY_CODE != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True
