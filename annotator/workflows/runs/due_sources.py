"""Queues a job for each source of runs whose hour has come. Without what fetches runs, which a worker loads later."""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.storage import Database, Job, JobState, RunSource
from annotator.storage.runs.run_sources import due_sources, has_due_source
from annotator.storage.tables.jobs import UNFINISHED

DAY = timedelta(days=1)
# The kind of the jobs, as of those for a run that is fetched once, and their parameters: the names of the source and of
# its collection.
KIND = "run_fetching.fetch"
SOURCE, SLUG = "source", "slug"


def queue_due(database: Database, *, now: datetime) -> None:
    """Queue a job for each source that is due: one, however many nights were missed and workers there are.

    None is queued while one of the source has not finished.
    """
    with database.reading() as session:
        if not has_due_source(session, now):
            return
    with database.transaction() as session:
        for source, slug in due_sources(session, now):
            source.due_at = None if source.hour is None else next_at(source.hour, now)
            if not _is_under_way(session, source):
                session.add(_job(source, slug, now))


def next_at(hour: int, after: datetime) -> datetime:
    """The next time at which it is this hour in UTC."""
    today = after.replace(hour=hour, minute=0, second=0, microsecond=0)
    return today if today > after else today + DAY


def _is_under_way(session: Session, source: RunSource) -> bool:
    wanted = select(Job.id).where(
        Job.collection_id == source.collection_id,
        Job.parameters[SOURCE].as_string() == source.name,
        Job.state.in_(UNFINISHED),
    )
    return session.scalar(wanted.limit(1)) is not None


def _job(source: RunSource, slug: str, now: datetime) -> Job:
    """A job that nobody requested; organisers see it, and its outcome is shown with the source."""
    job = Job(kind=KIND, collection_id=source.collection_id, asked_by_id=None, asked_at=now, state=JobState.WAITING)
    job.parameters = {
        "method": "POST",
        "target": f"/collections/{slug}/runs/sources/{source.name}/fetch",
        "roles": ["organiser"],
        SOURCE: source.name,
        SLUG: slug,
    }
    job.result = {}
    return job
