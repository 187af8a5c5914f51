"""Databases of every earlier version, with what was in them, come to the present version and go back to their own."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from build import SLUG
from cli.command_line import CommandLine
from dropped_columns import drop_worn_tables
from sqlalchemy import JSON, LargeBinary, MetaData, Table, func, select, text
from sqlalchemy.types import Boolean, Date, DateTime, TypeEngine

from annotator.storage import Database
from annotator.storage.collections.checking import examine
from annotator.storage.site.migrating import migration_config, upgrade_schema
from annotator.storage.site.schema import newest_version, version_of

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


def test_it_is_upgraded_with_all_that_is_in_it_and_goes_back(config: Config, database: Database, version: str) -> None:
    command.downgrade(config, version)
    load(database, rows_then(version))
    before = rows_now(database)
    assert len(before["judgement"]) >= 12
    upgrade_schema(database)
    after = rows_now(database)
    assert {name: len(after[name]) for name in before} == {name: len(rows) for name, rows in before.items()}
    examination = examine(database)
    assert (examination.wrong, examination.version) == ([], newest_version())
    command.downgrade(config, version)
    assert version_of(database) == version
    assert rows_now(database) == before


def test_it_gives_the_qrels_that_it_gave_then(config: Config, database: Database, version: str) -> None:
    command.downgrade(config, version)
    load(database, rows_then(version))
    upgrade_schema(database)
    annotator = CommandLine(database.engine.url.render_as_string(hide_password=False))
    assert annotator.done("qrels", "export", SLUG) == (FOLDER / f"{version}.qrels").read_text()
    assert len(annotator.table("leaderboard", "show", SLUG)) == len(annotator.table("runs", "list", SLUG))
