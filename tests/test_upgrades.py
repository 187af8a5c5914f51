"""Databases of every earlier version, with what was in them, come to the present version and go back to their own."""

import json
import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from build import NOW, SLUG
from dropped_columns import drop_worn_tables
from sqlalchemy import JSON, LargeBinary, MetaData, Table, func, select, text
from sqlalchemy.orm import Session
from sqlalchemy.types import Boolean, Date, DateTime, TypeEngine

from annotator.settings import sqlite_url
from annotator.storage import Database, Run
from annotator.storage.collections.checking import examine
from annotator.storage.runs.run_tops import check_tops
from annotator.storage.site.migrating import migration_config, upgrade_schema
from annotator.storage.site.schema import newest_version, version_of
from annotator.storage.tables.runs import IN_FORCE
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.qrels.qrels import export_qrels

FOLDER = Path(__file__).parent / "upgrades"
VERSIONS = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
# Hashes are made anew of the text alone, which older programs do as well with.
LEFT_OUT = {"text_hash"}
Rows = dict[str, list[dict[str, object]]]


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """An earlier version of the tables."""
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def walking(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty SQLite file that goes from one version to the next, for a copy is quicker than all steps."""
    path = tmp_path_factory.mktemp("walking") / "empty.sqlite"
    shutil.copy(sqlite_template, path)
    return path


@pytest.fixture
def then(request: pytest.FixtureRequest, database: Database, config: Config, version: str) -> Database:
    """The database at the earlier version, with what was in it."""
    if database.is_sqlite:
        walking: Path = request.getfixturevalue("walking")
        move_to(walking, version)
        shutil.copy(walking, str(database.engine.url.database))
    else:
        command.downgrade(config, version)
    load(database, rows_then(version))
    return database


def move_to(path: Path, version: str) -> None:
    """Bring an empty SQLite file to a version, later or earlier than its own."""
    database = Database(sqlite_url(path))
    config = migration_config(database)
    if (version_of(database) or "") < version:
        command.upgrade(config, version)
    else:
        command.downgrade(config, version)
    with database.engine.connect() as connection:
        # The file alone must hold everything before it is copied.
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


@pytest.fixture
def config(database: Database) -> Iterator[Config]:
    """Alembic's settings for a database; the one of PostgreSQL, which all tests share, is upgraded again afterwards."""
    yield migration_config(database)
    if not database.is_sqlite:
        drop_worn_tables(database)
        upgrade_schema(database)


def tables_of(database: Database) -> list[Table]:
    """The tables as they are in the database, parents first."""
    metadata = MetaData()
    with database.reading() as session:
        metadata.reflect(session.connection(), only=lambda name, _: not name.startswith("document_words_index"))
    return [table for table in metadata.sorted_tables if table.name != "alembic_version"]


def rows_then(version: str) -> Rows:
    rows: Rows = {}
    for line in (FOLDER / f"{version}.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        rows.setdefault(one["table"], []).append(one["row"])
    return rows


def load(database: Database, rows: Rows) -> None:
    """Put rows into tables of their version, whatever order they refer to each other in."""
    tables = tables_of(database)
    with database.migrating() as connection:
        for table in tables:
            to_itself = [link.parent.name for link in table.foreign_keys if link.column.table is table]
            for row in rows.get(table.name, []):
                values = {name: value_of(table.c[name].type, value, database.is_sqlite) for name, value in row.items()}
                connection.execute(table.insert().values({**values, **dict.fromkeys(to_itself)}))
            for row in rows.get(table.name, []):
                for name in (name for name in to_itself if row[name] is not None):
                    connection.execute(table.update().where(table.c.id == row["id"]).values({name: row[name]}))
            if not database.is_sqlite and "id" in table.c:
                numbers = func.pg_get_serial_sequence(f'"{table.name}"', "id")
                connection.execute(select(func.setval(numbers, func.max(table.c.id))))
        if database.is_sqlite and "document_words" in rows:
            connection.execute(text("INSERT INTO document_words_index(document_words_index) VALUES ('rebuild')"))


def value_of(kind: TypeEngine[object], value: object, is_sqlite: bool) -> object:  # noqa: FBT001 - of one call
    """A value as it was written down, for a column."""
    made: object = value
    match kind, value:
        case DateTime(), str():
            moment = datetime.fromisoformat(value)
            made = moment if is_sqlite else moment.replace(tzinfo=UTC)
        case Date(), str():
            made = date.fromisoformat(value)
        case Boolean(), int():
            made = bool(value)
        case JSON(), str():
            made = json.loads(value)
        case LargeBinary(), str():
            made = bytes.fromhex(value)
    return made


def rows_now(database: Database) -> dict[str, list[str]]:
    """Every row of every table, as text, in an order of its own."""
    with database.reading() as session:
        return {
            table.name: sorted(
                repr(
                    [
                        (column.name, plain(row[place]))
                        for place, column in sorted(enumerate(table.c), key=lambda one: one[1].name)
                        if column.computed is None and column.name not in LEFT_OUT
                    ]
                )
                for row in session.execute(select(table))
            )
            for table in tables_of(database)
        }


def plain(value: object) -> object:
    return value.astimezone(UTC).replace(tzinfo=None) if isinstance(value, datetime) and value.tzinfo else value


def test_there_is_one_of_every_earlier_version() -> None:
    assert [f"{int(version) + 1:04}" for version in VERSIONS] == [*VERSIONS[1:], newest_version()]


def test_it_is_upgraded_with_all_that_is_in_it_gives_the_same_qrels_and_goes_back(
    then: Database, config: Config, version: str
) -> None:
    before = rows_now(then)
    assert len(before["judgement"]) >= 12
    upgrade_schema(then)
    after = rows_now(then)
    assert {name: len(after[name]) for name in before} == {name: len(rows) for name, rows in before.items()}
    examination = examine(then, further=[check_tops])
    assert (examination.wrong, examination.version) == ([], newest_version())
    assert_it_gives_its_qrels(then, version)
    command.downgrade(config, version)
    assert version_of(then) == version
    assert rows_now(then) == before


def assert_it_gives_its_qrels(database: Database, version: str) -> None:
    """By the workflows: the commands make entries in the audit log, which the oldest tables have no place for."""
    with database.reading() as session:
        export = export_qrels(session, SLUG, made_at=NOW)
        assert export.qrels == (FOLDER / f"{version}.qrels").read_bytes()
        assert {row.tag for row in build_leaderboard(session, SLUG).rows} == set(active_tags(session))


def active_tags(session: Session) -> Iterable[str]:
    return session.scalars(select(Run.tag).where(IN_FORCE))
