"""Sessions: one that could not begin does nothing more, and one that goes on begins anew."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from build import news
from sqlalchemy import select, text, update
from sqlalchemy.exc import OperationalError, PendingRollbackError

from annotator.errors import BusyError
from annotator.settings import sqlite_url
from annotator.storage import Collection, Database
from annotator.storage.site import database as database_module

TITLE = select(Collection.title)
CHANGE = update(Collection).values(title="changed")


@contextmanager
def another_writer(database: Database) -> Iterator[None]:
    with database.engine.connect() as other:
        other.exec_driver_sql("BEGIN IMMEDIATE")
        yield
        other.exec_driver_sql("ROLLBACK")


def go_on_after_a_refusal(database: Database, *, is_by_mapped_classes: bool) -> None:
    with database.transaction() as session:
        with another_writer(database), pytest.raises(OperationalError):
            session.execute(TITLE)
        # The lock is free by now; without a transaction each statement would be stored by itself.
        (session if is_by_mapped_classes else session.connection()).execute(CHANGE)


def title_in(database: Database) -> str:
    with database.reading() as session:
        return session.scalars(TITLE).one()


def test_who_goes_on_after_a_refused_beginning_stores_nothing(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_MS", 50)
    with sqlite_database.transaction() as session:
        news(session)
    before = title_in(sqlite_database)
    for is_by_mapped_classes in (True, False):
        with pytest.raises(PendingRollbackError):
            go_on_after_a_refusal(sqlite_database, is_by_mapped_classes=is_by_mapped_classes)
        assert title_in(sqlite_database) == before
    with sqlite_database.transaction() as session:
        session.execute(CHANGE)
    assert title_in(sqlite_database) == "changed"


def test_a_refusal_that_nobody_catches_says_that_the_database_is_busy(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_MS", 50)
    with (
        another_writer(sqlite_database),
        pytest.raises(BusyError, match="Nothing was stored"),
        sqlite_database.transaction() as session,
    ):
        session.execute(TITLE)


def test_a_session_asks_for_its_connection_anew_when_its_transaction_has_ended(database: Database) -> None:
    with database.transaction() as session:
        news(session)
    with database.reading() as session:
        before = session.connection().execute(TITLE).scalar_one()
        session.rollback()
        with database.transaction() as writing:
            writing.execute(CHANGE)
        # Of a transaction of its own, and of one state.
        assert session.connection().execute(TITLE).scalar_one() == "changed" != before
        assert session.connection() is session.connection()
        assert session.in_transaction()


def test_a_savepoint_that_is_taken_back_keeps_the_transaction_and_its_connection(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        connection = session.connection()
        savepoint = session.begin_nested()
        session.connection().execute(CHANGE)
        savepoint.rollback()
        assert session.connection() is connection
        assert session.connection().execute(TITLE).scalar_one() != "changed"


def test_a_long_reading_leaves_no_log_for_the_next_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "long.sqlite"
    database = Database(sqlite_url(file))
    with database.transaction() as session:
        session.execute(text("CREATE TABLE line (words TEXT)"))

    def bytes_in_file(seconds: float) -> int:
        monkeypatch.setattr(database_module, "SECONDS_OF_A_LONG_READ", seconds)
        with database.reading() as reading:
            reading.execute(text("SELECT count(*) FROM line")).one()
            with database.transaction() as session:
                session.execute(text("INSERT INTO line VALUES (:words)"), {"words": "x" * 100_000})
        return file.stat().st_size

    assert bytes_in_file(60) < 100_000
    assert bytes_in_file(0) > 200_000
    database.close()
