"""Cached database contents of fixtures: later tests get a copy instead of hundreds of statements."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from annotator.storage import Base, Database

Fill = Callable[[Database], object]

# Every database has its own epoch from the beginning.
FILLED_TABLES = [table for table in Base.metadata.sorted_tables if table.name != "database_epoch"]
EMPTY_TABLES = "".join(
    f'IF EXISTS (SELECT FROM "{table.name}") THEN DELETE FROM "{table.name}"; END IF;'  # noqa: S608 - our own tables
    for table in FILLED_TABLES
)
RESTART_SEQUENCES = """
    SELECT setval(quote_ident(sequencename)::regclass, 1, false)
    FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL
"""
# Sent as one, and with DELETE for tables that have rows: one by one takes twice as long, TRUNCATE fifty times.
EMPTY_POSTGRES = f"SET LOCAL session_replication_role = replica; DO $$ BEGIN {EMPTY_TABLES} END $$; {RESTART_SEQUENCES}"

USED_SEQUENCES = """
    SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL
"""
USE_SEQUENCES = """
    SELECT setval(quote_ident(name)::regclass, last) FROM unnest(%s::text[], %s::bigint[]) AS used(name, last)
"""


@dataclass(frozen=True)
class PostgresContents:
    """What is in a PostgreSQL database: the rows of its tables as COPY writes them, and the numbers it gave out."""

    rows: dict[str, bytes]
    sequences: list[tuple[str, int]]


@dataclass(frozen=True)
class Kept:
    """What functions put into an empty database of either kind, one after the other."""

    in_sqlite: dict[tuple[Fill, ...], sqlite3.Connection] = field(default_factory=dict)
    in_postgres: dict[tuple[Fill, ...], PostgresContents] = field(default_factory=dict)
    put: WeakKeyDictionary[Database, tuple[Fill, ...]] = field(default_factory=WeakKeyDictionary)

    def fill(self, database: Database, fill: Fill) -> None:
        """Put into an empty database what `fill` puts there: by calling it the first time, as a copy afterwards.

        Or into one that has nothing but what was put there by this, on top of it.
        """
        fills = (*self.put.get(database, ()), fill)
        if database.is_sqlite:
            self._fill_sqlite(database, fills)
        else:
            self._fill_postgres(database, fills)
        self.put[database] = fills

    def close(self) -> None:
        """Give the copies of SQLite databases, which are in memory, back."""
        for copy in self.in_sqlite.values():
            copy.close()

    def _fill_sqlite(self, database: Database, fills: tuple[Fill, ...]) -> None:
        if fills in self.in_sqlite:
            with driver_connection(database) as connection:
                self.in_sqlite[fills].backup(connection)
            return
        fills[-1](database)
        self.in_sqlite[fills] = sqlite3.connect(":memory:")
        with driver_connection(database) as connection:
            connection.backup(self.in_sqlite[fills])

    def _fill_postgres(self, database: Database, fills: tuple[Fill, ...]) -> None:
        if fills in self.in_postgres:
            with driver_connection(database) as connection, connection.transaction():
                if len(fills) > 1:
                    connection.execute(EMPTY_POSTGRES)
                restore(connection, self.in_postgres[fills])
            return
        fills[-1](database)
        with driver_connection(database) as connection, connection.transaction():
            self.in_postgres[fills] = contents(connection)


@contextmanager
def driver_connection(database: Database) -> Iterator[Any]:
    """The driver's own connection, outside of any transaction."""
    with database.engine.connect() as connection:
        yield connection.connection.driver_connection


def contents(connection: Any) -> PostgresContents:  # noqa: ANN401 - the driver's own type
    """Return the whole contents of a PostgreSQL database."""
    rows = {}
    for table in FILLED_TABLES:
        with connection.cursor().copy(f'COPY "{table.name}" TO STDOUT') as copy:
            rows[table.name] = b"".join(copy)
    return PostgresContents(
        {name: lines for name, lines in rows.items() if lines}, connection.execute(USED_SEQUENCES).fetchall()
    )


def restore(connection: Any, kept: PostgresContents) -> None:  # noqa: ANN401 - likewise
    """Put it into an empty database."""
    # Everything was there before, so that nothing needs to be checked row by row.
    connection.execute("SET LOCAL session_replication_role = replica")
    for table, lines in kept.rows.items():
        with connection.cursor().copy(f'COPY "{table}" FROM STDIN') as copy:
            copy.write(lines)
    connection.execute(USE_SEQUENCES, [list(column) for column in zip(*kept.sequences, strict=True)])
