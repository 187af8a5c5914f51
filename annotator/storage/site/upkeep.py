"""Maintenance of the database as a whole: its file, checking it, and interrupting long statements."""

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

# How much of a work is done, and of how much.
Progress = Callable[[int, int], None]


class UpkeepError(AnnotatorError):
    """It cannot be done with this database, and nothing was changed; only commands ask for it, which speak English."""


def file_of(database: Database, remedy: str) -> Path:
    """The file of an SQLite database; `UpkeepError` with the `remedy` for any other, which may name its `%(url)s`."""
    file = file_behind(database.engine.url)
    if file is None:
        told = remedy % {"url": _url_of_other_tools(database.engine.url)}
        raise UpkeepError("This is done to a database in a file. %(remedy)s", remedy=told)
    return file


def _url_of_other_tools(url: URL) -> str:
    """As PostgreSQL's own tools take it: without our driver, and without the password, for which they ask."""
    return f"'{URL.create(url.get_backend_name(), url.username, None, url.host, url.port, url.database, url.query)}'"


# About a millisecond.
OPERATIONS_BETWEEN_LOOKS = 10_000


@contextmanager
def interruptible(session: Session) -> Iterator[None]:
    """Let Ctrl-C end the statements of the block; it is raised as `KeyboardInterrupt`."""
    driver: Any = session.connection().connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):  # PostgreSQL's driver hears of it by itself
        yield
        return
    # Python calls the handlers of signals before the next line of Python: this one is enough. What they raise ends the
    # statement, and sqlite3 keeps it to itself.
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
IS_WHOLE = "ok"  # what SQLite says of a file without faults


@contextmanager
def file_checked_beside(database: Database) -> Iterator[Callable[[], Sequence[str]] | None]:
    """Begin to check the file; what is yielded waits for the end and returns SQLite's lines. None for PostgreSQL.

    It takes more than half of the time of a whole check, on a connection of its own. When the block is interrupted, so
    is the check.
    """
    if not database.is_sqlite:
        yield None
        return
    with database.reading() as session:
        connection = session.connection()
        if file_behind(database.engine.url) is None:  # in memory: another connection would see another database
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
    """What is wrong with the file, in lines of SQLite's.

    Not by `integrity_check`, which looks each row up in each index, at random places: four times the time of all else.
    That every index has as many entries as its table is found out by counting both.
    """
    told = connection.scalars(text(f"PRAGMA quick_check({MOST_SHOWN})")).all()
    return told if list(told) != [IS_WHOLE] else indexes_checked(connection)


def indexes_checked(connection: Connection) -> Sequence[str]:
    """Read every page of every table and of every index that has all its rows; `IS_WHOLE`, or which counts differ.

    Tables of the search index that SQLite itself keeps are among them; what is too long for its page is not read.
    """
    tables = text("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    indexes = text("SELECT name FROM pragma_index_list(:of_table) WHERE NOT partial")
    faults = []
    for table in connection.scalars(tables).all():
        rows = connection.scalar(text(f'SELECT count(1) FROM "{table}" NOT INDEXED'))  # noqa: S608 - a name of ours
        for index in connection.scalars(indexes, {"of_table": table}).all():
            # Every `count(*)` SQLite answers by the smallest index.
            entries = connection.scalar(text(f'SELECT count(1) FROM "{table}" INDEXED BY "{index}"'))  # noqa: S608
            if entries != rows:
                faults.append(f"{entries} entries in index {index} for {rows} rows of {table}")
    return faults or [IS_WHOLE]
