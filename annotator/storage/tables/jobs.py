"""Tables of jobs and the parts of their files."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base


class JobState(StrEnum):
    """The state of a job."""

    # Its file is incomplete: workers and pages ignore it.
    ARRIVING = "arriving"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNFINISHED = (JobState.WAITING, JobState.RUNNING)


FINISHED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class Job(Base):
    __tablename__ = "job"
    __table_args__ = (Index("ix_job_state_id", "state", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    collection_id: Mapped[int | None] = mapped_column(ForeignKey("collection.id"), index=True)
    asked_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    asked_at: Mapped[datetime]
    parameters: Mapped[dict[str, Any]]
    state: Mapped[str]
    # Steps done and in total; 0 of 0 while unknown.
    steps_done: Mapped[int] = mapped_column(default=0)
    steps: Mapped[int] = mapped_column(default=0)
    started_at: Mapped[datetime | None]
    # Heartbeat of the worker; a job without one is started again.
    alive_at: Mapped[datetime | None]
    # Number of starts, which tells a worker that lost the job from the current one.
    attempts: Mapped[int] = mapped_column(default=0)
    # Number of workers that crashed or failed on it.
    failures: Mapped[int] = mapped_column(default=0)
    finished_at: Mapped[datetime | None]
    # The outcome, or the problems for which it was refused, as sentences with values.
    result: Mapped[dict[str, Any]]
    # A file to download; its name and type are in `result`.
    output: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)


class JobPart(Base):
    __tablename__ = "job_part"

    job_id: Mapped[int] = mapped_column(ForeignKey("job.id", ondelete="CASCADE"), primary_key=True)
    # Numbered from 0 in file order.
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    content: Mapped[bytes]
