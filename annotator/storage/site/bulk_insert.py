"""Many rows at once, past the mapped classes and past SQLAlchemy's statements, which cost ten times as much a row."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar, cast

from sqlalchemy import ARRAY, Column, Dialect, Integer, Select, Table, func, insert, select
from sqlalchemy import cast as cast_value
from sqlalchemy.orm import Session

Value = TypeVar("Value")

CHUNK = 500  # bound values a statement; old SQLite builds allow 999


def fetch_rows(session: Session, statement: Select[*tuple[Any, ...]]) -> list[Any]:
    """The rows as tuples of the driver, for numbers and text, which no type of ours translates."""
    session.flush()  # what runs past the mapped classes does not see what is still to be written
    cursor = session.connection().execute(statement).cursor
    return list(cursor.fetchall()) if cursor is not None else []


def ids_as_rows(session: Session, ids: Iterable[int]) -> Select[tuple[int]]:
    """Ids as rows, which cross over as one value: a bound value each takes twice the time of the query."""
    if session.get_bind().dialect.name == "postgresql":
        return select(func.unnest(cast_value(list(ids), ARRAY(Integer))))
    return select(func.json_each(json.dumps(list(ids))).table_valued("value").c.value)


def driver_value(session: Session, column: Column[Any], value: object) -> object:
    """A value of a column as the driver takes it, for `insert_rows`: once for all rows that have it."""
    dialect = session.get_bind().dialect
    process = column.type.dialect_impl(dialect).bind_processor(dialect)
    return value if process is None else process(value)


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


def chunks(values: list[Value]) -> Iterator[list[Value]]:
    """The values, `CHUNK` at a time."""
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]
