"""Jobs that are called off, lost to another worker, begun too often, or forgotten."""

from datetime import UTC, datetime, timedelta

import pytest
from visiting import Visitor, file, words
from worker.at_work import GOOD, N, Visit, job_of, runs_called, settings_of, state, work

from annotator.storage import Database, JobState
from annotator.storage.jobs import SILENCE
from annotator.worker.answering import Answering
from annotator.workflows import jobs
from annotator.workflows.jobs import JobLostError, TakenJob


def test_what_is_called_off_stores_nothing(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    assert ola.post(f"{page}/cancel").status_code == 303
    work(news)
    assert "This was called off." in words(ola.get(page))
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


def test_a_job_that_ends_its_workers_fails_in_the_end(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    now = datetime.now(UTC)
    for attempt in range(jobs.MOST_ATTEMPTS):
        assert take(news, now + attempt * 2 * SILENCE) is not None
    assert take(news, now + jobs.MOST_ATTEMPTS * 2 * SILENCE) is None
    assert "Something went wrong here." in words(ola.get(page))


def test_what_came_of_jobs_is_forgotten_after_a_week(visit: Visit, news: Database) -> None:
    job_of(visit("ola").post(f"{N}/runs", files=file("bad.run", "x\n")))
    work(news)
    week = timedelta(days=7, minutes=1)
    for now, left in [(datetime.now(UTC), 1), (datetime.now(UTC) + week, 0)]:
        with news.transaction() as session:
            jobs.forget_answers(session, now=now)
        assert len(state(news)) == left
