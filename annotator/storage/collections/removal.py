"""Soft deletion: take rows out of their tables with their dependents, and restore them unchanged."""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Table, and_, bindparam, delete, insert, or_, select, update
from sqlalchemy.orm import Session

from annotator.storage.collections.plain_values import as_plain, as_stored, driver_rows, plain_rows
from annotator.storage.site.bulk_insert import PreparedRows, fetch_rows, ids_as_rows, insert_prepared, prepare_rows
from annotator.storage.tables.collections import DeletedPart, Deletion
from annotator.storage.tables.columns import Base

TOPIC, POOL_ITEM, JUDGEMENT = (Base.metadata.tables[name] for name in ("topic", "pool_item", "judgement"))
TASK, TASK_TOPIC = (Base.metadata.tables[name] for name in ("task", "task_topic"))
ROWS_AT_ONCE = 1_000
PACKING = 1  # zlib's level: the default takes three times as long for a fifth less

# Nullable columns whose rows are deleted together with the row that they refer to.
BELONGING = {
    "question.topic_id",
    "question.pool_item_id",
    "announcement.question_id",
    "clarification.question_id",
    "stopping_decision.pool_id",
}

Conditions = Mapping[Table, ColumnElement[bool]]


class KeptRows(NamedTuple):
    """Rows of a table in the form in which a deletion saves them, and their ids."""

    ids: tuple[int, ...]
    parts: tuple[bytes, ...]


NONE_KEPT: Mapping[Table, KeptRows] = MappingProxyType({})


class Removal:
    """A deletion in progress: each call saves what `put_back` needs to restore the rows."""

    def __init__(self, session: Session, deletion: Deletion) -> None:
        """Start a removal whose parts are saved under this deletion."""
        self._session = session
        self._deletion = deletion
        self._position = 0

    def take_out(self, roots: Conditions, kept: Mapping[Table, KeptRows] = NONE_KEPT) -> None:
        """Delete rows with all dependents; nullable references from remaining rows are set to NULL.

        `kept` are all rows of a table that go, if they were read with `keep_rows` and have not changed since.
        """
        conditions: dict[Table, ColumnElement[bool]] = {}
        ids: dict[Table, Sequence[int]] = {}
        for table in Base.metadata.sorted_tables:
            if table in kept:
                conditions[table] = is_among(self._session, table.c.id, kept[table].ids)
                ids[table] = self._keep_again(table, kept[table])
                continue
            several = [roots[table]] if table in roots else []
            for column, parent in _links(table):
                if ids.get(parent) and parent is not table and (not column.nullable or str(column) in BELONGING):
                    several.append(is_among(self._session, column, ids[parent]))
            if several:
                conditions[table] = or_(*several)
                ids[table] = self._keep_rows(table, conditions[table])
        self._let_go_of(ids)
        for table in reversed(conditions):
            self._delete(table, conditions[table], ids[table])

    def _let_go_of(self, ids: Mapping[Table, Sequence[int]]) -> None:
        """Set nullable references from rows that remain to NULL."""
        for table in Base.metadata.sorted_tables:
            for column, parent in _links(table):
                if ids.get(parent) and column.nullable and str(column) not in BELONGING:
                    gone = is_among(self._session, column, ids[parent])
                    if ids.get(table):
                        gone = and_(gone, ~is_among(self._session, table.c.id, ids[table]))
                    self.change(column, gone, None)

    def _delete(self, table: Table, condition: ColumnElement[bool], ids: Sequence[int]) -> None:
        """Delete saved rows, by id where there is one: the condition may depend on rows that are deleted by then."""
        if "id" not in table.columns:
            _run(self._session, delete(table).where(condition))
            return
        if not ids:
            return
        saved = is_among(self._session, table.c.id, ids)
        to_itself = [column for column, parent in _links(table) if parent is table]
        for column in to_itself:
            _run(self._session, update(table).where(saved, column.is_not(None)).values({column: None}))
        _run(self._session, delete(table).where(saved))

    def change(self, column: Column[Any], condition: ColumnElement[bool], value: object) -> None:
        """Change one column of rows that remain; `put_back` restores the old values."""
        (key,) = column.table.primary_key
        rows = [tuple(row) for row in self._session.execute(select(key, column).where(condition).order_by(key))]
        for start in range(0, len(rows), ROWS_AT_ONCE):
            self._keep(column.table, column, ("key", "value"), rows[start : start + ROWS_AT_ONCE])
        if rows:
            changed = is_among(self._session, key, [row[0] for row in rows])
            _run(self._session, update(column.table).where(changed).values({column: value}))

    def _keep_rows(self, table: Table, condition: ColumnElement[bool]) -> list[int]:
        """Save rows, and return the ids of those that have one."""
        ids: list[int] = []
        for some, content in _packed_rows(self._session, table, condition):
            ids += some
            self._store(table, None, content)
        return ids

    def _keep_again(self, table: Table, kept: KeptRows) -> Sequence[int]:
        for content in kept.parts:
            self._store(table, None, content)
        return kept.ids

    def _keep(self, table: Table, column: Column[Any], names: Sequence[str], rows: Sequence[Any]) -> None:
        self._store(table, column, _packed(names, rows))

    def _store(self, table: Table, column: Column[Any] | None, content: bytes) -> None:
        self._position += 1
        values = {
            "deletion_id": self._deletion.id,
            "position": self._position,
            "table_name": table.name,
            "column_name": None if column is None else column.name,
            "content": content,
        }
        self._session.execute(insert(DeletedPart), [values])


def keep_rows(session: Session, table: Table, ids: Sequence[int]) -> KeptRows:
    """Read rows as `Removal.take_out` saves them, which takes long for many and needs no lock."""
    packed = list(_packed_rows(session, table, is_among(session, table.c.id, ids)))
    return KeptRows(tuple(id_ for some, _ in packed for id_ in some), tuple(content for _, content in packed))


def _packed_rows(session: Session, table: Table, condition: ColumnElement[bool]) -> Iterator[tuple[list[int], bytes]]:
    """Rows in the form in which they are saved, some at a time, and the ids of those that have one."""
    names = list(table.columns.keys())
    place = names.index("id") if "id" in names else None
    # As the driver gives them: types of columns would be applied to each value.
    cursor: Any = session.connection().execute(select(table).where(condition).order_by(*table.primary_key)).cursor
    while some := cursor.fetchmany(ROWS_AT_ONCE):
        ids = [] if place is None else [row[place] for row in some]
        yield ids, _packed(names, plain_rows(session, table, some))


def _packed(names: Sequence[str], rows: Sequence[Any]) -> bytes:
    return zlib.compress(json.dumps([names, *map(list, rows)], ensure_ascii=False).encode(), PACKING)


def is_among(session: Session, column: Column[Any], ids: Sequence[int]) -> ColumnElement[bool]:
    """Condition: the column has one of these ids, given as one value; an index narrows it to their range."""
    first, last = min(ids), max(ids)
    in_range = column.between(first, last)
    if len(set(ids)) == last - first + 1:  # as ids of rows that were inserted together
        return in_range
    return and_(in_range, column.in_(ids_as_rows(session, ids)))


Values = tuple[Column[Any], Sequence[Mapping[str, Any]]]  # a column, and values of it with the keys of their rows


@dataclass(frozen=True)
class SavedRows:
    """What a deletion took out, ready to be put back; the parts of a deletion never change."""

    rows: Sequence[PreparedRows]
    # Former values of columns: given back before the rows, and references after them.
    changes: Sequence[Values]
    links: Sequence[Values]
    of_topics: frozenset[int]
    of_items: frozenset[int]
    tables: frozenset[Table]  # that have any of the rows
    # Rows of tasks with their topics, apart from the others: a task may be removed by the time that they are put back.
    of_tasks: Sequence[Mapping[str, int]]
    # The values of the columns that were asked for, of each row of their table.
    values: Sequence[tuple[Any, ...]] = ()

    def changed(self, table: Table) -> list[int]:
        """Ids of a table's rows that the deletion changed but did not remove."""
        given = (*self.changes, *self.links)
        return sorted({one["of"] for column, values in given if column.table is table for one in values})

    def topics(self, session: Session) -> list[int]:
        """Ids of the topics that have any of it, when it is back."""
        items = {*self.of_items, *self.changed(POOL_ITEM)}
        if changed := self.changed(JUDGEMENT):
            items |= {
                id_
                for (id_,) in fetch_rows(
                    session, select(JUDGEMENT.c.pool_item_id).where(is_among(session, JUDGEMENT.c.id, changed))
                )
            }
        topics = {*self.of_topics, *self.changed(TOPIC)}
        if items:
            of_items = select(POOL_ITEM.c.topic_id).where(is_among(session, POOL_ITEM.c.id, sorted(items)))
            topics |= {id_ for (id_,) in fetch_rows(session, of_items.distinct())}
        return sorted(topics)


def read_saved(session: Session, deletion_id: int, columns: Sequence[Column[Any]] = ()) -> SavedRows:
    """Read what a deletion took out: half of the work of putting it back, and it needs no lock.

    Its `values` are those of the columns, which are of one table.
    """
    rows: dict[Table, list[list[Any]]] = {}
    changes: list[Values] = []
    links: list[Values] = []
    for part in _parts(session, deletion_id):
        table = Base.metadata.tables[part.table_name]
        names, lines = _read(part)
        if part.column_name is None:
            rows.setdefault(table, []).extend(_in_columns(table, names, lines))
            continue
        column = table.c[part.column_name]
        values = [dict(zip(("of", "is"), line, strict=True)) for line in lines]
        (links if column.foreign_keys else changes).append((column, values))
    order = {table: place for place, table in enumerate(Base.metadata.sorted_tables)}
    of_topics, of_items = _values_in(rows, "topic_id"), _values_in(rows, "pool_item_id")
    of_topics |= {row[0] for row in rows.get(TOPIC, ())}
    asked = list(_values_of(rows, columns))
    found = frozenset(of_topics), frozenset(of_items), frozenset(rows)
    of_tasks = [dict(zip(TASK_TOPIC.columns.keys(), row, strict=True)) for row in rows.pop(TASK_TOPIC, ())]
    prepared: list[PreparedRows] = []
    for table, some in sorted(rows.items(), key=lambda one: order[one[0]]):
        links += _taken_off(table, some)
        names = table.columns.keys()
        prepared += prepare_rows(session.get_bind().dialect, table, names, driver_rows(session, table, some))
        some.clear()
    return SavedRows(prepared, changes, links, *found, of_tasks, asked)


def _values_of(rows: Mapping[Table, Sequence[list[Any]]], columns: Sequence[Column[Any]]) -> Iterator[tuple[Any, ...]]:
    if columns:
        table = columns[0].table
        places = [list(table.columns).index(column) for column in columns]
        for row in rows.get(table, ()):
            yield tuple(row[place] for place in places)


def _values_in(rows: Mapping[Table, Sequence[list[Any]]], column: str) -> set[int]:
    """The values of a column in the rows of all tables that have it."""
    tables = [(table.columns.keys().index(column), some) for table, some in rows.items() if column in table.columns]
    return {row[place] for place, some in tables for row in some if row[place] is not None}


def _taken_off(table: Table, rows: Sequence[list[Any]]) -> Iterator[Values]:
    """Take the references within the table off its rows, and yield them."""
    names = list(table.columns.keys())
    for column in [column for column, parent in _links(table) if parent is table]:
        place = names.index(column.name)
        yield column, [{"of": row[names.index("id")], "is": row[place]} for row in rows if row[place] is not None]
        for row in rows:
            row[place] = None


def put_back(session: Session, saved: SavedRows) -> None:
    """Undo a deletion, the last change first; topics do not come back into tasks that are gone.

    Raises `IntegrityError` when a referenced row is gone or a unique value is in use again.
    """
    for column, values in saved.changes:
        _give_back(session, column, values)
    insert_prepared(session, saved.rows)
    _give_to_tasks(session, saved.of_tasks)
    for column, values in saved.links:
        _give_back(session, column, values)


def _give_to_tasks(session: Session, rows: Sequence[Mapping[str, int]]) -> None:
    """Give tasks their topics again, as far as they are still there and have not got every topic since."""
    if rows:
        listing = select(TASK.c.id).where(TASK.c.every_topic.is_(False))
        present = set(session.scalars(listing.where(TASK.c.id.in_({row["task_id"] for row in rows}))))
        if kept := [row for row in rows if row["task_id"] in present]:
            session.execute(insert(TASK_TOPIC), kept)


def _parts(session: Session, deletion_id: int) -> Iterator[DeletedPart]:
    wanted = select(DeletedPart).where(DeletedPart.deletion_id == deletion_id).order_by(DeletedPart.position.desc())
    yield from session.scalars(wanted)


def _read(part: DeletedPart) -> tuple[list[str], list[list[Any]]]:
    """The columns of a part, and its rows of plain values."""
    text = zlib.decompress(part.content).decode()
    if text.startswith("["):
        names, *rows = json.loads(text)
        return names, rows
    lines = [json.loads(line) for line in text.splitlines()]  # of earlier versions, an object a line
    return list(lines[0]) if lines else [], [list(line.values()) for line in lines]


def _in_columns(table: Table, names: Sequence[str], rows: list[list[Any]]) -> list[list[Any]]:
    """The rows with a value for each column of the table; a column that is newer than the rows gets its default."""
    if list(names) == list(table.columns.keys()):
        return rows
    stored = (as_stored(table, dict(zip(names, row, strict=True))) for row in rows)
    return [[as_plain(table, row)[name] for name in table.columns.keys()] for row in stored]  # noqa: SIM118 - iterates over columns


def _give_back(session: Session, column: Column[Any], values: Sequence[Mapping[str, Any]]) -> None:
    if values:
        (key,) = column.table.primary_key
        statement = update(column.table).where(key == bindparam("of")).values({column: bindparam("is")})
        session.connection().execute(statement, values)


def _links(table: Table) -> Iterator[tuple[Column[Any], Table]]:
    """Columns that refer to other tables, with the tables; references to users are left out."""
    for column in table.columns:
        for link in column.foreign_keys:
            if link.column.table.name != "user":
                yield column, link.column.table


def _run(session: Session, statement: Any) -> None:  # noqa: ANN401 - an update or a delete
    session.execute(statement, execution_options={"synchronize_session": False})
