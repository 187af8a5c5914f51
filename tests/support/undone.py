"""Sessions whose work is undone, so that Hypothesis can begin each example with the same database."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from annotator.storage import Database


@contextmanager
def undone(sqlite: Database) -> Iterator[Session]:
    """A session that writes, and of which nothing stays."""
    with sqlite.engine.connect() as connection, Session(connection) as session:
        connection.exec_driver_sql("BEGIN")
        yield session
