"""Files that come with jobs are stored in parts, seen when they are whole, and removed when nobody needs them."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from build import SLUG
from sqlalchemy import func, select, update
from visiting import file, words
from worker.at_work import GOOD, N, Visit, job_of, runs_called, state, work

from annotator.errors import ConflictError
from annotator.storage import Database, Job, JobPart, JobState, User
from annotator.storage.site.jobs import LONGEST_ARRIVAL, file_of_job, store_job
from annotator.web.site import background
from annotator.workflows.site import jobs

A_MINUTE = timedelta(minutes=1)


class SenderGoneError(Exception):
    """The process that stored a file ends."""


def send(database: Database, parts: Iterator[bytes], at: datetime | None = None) -> int:
    """Ask for a job with a file."""
    with database.reading() as session:
        ola = session.scalars(select(User.id).where(User.name == "ola")).one()
    asked = {"target": f"{N}/runs", "method": "POST", "roles": []}
    when = at or datetime.now(UTC)
    ask = partial(jobs.ask_job, slug=SLUG, kind="k", parameters=asked, by_id=ola, at=when, has_file=True)
    return store_job(database, ask, parts)


def parts_with(between: Callable[[], object]) -> Iterator[bytes]:
    """Two parts, between which something happens."""
    yield b"one "
    between()
    yield b"two"


def count_parts(database: Database) -> int:
    with database.reading() as session:
        return session.scalars(select(func.count()).select_from(JobPart)).one()


def test_nobody_sees_a_job_before_its_file_is_whole(visit: Visit, news: Database) -> None:
    ola = visit("ola")

    def look() -> None:
        assert state(news) == [JobState.ARRIVING]
        assert "Long imports and computations will be listed here" in words(ola.get(f"{N}/jobs"))
        assert [ola.get(f"{N}/jobs/1").status_code, ola.post(f"{N}/jobs/1/cancel").status_code] == [404, 404]
        with news.transaction() as session:
            assert not jobs.has_due(session, now=datetime.now(UTC))
            assert jobs.take_job(session, now=datetime.now(UTC)) is None
        work(news)

    id_ = send(news, parts_with(look))
    assert state(news) == [JobState.WAITING]
    with news.reading() as session:
        assert file_of_job(session, id_) == b"one two"


def test_a_large_file_is_stored_in_parts_and_answered_whole(
    visit: Visit, news: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "PART_BYTES", 10)
    job_of(visit("ola").post(f"{N}/runs", files=file("gamma.run", GOOD)))
    assert count_parts(news) == -(-len(GOOD) // 10)
    work(news)
    assert (runs_called(news, "gamma"), count_parts(news)) == (1, 0)


def test_what_broke_off_while_it_was_stored_leaves_nothing(news: Database) -> None:
    def end() -> None:
        raise SenderGoneError

    with pytest.raises(SenderGoneError):
        send(news, parts_with(end))
    assert (state(news), count_parts(news)) == ([], 0)


@pytest.mark.parametrize(
    ("ago", "left"),
    [(LONGEST_ARRIVAL - A_MINUTE, 1), (LONGEST_ARRIVAL + A_MINUTE, 0), (-LONGEST_ARRIVAL - A_MINUTE, 0)],
)
def test_a_job_whose_sender_was_killed_is_removed_after_a_while(news: Database, ago: timedelta, left: int) -> None:
    id_ = send(news, iter([b"one", b"two"]))
    with news.transaction() as session:
        asked_at = datetime.now(UTC) - ago
        session.execute(update(Job).where(Job.id == id_).values(state=JobState.ARRIVING, asked_at=asked_at))
    work(news)
    assert (state(news), count_parts(news) > 0) == ([JobState.ARRIVING] * left, left > 0)


def test_a_file_that_took_too_long_is_refused(news: Database) -> None:
    def meanwhile() -> None:
        with news.transaction() as session:
            session.execute(update(Job).values(asked_at=datetime.now(UTC) - LONGEST_ARRIVAL - A_MINUTE))
        work(news)

    with pytest.raises(ConflictError, match="took too long"):
        send(news, parts_with(meanwhile))
    assert (state(news), count_parts(news)) == ([], 0)


def test_files_that_are_still_stored_count_as_jobs_of_their_sender(news: Database) -> None:
    def send_another(left: int) -> None:
        if left:
            send(news, parts_with(partial(send_another, left - 1)))

    with pytest.raises(ConflictError, match="waiting for 5 jobs already"):
        send_another(jobs.MOST_UNFINISHED + 1)
    assert state(news) == []


def test_the_file_of_a_job_that_was_called_off_is_removed(visit: Visit, news: Database) -> None:
    ola = visit("ola")
    page = job_of(ola.post(f"{N}/runs", files=file("gamma.run", GOOD)))
    ola.post(f"{page}/cancel")
    work(news)
    assert (state(news), count_parts(news)) == ([JobState.CANCELLED], 0)
