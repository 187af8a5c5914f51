"""Jobs: ask for one, see how far it is, call it off; and for who works on them, take one and say what came of it."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import CursorResult, delete, func, or_, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.storage import IN_FORCE, Job, JobState, RankedList, Run, User
from annotator.storage.collections.collection import find_collection
from annotator.storage.site.jobs import ANSWERS_KEPT, MOST_FAILURES, is_arriving, jobs_before, may_begin, next_due
from annotator.storage.tables.jobs import FINISHED, UNFINISHED

# Why a job failed that no view has answered.
GIVEN_UP = "given up"
FAULT = "fault"
# Each may hold files as large as an upload may be.
MOST_UNFINISHED = 5
JOBS_A_PAGE = 100
LOG = logging.getLogger("annotator.worker")


class JobLostError(Exception):
    """The job is somebody else's by now, or was called off: what was to be stored for it must not be."""


@dataclass(frozen=True)
class TakenJob:
    """A job in a worker's hands; the attempt tells it from an earlier worker's."""

    id: int
    attempt: int
    collection_id: int | None
    asked_by_id: int | None
    asked_at: datetime
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class JobView:
    """A job as its page shows it; `before` counts those that are to be done first."""

    id: int
    kind: str
    state: JobState
    asked_by: str | None
    asked_at: datetime
    steps_done: int
    steps: int
    started_at: datetime | None
    finished_at: datetime | None
    result: Mapping[str, Any]
    parameters: Mapping[str, Any]
    before: int = 0

    @property
    def finished(self) -> bool:
        """Whether nothing will happen to it any more."""
        return self.state in FINISHED


@dataclass(frozen=True)
class JobsPage:
    """The newest jobs of how many; `older` is where the next page begins, None on the last."""

    jobs: tuple[JobView, ...]
    total: int
    older: int | None


@dataclass(frozen=True)
class Outcome:
    """What came of a job: its last state, what to tell of it, and the answer itself."""

    state: JobState
    result: dict[str, Any] = field(default_factory=dict)
    output: bytes | None = None


def ask_job(
    session: Session,
    slug: str,
    *,
    kind: str,
    parameters: Mapping[str, Any],
    by_id: int,
    at: datetime,
    has_file: bool = False,
) -> int:
    """Ask for work of a kind to be done for a collection, and return the job's id; one that has a file waits for it.

    Raises `ConflictError` when this person waits for much already.
    """
    # Who asks for two things at once is counted twice, one after the other.
    session.execute(select(User.id).where(User.id == by_id).with_for_update(key_share=True))
    is_unfinished = or_(Job.state.in_(UNFINISHED), is_arriving(at))
    waiting = session.scalar(select(func.count()).where(Job.asked_by_id == by_id, is_unfinished)) or 0
    if waiting >= MOST_UNFINISHED:
        raise ConflictError("You are waiting for %(count)d jobs already. Send this when they are done.", count=waiting)
    job = Job(kind=kind, collection_id=find_collection(session, slug).id, asked_by_id=by_id, asked_at=at)
    job.parameters, job.result = dict(parameters), {}
    job.state = JobState.ARRIVING if has_file else JobState.WAITING
    session.add(job)
    session.flush()
    return job.id


def page_of_jobs(
    session: Session, slug: str, *, by_id: int | None = None, before: int | None = None, most: int = JOBS_A_PAGE
) -> JobsPage:
    """The newest jobs of a collection, from the one before that id; with `by_id` those that this person asked for."""
    asked = [Job.collection_id == find_collection(session, slug).id, *_seen_by(by_id)]
    total = session.scalar(select(func.count()).where(*asked)) or 0
    older_than = [] if before is None else [Job.id < before]
    rows = session.execute(
        select(Job, User.name)
        .outerjoin(User, User.id == Job.asked_by_id)
        .where(*asked, *older_than)
        .order_by(Job.id.desc())
        .limit(most + 1)
    )
    views = tuple(_view(job, name) for job, name in rows)
    return JobsPage(views[:most], total, views[most - 1].id if len(views) > most else None)


def show_job(session: Session, slug: str, id_: int, *, by_id: int | None = None) -> JobView:
    """One job; `NotFoundError` when the collection has none of that id, or somebody else than `by_id` asked for it."""
    job = _found(session, slug, id_, by_id)
    name = session.scalar(select(User.name).where(User.id == job.asked_by_id))
    return _view(job, name, jobs_before(session, job))


def job_answer(session: Session, slug: str, id_: int, *, by_id: int | None = None) -> bytes:
    """What a finished job answers with; raises what `show_job` does, and when nothing is kept of it."""
    _found(session, slug, id_, by_id)
    output = session.scalar(select(Job.output).where(Job.id == id_))
    if output is None:
        raise NotFoundError("The result is no longer stored. Request it again.")
    return output


def last_answer(session: Session, slug: str, *, by_id: int, target: str) -> JobView | None:
    """The newest job that answers what this person asks for at this address, None when there is none."""
    row = session.execute(
        select(Job, User.name)
        .join(User, User.id == Job.asked_by_id)
        .where(
            Job.collection_id == find_collection(session, slug).id,
            Job.asked_by_id == by_id,
            Job.state == JobState.DONE,
            Job.parameters["target"].as_string() == target,
        )
        .order_by(Job.id.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else _view(*row)


def cancel_job(session: Session, slug: str, id_: int, *, at: datetime, by_id: int | None = None) -> None:
    """Call a job off: nothing will be stored for it. `ConflictError` when it has finished."""
    _found(session, slug, id_, by_id)
    # One statement, as its worker may store what came of it at this very moment.
    unfinished = update(Job).where(Job.id == id_, Job.state.in_(UNFINISHED))
    called_off = unfinished.values(state=JobState.CANCELLED, finished_at=at).returning(Job.id)
    if session.scalar(called_off) is None:
        raise ConflictError("This has finished already and can no longer be cancelled.")


def has_due(session: Session, *, now: datetime, only_short: bool = False) -> bool:
    """Whether anything is to be begun, or any short job; looking costs no lock."""
    return session.scalar(select(Job.id).where(may_begin(now, only_short=only_short)).limit(1)) is not None


def take_job(session: Session, *, now: datetime, only_short: bool = False) -> TakenJob | None:
    """Take the oldest job, or short job, that waits, or whose worker fell silent; None when there is none.

    One that lost its workers again and again fails instead; what was sent with it is kept as long as answers are.
    """
    while (job := next_due(session, now, only_short=only_short)) is not None:
        if job.state == JobState.RUNNING:
            job.failures += 1
        if job.failures < MOST_FAILURES:
            break
        job.state, job.finished_at, job.result = JobState.FAILED, now, {"reason": GIVEN_UP}
        LOG.error("The worker gives up job %d: %d workers were lost or failed at it.", job.id, job.failures)
        session.flush()
    if job is None:
        return None
    job.state, job.attempts, job.alive_at = JobState.RUNNING, job.attempts + 1, now
    job.started_at, job.steps_done, job.steps = now, 0, 0
    return TakenJob(
        id=job.id,
        attempt=job.attempts,
        collection_id=job.collection_id,
        asked_by_id=job.asked_by_id,
        asked_at=job.asked_at,
        parameters=job.parameters,
    )


def note_progress(session: Session, taken: TakenJob, *, now: datetime, done: int, steps: int) -> None:
    """Say how far a job is; raises `JobLostError`."""
    _change(session, taken, alive_at=now, steps_done=done, steps=steps)


def keep_alive(session: Session, taken: TakenJob, *, now: datetime) -> None:
    """Say that somebody is at work on a job; raises `JobLostError`."""
    _change(session, taken, alive_at=now)


def confirm_job(session: Session, taken: TakenJob, *, now: datetime) -> None:
    """Call a job done in the very transaction that stores what it is about, so that it is stored once.

    Raises `JobLostError`, which undoes that transaction.
    """
    _change(session, taken, state=JobState.DONE, finished_at=now)


def finish_job(session: Session, taken: TakenJob, outcome: Outcome, *, now: datetime) -> None:
    """Keep what came of a job, whose file is needed no more. Raises `JobLostError`."""
    _change(session, taken, state=outcome.state, finished_at=now, result=outcome.result, output=outcome.output)


def put_back(session: Session, taken: TakenJob, *, has_failed: bool = False) -> None:
    """Leave a job to the next worker, unless it is done; raises `JobLostError`.

    Only a failure counts against the job: no worker that was told to end, and no database that was busy.
    """
    failures = Job.failures + 1 if has_failed else Job.failures
    _change(session, taken, only=(JobState.RUNNING,), state=JobState.WAITING, alive_at=None, failures=failures)


def forget_answers(session: Session, *, now: datetime) -> None:
    """Delete what came of jobs long ago, which has been read or never will be."""
    session.execute(delete(Job).where(Job.state.in_(FINISHED), Job.finished_at < now - ANSWERS_KEPT))


def count_jobs(session: Session) -> dict[JobState, int]:
    """How many jobs there are in each state, of all collections."""
    rows = session.execute(select(Job.state, func.count()).group_by(Job.state))
    return dict.fromkeys(JobState, 0) | {JobState(state): count for state, count in rows}


def count_ranked_lists(session: Session, slug: str) -> int:
    """How many ranked lists the runs in force have: what most reports take their time by."""
    found = find_collection(session, slug)
    lists = select(func.count()).select_from(RankedList).join(Run, Run.id == RankedList.run_id)
    return session.scalar(lists.where(Run.collection_id == found.id, IN_FORCE)) or 0


def _found(session: Session, slug: str, id_: int, by_id: int | None) -> Job:
    collection = find_collection(session, slug)
    job = session.scalar(select(Job).where(Job.id == id_, Job.collection_id == collection.id, *_seen_by(by_id)))
    if job is None:
        raise NotFoundError("There is no such job.")
    return job


def _seen_by(by_id: int | None) -> list[Any]:
    """What a job must be to be seen at all, and by this person."""
    return [Job.state != JobState.ARRIVING, *([] if by_id is None else [Job.asked_by_id == by_id])]


def _view(job: Job, asked_by: str | None, before: int = 0) -> JobView:
    return JobView(
        id=job.id,
        kind=job.kind,
        state=JobState(job.state),
        asked_by=asked_by,
        asked_at=job.asked_at,
        steps_done=job.steps_done,
        steps=job.steps,
        started_at=job.started_at,
        finished_at=job.finished_at,
        result=job.result,
        parameters=job.parameters,
        before=before,
    )


def _change(session: Session, taken: TakenJob, *, only: tuple[JobState, ...] = (), **values: object) -> None:
    """Change a job that is still this worker's: running, or done by the worker's own transaction."""
    states = only or (JobState.RUNNING, JobState.DONE)
    changed = session.execute(
        update(Job).where(Job.id == taken.id, Job.attempts == taken.attempt, Job.state.in_(states)).values(**values),
        execution_options={"synchronize_session": False},
    )
    if isinstance(changed, CursorResult) and changed.rowcount != 1:
        raise JobLostError
