"""Sessions that are rolled back, so that Hypothesis starts each example with the same database."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from annotator.storage import Database


@contextmanager
def undone(sqlite: Database) -> Iterator[Session]:
    """A writing session that is rolled back."""
    with sqlite.engine.connect() as connection, Session(connection) as session:
        connection.exec_driver_sql("BEGIN")
        yield session
