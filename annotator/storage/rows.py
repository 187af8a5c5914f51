"""Many rows at once, past the mapped classes and past SQLAlchemy's statements, which cost ten times as much a row."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, cast

from sqlalchemy import Dialect, Select, Table, insert
from sqlalchemy.orm import Session


def fetch_rows(session: Session, statement: Select[*tuple[Any, ...]]) -> list[Any]:
    """The rows as tuples of the driver, for numbers and text, which no type of ours translates."""
    session.flush()  # what runs past the mapped classes does not see what is still to be written
    cursor = session.connection().execute(statement).cursor
    return list(cursor.fetchall()) if cursor is not None else []


def insert_rows(
    session: Session, table: Table, columns: Sequence[str], rows: Iterable[Sequence[object]], *, at_once: int
) -> None:
    """Insert rows with values for these columns, in the order of the table's; other columns must have a default there.

    Values are what the driver takes: no type of ours translates them.
    """
    connection = session.connection()
    # By position, which also saves making a dictionary for each row.
    positional = cast("Callable[..., Dialect]", type(connection.dialect))(
        paramstyle="format" if connection.dialect.name == "postgresql" else "qmark"
    )
    statement = str(insert(table).compile(dialect=positional, column_keys=list(columns)))
    several = iter(rows)
    while batch := list(islice(several, at_once)):
        connection.exec_driver_sql(statement, batch)
