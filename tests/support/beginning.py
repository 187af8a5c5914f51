"""Cached initial data of tests: later tests get its rows in their session, without hundreds of statements."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from kept import FILLED_TABLES, USED_SEQUENCES, PostgresContents, contents, restore
from sqlalchemy import text
from sqlalchemy.orm import Session

Options = ParamSpec("Options")

HAS_ROWS = text('SELECT EXISTS (SELECT 1 FROM "collection") OR EXISTS (SELECT 1 FROM "user")')
# The index for words has no rows of its own, see annotator/storage/documents/search.py.
INDEX_WORDS = "INSERT INTO document_words_index(rowid, words) SELECT document_id, words FROM document_words"


@dataclass(frozen=True)
class SqliteContents:
    """What is in an SQLite database: the rows of its tables as they are stored."""

    rows: dict[str, list[tuple[object, ...]]]


def beginning(fill: Callable[Concatenate[Session, Options], None]) -> Callable[Concatenate[Session, Options], None]:
    """Have `fill`, whose options can be keys of a dictionary, write statement by statement only the first time.

    Into an empty database its rows are put afterwards, with the numbers they have in a new one; into any other it
    writes as ever. It gives nothing back, for the session knows none of its objects then.
    """
    kept: dict[object, SqliteContents | PostgresContents] = {}

    @wraps(fill)
    def begin(session: Session, /, *arguments: Options.args, **options: Options.kwargs) -> None:
        if session.scalar(HAS_ROWS):
            fill(session, *arguments, **options)
            return
        driver: Any = session.connection().connection.driver_connection
        kind = (type(driver), arguments, frozenset(options.items()))
        if kind in kept:
            put(driver, kept[kind])
            return
        # What was undone before has used up numbers of PostgreSQL.
        is_new = isinstance(driver, sqlite3.Connection) or not driver.execute(USED_SEQUENCES).fetchall()
        fill(session, *arguments, **options)
        session.flush()
        if is_new:
            kept[kind] = rows_of(driver) if isinstance(driver, sqlite3.Connection) else contents(driver)

    return begin


def rows_of(connection: sqlite3.Connection) -> SqliteContents:
    """Return the whole contents of an SQLite database."""
    names = [table.name for table in FILLED_TABLES]
    rows = {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}  # noqa: S608 - our own
    return SqliteContents({name: found for name, found in rows.items() if found})


def put(connection: Any, kept: SqliteContents | PostgresContents) -> None:  # noqa: ANN401 - the driver's own type
    """Put them into an empty database, within the transaction that has begun."""
    if isinstance(kept, PostgresContents):
        restore(connection, kept)
        # What the test writes in this transaction is checked again.
        connection.execute("SET LOCAL session_replication_role = DEFAULT")
        return
    for name, rows in kept.rows.items():
        places = ", ".join("?" * len(rows[0]))
        connection.executemany(f'INSERT INTO "{name}" VALUES ({places})', rows)  # noqa: S608 - likewise
    connection.execute(INDEX_WORDS)
