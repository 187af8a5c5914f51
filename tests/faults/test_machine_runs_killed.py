"""A worker is killed while it runs a machine judge: nothing stored is requested twice, nothing lost or miscounted."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from build import SECRET_KEY, document_file, news, pool, run, topic_file
from faults.length import times
from local_server import HOST
from machine_judging import add, grades, last, release, settings_for, start
from model_server import KEY, VARIABLE, ModelServer
from sqlalchemy import select

from annotator.storage import Database, Document, MachineResponse, MachineRunState

KILLS = times(1, 20)
DOCUMENTS = 40 + 20 * KILLS
PARALLEL = 4
LONGEST_WAIT = 60.0


@pytest.fixture(autouse=True)
def pooled(sqlite_database: Database) -> None:
    docnos = [f"d{number:04}" for number in range(DOCUMENTS)]
    with sqlite_database.transaction() as session:
        news(session)
        topic_file(session)
        document_file(session, docnos)
        run(session, "alpha", {"1": docnos[::2], "2": docnos[1::2]})
        pool(session, depth=DOCUMENTS)


@contextmanager
def worker(database: Database) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of its own process, which is killed at the end of the block."""
    environment = {
        **os.environ,
        "ANNOTATOR_DATABASE_URL": database.engine.url.render_as_string(hide_password=False),
        "ANNOTATOR_SECRET_KEY": SECRET_KEY,
        "ANNOTATOR_OUTGOING_HOSTS": HOST,
        "ANNOTATOR_MODEL_KEYS": f"{HOST}=env:{VARIABLE}",
        VARIABLE: KEY,
    }
    command = [sys.executable, "-m", "annotator", "worker"]
    with subprocess.Popen(  # noqa: S603 - our own command
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_requests(server: ModelServer, count: int) -> None:
    """Wait until so many requests have come in all."""
    ends = time.monotonic() + LONGEST_WAIT
    while sum(server.asked.values()) < count:
        assert time.monotonic() < ends
        time.sleep(0.01)


def stored_texts(database: Database) -> set[str]:
    """The texts of the documents whose responses are stored."""
    with database.reading() as session:
        return {body or "" for body in session.scalars(select(Document.body).join(MachineResponse))}


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_goes_on_where_its_worker_was_killed(
    sqlite_database: Database, model_server: ModelServer, ending: signal.Signals
) -> None:
    model_server.seconds = 0.03
    model_server.grades = {"Text of d0007.": "2", "Text of d0008.": "?"}
    add(sqlite_database, settings_for(model_server, parallel=PARALLEL))
    start(sqlite_database)
    for _ in range(KILLS):
        with worker(sqlite_database) as process:
            wait_for_requests(model_server, sum(model_server.asked.values()) + 12)
            process.send_signal(ending)
            output, _ = process.communicate()
        assert KEY.encode() not in output
        time.sleep(5 * model_server.seconds)  # what was on its way has been answered
        release(sqlite_database)
        stored, asked = stored_texts(sqlite_database), model_server.texts
        seen = last(sqlite_database)
        assert (seen.requests, seen.used.total) == (len(stored), 102 * len(stored))
        with worker(sqlite_database) as process:
            wait_for_requests(model_server, sum(asked.values()) + 8)
        release(sqlite_database)
        assert {text: model_server.texts[text] for text in stored} == {text: asked[text] for text in stored}
    model_server.seconds = 0
    with worker(sqlite_database):
        ends = time.monotonic() + LONGEST_WAIT
        while last(sqlite_database).state is MachineRunState.RUNNING:
            assert time.monotonic() < ends
            time.sleep(0.1)
    seen = last(sqlite_database)
    assert (seen.state, seen.labelled, seen.without_grade, seen.failed) == (MachineRunState.DONE, DOCUMENTS - 1, 1, 0)
    assert (seen.requests, seen.used.total, seen.stored) == (DOCUMENTS, 102 * DOCUMENTS, 0)
    labelled = grades(sqlite_database)
    assert (len(labelled), labelled["2", "d0007"]) == (DOCUMENTS - 1, 2)
    # Only what was on its way when a worker was killed was sent again.
    assert sum(model_server.asked.values()) <= DOCUMENTS + 2 * KILLS * PARALLEL
    assert len(model_server.asked) == DOCUMENTS
