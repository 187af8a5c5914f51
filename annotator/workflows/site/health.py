"""What the tables say about whether a site works: its accounts, and jobs that nobody runs."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.storage.site.jobs import is_due
from annotator.storage.tables.jobs import Job, JobState
from annotator.storage.tables.people import User

RECENTLY = timedelta(days=1)


@dataclass(frozen=True)
class SiteHealth:
    """Administrators who can sign in; jobs that wait and since when, that run, and that failed within a day."""

    administrators: int
    waiting: int
    waiting_since: datetime | None
    running: int
    failed: int


def site_health(session: Session, *, now: datetime) -> SiteHealth:
    """Count what an administrator should know of; a job whose worker has died counts as waiting."""
    administrators = select(func.count()).where(User.administrator, User.password_hash.is_not(None))
    waiting, since = session.execute(select(func.count(), func.min(Job.asked_at)).where(is_due(now))).one()
    running = select(func.count()).where(Job.state == JobState.RUNNING, ~is_due(now))
    failed = select(func.count()).where(Job.state == JobState.FAILED, Job.finished_at > now - RECENTLY)
    return SiteHealth(
        administrators=session.scalar(administrators) or 0,
        waiting=waiting,
        waiting_since=since,
        running=session.scalar(running) or 0,
        failed=session.scalar(failed) or 0,
    )
