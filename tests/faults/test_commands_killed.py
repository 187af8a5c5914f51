"""Commands that change much are killed in mid-work: everything is done or nothing, and done when they run again."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from alembic import command
from build import SLUG
from faults.judged_site import is_in_order
from faults.length import times
from sqlalchemy import text

from annotator.settings import Settings
from annotator.storage import Database
from annotator.storage.collections.checking import examine
from annotator.storage.site.migrating import migration_config
from annotator.storage.site.schema import newest_version, version_of

KILLS = times(2, 20)
NEW_TEXTS = times(10_000, 30_000)
OLDER = "0003"
# So many that a migration of their table takes a while.
MANY_DOCUMENTS = """
    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 60000)
    INSERT INTO document (collection_id, docno, title, body, text_hash)
    SELECT collection.id, 'm' || n, 'Title', 'Text ' || n, 'hash ' || n FROM number, collection
"""


def run(settings: Settings, *words: str, kill_after: float | None = None) -> tuple[float, int]:
    """Run a command and kill it after so many seconds; how long it took, and its status."""
    begin = time.monotonic()
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "annotator", *words],
        env={**os.environ, **settings.to_environment()},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(kill_after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return time.monotonic() - begin, process.returncode


def wait_for_lock(settings: Settings) -> None:
    """Nobody writes any more: what was killed has left its lock."""
    database = Database(settings.database_url)
    with database.transaction() as session:
        session.execute(text("SELECT 1"))
    database.close()


def count_documents(settings: Settings) -> int:
    database = Database(settings.database_url)
    with database.reading() as session:
        count = session.scalars(text("SELECT count(*) FROM document")).one()
    database.close()
    return int(count)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A file of many documents."""
    path = tmp_path / "texts.tsv"
    path.write_text("".join(f"n{number}\tTitle {number}\t{'some words ' * 20}\n" for number in range(NEW_TEXTS)))
    return path


def test_an_import_that_is_killed_stores_everything_or_nothing(site: Settings, texts: Path, tmp_path: Path) -> None:
    chance = random.Random(KILLS)  # noqa: S311 - the same each time
    before = count_documents(site)
    trial = copy_of(site, tmp_path / "trial.sqlite")
    longest, status = run(trial, "documents", "import", SLUG, str(texts))
    assert (status, count_documents(trial)) == (0, before + NEW_TEXTS)
    for _ in range(KILLS):
        run(site, "documents", "import", SLUG, str(texts), kill_after=chance.uniform(0.3, 1) * longest)
        wait_for_lock(site)
        assert count_documents(site) in {before, before + NEW_TEXTS}
        is_in_order(site, [])
    assert run(site, "documents", "import", SLUG, str(texts))[1] == 0
    assert count_documents(site) == before + NEW_TEXTS
    is_in_order(site, [])


def test_a_migration_that_is_killed_leaves_the_older_tables_whole_or_the_newer_ones(
    site: Settings, tmp_path: Path
) -> None:
    chance = random.Random(KILLS)  # noqa: S311 - the same each time
    database = Database(site.database_url)
    with database.transaction() as session:
        session.execute(text(MANY_DOCUMENTS))
    command.downgrade(migration_config(database), OLDER)
    database.close()
    before = count_documents(site)
    trial = copy_of(site, tmp_path / "trial.sqlite")
    longest, status = run(trial, "database", "upgrade")
    assert status == 0
    for place in range(KILLS):
        killed = copy_of(site, tmp_path / f"{place}.sqlite")
        run(killed, "database", "upgrade", kill_after=chance.uniform(0.5, 1) * longest)
        left = Database(killed.database_url)
        assert version_of(left) in {OLDER, newest_version()}
        assert examine(left).wrong == []
        left.close()
        assert run(killed, "database", "upgrade")[1] == 0
        assert count_documents(killed) == before
        is_in_order(killed, [])


def copy_of(settings: Settings, path: Path) -> Settings:
    """The same site in another file."""
    database = Database(settings.database_url)
    with database.engine.connect() as connection:
        connection.exec_driver_sql(f"VACUUM INTO '{path}'")
    database.close()
    return Settings(secret_key=settings.secret_key, database_url=f"sqlite:///{path}")
