"""Long jobs that a process of their own does, one after the other, while the pages show how far it is."""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from annotator.storage.tables.jobs import UNFINISHED, Job, JobState

# A worker says that it is alive much more often than that.
SILENCE = timedelta(seconds=30)
# The file of a job is stored within seconds. After so long the process that stored it is gone.
LONGEST_ARRIVAL = timedelta(minutes=10)
ANSWERS_KEPT = timedelta(days=7)
# After so many workers were lost in the middle of it, or failed at it, the job itself is taken to be the reason.
MOST_FAILURES = 3
# In a job's parameters, true or absent: whether it takes a few seconds at most, and whether it waits for the earlier
# jobs of its kind that the same person sent to the same collection.
SHORT = "short"
IN_ORDER = "in order"


def is_due(now: datetime) -> ColumnElement[bool]:
    """Whether a job is to be begun: it waits, or whoever was at it fell silent.

    A clock that was set back leaves moments that are yet to come; whoever set them is no sign of life either.
    """
    silent = or_(Job.alive_at < now - SILENCE, Job.alive_at > now + SILENCE)
    return or_(Job.state == JobState.WAITING, and_(Job.state == JobState.RUNNING, silent))


def is_arriving(now: datetime) -> ColumnElement[bool]:
    """Whether the file of a job is still being stored, as far as anybody can tell."""
    is_recent = Job.asked_at.between(now - LONGEST_ARRIVAL, now + LONGEST_ARRIVAL)
    return and_(Job.state == JobState.ARRIVING, is_recent)


def may_begin(now: datetime, *, only_short: bool) -> ColumnElement[bool]:
    """Whether a worker may begin a job: it is due, and no job that it has to wait for is unfinished.

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
    """The job that is to be begun next, locked; another worker that looks for one at this moment passes over it.

    Those who ask take turns: first comes the oldest job of whoever had none begun for longest.
    """
    other = aliased(Job)
    last = (
        select(func.max(other.started_at))
        .where(other.asked_by_id == Job.asked_by_id, other.id != Job.id)
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
    """How many jobs are done before this one at most: those who ask take turns.

    A short job waits for short ones alone where a worker takes nothing else, which nobody can tell from here.
    """
    rows = session.execute(
        select(Job.asked_by_id, func.count(), func.count().filter(Job.id < job.id))
        .where(Job.state.in_(UNFINISHED))
        .group_by(Job.asked_by_id)
    ).all()
    own = next((earlier for asker, _, earlier in rows if asker == job.asked_by_id), 0)
    return own + sum(min(count, own + 1) for asker, count, _ in rows if asker != job.asked_by_id)
