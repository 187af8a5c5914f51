"""Opening a database: an empty one gets its tables, one of another version or none is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest
from build import user
from sqlalchemy import text

from annotator.errors import ConflictError, InvalidValueError
from annotator.settings import sqlite_url
from annotator.storage import Database
from annotator.storage.site.migrating import upgrade_schema
from annotator.storage.site.schema import prepare_schema


def test_an_empty_database_gets_its_tables_and_keeps_them(tmp_path: Path) -> None:
    for _ in range(2):
        database = Database(sqlite_url(tmp_path / "new.sqlite"))
        prepare_schema(database)
        database.close()
    with database.transaction() as session:
        assert user(session) == 1
    database.close()


def test_a_database_of_another_version_is_refused_with_both_versions(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    with pytest.raises(ConflictError, match=r"at version 0001 and this program at .*annotator database upgrade"):
        prepare_schema(sqlite_database)


def test_upgrading_a_database_of_today_changes_nothing(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        user(session)
    upgrade_schema(sqlite_database)
    prepare_schema(sqlite_database)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:////nowhere/at/all.sqlite",
        "postgresql+psycopg://nobody@127.0.0.1:9/none?connect_timeout=1",
    ],
)
@pytest.mark.parametrize("opened", [prepare_schema, upgrade_schema])
def test_a_database_that_does_not_open_is_named_in_a_sentence(opened: Callable[[Database], None], url: str) -> None:
    database = Database(url)
    with pytest.raises(ConflictError, match="The database cannot be opened"):
        opened(database)
    database.close()


def test_a_file_that_is_no_database_is_named_in_a_sentence_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Not a database, but the notes of a meeting.\n" * 100)
    database = Database(sqlite_url(path))
    with pytest.raises(ConflictError, match="The database cannot be opened: file is not a database"):
        prepare_schema(database)
    database.close()
    assert path.read_text().startswith("Not a database")


@pytest.mark.parametrize(
    "url", ["nonsense", "nosuchdatabase://x/y", "postgresql://h:notaport/x", "sqlite:///x.sqlite?timeout=soon"]
)
def test_an_address_that_names_no_database_is_refused(url: str) -> None:
    with pytest.raises(InvalidValueError, match="not a database this installation can open"):
        Database(url)


def test_a_write_waits_for_no_reader_and_a_reader_sees_one_state(sqlite_database: Database) -> None:
    with sqlite_database.reading() as reading:
        assert reading.scalar(text('SELECT count(*) FROM "user"')) == 0
        with sqlite_database.transaction() as session:
            user(session)
        assert reading.scalar(text('SELECT count(*) FROM "user"')) == 0
    with sqlite_database.reading() as reading:
        assert reading.scalar(text('SELECT count(*) FROM "user"')) == 1


def test_sqlite_keeps_what_is_committed_through_a_power_cut(sqlite_database: Database) -> None:
    with sqlite_database.reading() as session:
        assert session.scalar(text("PRAGMA journal_mode")) == "wal"
        assert session.scalar(text("PRAGMA synchronous")) == 2
        assert session.scalar(text("PRAGMA foreign_keys")) == 1


@pytest.mark.parametrize("opened", [prepare_schema, upgrade_schema])
def test_a_database_of_a_newer_program_is_not_upgraded_and_nobody_is_sent_to_upgrade_it(
    sqlite_database: Database, opened: Callable[[Database], None]
) -> None:
    with sqlite_database.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConflictError, match="at version 9999, which this program does not know") as refusal:
        opened(sqlite_database)
    assert "upgrade" not in str(refusal.value)


def test_a_refused_address_does_not_show_its_password() -> None:
    with pytest.raises(InvalidValueError) as refusal:
        Database("postgresql://jo:secret@host:notaport/x")
    assert "secret" not in str(refusal.value)
