"""Many rows at once, past the mapped classes, which cost ten times as much; in short transactions."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar, cast

from sqlalchemy import ARRAY, Column, Dialect, Integer, Select, Table, func, insert, select
from sqlalchemy import cast as cast_value
from sqlalchemy.orm import Session

from annotator.garbage_collection import garbage_collection_off
from annotator.storage.site.database import Database

Value = TypeVar("Value")

STATEMENTS_KEPT = 100
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
    process = bind_processor(session.get_bind().dialect, column)
    return process(value)


def bind_processor(dialect: Dialect, column: Column[Any]) -> Callable[[object], object]:
    """What makes a value of a column one that the driver takes."""
    process: Callable[[object], object] | None = column.type.dialect_impl(dialect).bind_processor(dialect)
    return (lambda value: value) if process is None else process


def insert_rows(
    session: Session, table: Table, columns: Sequence[str], rows: Iterable[Sequence[object]], *, at_once: int
) -> None:
    """Insert rows with values for these columns, in the order of the table's; other columns must have a default there.

    Values are what the driver takes: no type of ours translates them.
    """
    connection = session.connection()
    statement = _insert_statement(connection.dialect, table, tuple(columns))
    several = iter(rows)
    while batch := list(islice(several, at_once)):
        connection.exec_driver_sql(statement, batch)


@lru_cache(maxsize=STATEMENTS_KEPT)
def _insert_statement(dialect: Dialect, table: Table, columns: tuple[str, ...]) -> str:
    # By position, which also saves making a dictionary for each row.
    paramstyle = "format" if dialect.name == "postgresql" else "qmark"
    positional = cast("Callable[..., Dialect]", type(dialect))(paramstyle=paramstyle)
    return str(insert(table).compile(dialect=positional, column_keys=list(columns)))


def chunks(values: list[Value]) -> Iterator[list[Value]]:
    """The values, `CHUNK` at a time."""
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]


Row = dict[str, Any]


# A transaction is to hold SQLite's lock for so long, about: on a machine with much to do it takes several times that.
SECONDS_OF_A_BATCH = 0.03
# And then leaves it to others, who look for it each hundredth of a second or more often.
SECONDS_BETWEEN_BATCHES = 0.02
# What a batch weighs: each row so much, and each letter or byte of it one more.
ROW = 200
FIRST_WEIGHT, LEAST_WEIGHT, GREATEST_WEIGHT = 50 * ROW, ROW, 1 << 23
SLOWER, FASTER = 0.25, 1.5

Item = TypeVar("Item")


def weight_of(row: Row) -> int:
    """What a row weighs, by its letters and bytes."""
    return ROW + sum(len(value) for value in row.values() if isinstance(value, str | bytes))


def write_in_batches(
    database: Database,
    items: Iterable[Item],
    write: Callable[[Session, Sequence[Item]], object],
    *,
    weigh: Callable[[Item], int] = lambda _: ROW,
) -> None:
    """Hand the items to `write` in transactions of their own, as many at once as take `SECONDS_OF_A_BATCH`.

    `write` may be called again with the same items, when somebody was in its way. One item is never divided.
    """
    most, weight = float(FIRST_WEIGHT), 0
    batch: list[Item] = []
    for item in items:
        more = weigh(item)
        if batch and weight + more > most:
            most = _next_weight(most, _seconds_of(database, batch, write))
            batch, weight = [], 0
        batch.append(item)
        weight += more
    if batch:
        _seconds_of(database, batch, write)


def _next_weight(most: float, seconds: float) -> float:
    change = SECONDS_OF_A_BATCH / max(seconds, SECONDS_OF_A_BATCH / FASTER)
    return min(max(most * max(change, SLOWER), LEAST_WEIGHT), GREATEST_WEIGHT)


def _seconds_of(database: Database, batch: Sequence[Item], write: Callable[[Session, Sequence[Item]], object]) -> float:
    """Write a batch, leave the lock to others for a moment, and say how long it was held."""
    begun = 0.0

    with ExitStack() as until_stored:

        def work(session: Session) -> None:
            nonlocal begun
            session.connection()  # SQLite's lock is waited for here
            begun = time.monotonic()
            # A full garbage collection would double the time that the lock is held: it comes between two batches.
            until_stored.enter_context(garbage_collection_off())
            write(session, batch)

        database.attempt(work)
        seconds = time.monotonic() - begun
    time.sleep(min(seconds, SECONDS_BETWEEN_BATCHES))
    return seconds
