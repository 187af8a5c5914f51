"""Soft deletion: take rows out of their tables with their dependents, and restore them unchanged."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, and_, bindparam, delete, insert, or_, select, update
from sqlalchemy.orm import Session

from annotator.storage.collections.bundles import as_plain, as_stored
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.collections import DeletedPart, Deletion
from annotator.storage.tables.columns import Base

ROWS_AT_ONCE = 1_000

# Nullable columns whose rows are deleted together with the row that they refer to.
BELONGING = {"question.topic_id", "question.pool_item_id", "clarification.question_id"}

Conditions = Mapping[Table, ColumnElement[bool]]


def belonging(roots: Conditions) -> dict[Table, ColumnElement[bool]]:
    """Table → condition for the rows that are deleted with these roots: themselves and all dependents."""
    found: dict[Table, ColumnElement[bool]] = {}
    for table in Base.metadata.sorted_tables:
        conditions = [roots[table]] if table in roots else []
        for column, parent in _links(table):
            if parent in found and parent is not table and (not column.nullable or str(column) in BELONGING):
                conditions.append(column.in_(select(parent.c.id).where(found[parent])))
        if conditions:
            found[table] = or_(*conditions)
    return found


class Removal:
    """A deletion in progress: each call saves what `put_back` needs to restore the rows."""

    def __init__(self, session: Session, deletion: Deletion) -> None:
        """Start a removal whose parts are saved under this deletion."""
        self._session = session
        self._deletion = deletion
        self._position = 0

    def take_out(self, roots: Conditions) -> None:
        """Delete rows with all dependents; nullable references from remaining rows are set to NULL."""
        conditions = belonging(roots)
        kept = {table: self._keep_rows(table, condition) for table, condition in conditions.items()}
        for table in Base.metadata.sorted_tables:
            for column, parent in _links(table):
                if parent in conditions and column.nullable and str(column) not in BELONGING:
                    gone: ColumnElement[bool] = column.in_(select(parent.c.id).where(conditions[parent]))
                    if table in conditions:
                        # By id: if the condition is NULL, its negation is NULL too.
                        gone = and_(gone, table.c.id.not_in(select(table.c.id).where(conditions[table])))
                    self.change(column, gone, None)
        for table in reversed(conditions):
            self._delete(table, conditions[table], kept[table])

    def _delete(self, table: Table, condition: ColumnElement[bool], ids: Sequence[int]) -> None:
        """Delete saved rows, by id where there is one: the condition may depend on rows that are deleted by then."""
        if "id" not in table.columns:
            _run(self._session, delete(table).where(condition))
            return
        to_itself = {column: None for column, parent in _links(table) if parent is table}
        for some in chunks(list(ids)):
            if to_itself:
                _run(self._session, update(table).where(table.c.id.in_(some)).values(to_itself))
        for some in chunks(list(ids)):
            _run(self._session, delete(table).where(table.c.id.in_(some)))

    def change(self, column: Column[Any], condition: ColumnElement[bool], value: object) -> None:
        """Change one column of rows that remain; `put_back` restores the old values."""
        (key,) = column.table.primary_key
        rows = self._session.execute(select(key, column).where(condition).order_by(key)).all()
        for some in chunks([{"key": row[0], "value": row[1]} for row in rows]):
            self._keep(column.table, column, some)
        for few in chunks([row[0] for row in rows]):
            _run(self._session, update(column.table).where(key.in_(few)).values({column: value}))

    def _keep_rows(self, table: Table, condition: ColumnElement[bool]) -> list[int]:
        """Save rows, and return the ids of those that have one."""
        ids: list[int] = []
        rows = self._session.execute(
            select(table).where(condition).order_by(*table.primary_key), execution_options={"yield_per": ROWS_AT_ONCE}
        )
        for some in rows.mappings().partitions():
            self._keep(table, None, [as_plain(table, dict(row)) for row in some])
            ids += [row["id"] for row in some if "id" in row]
        return ids

    def _keep(self, table: Any, column: Column[Any] | None, lines: Iterable[Mapping[str, Any]]) -> None:  # noqa: ANN401 - a table or a part of one
        self._position += 1
        content = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
        values = {
            "deletion_id": self._deletion.id,
            "position": self._position,
            "table_name": table.name,
            "column_name": None if column is None else column.name,
            "content": zlib.compress(content),
        }
        self._session.execute(insert(DeletedPart), [values])


def put_back(session: Session, deletion: Deletion) -> None:
    """Undo a deletion, the last change first.

    Raises `IntegrityError` when a referenced row is gone or a unique value is in use again.
    """
    rows: list[tuple[Table, list[dict[str, Any]]]] = []
    links: list[Callable[[], None]] = []
    for part in _parts(session, deletion.id):
        table = Base.metadata.tables[part.table_name]
        lines = [json.loads(line) for line in zlib.decompress(part.content).decode().splitlines()]
        if part.column_name is None:
            rows.append((table, [as_stored(table, line) for line in lines]))
            continue
        column = table.c[part.column_name]
        if column.foreign_keys:
            links.append(lambda column=column, lines=lines: _give_back(session, column, lines))  # type: ignore[misc]
        else:
            _give_back(session, column, lines)
    order = {table: place for place, table in enumerate(Base.metadata.sorted_tables)}
    for table, some in sorted(rows, key=lambda one: order[one[0]]):
        to_itself = [column for column, parent in _links(table) if parent is table]
        session.execute(insert(table), [{**row, **{one.name: None for one in to_itself}} for row in some])
        for column in to_itself:
            linked = [{"key": row["id"], "value": row[column.name]} for row in some if row[column.name] is not None]
            links.append(lambda column=column, linked=linked: _give_back(session, column, linked))  # type: ignore[misc]
    for link in links:
        link()


def _parts(session: Session, deletion_id: int) -> Iterator[DeletedPart]:
    wanted = select(DeletedPart).where(DeletedPart.deletion_id == deletion_id).order_by(DeletedPart.position.desc())
    yield from session.scalars(wanted)


def _give_back(session: Session, column: Column[Any], lines: Sequence[Mapping[str, Any]]) -> None:
    if lines:
        (key,) = column.table.primary_key
        statement = update(column.table).where(key == bindparam("of")).values({column: bindparam("is")})
        session.connection().execute(statement, [{"of": line["key"], "is": line["value"]} for line in lines])


def _links(table: Table) -> Iterator[tuple[Column[Any], Table]]:
    """Columns that refer to other tables, with the tables; references to users are left out."""
    for column in table.columns:
        for link in column.foreign_keys:
            if link.column.table.name != "user":
                yield column, link.column.table


def _run(session: Session, statement: Any) -> None:  # noqa: ANN401 - an update or a delete
    session.execute(statement, execution_options={"synchronize_session": False})


def changed_rows(session: Session, deletion: Deletion, table: Table) -> list[int]:
    """Ids of a table's rows that a deletion changed but did not remove."""
    found: set[int] = set()
    for part in _parts(session, deletion.id):
        if part.table_name == table.name and part.column_name is not None:
            found |= {json.loads(line)["key"] for line in zlib.decompress(part.content).decode().splitlines()}
    return sorted(found)
