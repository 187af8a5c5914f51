"""Export and import of a collection's rows: tables to plain values, and back under new ids of this site."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, cast

from sqlalchemy import (
    Column,
    ColumnElement,
    Table,
    bindparam,
    select,
    update,
)
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.storage.site.bulk_insert import Row, chunks, insert_many, next_ids
from annotator.storage.tables.columns import Base
from annotator.storage.tables.qrels import KEPT, QrelsGrade, QrelsVersion

ROWS_AT_ONCE = 1_000
# Smaller batches for tables whose rows may be large.
FEW_AT_ONCE = {
    "run_file": 1,
    "document": 100,
    "ranked_list": 50,
    "run_tops": 50,
    "docno_list_part": 10,
    "guideline_version": 50,
    "machine_labels": 8,
}

# Tables that are not part of a collection's archive, and why.
LEFT_OUT: Mapping[str, str] = {
    "api_token": "opens this site to a person",
    "attempts": "counts what was tried at this site's doors",
    "audit_event": "tells what was done at this site; it goes along to be read, and is not imported",
    "database_epoch": "is of this database",
    "deleted_part": "was deleted at this site",
    "deletion": "was deleted at this site",
    "document_fetch": "is of the source of this site; texts that were fetched are documents",
    "document_source": "is an address or a folder that this site reads",
    "document_words": "is made from the documents",
    "fetched_run": "is of a source of this site; the run itself goes along",
    "email_address": "is where this site sends e-mail to a person",
    "ended_session": "keeps people out of this site",
    "identity": "opens this site to a person",
    "invitation": "opens this site to a person",
    "job": "is work of this site's worker",
    "job_part": "is work of this site's worker",
    "kept_response": "is for programs that repeat a request to this site",
    "learning_round": "is trained by this site's worker",
    "machine_judge": "is an endpoint to which this site sends; its labels, model and prompt are of the judge",
    "machine_outcome": "is what became of a document that this site sent to an endpoint",
    "machine_response": "is what an endpoint responded to this site; the grades in it are labels",
    "machine_run": "is work of this site's worker",
    "mail": "is sent by this site",
    "webhook": "is an address to which this site sends",
    "webhook_delivery": "is sent by this site",
    "finished_topic": "is for the webhooks of this site",
    "passkey": "opens this site to a person",
    "recovery_code": "opens this site to a person",
    "run_source": "is an address that this site asks",
    "run_tops": "is made from the ranked lists",
    "searchable_document": "is indexed at this site",
    "second_factor": "opens this site to a person",
    "topic_counts": "is counted from the judgements",
    "topic_judgements": "is packed from the judgements",
    "used_challenge": "keeps people out of this site",
    "user": "has its own part, without passwords",
}
# Columns that no archive may contain; an imported collection gets its own, and neither publishes anything nor takes
# registrations by being imported.
KEPT_SECRET = {"collection.judge_order_key", "collection.public_scores", "collection.registration_until"}
COLLECTION = Base.metadata.tables["collection"]
USER = Base.metadata.tables["user"]
# In order of dependence: referenced tables first. The collection itself comes before all of them.
TABLES = tuple(table for table in Base.metadata.sorted_tables if table.name not in LEFT_OUT and table is not COLLECTION)
# A column of judge ids in which 0 means everybody.
JUDGE_OR_EVERYBODY = ("topic_revision", "judge_id")
# Created by the client that judged or asked; unique on a site.
CLIENT_ID = "client_id"

# Not in archives, but deleted when a collection is permanently removed; referring tables come first.
OF_SITE = (
    "api_token",
    "document_fetch",
    "document_source",
    "document_words",
    "fetched_run",
    "finished_topic",
    "invitation",
    "job_part",
    "job",
    "learning_round",
    "run_source",
    "run_tops",
    "searchable_document",
    "machine_outcome",
    "machine_response",
    "machine_run",
    "machine_judge",
    "topic_counts",
    "topic_judgements",
    "webhook_delivery",
    "webhook",
)

PLURALS = {
    "clarification_seen": "clarifications_seen",
    "evidence": "evidence",
    "machine_labels": "machine_labels",
    "stratum": "strata",
    "user": "people",
}

Ids = dict[str, "NewIds"]  # by table


class NewIds(Mapping[int, int]):
    """Ids in the archive → ids on this site, in 24 bytes for each stretch in which both grow by one.

    A dictionary takes a hundred bytes an id, and a large archive has millions.
    """

    def __init__(self, ids: Iterable[tuple[int, int]] = ()) -> None:
        """Begin with these ids."""
        self._first, self._new, self._length = array("q"), array("q"), array("q")
        self._others: dict[int, int] = {}  # not ascending, or stored again after a conflict
        for old, new in ids:
            self.add(old, new)

    def add(self, old: int, new: int) -> None:
        """Add an id, or change that of one which is there."""
        end = self._first[-1] + self._length[-1] if self._first else old
        if self._first and old == end and new == self._new[-1] + self._length[-1]:
            self._length[-1] += 1
        elif old >= end:
            self._first.append(old)
            self._new.append(new)
            self._length.append(1)
        else:
            self._others[old] = new

    def __getitem__(self, old: int) -> int:
        """The new id; raises `KeyError` for an unknown one."""
        if old in self._others:
            return self._others[old]
        place = self._stretch_of(old)
        if place is None:
            raise KeyError(old)
        return self._new[place] + old - self._first[place]

    def up_to(self, old: int) -> int:
        """The new id of the last one up to this, 0 without any; the ids are ascending."""
        place = bisect_right(self._first, old) - 1
        if place < 0:
            return 0
        return self._new[place] + min(old - self._first[place], self._length[place] - 1)

    def __iter__(self) -> Iterator[int]:
        """The ids in the archive."""
        for first, length in zip(self._first, self._length, strict=True):
            yield from range(first, first + length)
        yield from (old for old in self._others if self._stretch_of(old) is None)

    def __len__(self) -> int:
        """How many there are."""
        return sum(self._length) + sum(self._stretch_of(old) is None for old in self._others)

    def _stretch_of(self, old: int) -> int | None:
        place = bisect_right(self._first, old) - 1
        return place if place >= 0 and old - self._first[place] < self._length[place] else None


def part_of(table: Table) -> str:
    """The archive file that holds a table's rows, such as topics.jsonl."""
    return f"{PLURALS.get(table.name, f'{table.name}s')}.jsonl"


def rows_of(session: Session, table: Table, collection_id: int) -> Iterator[Row]:
    """Stored rows of a collection, ordered by primary key; versions of the qrels only if they are stored whole."""
    statement = select(table).where(belongs(table, collection_id), *_whole(table)).order_by(*table.primary_key)
    at_once = FEW_AT_ONCE.get(table.name, ROWS_AT_ONCE)
    names = table.columns.keys()
    for row in session.execute(statement, execution_options={"yield_per": at_once}):
        yield dict(zip(names, row, strict=True))


def _whole(table: Table) -> Iterator[ColumnElement[bool]]:
    if table.name == QrelsVersion.__tablename__:
        yield KEPT
    if table.name == QrelsGrade.__tablename__:
        yield table.c.qrels_version_id.in_(select(QrelsVersion.id).where(KEPT))


def people_in(session: Session, collection_id: int) -> list[Row]:
    """The accounts that a collection's rows refer to, without columns used for signing in."""
    wanted: set[int] = set()
    for table in TABLES:
        for column in _of_people(table):
            wanted.update(session.scalars(select(column).where(belongs(table, collection_id)).distinct()))
    told = [USER.c[name] for name in ("id", "name", "kind", "model", "prompt", "labelled_on")]
    found = []
    for some in chunks(sorted(id_ for id_ in wanted if id_)):
        found += [
            dict(row)
            for row in session.execute(select(*told).where(USER.c.id.in_(some)).order_by(USER.c.id)).mappings()
        ]
    return found


def store_batch(session: Session, table: Table, rows: Sequence[Row], ids: Ids) -> list[Row]:
    """Insert rows returned by `refer` and `for_driver`, with new ids of this site, and add these to `ids`.

    Returns the references within the same table, which `link_rows` sets later because their targets may follow. Safe to
    repeat with the same rows.
    """
    key = _own_id(table)
    to_itself = [link.parent for link in table.foreign_keys if link.column.table is table]
    batch = [dict(row) for row in rows]
    if key is not None:
        mapped = ids.setdefault(table.name, NewIds()) if table.name in _referred() else NewIds()
        for row, new in zip(batch, next_ids(session, table, len(batch)), strict=True):
            mapped.add(row[key.name], new)
            row[key.name] = new
    waiting = []
    for row in batch:
        if any(row[column.name] is not None for column in to_itself):
            waiting.append({f"to_{column.name}": row[column.name] for column in to_itself} | {"key": row["id"]})
            row.update(dict.fromkeys(column.name for column in to_itself))
    if CLIENT_ID in table.columns:
        _make_unlike(session, table, batch)
    names = list(table.columns.keys())
    insert_many(session, table, names, map(itemgetter(*names), batch))
    return waiting


def refer(table: Table, row: Row, ids: Ids) -> Row:
    """The row with its references replaced by ids of this site; raises `InvalidValueError` for an unknown id."""
    referring = dict(row)
    for column, target in _referring_columns(table):
        value = row[column]
        if value is not None and not (value == 0 and (table.name, column) == JUDGE_OR_EVERYBODY):
            referring[column] = _known(ids, target, value)
    return referring


def refer_reason(reason: Mapping[str, Any], ids: Ids) -> dict[str, Any]:
    """The reason of an adaptive choice with ids of this site; raises `InvalidValueError` for an unknown run.

    A round of training names the last document that there was on the site, which need not be of the collection.
    """
    referring = dict(reason)
    if "run" in reason:
        referring["run"] = _known(ids, "run", reason["run"])
    if "runs_left_out" in reason:
        referring["runs_left_out"] = [_known(ids, "run", run) for run in reason["runs_left_out"]]
    if "last_document" in reason:
        referring["last_document"] = ids.get("document", NewIds()).up_to(reason["last_document"])
    return referring


def link_rows(session: Session, table: Table, waiting: Sequence[Row], ids: Ids) -> None:
    """Set references within a table, after all of its rows are stored."""
    columns = [link.parent for link in table.foreign_keys if link.column.table is table]
    links = [
        {
            name: value if name == "key" or value is None else _known(ids, table.name, value)
            for name, value in row.items()
        }
        for row in waiting
    ]
    statement = (
        update(table).where(table.c.id == bindparam("key")).values({c.name: bindparam(f"to_{c.name}") for c in columns})
    )
    session.connection().execute(statement, links)


def belongs(table: Table, collection_id: int) -> ColumnElement[bool]:
    """Condition: a row belongs to the collection, directly or through its parent tables."""
    if table is COLLECTION:
        return table.c.id == collection_id
    if "collection_id" in table.columns:
        return table.c.collection_id == collection_id
    column = next(column for column in table.columns if not column.nullable and _parent(column) is not None)
    parent = cast("Table", _parent(column))
    return column.in_(select(parent.c.id).where(belongs(parent, collection_id)))


def _parent(column: Column[Any]) -> Table | None:
    """The table that a column refers to, unless it is the table of users."""
    return next((link.column.table for link in column.foreign_keys if link.column.table is not USER), None)


def _of_people(table: Table) -> Iterator[Column[Any]]:
    for column in table.columns:
        if _target(table, column) == USER.name:
            yield column


def _target(table: Table, column: Column[Any]) -> str | None:
    """The name of the table that a column refers to."""
    if (table.name, column.name) == JUDGE_OR_EVERYBODY:
        return USER.name
    return next((link.column.table.name for link in column.foreign_keys), None)


@cache
def _referring_columns(table: Table) -> Sequence[tuple[str, str]]:
    """Columns that refer to another table, with the name of that table."""
    targets = ((column.name, _target(table, column)) for column in table.columns)
    return [(column, target) for column, target in targets if target is not None and target != table.name]


@cache
def _referred() -> frozenset[str]:
    """Names of the tables to which rows of archives refer: only their ids are needed after their rows are stored."""
    targets = (_target(table, column) for table in TABLES for column in table.columns)
    return frozenset(target for target in targets if target is not None)


def _own_id(table: Table) -> Column[Any] | None:
    """The surrogate id column; None for a table whose key consists of references."""
    column = table.columns.get("id")
    return column if column is not None and column.primary_key else None


def _known(ids: Ids, target: str, value: int) -> int:
    try:
        return ids[target][value]
    except KeyError:
        raise InvalidValueError(
            "It refers to number %(number)d of “%(table)s”, which does not exist.", number=value, table=target
        ) from None


def _make_unlike(session: Session, table: Table, batch: Sequence[Row]) -> None:
    """Replace client ids that exist on this site, as when a collection is imported beside itself."""
    wanted = [row[CLIENT_ID] for row in batch]
    taken = {
        one
        for some in chunks(wanted)
        for one in session.scalars(select(table.c[CLIENT_ID]).where(table.c[CLIENT_ID].in_(some)))
    }
    for row in batch:
        if row[CLIENT_ID] in taken:
            row[CLIENT_ID] = f"{row[CLIENT_ID]}~{row['id']}"
