"""Copy a whole site from one database into another, SQLite or PostgreSQL, and verify it by counts and checksums."""

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
from annotator.storage.tables.epoch import DatabaseEpoch
from annotator.storage.tables.mail import Mail

ROWS_AT_ONCE = 1_000
# Smaller batches for large rows: a run may have hundreds of megabytes, a document several.
FEW_AT_ONCE = {
    "run_file": 1,
    "job": 1,
    "job_part": 8,
    "machine_labels": 8,
    "document": 50,
    "document_words": 50,
    "guideline_version": 50,
    "run_tops": 50,
}
# The copy is another database, with an epoch of its own. What waits to be sent, the site that wrote it sends.
NOT_COPIED = {DatabaseEpoch.__tablename__, Mail.__tablename__}
# Checksums of rows are summed, since the databases may order rows differently.
MODULUS = 1 << 256

Row = dict[str, object]


@dataclass(frozen=True)
class CopiedTable:
    """A copied table: its number of rows and the sum of their SHA-256 hashes."""

    name: str
    rows: int
    checksum: str


class _Tally:
    """Counts rows and sums their checksums."""

    def __init__(self) -> None:
        self.rows = 0
        self.total = 0

    def add(self, rows: Iterable[Mapping[str, object]]) -> None:
        """Add these rows to the count and the checksum."""
        for row in rows:
            self.rows += 1
            line = repr([_plain(value) for value in row.values()]).encode(errors="surrogatepass")
            self.total = (self.total + int.from_bytes(hashlib.sha256(line).digest(), "big")) % MODULUS

    @property
    def checksum(self) -> str:
        """The sum as 64 hexadecimal digits."""
        return f"{self.total:064x}"


def copy_site(source: Database, target: Database, *, progress: Progress | None = None) -> list[CopiedTable]:
    """Copy every table in one transaction, which is committed only if the copy, read again, has equal checksums.

    Raises `ConflictError` when a database does not open or has another schema version, and `UpkeepError` when the
    target is not empty or the copy differs.
    """
    if version_of(source) != newest_version():
        raise UpkeepError("The database to copy from is not of this version: run “annotator database upgrade” on it.")
    prepare_schema(target)
    tables = [table for table in Base.metadata.sorted_tables if table.name not in NOT_COPIED]
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
    """Copy the rows of one table; the tables that it refers to must be copied before."""
    tally = _Tally()
    to_itself = [link.parent for link in table.foreign_keys if link.column.table is table]
    for rows in _batches(old, table):
        tally.add(rows)
        # References within the table are set afterwards: their targets may come later.
        new.execute(insert(table), [{**row, **dict.fromkeys(column.name for column in to_itself)} for row in rows])
    if to_itself:
        _link(old, new, table, to_itself)
    return CopiedTable(table.name, tally.rows, tally.checksum)


def _link(old: Session, new: Session, table: Table, columns: Sequence[Column[int]]) -> None:
    """Copy the references of rows to others of the same table."""
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
    """The rows of a table in batches, smaller for tables with large rows."""
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
    """Table → greatest id ever assigned, which may belong to a deleted row."""
    if session.get_bind().dialect.name == "sqlite":
        return {name: seq for name, seq in session.execute(text("SELECT name, seq FROM sqlite_sequence"))}
    found = {}
    for table in tables:
        if table.autoincrement_column is not None:
            sequence = func.pg_get_serial_sequence(f'"{table.name}"', table.autoincrement_column.name)
            found[table.name] = session.scalar(select(func.pg_sequence_last_value(sequence.cast(REGCLASS)))) or 0
    return found


def _make_ready(session: Session, tables: Sequence[Table], last: Mapping[str, int]) -> None:
    """Rebuild the full-text index (SQLite), and set the id sequences of both databases."""
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
    """Make SQLite continue after the ids that the source database has assigned."""
    for table in tables:
        if last.get(table.name):
            values = {"name": table.name, "seq": last[table.name]}
            session.execute(text("DELETE FROM sqlite_sequence WHERE name = :name AND seq < :seq"), values)
            missing = "INSERT INTO sqlite_sequence (name, seq) SELECT :name, :seq WHERE NOT EXISTS "
            missing += "(SELECT 1 FROM sqlite_sequence WHERE name = :name)"
            session.execute(text(missing), values)


def _plain(value: object) -> object:
    """A value in a canonical form for the checksum, equal for both kinds of database."""
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat()
        case dict() | list():
            return json.dumps(value, sort_keys=True)
        case memoryview():
            return bytes(value)
        case _:
            return value
