"""Jobs: request, show and cancel them; for workers: take, report and finish them."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, CursorResult, and_, delete, func, or_, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.storage import IN_FORCE, Collection, Event, Job, JobState, MailKind, Membership, RankedList, Run, User
from annotator.storage.collections.collection import find_collection
from annotator.storage.leaderboard.scored_state import report_state
from annotator.storage.site.jobs import ANSWERS_KEPT, MOST_FAILURES, is_arriving, jobs_before, may_begin, next_due
from annotator.storage.site.jobs import file_of_job as stored_file
from annotator.storage.site.mail import Letter, queue_for_account
from annotator.storage.site.webhooks import announce
from annotator.storage.tables.collections import SHOWN
from annotator.storage.tables.jobs import FINISHED, UNFINISHED

# Failure reasons of jobs without an answer of their own.
GIVEN_UP = "given up"
FAULT = "fault"
# Each may hold files of the maximum upload size.
MOST_UNFINISHED = 5
JOBS_A_PAGE = 100
# After this time the person who started a job may have left the page, and gets an e-mail.
LONG_WAIT = timedelta(minutes=2)
LOG = logging.getLogger("annotator.worker")


class JobLostError(Exception):
    """The job was taken by another worker or cancelled; its results must not be stored."""


@dataclass(frozen=True)
class TakenJob:
    """A job leased to a worker; the attempt distinguishes it from an earlier worker's."""

    id: int
    attempt: int
    collection_id: int | None
    asked_by_id: int | None
    asked_at: datetime
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class JobView:
    """A job for its page; `before` counts the jobs queued ahead of it."""

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
        """Whether its state is final."""
        return self.state in FINISHED


@dataclass(frozen=True)
class JobsPage:
    """The newest jobs, and their total number; `older` is where the next page begins, None on the last page."""

    jobs: tuple[JobView, ...]
    total: int
    older: int | None


@dataclass(frozen=True)
class Outcome:
    """The result of a job: its final state, a message, and the answer."""

    state: JobState
    result: dict[str, Any] = field(default_factory=dict)
    output: bytes | None = None


def ask_job(
    session: Session,
    slug: str | None,
    *,
    kind: str,
    parameters: Mapping[str, Any],
    by_id: int,
    at: datetime,
    has_file: bool = False,
) -> int:
    """Queue a job for a collection, or without a `slug` for the site; with `has_file` it waits for its file.

    Raises `ConflictError` when this person has too many unfinished jobs.
    """
    # Serialises concurrent requests of a person, so that both are counted.
    session.execute(select(User.id).where(User.id == by_id).with_for_update(key_share=True))
    is_unfinished = or_(Job.state.in_(UNFINISHED), is_arriving(at))
    waiting = session.scalar(select(func.count()).where(Job.asked_by_id == by_id, is_unfinished)) or 0
    if waiting >= MOST_UNFINISHED:
        raise ConflictError("You are waiting for %(count)d jobs already. Send this when they are done.", count=waiting)
    job = Job(kind=kind, collection_id=_collection_id(session, slug), asked_by_id=by_id, asked_at=at)
    job.parameters, job.result = dict(parameters), {}
    job.state = JobState.ARRIVING if has_file else JobState.WAITING
    session.add(job)
    session.flush()
    return job.id


def page_of_jobs(
    session: Session, slug: str | None, *, by_id: int | None = None, before: int | None = None, most: int = JOBS_A_PAGE
) -> JobsPage:
    """The newest jobs of a collection or of the site, older than the id `before`; with `by_id` only that person's."""
    views = list_jobs(session, slug, by_id=by_id, before=before, most=most + 1)
    older = views[most - 1].id if len(views) > most else None
    return JobsPage(tuple(views[:most]), number_of_jobs(session, slug, by_id=by_id), older)


def list_jobs(
    session: Session,
    slug: str | None,
    *,
    by_id: int | None = None,
    before: int | None = None,
    first: int = 0,
    most: int = JOBS_A_PAGE,
) -> list[JobView]:
    """The jobs of `page_of_jobs`, newest first, without the `first` ones."""
    older_than = [] if before is None else [Job.id < before]
    rows = session.execute(
        select(Job, User.name)
        .outerjoin(User, User.id == Job.asked_by_id)
        .where(*_listed(session, slug, by_id), *older_than)
        .order_by(Job.id.desc())
        .offset(first)
        .limit(most)
    )
    return [_view(job, name) for job, name in rows]


def number_of_jobs(session: Session, slug: str | None, *, by_id: int | None = None) -> int:
    """Count the jobs of a collection or of the site; with `by_id` only that person's."""
    return session.scalar(select(func.count()).where(*_listed(session, slug, by_id))) or 0


def show_job(session: Session, slug: str | None, id_: int, *, by_id: int | None = None) -> JobView:
    """One job of a collection, or of the site; `NotFoundError` for an unknown id or one of another than `by_id`."""
    job = _found(session, slug, id_, by_id)
    name = session.scalar(select(User.name).where(User.id == job.asked_by_id))
    return _view(job, name, jobs_before(session, job))


def job_answer(session: Session, slug: str | None, id_: int, *, by_id: int | None = None) -> bytes:
    """The result of a finished job; raises as `show_job`, and when no result is stored."""
    _found(session, slug, id_, by_id)
    output = session.scalar(select(Job.output).where(Job.id == id_))
    if output is None:
        raise NotFoundError("The result is no longer stored. Request it again.")
    return output


def collection_state(session: Session, slug: str) -> str:
    """A digest of what reports on the collection depend on."""
    return report_state(session, find_collection(session, slug)).hex()


def file_of_job(session: Session, slug: str, id_: int, *, by_id: int | None = None) -> bytes:
    """The files of a job, one after the other, while they are kept; raises as `show_job`."""
    return stored_file(session, _found(session, slug, id_, by_id).id)


def last_answer(
    session: Session, slug: str, *, by_id: int, target: str, language: str, roles: Sequence[str]
) -> JobView | None:
    """The person's newest job for this address, language and roles, unless it failed without an answer; or None."""
    rows = session.execute(
        select(Job, User.name)
        .join(User, User.id == Job.asked_by_id)
        .where(
            Job.collection_id == find_collection(session, slug).id,
            Job.asked_by_id == by_id,
            # A refusal is an answer too: else its page would be computed at every look.
            or_(
                Job.state.in_((JobState.DONE, *UNFINISHED)), and_(Job.state == JobState.FAILED, Job.output.is_not(None))
            ),
            Job.parameters["target"].as_string() == target,
            Job.parameters["language"].as_string() == language,
        )
        .order_by(Job.id.desc())
    )
    return next((_view(job, name) for job, name in rows if job.parameters["roles"] == list(roles)), None)


def cancel_job(session: Session, slug: str | None, id_: int, *, at: datetime, by_id: int | None = None) -> None:
    """Cancel a job: nothing will be stored for it. `ConflictError` when it has finished."""
    job = _found(session, slug, id_, by_id)
    # One statement, as the worker may be storing the result concurrently.
    unfinished = update(Job).where(Job.id == id_, Job.state.in_(UNFINISHED))
    called_off = unfinished.values(state=JobState.CANCELLED, finished_at=at).returning(Job.id)
    if session.scalar(called_off) is None:
        raise ConflictError("This has finished already and can no longer be cancelled.")
    _announce(session, job, JobState.CANCELLED, at=at)


def has_due(session: Session, *, now: datetime, only_short: bool = False) -> bool:
    """Whether a job, or a short one, is waiting; takes no lock."""
    return session.scalar(select(Job.id).where(may_begin(now, only_short=only_short)).limit(1)) is not None


def take_job(session: Session, *, now: datetime, only_short: bool = False) -> TakenJob | None:
    """Take the oldest waiting job, or short job, or one whose worker timed out; None when there is none.

    A job whose workers timed out repeatedly fails instead; its input is kept as long as results are.
    """
    while (job := next_due(session, now, only_short=only_short)) is not None:
        if job.state == JobState.RUNNING:
            job.failures += 1
        if job.failures < MOST_FAILURES:
            break
        job.state, job.finished_at, job.result = JobState.FAILED, now, {"reason": GIVEN_UP}
        _announce(session, job, JobState.FAILED, at=now)
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
    """Record a job's progress; raises `JobLostError`."""
    _change(session, taken, alive_at=now, steps_done=done, steps=steps)


def keep_alive(session: Session, taken: TakenJob, *, now: datetime) -> None:
    """Renew the lease of a job; raises `JobLostError`."""
    _change(session, taken, alive_at=now)


def confirm_job(session: Session, taken: TakenJob, *, now: datetime) -> None:
    """Mark a job as done in the transaction that stores its effects, so that they are stored once.

    Raises `JobLostError`, which rolls that transaction back.
    """
    _change(session, taken, state=JobState.DONE, finished_at=now)


def finish_job(session: Session, taken: TakenJob, outcome: Outcome, *, now: datetime) -> None:
    """Store the result of a job, whose file is no longer needed; raises `JobLostError`."""
    _change(session, taken, state=outcome.state, finished_at=now, result=outcome.result, output=outcome.output)
    _announce(session, session.get_one(Job, taken.id), outcome.state, at=now)


def put_back(session: Session, taken: TakenJob, *, has_failed: bool = False) -> None:
    """Return an unfinished job to the queue; raises `JobLostError`.

    Only failures count towards the limit, not a stopped worker or a busy database.
    """
    failures = Job.failures + 1 if has_failed else Job.failures
    _change(session, taken, only=(JobState.RUNNING,), state=JobState.WAITING, alive_at=None, failures=failures)


def forget_answers(session: Session, *, now: datetime) -> None:
    """Delete the results of jobs that finished long ago."""
    session.execute(delete(Job).where(Job.state.in_(FINISHED), Job.finished_at < now - ANSWERS_KEPT))


def count_jobs(session: Session) -> dict[JobState, int]:
    """The number of jobs in each state, over all collections."""
    rows = session.execute(select(Job.state, func.count()).group_by(Job.state))
    return dict.fromkeys(JobState, 0) | {JobState(state): count for state, count in rows}


def count_ranked_lists(session: Session, slug: str) -> int:
    """The number of ranked lists of the active runs, which determines the time of most reports."""
    found = find_collection(session, slug)
    lists = select(func.count()).select_from(RankedList).join(Run, Run.id == RankedList.run_id)
    return session.scalar(lists.where(Run.collection_id == found.id, IN_FORCE)) or 0


def can_open_result(session: Session, user_id: int | None, slug: str | None) -> bool:
    """Whether who asked for a job of a collection can still open its page; a job of the site has no collection."""
    if slug is None:
        return True
    is_member = select(Membership.id).where(Membership.collection_id == Collection.id, Membership.user_id == user_id)
    is_administrator = select(User.id).where(User.id == user_id, User.administrator)
    may_open = or_(is_member.exists(), is_administrator.exists())
    return session.scalar(select(Collection.id).where(Collection.slug == slug, SHOWN, may_open)) is not None


def _announce(session: Session, job: Job, state: JobState, *, at: datetime) -> None:
    """Announce the end of a job to the webhooks of its collection, and of a long one by e-mail to its owner."""
    if job.collection_id is not None:
        ended = {"job": job.id, "kind": job.kind, "state": state}
        announce(session, job.collection_id, Event.JOB_FINISHED, [ended], at=at)
    if at - job.asked_at >= LONG_WAIT and state is not JobState.CANCELLED:
        found = session.get(Collection, job.collection_id) if job.collection_id is not None else None
        place = {"title": found.title, "slug": found.slug} if found else {"title": None, "slug": None}
        content = {**place, "job": job.id, "is_done": state is JobState.DONE}
        queue_for_account(session, job.asked_by_id, Letter(MailKind.JOB, content), at=at)


def _collection_id(session: Session, slug: str | None) -> int | None:
    return None if slug is None else find_collection(session, slug).id


def _listed(session: Session, slug: str | None, by_id: int | None) -> list[ColumnElement[bool]]:
    return [Job.collection_id.is_not_distinct_from(_collection_id(session, slug)), *_seen_by(by_id)]


def _found(session: Session, slug: str | None, id_: int, by_id: int | None) -> Job:
    of_it = Job.collection_id.is_not_distinct_from(_collection_id(session, slug))
    job = session.scalar(select(Job).where(Job.id == id_, of_it, *_seen_by(by_id)))
    if job is None:
        raise NotFoundError("There is no such job.")
    return job


def _seen_by(by_id: int | None) -> list[Any]:
    """The conditions for a job to be visible, to this person if one is given."""
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
    """Update a job that this worker still holds: running, or marked as done by its own transaction."""
    states = only or (JobState.RUNNING, JobState.DONE)
    changed = session.execute(
        update(Job).where(Job.id == taken.id, Job.attempts == taken.attempt, Job.state.in_(states)).values(**values),
        execution_options={"synchronize_session": False},
    )
    if isinstance(changed, CursorResult) and changed.rowcount != 1:
        raise JobLostError
