"""Maintenance of a whole database: its file, integrity checks, and interrupting long statements."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError
from annotator.storage.site.database import Database, file_behind
from annotator.storage.site.transient_errors import PRIMARY_CODE

# Called with the number of steps done and the total.
Progress = Callable[[int, int], None]


class UpkeepError(AnnotatorError):
    """Maintenance is impossible and nothing was changed; raised only for commands, whose messages are English."""


def file_of(database: Database, remedy: str) -> Path:
    """The file of an SQLite database; otherwise raises `UpkeepError` with `remedy`, which may contain `%(url)s`."""
    file = file_behind(database.engine.url)
    if file is None:
        told = remedy % {"url": _url_of_other_tools(database.engine.url)}
        raise UpkeepError("This is done to a database in a file. %(remedy)s", remedy=told)
    return file


def _url_of_other_tools(url: URL) -> str:
    """The URL for PostgreSQL's own tools: without the driver, and without the password, which they prompt for."""
    return f"'{URL.create(url.get_backend_name(), url.username, None, url.host, url.port, url.database, url.query)}'"


# About a millisecond.
OPERATIONS_BETWEEN_LOOKS = 10_000


@contextmanager
def interruptible(session: Session) -> Iterator[None]:
    """Let Ctrl-C abort the block's statements, raising `KeyboardInterrupt`."""
    driver: Any = session.connection().connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):  # PostgreSQL's driver handles it itself
        yield
        return
    # Python runs signal handlers before its next bytecode: an empty callback suffices. Their exception aborts the
    # statement, but sqlite3 does not pass it on.
    driver.set_progress_handler(lambda: 0, OPERATIONS_BETWEEN_LOOKS)
    try:
        yield
    except OperationalError as error:
        code: int = getattr(error.orig, "sqlite_errorcode", 0)
        if code & PRIMARY_CODE == sqlite3.SQLITE_INTERRUPT:
            raise KeyboardInterrupt from error
        raise
    finally:
        driver.set_progress_handler(None, 0)


MOST_SHOWN = 100
IS_WHOLE = "ok"  # SQLite's result for a file without errors


@contextmanager
def file_checked_beside(database: Database) -> Iterator[Callable[[], Sequence[str]] | None]:
    """Check the file in a thread; yields a function that waits and returns SQLite's lines, or None for PostgreSQL.

    The check takes more than half of the time of a full examination, and uses its own connection. Interrupting the
    block interrupts it.
    """
    if not database.is_sqlite:
        yield None
        return
    with database.reading() as session:
        connection = session.connection()
        if file_behind(database.engine.url) is None:  # in memory: another connection would open another database
            yield lambda: _check(connection)
            return
        driver: Any = connection.connection.driver_connection
        with ThreadPoolExecutor(1) as beside:
            lines = beside.submit(_check, connection)
            try:
                yield lines.result
            except BaseException:
                driver.interrupt()
                raise


def _check(connection: Connection) -> Sequence[str]:
    """Errors of the file, one per line, in SQLite's words.

    Avoids `integrity_check`, which looks up each row in each index by random access and takes four times as long as
    everything else. Instead, the entries of each index are counted and compared with the table.
    """
    told = connection.scalars(text(f"PRAGMA quick_check({MOST_SHOWN})")).all()
    return told if list(told) != [IS_WHOLE] else indexes_checked(connection)


def indexes_checked(connection: Connection) -> Sequence[str]:
    """Read every page of all tables and full indexes; return the differing counts, or `IS_WHOLE`.

    Includes SQLite's own tables of the full-text index; overflow pages are not read.
    """
    tables = text("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    indexes = text("SELECT name FROM pragma_index_list(:of_table) WHERE NOT partial")
    faults = []
    for table in connection.scalars(tables).all():
        rows = connection.scalar(text(f'SELECT count(1) FROM "{table}" NOT INDEXED'))  # noqa: S608 - own names
        for index in connection.scalars(indexes, {"of_table": table}).all():
            # SQLite answers every `count(*)` from the smallest index, hence `count(1)`.
            entries = connection.scalar(text(f'SELECT count(1) FROM "{table}" INDEXED BY "{index}"'))  # noqa: S608
            if entries != rows:
                faults.append(f"{entries} entries in index {index} for {rows} rows of {table}")
    return faults or [IS_WHOLE]
