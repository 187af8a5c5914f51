"""Two workers at one database: one takes any job, the other only short ones, and no job is taken twice."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from build import NOW, SLUG, user
from sqlalchemy import select, update
from visiting import file
from worker.at_work import GOOD, N, Visit, job_of, runs_called, settings_of, state, work
from worker.test_worker_process import ANNOTATOR, SECONDS, wait_until

from annotator.storage import Database, Job, JobState, User
from annotator.storage.site.jobs import IN_ORDER, SHORT
from annotator.web.site import background
from annotator.web.site.background import JobKind
from annotator.worker.working import Worker
from annotator.workflows.site import jobs
from annotator.workflows.site.jobs import TakenJob

SHORT_AND_ORDERED = {SHORT: True, IN_ORDER: True}
# A worker as ever, whose jobs wait for a file: it says that it waits by another one.
HELD = """
import sys, time
from pathlib import Path
from annotator.cli import main
from annotator.worker.answering import Answering
begun, go_on = map(Path, sys.argv[1:3])
answer = Answering.answer
def held(*given):
    begun.touch()
    while not go_on.exists():
        time.sleep(0.01)
    return answer(*given)
Answering.answer = held
sys.argv[1:] = ["worker", "--once"]
main(prog_name="annotator")
"""


def ask(database: Database, name: str, kind: str, **marks: bool) -> int:
    with database.transaction() as session:
        known = session.scalar(select(User.id).where(User.name == name))
        by_id = known if known is not None else user(session, name)
        return jobs.ask_job(session, SLUG, kind=kind, parameters=marks, by_id=by_id, at=NOW)


def take(database: Database, *, only_short: bool = False) -> int | None:
    """The id of the job that is taken, if one is."""
    now = datetime.now(UTC)
    with database.reading() as session:
        is_due = jobs.has_due(session, now=now, only_short=only_short)
    with database.transaction() as session:
        taken = jobs.take_job(session, now=now, only_short=only_short)
    assert (taken is not None) == is_due
    return None if taken is None else taken.id


def end(database: Database, id_: int) -> None:
    with database.transaction() as session:
        session.execute(update(Job).where(Job.id == id_).values(state=JobState.DONE))


def test_a_worker_for_short_jobs_passes_over_the_others(news: Database) -> None:
    long = ask(news, "ola", "click_logs.add")
    short = ask(news, "pat", "runs.check", **{SHORT: True})
    assert [take(news, only_short=True), take(news, only_short=True)] == [short, None]
    assert [take(news), take(news)] == [long, None]


def test_a_short_job_is_taken_while_a_long_one_runs(news: Database) -> None:
    long = ask(news, "ola", "click_logs.add")
    assert take(news) == long
    longer = ask(news, "ola", "report.file")
    short = ask(news, "ola", "runs.check", **{SHORT: True})
    assert take(news, only_short=True) == short
    assert take(news) == longer


def test_the_worker_for_any_job_takes_short_ones_as_well(news: Database) -> None:
    short = ask(news, "pat", "runs.check", **{SHORT: True})
    assert [take(news), take(news, only_short=True)] == [short, None]


def test_senders_take_turns_among_short_jobs_too(news: Database) -> None:
    first, second = [ask(news, "ola", "runs.check", **{SHORT: True}) for _ in range(2)]
    other = ask(news, "pat", "runs.check", **{SHORT: True})
    assert [take(news, only_short=True) for _ in range(3)] == [first, other, second]


@pytest.mark.parametrize("only_short", [True, False])
def test_a_later_import_of_the_same_kind_waits_for_the_earlier_one(news: Database, *, only_short: bool) -> None:
    """Of two files for one run the later one counts."""
    earlier = ask(news, "pat", "runs.upload", **{IN_ORDER: True})
    assert take(news) == earlier
    later_one = ask(news, "pat", "runs.upload", **SHORT_AND_ORDERED)
    other_kind = ask(news, "pat", "topics.add", **SHORT_AND_ORDERED)
    others = ask(news, "ola", "runs.upload", **SHORT_AND_ORDERED)
    taken = {take(news, only_short=only_short) for _ in range(3)}
    assert taken == {other_kind, others, None}
    end(news, earlier)
    assert take(news, only_short=only_short) == later_one


def test_of_many_workers_at_once_each_job_goes_to_one(news: Database) -> None:
    names = [f"p{number}" for number in range(6)]
    asked = {
        ask(news, name, kind, **given)
        for name in names
        for kind, given in (("runs.check", {SHORT: True}), ("runs.upload", SHORT_AND_ORDERED), ("report.file", {}))
    }
    together = threading.Barrier(6)

    def take_all(*, only_short: bool) -> list[int]:
        taken = []
        while (found := taken_now(only_short=only_short)) is not None:
            taken.append(found.id)
        return taken

    def taken_now(*, only_short: bool) -> TakenJob | None:
        with news.transaction() as session:
            return jobs.take_job(session, now=datetime.now(UTC), only_short=only_short)

    def at_once(*, only_short: bool) -> list[int]:
        together.wait()
        return take_all(only_short=only_short)

    with ThreadPoolExecutor(together.parties) as threads:
        futures = [threads.submit(at_once, only_short=number % 2 == 0) for number in range(together.parties)]
        taken = [id_ for future in futures for id_ in future.result()]
    # One that another worker holds at this moment is passed over, even when that one ends without it.
    assert sorted([*taken, *take_all(only_short=False)]) == sorted(asked)


def test_small_files_are_asked_for_as_short_jobs(visit: Visit, news: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    ola = visit("ola")
    job_of(ola.post(f"{N}/runs/check", files=file("gamma.run", GOOD)))
    job_of(ola.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    monkeypatch.setitem(background.KINDS, "runs.upload", JobKind("Import of runs", len(GOOD) - 1))
    job_of(ola.post(f"{N}/runs", files=file("delta.run", GOOD)))
    job_of(ola.post(f"{N}/jobs", page=f"{N}/report.html"))
    with news.reading() as session:
        marked = [
            (SHORT in asked, IN_ORDER in asked) for asked in session.scalars(select(Job.parameters).order_by(Job.id))
        ]
    assert marked == [(True, False), (True, True), (False, True), (False, False)]


def test_a_worker_for_short_jobs_does_them_and_nothing_else(
    visit: Visit, news: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ola = visit("ola")
    job_of(ola.post(f"{N}/jobs", page=f"{N}/report.html"))
    job_of(ola.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    monkeypatch.setattr(jobs, "forget_answers", lambda *_, **__: pytest.fail("it cleans"))
    Worker(settings_of(news), only_short=True).work(only_what_waits=True)
    assert (runs_called(news, "gamma"), state(news)) == (1, [JobState.WAITING, JobState.DONE])
    monkeypatch.undo()
    work(news)
    assert state(news) == [JobState.DONE, JobState.DONE]


def test_a_short_job_ends_while_a_long_one_is_at_work(visit: Visit, news: Database, tmp_path: Path) -> None:
    begun, go_on = tmp_path / "begun", tmp_path / "go on"
    job_of(visit("ola").post(f"{N}/jobs", page=f"{N}/report.html"))
    with process([sys.executable, "-c", HELD, str(begun), str(go_on)], news) as any_job:
        wait_until(begun.exists)
        job_of(visit("pat").post(f"{N}/runs", files=file("gamma.run", GOOD)))
        with process([*ANNOTATOR, "worker", "--short", "--once"], news) as short:
            assert short.wait(SECONDS) == 0
        assert (runs_called(news, "gamma"), state(news)) == (1, [JobState.RUNNING, JobState.DONE])
        assert any_job.poll() is None
        go_on.touch()
        assert any_job.wait(SECONDS) == 0
    assert state(news) == [JobState.DONE, JobState.DONE]


@contextmanager
def process(command: Sequence[str], database: Database) -> Iterator[subprocess.Popen[bytes]]:
    """A process that works at a database, for as long as the block lasts at most."""
    environment = {**os.environ, **settings_of(database).to_environment()}
    started = subprocess.Popen(command, env=environment)  # noqa: S603 - our own command
    try:
        yield started
    finally:
        started.kill()
        started.wait()
