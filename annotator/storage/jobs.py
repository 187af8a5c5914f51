"""Long jobs that a process of their own does, one after the other, while the pages show how far it is."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, ForeignKey, Index, LargeBinary, and_, or_, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.storage.columns import Base

# A worker says that it is alive much more often than that.
SILENCE = timedelta(seconds=30)


class JobState(StrEnum):
    """How far a job is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job(Base):
    __tablename__ = "job"
    __table_args__ = (Index("ix_job_state_id", "state", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    collection_id: Mapped[int | None] = mapped_column(ForeignKey("collection.id"), index=True)
    asked_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    asked_at: Mapped[datetime]
    parameters: Mapped[dict[str, Any]]
    # A file that came with it, until it is done.
    input: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    state: Mapped[str]
    # Of how many steps how many are done; 0 of 0 while nobody knows.
    steps_done: Mapped[int] = mapped_column(default=0)
    steps: Mapped[int] = mapped_column(default=0)
    started_at: Mapped[datetime | None]
    # A worker at work says so again and again; a job whose worker fell silent is begun anew.
    alive_at: Mapped[datetime | None]
    # How often it was begun, by which a worker that lost it is told from the one that has it.
    attempts: Mapped[int] = mapped_column(default=0)
    # How many workers were lost or failed at it.
    failures: Mapped[int] = mapped_column(default=0)
    finished_at: Mapped[datetime | None]
    # What came of it, or the problems for which it was refused: sentences with their values.
    result: Mapped[dict[str, Any]]
    # A file to fetch, with its name and type in the result.
    output: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)


def is_due(now: datetime) -> ColumnElement[bool]:
    """Whether a job is to be begun: it waits, or whoever was at it fell silent.

    A clock that was set back leaves moments that are yet to come; whoever set them is no sign of life either.
    """
    silent = or_(Job.alive_at < now - SILENCE, Job.alive_at > now + SILENCE)
    return or_(Job.state == JobState.WAITING, and_(Job.state == JobState.RUNNING, silent))


def next_due(session: Session, now: datetime) -> Job | None:
    """The oldest job that is to be begun, locked; who else looks for one at this moment passes over it."""
    return session.scalars(
        select(Job).where(is_due(now)).order_by(Job.id).limit(1).with_for_update(skip_locked=True)
    ).one_or_none()
