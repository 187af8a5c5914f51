"""What fixtures put into a database, kept: the next test gets a copy of it instead of hundreds of statements."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from annotator.storage import Base, Database

Fill = Callable[[Database], object]

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
    """What functions put into an empty database of either kind, by function."""

    in_sqlite: dict[Fill, sqlite3.Connection] = field(default_factory=dict)
    in_postgres: dict[Fill, PostgresContents] = field(default_factory=dict)

    def fill(self, database: Database, fill: Fill) -> None:
        """Put into an empty database what `fill` puts there: by calling it the first time, as a copy afterwards."""
        if database.is_sqlite:
            self._fill_sqlite(database, fill)
        else:
            self._fill_postgres(database, fill)

    def close(self) -> None:
        """Give the copies of SQLite databases, which are in memory, back."""
        for copy in self.in_sqlite.values():
            copy.close()

    def _fill_sqlite(self, database: Database, fill: Fill) -> None:
        if fill in self.in_sqlite:
            with driver_connection(database) as connection:
                self.in_sqlite[fill].backup(connection)
            return
        fill(database)
        self.in_sqlite[fill] = sqlite3.connect(":memory:")
        with driver_connection(database) as connection:
            connection.backup(self.in_sqlite[fill])

    def _fill_postgres(self, database: Database, fill: Fill) -> None:
        if fill in self.in_postgres:
            with driver_connection(database) as connection, connection.transaction():
                restore(connection, self.in_postgres[fill])
            return
        fill(database)
        with driver_connection(database) as connection, connection.transaction():
            self.in_postgres[fill] = contents(connection)


@contextmanager
def driver_connection(database: Database) -> Iterator[Any]:
    """The driver's own connection, outside of any transaction."""
    with database.engine.connect() as connection:
        yield connection.connection.driver_connection


def contents(connection: Any) -> PostgresContents:  # noqa: ANN401 - the driver's own type
    """Everything that is in a PostgreSQL database."""
    rows = {}
    for table in Base.metadata.sorted_tables:
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
