"""A whole site copied from one database into another, of either kind, and compared there by counts and checksums."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Column, Table, bindparam, func, insert, or_, select, text, update
from sqlalchemy.dialects.postgresql import REGCLASS
from sqlalchemy.orm import Session

from annotator.storage.site.database import Database
from annotator.storage.site.schema import newest_version, prepare_schema, version_of
from annotator.storage.site.upkeep import Progress, UpkeepError
from annotator.storage.tables.columns import Base
from annotator.storage.tables.documents import WORDS

ROWS_AT_ONCE = 1_000
# Of tables whose rows may be large: a run is up to hundreds of megabytes, a document some.
FEW_AT_ONCE = {"run_file": 1, "job": 1, "job_part": 8, "document": 50, "document_words": 50, "guideline_version": 50}
# Checksums of rows are added up: the databases need not agree about their order.
MODULUS = 1 << 256

Row = dict[str, object]


@dataclass(frozen=True)
class CopiedTable:
    """A table that has arrived: as many rows, with the same sum of their SHA-256."""

    name: str
    rows: int
    checksum: str


class _Tally:
    """Counts rows and adds up their checksums."""

    def __init__(self) -> None:
        self.rows = 0
        self.total = 0

    def add(self, rows: Iterable[Mapping[str, object]]) -> None:
        """Take rows into account."""
        for row in rows:
            self.rows += 1
            line = repr([_plain(value) for value in row.values()]).encode(errors="surrogatepass")
            self.total = (self.total + int.from_bytes(hashlib.sha256(line).digest(), "big")) % MODULUS

    @property
    def checksum(self) -> str:
        """The sum in hexadecimal digits."""
        return f"{self.total:064x}"


def copy_site(source: Database, target: Database, *, progress: Progress | None = None) -> list[CopiedTable]:
    """Copy every table in one transaction, which is kept when all that arrived was read again and is the same.

    Raises `ConflictError` when a database does not open or is of another version, and `UpkeepError` when there is
    anything in the target already, or when what arrived is not what was sent.
    """
    if version_of(source) != newest_version():
        raise UpkeepError("The database to copy from is not of this version: run “annotator database upgrade” on it.")
    prepare_schema(target)
    tables = Base.metadata.sorted_tables
    with source.reading() as old, target.transaction() as new:
        _refuse_unless_empty(new, tables)
        steps = sum(_count(old, table) for table in tables)
        done = 0
        copied = []
        for table in tables:
            copied.append(copy_table(old, new, table))
            done += copied[-1].rows
            if progress is not None:
                progress(done, steps)
        _make_ready(new, tables, last_ids(old, tables))
        new.flush()
        for table, sent in zip(tables, copied, strict=True):
            _refuse_difference(new, table, sent)
    return copied


def copy_table(old: Session, new: Session, table: Table) -> CopiedTable:
    """Copy the rows of a table; the tables that it refers to are there already."""
    tally = _Tally()
    to_itself = [link.parent for link in table.foreign_keys if link.column.table is table]
    for rows in _batches(old, table):
        tally.add(rows)
        # The row that one refers to may come later.
        new.execute(insert(table), [{**row, **dict.fromkeys(column.name for column in to_itself)} for row in rows])
    if to_itself:
        _link(old, new, table, to_itself)
    return CopiedTable(table.name, tally.rows, tally.checksum)


def _link(old: Session, new: Session, table: Table, columns: Sequence[Column[int]]) -> None:
    """Let rows refer to others of their table."""
    (key,) = table.primary_key.columns
    wanted = select(key, *columns).where(or_(*(column.is_not(None) for column in columns)))
    links = (
        update(table).where(key == bindparam("key")).values({one.name: bindparam(f"to_{one.name}") for one in columns})
    )
    for rows in old.execute(wanted, execution_options={"yield_per": ROWS_AT_ONCE}).partitions():
        pairs = [
            {"key": row[0], **{f"to_{column.name}": row[place] for place, column in enumerate(columns, start=1)}}
            for row in rows
        ]
        new.connection().execute(links, pairs)


def _batches(session: Session, table: Table) -> Iterator[list[Row]]:
    """The rows of a table, as many at once as fit into little memory."""
    at_once = FEW_AT_ONCE.get(table.name, ROWS_AT_ONCE)
    statement = select(table).order_by(*table.primary_key)
    for rows in session.execute(statement, execution_options={"yield_per": at_once}).mappings().partitions():
        yield [dict(row) for row in rows]


def _refuse_unless_empty(session: Session, tables: Sequence[Table]) -> None:
    for table in tables:
        if session.execute(select(*table.primary_key).limit(1)).first() is not None:
            raise UpkeepError(
                "The database to copy into is not empty: there are rows in “%(table)s”. Nothing was changed.",
                table=table.name,
            )


def _refuse_difference(session: Session, table: Table, sent: CopiedTable) -> None:
    tally = _Tally()
    for rows in _batches(session, table):
        tally.add(rows)
    if (tally.rows, tally.checksum) != (sent.rows, sent.checksum):
        raise UpkeepError(
            "Of “%(table)s” %(sent)d rows were sent, and %(arrived)d rows arrived, or others. Nothing was kept.",
            table=table.name,
            sent=sent.rows,
            arrived=tally.rows,
        )


def _count(session: Session, table: Table) -> int:
    return session.scalars(select(func.count()).select_from(table)).one()


def last_ids(session: Session, tables: Sequence[Table]) -> dict[str, int]:
    """Table → the greatest id that was ever given out in it, which what was deleted may have."""
    if session.get_bind().dialect.name == "sqlite":
        return {name: seq for name, seq in session.execute(text("SELECT name, seq FROM sqlite_sequence"))}
    found = {}
    for table in tables:
        if table.autoincrement_column is not None:
            sequence = func.pg_get_serial_sequence(f'"{table.name}"', table.autoincrement_column.name)
            found[table.name] = session.scalar(select(func.pg_sequence_last_value(sequence.cast(REGCLASS)))) or 0
    return found


def _make_ready(session: Session, tables: Sequence[Table], last: Mapping[str, int]) -> None:
    """What a database has beside the rows: on SQLite the index of words, and in both the next ids."""
    if session.get_bind().dialect.name == "sqlite":
        session.execute(text(f"INSERT INTO {WORDS.name}_index({WORDS.name}_index) VALUES ('rebuild')"))  # noqa: S608 - our own name
        _count_on(session, [table for table in tables if table.dialect_options["sqlite"]["autoincrement"]], last)
        return
    for table in tables:
        key = table.autoincrement_column
        if key is not None:
            sequence = func.pg_get_serial_sequence(f'"{table.name}"', key.name)
            greatest = func.greatest(func.max(key), last.get(table.name) or None)
            session.execute(select(func.setval(sequence, greatest)).having(greatest.is_not(None)))


def _count_on(session: Session, tables: Sequence[Table], last: Mapping[str, int]) -> None:
    """Have SQLite give out no id that the other database has given out."""
    for table in tables:
        if last.get(table.name):
            values = {"name": table.name, "seq": last[table.name]}
            session.execute(text("DELETE FROM sqlite_sequence WHERE name = :name AND seq < :seq"), values)
            missing = "INSERT INTO sqlite_sequence (name, seq) SELECT :name, :seq WHERE NOT EXISTS "
            missing += "(SELECT 1 FROM sqlite_sequence WHERE name = :name)"
            session.execute(text(missing), values)


def _plain(value: object) -> object:
    """A value in the one form that it has in the checksum, whichever database it comes from."""
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat()
        case dict() | list():
            return json.dumps(value, sort_keys=True)
        case memoryview():
            return bytes(value)
        case _:
            return value
