"""Bulk reads and inserts that bypass mapped classes (ten times as costly), and writing in short transactions."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from itertools import chain, islice
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar, cast

from sqlalchemy import ARRAY, Column, ColumnElement, Dialect, Integer, Select, Table, func, insert, select, text
from sqlalchemy import cast as cast_value
from sqlalchemy.orm import InstrumentedAttribute, Session

from annotator.garbage_collection import garbage_collection_off
from annotator.storage.site.database import Database

Value = TypeVar("Value")

STATEMENTS_KEPT = 100
MANY = 10_000
EXACT_IN_JSON = frozenset({int, str, bool, type(None)})
CHUNK = 500  # bound values per statement; old SQLite builds allow 999


class PreparedRows(NamedTuple):
    """A statement that inserts many rows, and its values in driver format: of each row, or of all together."""

    statement: str
    values: Any


def fetch_rows(session: Session, statement: Select[*tuple[Any, ...]]) -> list[Any]:
    """Rows as the driver's tuples; only for numbers and text, since column types are not applied."""
    session.flush()  # Core statements do not see pending changes
    cursor = session.connection().execute(statement).cursor
    return list(cursor.fetchall()) if cursor is not None else []


def ids_as_rows(session: Session, ids: Iterable[int]) -> Select[tuple[int]]:
    """Ids as rows from one bound value: one value per id takes twice as long as the query."""
    if session.get_bind().dialect.name == "postgresql":
        return select(func.unnest(cast_value(list(ids), ARRAY(Integer))))
    return select(func.json_each(json.dumps(list(ids))).table_valued("value").c.value)


def among(session: Session, column: InstrumentedAttribute[int], ids: Iterable[int]) -> ColumnElement[bool]:
    """Condition: the column is one of these ids. Given thousands as values, PostgreSQL would scan the whole table."""
    listed = list(ids)
    is_postgresql = session.get_bind().dialect.name == "postgresql"
    return column.in_(ids_as_rows(session, listed) if is_postgresql else listed)


def prefer_indexes(session: Session) -> None:
    """Let PostgreSQL look up thousands of rows by index for the rest of the transaction.

    By its usual costs, which are those of disks that turn, it would read a table of a million rows instead.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SET LOCAL random_page_cost = 1.1"))


def driver_value(session: Session, column: Column[Any], value: object) -> object:
    """A column value in driver format for `insert_rows`, converted once for many rows."""
    process = bind_processor(session.get_bind().dialect, column)
    return process(value)


def bind_processor(dialect: Dialect, column: Column[Any]) -> Callable[[object], object]:
    """A function that converts a column's values to driver format."""
    process: Callable[[object], object] | None = column.type.dialect_impl(dialect).bind_processor(dialect)
    return (lambda value: value) if process is None else process


def insert_rows(
    session: Session, table: Table, columns: Sequence[str], rows: Iterable[Sequence[object]], *, at_once: int
) -> None:
    """Insert rows; `columns` are in the table's order, and other columns need a server default or NULL.

    Values must be in driver format: column types are not applied.
    """
    connection = session.connection()
    statement = _insert_statement(connection.dialect, table, tuple(columns))
    several = iter(rows)
    while batch := list(islice(several, at_once)):
        connection.exec_driver_sql(statement, batch)


def insert_alike(
    session: Session,
    table: Table,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | int | None]],
    *,
    same: Mapping[str, object],
    at_once: int,
) -> None:
    """Insert rows that differ in some columns only, where `same` are the values of others in all rows.

    On SQLite one statement takes many rows as one JSON text, which takes a third of an execution for each row; hence no
    numbers with a fraction, which would be rounded, and no bytes. Values must be in driver format.
    """
    insert_prepared(session, _rows_alike(session.get_bind().dialect, table, columns, rows, same, at_once))


def _rows_alike(
    dialect: Dialect,
    table: Table,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | int | None]],
    same: Mapping[str, object],
    at_once: int,
) -> Iterator[PreparedRows]:
    several = iter(rows)
    if dialect.name != "sqlite":
        names = (*columns, *same)
        in_order = sorted(range(len(names)), key=lambda place: list(table.columns.keys()).index(names[place]))
        ordered, shared = itemgetter(*in_order), tuple(same.values())
        statement = _insert_statement(dialect, table, ordered(names))
        while batch := list(islice(several, at_once)):
            yield PreparedRows(statement, [ordered((*row, *shared)) for row in batch])
        return
    statement = _unfolding_statement(table.name, tuple(columns), tuple(same))
    while batch := list(islice(several, at_once)):
        yield PreparedRows(statement, (*same.values(), json.dumps(batch, ensure_ascii=False)))


class FoldedRows(NamedTuple):
    """Rows as JSON texts, each of many rows, which SQLite unfolds: made before its lock is taken."""

    columns: tuple[str, ...]
    texts: tuple[str, ...]


def fold_rows(columns: Sequence[str], rows: Iterable[Sequence[str | int | None]], *, at_once: int) -> FoldedRows:
    """Fold rows with values of these columns; no numbers with a fraction, which would be rounded."""
    several, texts = iter(rows), []
    while batch := list(islice(several, at_once)):
        texts.append(json.dumps(batch, ensure_ascii=False))
    return FoldedRows(tuple(columns), tuple(texts))


def insert_folded(
    session: Session, table: Table, folded: FoldedRows, *, same: Mapping[str, object], before: Mapping[str, str | int]
) -> None:
    """Insert folded rows into SQLite; `same` are the values of other columns in all rows, in driver format.

    A value in `before` precedes the text in the column of that name, or is added to the number in it: so that what is
    known only under the lock needs no other rows.
    """
    known = [(name, before[name]) for name in folded.columns if name in before]
    joined = tuple((name, "||" if isinstance(value, str) else "+") for name, value in known)
    statement = _unfolding_statement(table.name, folded.columns, tuple(same), joined)
    connection = session.connection()
    for text_ in folded.texts:
        connection.exec_driver_sql(statement, (*(value for _, value in known), *same.values(), text_))


def insert_many(session: Session, table: Table, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows of any values in driver format by the quickest way; `columns` are in the table's order."""
    insert_prepared(session, prepare_rows(session.get_bind().dialect, table, columns, rows))


def prepare_rows(
    dialect: Dialect, table: Table, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Iterator[PreparedRows]:
    """What `insert_many` executes, which can be made before SQLite's lock is taken."""
    several = iter(rows)
    while batch := list(islice(several, MANY)):
        # Most columns of many rows have one value, which is not looked up in the JSON of each row then.
        given = dict(zip(columns, zip(*batch, strict=True), strict=True))
        same = {name: values[0] for name, values in given.items() if values.count(values[0]) == len(batch)}
        differing = [values for name, values in given.items() if name not in same]
        if differing and EXACT_IN_JSON.issuperset(map(type, chain.from_iterable(differing))):
            names = [name for name in columns if name not in same]
            yield from _rows_alike(dialect, table, names, zip(*differing, strict=True), same, MANY)
        else:
            yield PreparedRows(_insert_statement(dialect, table, tuple(columns)), batch)


def insert_prepared(session: Session, prepared: Iterable[PreparedRows]) -> None:
    """Insert rows that were prepared."""
    connection = session.connection()
    for statement, values in prepared:
        connection.exec_driver_sql(statement, values)


@lru_cache(maxsize=STATEMENTS_KEPT)
def _unfolding_statement(
    table: str, columns: Sequence[str], same: Sequence[str], joined: Sequence[tuple[str, str]] = ()
) -> str:
    begin = {name: f"? {operator} " for name, operator in joined}
    values = [f"{begin.get(name, '')}(value ->> {place})" for place, name in enumerate(columns)]
    values += ["?" for _ in same]
    return f"INSERT INTO {table} ({', '.join((*columns, *same))}) SELECT {', '.join(values)} FROM json_each(?)"  # noqa: S608 - own names


@lru_cache(maxsize=STATEMENTS_KEPT)
def _insert_statement(dialect: Dialect, table: Table, columns: tuple[str, ...]) -> str:
    # Positional, which also avoids a dictionary per row.
    paramstyle = "format" if dialect.name == "postgresql" else "qmark"
    positional = cast("Callable[..., Dialect]", type(dialect))(paramstyle=paramstyle)
    return str(insert(table).compile(dialect=positional, column_keys=list(columns)))


def next_ids(session: Session, table: Table, count: int) -> Sequence[int]:
    """New ids in ascending order; on PostgreSQL from the sequence, so that no other transaction gets them."""
    if session.get_bind().dialect.name == "postgresql":
        sequence = text("SELECT nextval(pg_get_serial_sequence(:name, 'id')) FROM generate_series(1, :count)")
        return session.scalars(sequence, {"name": f'"{table.name}"', "count": count}).all()
    # SQLite has one writer at a time.
    first = session.scalars(select(func.coalesce(func.max(table.c.id), 0) + 1)).one()
    if table.dialect_options["sqlite"]["autoincrement"]:
        given_out = text("SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = :name")
        first = max(first, session.scalars(given_out, {"name": table.name}).one())
    return range(first, first + count)


def chunks(values: list[Value]) -> Iterator[list[Value]]:
    """Slices of up to `CHUNK` values."""
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]


Row = dict[str, Any]


# Target duration of a transaction holding SQLite's lock; on a busy machine it takes several times that.
SECONDS_OF_A_BATCH = 0.03
# Pause for other writers, which poll the lock every hundredth of a second or more often.
SECONDS_BETWEEN_BATCHES = 0.02
# Weight of a batch: this much per row, plus 1 per character or byte.
ROW = 200
FIRST_WEIGHT, LEAST_WEIGHT, GREATEST_WEIGHT = 50 * ROW, ROW, 1 << 23
SLOWER, FASTER = 0.25, 1.5

Item = TypeVar("Item")


def weight_of(row: Row) -> int:
    """Weight of a row, by the length of its texts and bytes."""
    return ROW + sum(len(value) for value in row.values() if isinstance(value, str | bytes))


def write_in_batches(
    database: Database,
    items: Iterable[Item],
    write: Callable[[Session, Sequence[Item]], object],
    *,
    weigh: Callable[[Item], int] = lambda _: ROW,
) -> None:
    """Pass the items to `write` in separate transactions, sized to take about `SECONDS_OF_A_BATCH` each.

    `write` may be called again with the same items after a conflict. A single item is never split.
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
    """Write a batch, pause for other writers, and return how many seconds the lock was held."""
    begun = 0.0

    with ExitStack() as until_stored:

        def work(session: Session) -> None:
            nonlocal begun
            session.connection()  # waits for SQLite's lock
            begun = time.monotonic()
            # A full garbage collection would double the time under the lock: it runs between batches.
            until_stored.enter_context(garbage_collection_off())
            write(session, batch)

        database.attempt(work)
        seconds = time.monotonic() - begun
    time.sleep(min(seconds, SECONDS_BETWEEN_BATCHES))
    return seconds
