"""The engine and its two kinds of session: one that only reads, one that writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError

BUSY_TIMEOUT_MS = 15_000


class Database:
    """Gives out sessions; one transaction each, committed when the block ends and rolled back when it raises."""

    def __init__(self, url: str) -> None:
        """Prepare an engine for `url`; nothing is opened yet."""
        try:
            backend = make_url(url).get_backend_name()
            self.engine: Engine = create_engine(url)
        except (ArgumentError, ModuleNotFoundError) as error:
            raise InvalidValueError(
                "“%(url)s” is not a database this installation can open: %(reason)s", url=url, reason=error
            ) from error
        self.is_sqlite = backend == "sqlite"
        if self.is_sqlite:
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        self._writing = self.engine.execution_options(write=True)

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """A session that writes; on SQLite it holds the only write lock from its first statement."""
        with Session(self._writing, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that reads one consistent state and never waits for a writer."""
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    def close(self) -> None:
        """Give every connection back."""
        self.engine.dispose()


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


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and then writes cannot wait for the lock (SQLite refuses at once,
    # whatever the timeout), so one that may write takes the lock at its beginning.
    write = connection.get_execution_options().get("write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
