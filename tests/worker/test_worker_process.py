"""The worker as a process: killed in the middle of an import, told to end, and kept running by the server."""

import gzip
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from build import SLUG, member, news
from serving import running
from sqlalchemy import func, select, update
from visiting import Visitor, application, file

from annotator.settings import Settings
from annotator.storage import Database, Document, Job, JobState, Role
from annotator.storage.site.jobs import SILENCE
from annotator.web.site import background

DOCUMENTS = 4_000
ANNOTATOR = [sys.executable, "-m", "annotator"]
SECONDS = 60


@pytest.fixture
def asked(sqlite_database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A database where a large import of documents waits for a worker."""
    monkeypatch.setattr(background, "HEAVIEST_AT_ONCE", 0)
    with sqlite_database.transaction() as session:
        news(session)
        member(session, "ola", Role.ORGANISER)
    lines = "".join(f"d{number}\tTitle\t{'some words of it ' * 20}\n" for number in range(DOCUMENTS))
    sent = file("d.tsv.gz", gzip.compress(lines.encode()))
    answer = Visitor(application(sqlite_database), sqlite_database, "ola").post(
        f"/collections/{SLUG}/documents", files=sent
    )
    assert "/jobs/" in answer.location
    return sqlite_database


def settings_of(database: Database) -> Settings:
    return Settings(secret_key="of the tests: " + "0123456789abcdef" * 2, database_url=str(database.engine.url))


@contextmanager
def worker(database: Database, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(  # noqa: S603 - our own command
        [*ANNOTATOR, "worker", *words], env=settings_of(database).to_environment(), stderr=subprocess.PIPE
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.01)


def is_reading(database: Database) -> bool:
    with database.reading() as session:
        return session.execute(select(Job.state, Job.steps)).one() == (JobState.RUNNING, 2)


def outcome(database: Database) -> tuple[JobState, int, int]:
    """The state of the job, how often it was begun, and how many documents are stored."""
    with database.reading() as session:
        state, attempts = session.execute(select(Job.state, Job.attempts)).one()
        return JobState(state), attempts, session.scalars(select(func.count(Document.id))).one()


def test_an_import_whose_worker_was_killed_is_begun_anew_and_stored_once(asked: Database) -> None:
    with worker(asked) as process:
        wait_until(lambda: is_reading(asked))
        process.kill()
        process.wait()
    assert outcome(asked) == (JobState.RUNNING, 1, 0)
    with asked.transaction() as session:
        session.execute(update(Job).values(alive_at=datetime.now(UTC) - 2 * SILENCE))
    with worker(asked, "--once") as process:
        assert process.wait(SECONDS) == 0
    assert outcome(asked) == (JobState.DONE, 2, DOCUMENTS)


def test_a_worker_that_is_told_to_end_leaves_its_job_to_the_next_at_once(asked: Database) -> None:
    with worker(asked) as process:
        wait_until(lambda: is_reading(asked))
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=SECONDS)[1] == b""
        assert process.returncode == 0
    assert outcome(asked) == (JobState.WAITING, 1, 0)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are found by /proc")
def test_the_server_keeps_two_workers_running_and_ends_them(asked: Database, tmp_path: Path) -> None:
    serve = [*ANNOTATOR, "serve", "--workers", "1"]
    with running(serve, tmp_path / "server.log", settings_of(asked).to_environment()) as server:
        pid = server.process.pid
        wait_until(lambda: set(workers_of(pid)) == {False, True})
        first = workers_of(pid)
        subprocess.run(["kill", "-9", first[True]], check=True)  # noqa: S603, S607 - a process of this test
        wait_until(lambda: workers_of(pid).get(True, first[True]) != first[True])
        # The other one goes on.
        assert workers_of(pid)[False] == first[False]
        last = workers_of(pid)
    assert [child for child in last.values() if Path(f"/proc/{child}").exists()] == []
    assert "Traceback" not in server.log.read_text()


def workers_of(pid: int) -> dict[bool, str]:
    """The processes of `annotator worker` that a process has begun, by whether they take only short jobs."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    children = [child for thread in threads for child in (thread / "children").read_text().split()]
    commands = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return {b"--short" in words: child for child, words in commands.items() if b"worker\0--parent" in words}
