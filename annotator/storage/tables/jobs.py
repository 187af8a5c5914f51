"""Jobs and the parts of their files."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base


class JobState(StrEnum):
    """How far a job is."""

    # Its file is not stored whole: workers and pages pass over it.
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
    # Of how many steps how many are done; 0 of 0 while nobody knows.
    steps_done: Mapped[int] = mapped_column(default=0)
    steps: Mapped[int] = mapped_column(default=0)
    started_at: Mapped[datetime | None]
    # A worker at work says so again and again; a job whose worker fell silent is begun again.
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


class JobPart(Base):
    __tablename__ = "job_part"

    job_id: Mapped[int] = mapped_column(ForeignKey("job.id", ondelete="CASCADE"), primary_key=True)
    # From 0, in the order of the file.
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    content: Mapped[bytes]
