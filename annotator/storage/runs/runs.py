"""Runs as they were sent, and their ranked lists as two BLOBs a topic."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from sqlalchemy import JSON, ForeignKey, Index, Table, and_, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.errors import NotFoundError
from annotator.storage.people.accounts import Team
from annotator.storage.site.columns import Base
from annotator.storage.site.rows import insert_rows

FILES_AT_ONCE = 10  # of up to hundreds of megabytes each
LISTS_AT_ONCE = 500


class RunType(StrEnum):
    """Whether a person had a hand in the answers; unknown for runs of which nobody said it."""

    UNKNOWN = ""
    AUTOMATIC = "automatic"
    MANUAL = "manual"


class RunState(StrEnum):
    """Whether a run counts, and if not, why."""

    IN_FORCE = "in force"
    WITHDRAWN = "withdrawn"
    REPLACED = "replaced"


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
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"), index=True)
    tag: Mapped[str]
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id"), index=True)
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
    # Who withdrew it; None for a run in force and for whoever did it by a command.
    withdrawn_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    # Whether its team did: what an organiser withdrew is not the team's to restore.
    withdrawn_by_team: Mapped[bool] = mapped_column(default=False)
    # When a corrected file took its place.
    replaced_at: Mapped[datetime | None]
    # None where the collection has no rounds.
    round_id: Mapped[int | None] = mapped_column(ForeignKey("round.id"))

    @property
    def state(self) -> RunState:
        """Whether it counts; one that was replaced may have been withdrawn before."""
        if self.replaced_at is not None:
            return RunState.REPLACED
        return RunState.IN_FORCE if self.withdrawn_at is None else RunState.WITHDRAWN


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


# A file and a list go in through the tables themselves: the mapped classes cost ten times as much a row.
RUN_FILES = cast("Table", RunFile.__table__)
RANKED_LISTS = cast("Table", RankedList.__table__)


def find_run(session: Session, collection_id: int, tag: str, *, team: str | None = None) -> Run:
    """The newest run of that tag, also when it is withdrawn; `NotFoundError` when there is none, or not of the team."""
    statement = select(Run).where(Run.collection_id == collection_id, Run.tag == tag, Run.replaced_at.is_(None))
    if team is not None:
        statement = statement.join(Team, Team.id == Run.team_id).where(Team.name == team)
    run = session.scalar(statement)
    if run is None:
        raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
    return run


def add_files(session: Session, files: Iterable[tuple[int, bool, bytes]]) -> None:
    """Store files: run id, whether we packed it, content."""
    insert_rows(session, RUN_FILES, ("run_id", "packed_here", "content"), files, at_once=FILES_AT_ONCE)


def add_ranked_lists(session: Session, lists: Iterable[tuple[int, int, bytes, bytes]]) -> None:
    """Store ranked lists: run id, topic id, documents and scores as they are packed."""
    columns = ("run_id", "topic_id", "documents", "scores")
    insert_rows(session, RANKED_LISTS, columns, lists, at_once=LISTS_AT_ONCE)
