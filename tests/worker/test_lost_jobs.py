"""Jobs that are called off, lost to another worker, begun too often, or forgotten."""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from build import NOW, SLUG
from sqlalchemy import insert, select, update
from sqlalchemy.exc import OperationalError
from visiting import Visitor, file, words
from worker.at_work import GOOD, N, Visit, job_of, runs_called, settings_of, state, work

from annotator.errors import BusyError, ConflictError
from annotator.storage import Database, Job, JobState, User
from annotator.storage.site.jobs import MOST_FAILURES, SILENCE, file_of_job
from annotator.worker.answering import Answering
from annotator.workflows.site import jobs
from annotator.workflows.site.jobs import JobLostError, Outcome, TakenJob


def test_what_is_called_off_stores_nothing(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    assert ola.post(f"{page}/cancel").status_code == 303
    work(news)
    assert "Cancelled." in words(ola.get(page))
    assert runs_called(news, "gamma") == 0
    assert ola.post(f"{page}/cancel").status_code == 409


def test_nobody_waits_for_more_than_a_few(visit: Visit) -> None:
    ola = visit("ola")
    for _ in range(jobs.MOST_UNFINISHED):
        job_of(ola.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    refused = ola.post(f"{N}/runs", files=file("gamma.run", GOOD))
    assert (refused.status_code, "You are waiting for 5 jobs already." in words(refused)) == (409, True)


def take(database: Database, now: datetime) -> TakenJob | None:
    with database.transaction() as session:
        return jobs.take_job(session, now=now)


def called_off(ola: Visitor, page: str) -> None:
    ola.post(f"{page}/cancel")


def test_a_job_called_off_while_it_is_answered_is_undone(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    taken = take(news, datetime.now(UTC))
    assert taken is not None
    answering = Answering(settings_of(news))
    with pytest.raises(JobLostError):
        answering.answer(taken, lambda _done, _steps: called_off(ola, page))
    answering.database.close()
    assert runs_called(news, "gamma") == 0
    assert state(news) == [JobState.CANCELLED]


def test_of_two_workers_at_one_job_the_later_stores_it(visit: Visit, news: Database) -> None:
    job_of(visit("ola").post(f"{N}/runs", files=file("gamma.run", GOOD)))
    began = datetime.now(UTC)
    slow = take(news, began)
    assert take(news, began + SILENCE) is None  # it may still be alive
    later_one = take(news, began + SILENCE + timedelta(seconds=1))
    assert slow is not None
    assert later_one is not None
    assert (slow.attempt, later_one.attempt) == (1, 2)
    answering = Answering(settings_of(news))
    with pytest.raises(JobLostError):
        answering.answer(slow, lambda *_: None)
    assert runs_called(news, "gamma") == 0
    answering.answer(later_one, lambda *_: None)
    answering.database.close()
    assert (runs_called(news, "gamma"), state(news)) == (1, [JobState.DONE])


def test_a_clock_set_back_does_not_leave_a_job_to_a_worker_that_is_gone(visit: Visit, news: Database) -> None:
    job_of(visit("ola").post(f"{N}/runs", files=file("gamma.run", GOOD)))
    now = datetime.now(UTC)
    assert take(news, now + timedelta(hours=3)) is not None
    assert take(news, now) is not None


def test_a_job_that_ends_its_workers_fails_in_the_end(
    visit: Visit, news: Database, caplog: pytest.LogCaptureFixture
) -> None:
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    now = datetime.now(UTC)
    for attempt in range(MOST_FAILURES):
        assert take(news, now + attempt * 2 * SILENCE) is not None
    assert take(news, now + MOST_FAILURES * 2 * SILENCE) is None
    assert "Something went wrong here." in words(ola.get(page))
    assert "gives up job" in caplog.text
    with news.reading() as session:
        result, kept = (
            session.scalars(select(Job.result)).one(),
            file_of_job(session, session.scalars(select(Job.id)).one()),
        )
    assert (result, kept) == ({"reason": "given up"}, GOOD)


@pytest.mark.parametrize(("has_failed", "is_left"), [(False, True), (True, False)])
def test_a_job_put_back_again_and_again_is_given_up_only_when_it_failed(
    visit: Visit, news: Database, *, has_failed: bool, is_left: bool
) -> None:
    job_of(visit("ola").post(f"{N}/runs", files=file("gamma.run", GOOD)))
    for _ in range(MOST_FAILURES):
        taken = take(news, datetime.now(UTC))
        assert taken is not None
        with news.transaction() as session:
            jobs.put_back(session, taken, has_failed=has_failed)
    assert (take(news, datetime.now(UTC)) is not None) == is_left


class StoppedError(Exception):
    """The test has seen enough."""


@pytest.mark.parametrize(
    ("trouble", "failures"),
    [(BusyError("Busy."), 0), (OperationalError("SELECT 1", {}, Exception("the connection is lost")), 1)],
)
def test_a_busy_database_is_no_failure_of_the_job(
    visit: Visit, news: Database, monkeypatch: pytest.MonkeyPatch, trouble: Exception, failures: int
) -> None:
    job_of(visit("ola").post(f"{N}/runs", files=file("gamma.run", GOOD)))

    def answer(*_: object) -> Outcome:
        raise trouble

    def stop(_: float) -> None:
        raise StoppedError

    monkeypatch.setattr(Answering, "answer", answer)
    monkeypatch.setattr(time, "sleep", stop)
    with pytest.raises(StoppedError):
        work(news)
    with news.reading() as session:
        assert session.execute(select(Job.state, Job.failures)).one() == (JobState.WAITING, failures)


def test_who_asks_for_many_things_at_once_waits_for_no_more_than_a_few(news: Database) -> None:
    with news.reading() as session:
        ola = session.scalars(select(User.id).where(User.name == "ola")).one()
    together = threading.Barrier(2 * jobs.MOST_UNFINISHED)

    def ask() -> bool:
        together.wait()
        try:
            with news.transaction() as session:
                jobs.ask_job(session, SLUG, kind="a kind", parameters={}, by_id=ola, at=NOW)
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(together.parties) as threads:
        asked = [future.result() for future in [threads.submit(ask) for _ in range(together.parties)]]
    assert asked.count(True) == jobs.MOST_UNFINISHED == len(state(news))


def test_one_that_waits_for_more_than_there_may_be_is_refused_too(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    for _ in range(jobs.MOST_UNFINISHED):
        job_of(ola.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    with news.transaction() as session:
        first = session.execute(select(Job.collection_id, Job.asked_by_id).limit(1)).one()
        more = {"kind": "k", "asked_at": NOW, "parameters": {}, "state": "waiting", "result": {}}
        session.execute(insert(Job).values(collection_id=first[0], asked_by_id=first[1], **more))
    assert ola.post(f"{N}/runs", files=file("gamma.run", GOOD)).status_code == 409


def test_jobs_come_a_hundred_at_a_time_and_the_last_answer_is_of_its_own_address(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    with news.transaction() as session:
        who = session.scalars(select(User.id).where(User.name == "ola")).one()
        for number in range(jobs.JOBS_A_PAGE + 1):
            asked = {"target": f"/{number}", "method": "GET", "roles": [], "language": "en"}
            id_ = jobs.ask_job(session, SLUG, kind="report.file", parameters=asked, by_id=who, at=NOW)
            session.execute(update(Job).where(Job.id == id_).values(state=JobState.DONE))

        def last(target: str) -> jobs.JobView | None:
            return jobs.last_answer(session, SLUG, by_id=who, target=target, language="en", roles=[])

        answer = last("/7")
        assert answer is not None
        assert answer.parameters["target"] == "/7"
        assert last("/7'") is None
    page = ola.get(f"{N}/jobs")
    assert "Jobs: 101" in words(page)
    [older] = re.findall(r'href="([^"]*before=\d+)" rel="next"', page.text)
    assert (page.text.count('<th scope="row">'), ola.get(older).text.count('<th scope="row">')) == (100, 1)
    assert 'rel="next"' not in ola.get(older).text


def test_what_came_of_jobs_is_forgotten_after_a_week(visit: Visit, news: Database) -> None:
    job_of(visit("ola").post(f"{N}/runs", files=file("bad.run", "x\n")))
    work(news)
    week = timedelta(days=7, minutes=1)
    for now, left in [(datetime.now(UTC), 1), (datetime.now(UTC) + week, 0)]:
        with news.transaction() as session:
            jobs.forget_answers(session, now=now)
        assert len(state(news)) == left


@pytest.mark.parametrize(("ago", "state"), [(timedelta(0), "running"), (timedelta(hours=1), "done")])
def test_a_page_waits_until_it_can_lead_on_unless_the_worker_was_lost(
    visit: Visit, news: Database, ago: timedelta, state: str
) -> None:
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    with news.transaction() as session:
        taken = jobs.take_job(session, now=datetime.now(UTC))
        assert taken is not None
        jobs.confirm_job(session, taken, now=datetime.now(UTC) - ago)
    found = ola.get(f"{page}.json").json
    assert found is not None
    assert found["state"] == state
    assert ("Done." in words(ola.get(page))) == (state == "done")
