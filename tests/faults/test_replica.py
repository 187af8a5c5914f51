"""Pages of results read from a real streaming replica: never old, and from the database itself when it fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from replicas import Replica, replica_of
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from annotator.app import create_app
from annotator.errors import BusyError, InvalidValueError
from annotator.settings import Settings
from annotator.storage import Database, User
from annotator.storage.people.accounts import find_or_add_user
from annotator.storage.site import replica as replica_module
from annotator.storage.site.replica import reads_much
from annotator.web.site.replica import READ_MUCH

IS_REPLICA = text("SELECT pg_is_in_recovery()")
COUNT = select(func.count()).select_from(User)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def following(postgres_url: str) -> Iterator[Replica]:
    with replica_of(postgres_url) as replica:
        yield replica


@pytest.fixture
def database(
    following: Replica,
    postgres_url: str,
    postgres_database: Database,  # noqa: ARG001 - emptied
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Database]:
    monkeypatch.setattr(replica_module, "SECONDS_AFTER_FAILURE", 0)
    database = Database(postgres_url, following.url)
    yield database
    database.close()


@contextmanager
def reading_much() -> Iterator[None]:
    token = reads_much.set(True)
    try:
        yield
    finally:
        reads_much.reset(token)


def read_much(database: Database) -> tuple[bool, int]:
    """Whether a page that reads much is read from the replica, and how many users it has."""
    with reading_much(), database.reading() as session:
        return bool(session.scalar(IS_REPLICA)), session.scalars(COUNT).one()


def add_judge(database: Database, name: str) -> None:
    with database.transaction() as session:
        find_or_add_user(session, name, NOW)


def test_what_was_just_stored_is_on_a_page_that_is_read_from_the_replica(database: Database) -> None:
    for number in range(20):
        add_judge(database, f"judge{number}")
        assert read_much(database) == (True, number + 1)
    with database.reading() as session:
        assert not session.scalar(IS_REPLICA)


def test_a_replica_that_falls_behind_is_not_used_until_it_has_caught_up(
    database: Database, following: Replica, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(replica_module, "SECONDS_TO_CATCH_UP", 0.05)
    server = Database(following.url)
    with server.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("SELECT pg_wal_replay_pause()"))
        try:
            add_judge(database, "late")
            assert read_much(database) == (False, 1)
            assert "second behind" in caplog.text
        finally:
            connection.execute(text("SELECT pg_wal_replay_resume()"))
    server.close()
    monkeypatch.setattr(replica_module, "SECONDS_TO_CATCH_UP", 30.0)
    assert read_much(database) == (True, 1)


def test_while_the_replica_is_stopped_pages_are_read_from_the_database(
    database: Database, following: Replica, caplog: pytest.LogCaptureFixture
) -> None:
    add_judge(database, "here")
    assert read_much(database) == (True, 1)
    following.stop()
    try:
        assert read_much(database) == (False, 1)
        assert "The replica is not used for 0 seconds" in caplog.text
    finally:
        following.start()
    assert read_much(database) == (True, 1)


def test_a_page_whose_replica_stops_meanwhile_asks_to_try_again_and_the_next_is_read(
    database: Database, following: Replica
) -> None:
    def read_on(session: Session) -> int:
        session.scalar(COUNT)
        following.stop()
        return session.scalars(COUNT).one()

    with reading_much(), pytest.raises(BusyError, match=r"the database was interrupted\. Try again"):
        database.read(read_on)
    assert read_much(database) == (False, 0)
    following.start()


def test_a_replica_that_failed_is_left_alone_for_a_while(
    database: Database, following: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_module, "SECONDS_AFTER_FAILURE", 3600)
    following.stop()
    assert read_much(database) == (False, 0)
    following.start()
    assert read_much(database) == (False, 0)


def test_a_database_that_does_not_follow_is_not_used(postgres_url: str, caplog: pytest.LogCaptureFixture) -> None:
    database = Database(postgres_url, postgres_url)
    assert not read_much(database)[0]
    assert "it does not follow this database" in caplog.text
    database.close()


@pytest.mark.parametrize(
    ("url", "replica", "reason"),
    [
        ("sqlite://", "postgresql+psycopg://x", "Only PostgreSQL has replicas; the database is sqlite"),
        ("postgresql+psycopg://x", "sqlite://", "a replica is PostgreSQL, too"),
        ("postgresql+psycopg://x", "nonsense", "“nonsense” is not a database"),
    ],
)
def test_an_unusable_replica_is_refused(url: str, replica: str, reason: str) -> None:
    with pytest.raises(InvalidValueError, match=reason):
        Database(url, replica)


def test_only_requests_that_show_results_are_read_from_it() -> None:
    app = create_app(Settings(secret_key="0123456789abcdef" * 4), Database("sqlite://"))
    assert set(app.blueprints) >= READ_MUCH
    chosen = {}
    for method, path in (("GET", "/collections/a/leaderboard"), ("POST", "/collections/a/leaderboard"), ("GET", "/")):
        with app.test_request_context(path, method=method):
            app.preprocess_request()
            chosen[method, path] = reads_much.get()
        assert not reads_much.get()
    assert chosen == {
        ("GET", "/collections/a/leaderboard"): True,
        ("POST", "/collections/a/leaderboard"): False,
        ("GET", "/"): False,
    }
