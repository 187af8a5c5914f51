"""Files that come with jobs, in parts: each part is stored and removed in a short transaction of its own."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, insert, or_, select, tuple_, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from annotator.errors import BusyError, ConflictError
from annotator.storage.site.batches import write_in_batches
from annotator.storage.site.database import Database
from annotator.storage.site.jobs import ANSWERS_KEPT, MOST_FAILURES, is_arriving
from annotator.storage.tables.jobs import FINISHED, Job, JobPart, JobState

PART_BYTES = 1 << 20
PARTS_AT_ONCE = 500


def store_job(database: Database, ask: Callable[[Session], int], parts: Iterable[bytes]) -> int:
    """Store a job with its file, and return the job's id; the worker and the pages find it once it is whole.

    `ask` adds the job as arriving, and returns its id. When anything goes wrong, the job is removed, now or by the
    worker. Raises what `ask` does, `BusyError`, and `ConflictError` when the job was removed because it took too long.
    """
    with database.transaction() as session:
        id_ = ask(session)

    def store(session: Session, some: Sequence[tuple[int, bytes]]) -> None:
        _refuse_unless_arriving(session, id_)
        session.execute(insert(JobPart), [{"job_id": id_, "number": number, "content": part} for number, part in some])

    try:
        write_in_batches(database, enumerate(parts), store, weigh=lambda one: len(one[1]))
        with database.transaction() as session:
            _refuse_unless_arriving(session, id_)
            session.execute(update(Job).where(Job.id == id_).values(state=JobState.WAITING))
    except BaseException:
        with suppress(BusyError, DBAPIError):
            _remove(database, Job.id == id_)
            with database.transaction() as session:
                session.execute(delete(Job).where(Job.id == id_, Job.state == JobState.ARRIVING))
        raise
    return id_


def file_of_job(session: Session, job_id: int) -> bytes:
    """The file that came with a job, empty when none did."""
    parts = select(JobPart.content).where(JobPart.job_id == job_id).order_by(JobPart.number)
    return b"".join(session.scalars(parts))


def remove_unneeded(database: Database, *, now: datetime) -> None:
    """Remove the files of finished jobs, and jobs whose sender is gone before they were whole.

    The file of a job that was given up is kept as long as the job: it may show why.
    """
    is_kept = and_(Job.failures >= MOST_FAILURES, Job.finished_at >= now - ANSWERS_KEPT)
    is_abandoned = and_(Job.state == JobState.ARRIVING, ~is_arriving(now))
    _remove(database, or_(and_(Job.state.in_(FINISHED), ~is_kept), is_abandoned))
    with database.reading() as session:
        ids = session.scalars(select(Job.id).where(is_abandoned)).all()
    if ids:
        with database.transaction() as session:
            session.execute(delete(Job).where(Job.id.in_(ids), Job.state == JobState.ARRIVING))


def _remove(database: Database, condition: ColumnElement[bool]) -> None:
    """Remove the parts of these jobs, looking for them outside of the lock."""
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
    """Keep the job from being removed until the transaction ends; `ConflictError` when it was."""
    wanted = select(Job.id).where(Job.id == id_, Job.state == JobState.ARRIVING).with_for_update()
    if session.scalar(wanted) is None:
        raise ConflictError("The file took too long to be stored. Nothing was stored: send it again.")
