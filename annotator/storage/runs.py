"""Runs as they were sent, and their ranked lists as two BLOBs a topic."""

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.errors import NotFoundError
from annotator.storage.columns import Base


class Run(Base):
    __tablename__ = "run"
    __table_args__ = (UniqueConstraint("collection_id", "tag"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    tag: Mapped[str]
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id"))
    description: Mapped[str] = mapped_column(default="")
    file_name: Mapped[str]
    # Of the bytes as they were sent.
    checksum: Mapped[str]
    retrieved: Mapped[int]
    uploaded_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    uploaded_at: Mapped[datetime]


class RunFile(Base):
    """The file a run came in, byte for byte; apart from `Run`, so that a list of runs never reads it."""

    __tablename__ = "run_file"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    # Whether `content` is our compression of a file that was sent plain.
    packed_here: Mapped[bool]
    content: Mapped[bytes]


class RankedList(Base):
    """One run's answer for one topic, best first: never one row a retrieved document."""

    __tablename__ = "ranked_list"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    documents: Mapped[bytes]
    scores: Mapped[bytes]


def find_run(session: Session, collection_id: int, tag: str) -> Run:
    """The run of that tag; `NotFoundError` when there is none."""
    run = session.scalar(select(Run).where(Run.collection_id == collection_id, Run.tag == tag))
    if run is None:
        raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
    return run
