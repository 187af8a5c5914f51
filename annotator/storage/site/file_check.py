"""Whether the file of an SQLite database is whole, looked for in a thread while its rows are counted."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, text

from annotator.storage.site.database import Database
from annotator.storage.site.database_file import file_behind

MOST_SHOWN = 100


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
    return connection.scalars(text(f"PRAGMA integrity_check({MOST_SHOWN})")).all()
