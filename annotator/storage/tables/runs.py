"""Runs, their files, ranked lists and facts."""

from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from sqlalchemy import JSON, ForeignKey, Table, UniqueConstraint, and_
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base, ByteOrdered, partial_index


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
        partial_index("uq_run_tag", "collection_id", "tag", where="replaced_at IS NULL", unique=True),
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


class FactColumn(Base):
    """A fact that organisers ask for beside those that the program knows."""

    __tablename__ = "fact_column"
    __table_args__ = (UniqueConstraint("collection_id", "key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    # As commands and files write it.
    key: Mapped[str]
    # As pages show it.
    name: Mapped[str]
    kind: Mapped[str]
    # Of a number; empty for words and for what is counted in nothing.
    unit: Mapped[str]
    # Whether less or more of a number is better; empty for words.
    better: Mapped[str]
    added_at: Mapped[datetime]


class RunFact(Base):
    """One thing that is stated of a run: a number in the unit of its fact, or words."""

    __tablename__ = "run_fact"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    # The key of a fact that the program knows or of a column of the collection.
    fact: Mapped[str] = mapped_column(ByteOrdered, primary_key=True)
    # At which size of collection, or for which type of query; empty for what is stated once.
    detail: Mapped[str] = mapped_column(ByteOrdered, primary_key=True)
    number: Mapped[float | None]
    words: Mapped[str] = mapped_column(default="")
    stated_at: Mapped[datetime]
