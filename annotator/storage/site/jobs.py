"""The queue of long jobs for workers, and their uploaded files, stored in parts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, ScalarSelect, and_, delete, func, insert, or_, select, tuple_, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session, aliased

from annotator.errors import BusyError, ConflictError
from annotator.storage.site.bulk_insert import write_in_batches
from annotator.storage.site.database import Database
from annotator.storage.tables.jobs import FINISHED, UNFINISHED, Job, JobPart, JobState

# A running worker updates `alive_at` far more often.
SILENCE = timedelta(seconds=30)
# A job's file is stored within seconds. After this time the process that was storing it has ended.
LONGEST_ARRIVAL = timedelta(minutes=10)
ANSWERS_KEPT = timedelta(days=7)
# After this many workers crashed or failed on a job, the job itself is taken to be the cause.
MOST_FAILURES = 3
# Keys of a job's parameters, true or absent: it takes a few seconds at most; it waits for earlier jobs of its kind by
# the same person in the same collection.
SHORT = "short"
IN_ORDER = "in order"
# Likewise: its files stay for some time beside its answer, so that they need not be sent again.
KEEPS_FILES = "keeps files"
FILES_KEPT = timedelta(days=1)
# Of each person in each collection, the newest; else anybody who may check files could fill the disk.
MOST_FILES_KEPT = 10


def is_due(now: datetime) -> ColumnElement[bool]:
    """Condition: a job waits, or the heartbeat of its worker has stopped.

    A heartbeat in the future, after the clock was set back, does not count either.
    """
    silent = or_(Job.alive_at < now - SILENCE, Job.alive_at > now + SILENCE)
    return or_(Job.state == JobState.WAITING, and_(Job.state == JobState.RUNNING, silent))


def is_arriving(now: datetime) -> ColumnElement[bool]:
    """Condition: a job's file may still be in the process of being stored."""
    is_recent = Job.asked_at.between(now - LONGEST_ARRIVAL, now + LONGEST_ARRIVAL)
    return and_(Job.state == JobState.ARRIVING, is_recent)


def may_begin(now: datetime, *, only_short: bool) -> ColumnElement[bool]:
    """Condition: a worker may start a job, which is due and does not depend on an unfinished one.

    Of two files for one run the later one counts: it must not be stored before the earlier one.
    """
    earlier = aliased(Job)
    waits = (
        select(earlier.id)
        .where(
            Job.parameters[IN_ORDER].as_boolean().is_(True),
            earlier.asked_by_id == Job.asked_by_id,
            earlier.collection_id == Job.collection_id,
            earlier.kind == Job.kind,
            earlier.id < Job.id,
            earlier.state.in_(UNFINISHED),
        )
        .correlate(Job)
        .exists()
    )
    wanted = [Job.parameters[SHORT].as_boolean().is_(True)] if only_short else []
    return and_(is_due(now), *wanted, ~waits)


def next_due(session: Session, now: datetime, *, only_short: bool = False) -> Job | None:
    """The next job to start, locked; concurrent workers skip it.

    Round robin by account: the oldest job of the account whose last start is longest ago. Jobs that nobody requested,
    as at night, take turns like those of one account.
    """
    other = aliased(Job)
    last = (
        select(func.max(other.started_at))
        .where(other.asked_by_id.is_not_distinct_from(Job.asked_by_id), other.id != Job.id)
        .correlate(Job)
        .scalar_subquery()
    )
    return session.scalars(
        select(Job)
        .where(may_begin(now, only_short=only_short))
        .order_by(last.asc().nulls_first(), Job.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    ).one_or_none()


def jobs_before(session: Session, job: Job) -> int:
    """Upper bound of the number of jobs that run before this one, with accounts taking turns.

    A worker for short jobs only may start a short job earlier, which cannot be known here.
    """
    rows = session.execute(
        select(Job.asked_by_id, func.count(), func.count().filter(Job.id < job.id))
        .where(Job.state.in_(UNFINISHED))
        .group_by(Job.asked_by_id)
    ).all()
    own = next((earlier for asker, _, earlier in rows if asker == job.asked_by_id), 0)
    return own + sum(min(count, own + 1) for asker, count, _ in rows if asker != job.asked_by_id)


PART_BYTES = 1 << 20
PARTS_AT_ONCE = 500
WAITS = {"state": JobState.WAITING}


def store_job(
    database: Database,
    ask: Callable[[Session], int],
    parts: Iterable[bytes],
    *,
    values: Mapping[str, object] = WAITS,
) -> int:
    """Store a job with its file, and return its id; workers and pages see it only when complete.

    It then waits, or has other `values`. `ask` inserts the job in state ARRIVING and returns its id. On failure the
    job is removed, now or by the worker. Raises what `ask` does, `BusyError`, and `ConflictError` when the job was
    removed because storing took too long.
    """
    preparing = database.preparing()
    with preparing.transaction() as session:
        id_ = ask(session)

    def store(session: Session, some: Sequence[tuple[int, bytes]]) -> None:
        _refuse_unless_arriving(session, id_)
        session.execute(insert(JobPart), [{"job_id": id_, "number": number, "content": part} for number, part in some])

    try:
        write_in_batches(preparing, enumerate(parts), store, weigh=lambda one: len(one[1]))
        with database.transaction() as session:
            _refuse_unless_arriving(session, id_)
            session.execute(update(Job).where(Job.id == id_).values(**values))
    except BaseException:
        with suppress(BusyError, DBAPIError):
            _remove(preparing, Job.id == id_)
            with preparing.transaction() as session:
                session.execute(delete(Job).where(Job.id == id_, Job.state == JobState.ARRIVING))
        raise
    return id_


def file_of_job(session: Session, job_id: int) -> bytes:
    """The uploaded file of a job; empty without one."""
    parts = select(JobPart.content).where(JobPart.job_id == job_id).order_by(JobPart.number)
    return b"".join(session.scalars(parts))


def remove_unneeded(database: Database, *, now: datetime) -> None:
    """Delete the files of finished jobs, and jobs whose upload was interrupted.

    The file of a job that failed repeatedly is kept as long as the job, for diagnosis, and that of a check for a day,
    unless the person has checked other files several times since.
    """
    is_kept = or_(
        and_(Job.failures >= MOST_FAILURES, Job.finished_at >= now - ANSWERS_KEPT),
        and_(_keeps_files(Job), Job.finished_at >= now - FILES_KEPT, _newer_that_keep_files() < MOST_FILES_KEPT),
    )
    is_abandoned = and_(Job.state == JobState.ARRIVING, ~is_arriving(now))
    _remove(database, or_(and_(Job.state.in_(FINISHED), ~is_kept), is_abandoned))
    with database.reading() as session:
        ids = session.scalars(select(Job.id).where(is_abandoned)).all()
    if ids:
        with database.transaction() as session:
            session.execute(delete(Job).where(Job.id.in_(ids), Job.state == JobState.ARRIVING))


def _keeps_files(job: type[Job]) -> ColumnElement[bool]:
    return and_(job.parameters[KEEPS_FILES].as_boolean().is_(True), job.output.is_not(None))


def _newer_that_keep_files() -> ScalarSelect[int]:
    """How many later jobs of the same person in the same collection keep their files."""
    later = aliased(Job)
    is_later = and_(later.asked_by_id == Job.asked_by_id, later.collection_id == Job.collection_id, later.id > Job.id)
    return select(func.count()).select_from(later).where(is_later, _keeps_files(later)).correlate(Job).scalar_subquery()


def _remove(database: Database, condition: ColumnElement[bool]) -> None:
    """Delete the parts of these jobs in batches, looked up outside the write lock."""
    wanted = select(JobPart.job_id, JobPart.number).join(Job).where(condition).limit(PARTS_AT_ONCE)

    def remove(session: Session, some: Sequence[tuple[int, int]]) -> None:
        session.execute(delete(JobPart).where(tuple_(JobPart.job_id, JobPart.number).in_(some)))

    while True:
        with database.reading() as session:
            found = [(job_id, number) for job_id, number in session.execute(wanted)]
        if not found:
            return
        write_in_batches(database, found, remove, weigh=lambda _: PART_BYTES)


def _refuse_unless_arriving(session: Session, id_: int) -> None:
    """Lock a job against removal until the transaction ends; raises `ConflictError` when it was removed."""
    wanted = select(Job.id).where(Job.id == id_, Job.state == JobState.ARRIVING).with_for_update()
    if session.scalar(wanted) is None:
        raise ConflictError("The file took too long to be stored. Nothing was stored: send it again.")
