"""The engine with read and write sessions, and exclusive connections for migrations."""

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
from copy import copy
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar
from urllib.parse import unquote

from sqlalchemy import Connection, Engine, String, cast, create_engine, event, func, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.orm import Session, SessionTransaction

from annotator.errors import BusyError, ConflictError, InvalidValueError
from annotator.files import OWNER_ONLY
from annotator.installed import how_to_install
from annotator.storage.site.replica import Replica, reads_much
from annotator.storage.site.transient_errors import PRIMARY_CODE, came_second, gave_way, is_interrupted, refuse_for_now
from annotator.storage.site.write_guard import write_guard


def refused_url(url: str, error: Exception) -> InvalidValueError:
    """The error for an unusable database URL, with its password masked."""
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
    """The file of an SQLite URL; None for an in-memory database and for PostgreSQL."""
    name = url.database or ""
    if url.get_backend_name() != "sqlite" or url.query.get("mode") == "memory":
        return None
    if url.query.get("uri") and name.startswith(FILE_URI):
        name = unquote(name.removeprefix(FILE_URI))
    return None if name in IN_MEMORY else Path(name)


def create_private(url: URL) -> None:
    """Create a missing SQLite file readable by its owner only, before SQLite creates it with wider permissions.

    SQLite gives its logs the same mode. An existing file is not opened: closing it would release the locks that other
    connections of this process hold on it.
    """
    path = file_behind(url)
    if path is None or url.query.get("mode") in {"ro", "rw"}:
        return
    # SQLite meets the same obstacle, and reports it.
    with suppress(OSError):
        os.close(os.open(path.resolve(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))


BUSY_TIMEOUT_MS = 15_000
# A writer polls the lock at about this interval, which then grows by a factor up to the longest.
SECONDS_BETWEEN_LOOKS = 0.0003
LONGEST_BETWEEN_LOOKS = 0.01
LONGER_EACH_TIME = 1.02
# An arbitrary number, shared by all processes that migrate.
MIGRATION_LOCK = 7_105_221
MILLISECONDS_APART = 50
# The log grows by some megabytes in this time.
SECONDS_OF_A_LONG_READ = 2.0
MOST_ATTEMPTS = 3

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

# Under this name a session has the folder for search indexes, if the site has one.
SEARCH_FOLDER = "search_folder"

# How many seconds the current request may wait for another writer, if less than the default.
patience: ContextVar[float | None] = ContextVar("patience", default=None)


# Whether the current request is a judge's: its transactions are short, and none of it may hold up other judges.
is_brief: ContextVar[bool] = ContextVar("is_brief", default=False)
# On PostgreSQL such a transaction waits so long for a row, and ends when the process that began it is silent for so
# long: one that is frozen would keep its rows.
BRIEF = "SET LOCAL lock_timeout = '2s'; SET LOCAL idle_in_transaction_session_timeout = '3s'"


class HeldUpError(BaseException):
    """Another writer has held the lock for longer than `patience`. Nothing was done: the request can be repeated.

    Not an `Exception`, so that only the code that set `patience` catches it.
    """


class Database:
    """Creates sessions with one transaction each: committed when the block ends, rolled back when it raises."""

    def __init__(self, url: str, replica_url: str = "", search_folder: str = "") -> None:
        """Create an engine for `url`, and for a replica of it; no connection is opened yet.

        `search_folder` has the search index in place of the database, which needs the extra `search`.

        Raises `InvalidValueError` for an unusable URL, and for a replica of another database than PostgreSQL.
        """
        try:
            backend = make_url(url).get_backend_name()
            # Errors are logged with the statement, whose values may be secrets.
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
        self._replica = _replica_of(self.engine, replica_url) if replica_url else None
        if search_folder:
            _require_tantivy()
        self._info = {SEARCH_FOLDER: Path(search_folder).resolve()} if search_folder else {}
        self._is_guarded = True
        self._watcher = _Watcher(self.engine)
        if self.is_sqlite:
            event.listen(self.engine, "do_connect", lambda *_: create_private(self.engine.url))
            event.listen(self.engine, "connect", _prepare_sqlite)
        # By default PostgreSQL gives each statement its own snapshot.
        self._reading = (
            self.engine if self.is_sqlite else self.engine.execution_options(isolation_level="REPEATABLE READ")
        )

    @contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[Session]:
        """A write session; on SQLite it holds the only write lock from its first statement.

        Without `keep`, a dry run: all statements run, so that errors surface, and are rolled back at the end.

        Raises `BusyError` when the lock times out, on a deadlock or serialisation failure (PostgreSQL), a full or
        failing disk or a read-only database, and `ConflictError` when a concurrent transaction stored the same row
        (PostgreSQL). Nothing is stored then.
        """
        guard = write_guard.get() if self._is_guarded else None
        try:
            with self._session(_WritingSession, self.engine) as session, session.begin() as transaction:
                if guard is not None:
                    guard.run(session)
                yield session
                if not keep:
                    session.flush()  # so that constraint violations are raised here, too
                    transaction.rollback()
        except DBAPIError as error:
            refuse_for_now(error)
            raise
        if guard is not None and keep:
            guard.is_committed = True

    def preparing(self) -> Self:
        """The same database, for transactions that only prepare the one which stores the result: without guard."""
        same = copy(self)
        same._is_guarded = False  # noqa: SLF001 - of the same class
        return same

    def attempt(self, work: Callable[[Session], Result]) -> Result:
        """Run `work` in a transaction, retry it after conflicts with other transactions, and return its result.

        For work that a person should not have to repeat. Raises what `transaction` does.
        """
        for _ in range(MOST_ATTEMPTS - 1):
            try:
                with self.transaction() as session:
                    return work(session)
            except (BusyError, ConflictError) as refused:
                if not gave_way(refused.__cause__) and not came_second(refused.__cause__):
                    raise
            # A random delay, so that two conflicting transactions do not retry at the same time.
            time.sleep(secrets.randbelow(MILLISECONDS_APART) / 1_000)
        with self.transaction() as session:
            return work(session)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A read session with one consistent snapshot that never waits for a writer.

        Raises `BusyError` when PostgreSQL, or a replica from which a page that reads much is read, fails meanwhile.
        """
        replica = self._ready_replica()
        if replica is None:
            begun = time.monotonic()
            try:
                with self._session(_ReadingSession, self._reading) as session:
                    yield session
            except DBAPIError as error:
                if is_interrupted(error):
                    refuse_for_now(error)
                raise
            if self.is_sqlite and time.monotonic() - begun > SECONDS_OF_A_LONG_READ:
                self._write_log_back()
            return
        engine = replica.engine.execution_options(isolation_level="REPEATABLE READ")
        try:
            with self._session(_ReadingSession, engine) as session:
                yield session
        except OperationalError as error:
            replica.rest(str(error.orig))
            raise BusyError("The page could not be read: the database was interrupted. Try again.") from error

    def _session(self, kind: "type[_OurSession]", engine: Engine) -> "_OurSession":
        return kind(engine, expire_on_commit=False, info=dict(self._info))

    def _write_log_back(self) -> None:
        """Copy SQLite's log into the file: a snapshot kept it from that, and the next writer would do all of it."""
        with suppress(OperationalError), self.engine.connect() as connection:  # which another connection may be doing
            connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")

    def _ready_replica(self) -> Replica | None:
        return self._replica if self._replica is not None and reads_much.get() and self._replica.is_ready() else None

    def read(
        self,
        query: Callable[Concatenate[Session, Arguments], Result],
        *args: Arguments.args,
        **values: Arguments.kwargs,
    ) -> Result:
        """Result of a query function, which takes the session first, in a read session of its own."""
        with self.reading() as session:
            return query(session, *args, **values)

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """An exclusive connection for changing tables: other migrations wait until the block ends.

        Raises `ConflictError` when foreign keys of SQLite would be broken afterwards, and `BusyError` when another
        writer holds its lock for too long; nothing is changed then. PostgreSQL checks each statement itself.
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
        """Try to take an advisory lock of PostgreSQL for the block, without waiting; yields whether it was acquired."""
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            is_ours = bool(connection.scalar(select(func.pg_try_advisory_lock(number))))
            try:
                yield is_ours
            finally:
                if is_ours:
                    connection.execute(select(func.pg_advisory_unlock(number)))

    def state(self) -> Hashable:
        """A value that changes with every commit by any process, as a cache key; None where that cannot be detected.

        Call it before the session whose results are cached begins: a commit in between makes the results newer than the
        key, never older.
        """
        if self.is_sqlite:
            return self._watcher.state()
        with self.reading() as session:
            # Equal snapshots see the same transactions.
            return session.scalar(select(cast(func.pg_current_snapshot(), String)))

    def close(self) -> None:
        """Close all connections."""
        self._watcher.close()
        if self._replica is not None:
            self._replica.close()
        self.engine.dispose()


def _require_tantivy() -> None:
    # Found, not imported: only those who search and the worker load it.
    if find_spec("tantivy") is None:
        raise InvalidValueError(
            "ANNOTATOR_SEARCH_FOLDER needs Tantivy, which is not installed: %(command)s adds it.",
            command=how_to_install("search"),
        )


class _Watcher:
    """A SQLite connection that never writes, so that its `data_version` changes with every commit."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._connection: Any = None
        self._process = 0
        self._opened = 0  # data versions of two connections are not comparable

    def state(self) -> Hashable:
        with self._lock:
            if self._connection is None or self._process != os.getpid():
                pooled = self._engine.raw_connection()
                self._connection, self._process = pooled.dbapi_connection, os.getpid()
                pooled.detach()
                self._opened += 1
            # In-memory connections may have separate databases.
            if not self._connection.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()[0]:
                return None
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
            return self._process, self._opened, version

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None


def _replica_of(engine: Engine, url: str) -> Replica:
    if engine.dialect.name != "postgresql":
        raise InvalidValueError("Only PostgreSQL has replicas; the database is %(kind)s.", kind=engine.dialect.name)
    try:
        replica = Replica(url, engine)
    except (ArgumentError, ValueError) as error:
        raise refused_url(url, error) from error
    if replica.engine.dialect.name != engine.dialect.name:
        raise refused_url(url, ValueError("a replica is PostgreSQL, too."))
    return replica


class _OurSession(Session):
    """A session that caches its connection for the duration of a transaction or savepoint.

    Looking the connection up for each Core statement takes as long as the statement.
    """

    _kept: Connection | None = None

    def connection(self, *arguments: Any, **options: Any) -> Connection:  # noqa: ANN401 - what SQLAlchemy takes
        """The transaction's connection; begins the transaction if needed."""
        if arguments or options:
            return super().connection(*arguments, **options)
        if self._kept is None:
            self._kept = super().connection()
        return self._kept

    def forget_connection(self) -> None:
        """Clear the cached connection when a transaction begins or ends."""
        self._kept = None


class _WritingSession(_OurSession):
    """A session for writing."""


class _ReadingSession(_OurSession):
    """A session for reading."""


@event.listens_for(_WritingSession, "after_begin")
def _begin_to_write(_session: Session, _transaction: object, connection: Connection) -> None:
    # A transaction that reads first cannot wait for the write lock later (SQLite refuses at once, whatever the
    # timeout), so a write session takes the lock at its beginning.
    if _is_to_begin(connection):
        with _useless_unless_begun(connection):
            _begin_writing(connection)
    elif is_brief.get() and connection.dialect.name == "postgresql":
        connection.exec_driver_sql(BRIEF)


@event.listens_for(_ReadingSession, "after_begin")
def _begin_to_read(_session: Session, _transaction: object, connection: Connection) -> None:
    if _is_to_begin(connection):
        with _useless_unless_begun(connection):
            connection.exec_driver_sql("BEGIN")


@event.listens_for(_OurSession, "after_transaction_create")
@event.listens_for(_OurSession, "after_transaction_end")
def _forget_connection(session: _OurSession, transaction: SessionTransaction) -> None:
    # A savepoint begins when the connection is requested; a flush is a nested transaction and changes nothing.
    if transaction.parent is None or transaction.nested:
        session.forget_connection()


@contextmanager
def _useless_unless_begun(connection: Connection) -> Iterator[None]:
    # The session already has this connection. If the error is caught, it would continue in autocommit mode; once
    # invalidated, the connection refuses statements until the session is rolled back.
    try:
        yield
    except BaseException:
        connection.invalidate()
        raise


def _is_to_begin(connection: Connection) -> bool:
    """Whether SQLite has no transaction yet (a savepoint has one); PostgreSQL's driver begins by itself."""
    driver: Any = connection.connection.dbapi_connection
    return isinstance(driver, sqlite3.Connection) and not driver.in_transaction


def has_one_writer(session: Session) -> bool:
    """Whether the database has a single writer (SQLite); on PostgreSQL rows are locked."""
    return session.get_bind().dialect.name == "sqlite"


@contextmanager
def _alone_on_postgresql(connection: Connection) -> Iterator[None]:
    # Two servers starting on an empty database would both create its tables.
    with connection.begin():
        connection.execute(select(func.pg_advisory_xact_lock(MIGRATION_LOCK)))
        yield


@contextmanager
def _links_checked_at_the_end(connection: Connection) -> Iterator[None]:
    # SQLite changes a column by copying the table, and refuses to drop the old one while others refer to it. The pragma
    # works only outside a transaction, so it bypasses SQLAlchemy, which would begin one.
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
    # The driver would begin transactions only before INSERT, UPDATE and DELETE, not before a SELECT that decides what
    # to write: with eight threads, 651 of 2,000 items were assigned twice. We begin transactions ourselves.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # judgements must survive a power failure
    cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin_writing(connection: Connection) -> None:
    # SQLite's own back-off sleeps up to 100 ms: with two processes, half of the time was spent asleep, and some waited
    # for seconds.
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
                # Once more through SQLAlchemy, which raises its own error class.
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
