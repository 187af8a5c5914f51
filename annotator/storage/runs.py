"""Runs as they were sent, and their ranked lists as two BLOBs a topic."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, and_, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.errors import NotFoundError
from annotator.storage.columns import Base


class RunType(StrEnum):
    """Whether a person had a hand in the answers; unknown for runs of which nobody said it."""

    UNKNOWN = ""
    AUTOMATIC = "automatic"
    MANUAL = "manual"


class Run(Base):
    __tablename__ = "run"
    __table_args__ = (
        # A corrected file takes the tag over; the run before it is kept.
        Index(
            "uq_run_tag",
            "collection_id",
            "tag",
            unique=True,
            sqlite_where=text("replaced_at IS NULL"),
            postgresql_where=text("replaced_at IS NULL"),
        ),
    )

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
    run_type: Mapped[str] = mapped_column(default=RunType.UNKNOWN)
    # The team's own order: 1 is to be pooled first.
    priority: Mapped[int] = mapped_column(default=1)
    # What was strange in the file without being wrong, as it was shown to the sender.
    warnings: Mapped[list[dict[str, Any]]] = mapped_column(JSON, default=list)
    # A withdrawn run is neither pooled nor scored any more; what it gave to a pool stays there, marked.
    withdrawn_at: Mapped[datetime | None]
    # When a corrected file took its place.
    replaced_at: Mapped[datetime | None]


# Runs that count: neither withdrawn nor replaced by a corrected file.
IN_FORCE = and_(Run.withdrawn_at.is_(None), Run.replaced_at.is_(None))


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
    """The newest run of that tag, also when it is withdrawn; `NotFoundError` when there is none."""
    run = session.scalar(
        select(Run).where(Run.collection_id == collection_id, Run.tag == tag, Run.replaced_at.is_(None))
    )
    if run is None:
        raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
    return run
