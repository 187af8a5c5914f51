"""Tables of runs, their files, ranked lists and facts."""

from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from sqlalchemy import JSON, ForeignKey, Index, Table, UniqueConstraint, and_
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import NEVER_REUSED, Base, ByteOrdered, partial_index


class RunType(StrEnum):
    """Whether a run was automatic or had manual intervention; unknown when it was not stated."""

    UNKNOWN = ""
    AUTOMATIC = "automatic"
    MANUAL = "manual"


class RunState(StrEnum):
    """Whether a run is in force, and if not, why."""

    IN_FORCE = "in force"
    WITHDRAWN = "withdrawn"
    REPLACED = "replaced"


class Run(Base):
    __tablename__ = "run"
    __table_args__ = (
        # A corrected file takes over the tag; the earlier run is kept.
        partial_index("uq_run_tag", "collection_id", "tag", where="replaced_at IS NULL", unique=True),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"), index=True)
    tag: Mapped[str]
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id"), index=True)
    description: Mapped[str] = mapped_column(default="")
    file_name: Mapped[str]
    # SHA-256 of the uploaded bytes.
    checksum: Mapped[str]
    retrieved: Mapped[int]
    uploaded_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    uploaded_at: Mapped[datetime]
    run_type: Mapped[str] = mapped_column(default=RunType.UNKNOWN)
    # The team's order of pooling, 1 first.
    priority: Mapped[int] = mapped_column(default=1)
    # Warnings about the file, as shown to the submitter.
    warnings: Mapped[list[dict[str, Any]]] = mapped_column(JSON, default=list)
    # A withdrawn run is no longer pooled or scored; its contributions remain in the pool, marked.
    withdrawn_at: Mapped[datetime | None]
    # None for a run in force and for a withdrawal by command.
    withdrawn_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    # Whether the team withdrew it: a team cannot restore what an organiser withdrew.
    withdrawn_by_team: Mapped[bool] = mapped_column(default=False)
    # When a corrected file replaced it.
    replaced_at: Mapped[datetime | None]
    # None in a collection without rounds.
    round_id: Mapped[int | None] = mapped_column(ForeignKey("round.id"))
    # None in a collection without tasks, and for a run from before they were set.
    task_id: Mapped[int | None] = mapped_column(ForeignKey("task.id"), index=True)

    @property
    def state(self) -> RunState:
        """Whether it is in force; replacement takes precedence over withdrawal."""
        if self.replaced_at is not None:
            return RunState.REPLACED
        return RunState.IN_FORCE if self.withdrawn_at is None else RunState.WITHDRAWN


# Runs that are neither withdrawn nor replaced by a corrected file.
IN_FORCE = and_(Run.withdrawn_at.is_(None), Run.replaced_at.is_(None))


class RunFile(Base):
    """The uploaded file, byte for byte; separate from `Run`, so that lists of runs never read it."""

    __tablename__ = "run_file"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    # Whether `content` was compressed here, from an uncompressed upload.
    packed_here: Mapped[bool]
    content: Mapped[bytes]


class RankedList(Base):
    """A run's ranking for one topic, best first, packed: one row per list, not per document."""

    __tablename__ = "ranked_list"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    documents: Mapped[bytes]
    scores: Mapped[bytes]


class RunTops(Base):
    """The first documents of a run's ranked lists for some topics: many lists in one row, to plan pools from."""

    __tablename__ = "run_tops"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    # As `annotator.storage.runs.run_tops` groups topics by their ids; no references, so that a topic may be deleted.
    topic_group: Mapped[int] = mapped_column(primary_key=True)
    # Ids of the topics, and the bytes of each top, in little-endian 32 bits.
    topics: Mapped[bytes]
    sizes: Mapped[bytes]
    # The tops one after the other, packed as ranked lists are.
    documents: Mapped[bytes]


# Core tables for bulk inserts: mapped classes cost ten times as much per row.
RUN_FILES = cast("Table", RunFile.__table__)


RANKED_LISTS = cast("Table", RankedList.__table__)
RUN_TOPS = cast("Table", RunTops.__table__)


class FactColumn(Base):
    """A fact of runs that organisers define in addition to the built-in ones."""

    __tablename__ = "fact_column"
    __table_args__ = (UniqueConstraint("collection_id", "key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    # The name in commands and files.
    key: Mapped[str]
    # The name on pages.
    name: Mapped[str]
    kind: Mapped[str]
    # Unit of a number; empty for text and plain counts.
    unit: Mapped[str]
    # Whether lower or higher numbers are better; empty for text.
    better: Mapped[str]
    added_at: Mapped[datetime]


class RunFact(Base):
    """A stated fact of a run: a number in the fact's unit, or text."""

    __tablename__ = "run_fact"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    # Key of a built-in fact or of a column of the collection.
    fact: Mapped[str] = mapped_column(ByteOrdered, primary_key=True)
    # Collection size or type of query that it applies to; empty for a fact stated once.
    detail: Mapped[str] = mapped_column(ByteOrdered, primary_key=True)
    number: Mapped[float | None]
    words: Mapped[str] = mapped_column(default="")
    stated_at: Mapped[datetime]


class QuestionnaireVersion(Base):
    """What organisers ask about every run; a change is another version, so that answers keep their questions."""

    __tablename__ = "questionnaire_version"
    __table_args__ = (UniqueConstraint("collection_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    # The task whose runs are asked; None: those of every task without a questionnaire of its own.
    task_id: Mapped[int | None] = mapped_column(ForeignKey("task.id"), index=True)
    # Numbered from 1 in each collection, whatever the task.
    number: Mapped[int]
    # Key, text, kind, whether required, and choices of each question.
    questions: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    made_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    made_at: Mapped[datetime]


class RunAnswer(Base):
    """The answer of a run to a question of one version of the questionnaire."""

    __tablename__ = "run_answer"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    questionnaire_version_id: Mapped[int] = mapped_column(ForeignKey("questionnaire_version.id"), primary_key=True)
    # Key of the question.
    question: Mapped[str] = mapped_column(ByteOrdered, primary_key=True)
    # Kind of the question: e-mail addresses are deleted with the account that gave them.
    kind: Mapped[str]
    answer: Mapped[str]
    answered_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    answered_at: Mapped[datetime]


class RunSource(Base):
    """A search engine with what it is asked, from which runs are fetched again and again."""

    __tablename__ = "run_source"
    # A fetch that is under way names its source by the id.
    __table_args__ = (
        UniqueConstraint("collection_id", "name"),
        Index("ix_run_source_due_at", "due_at"),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    name: Mapped[str]
    endpoint: Mapped[str]
    query: Mapped[str]
    # A `Dialect`, and the paths into the answer by name.
    dialect: Mapped[str]
    paths: Mapped[dict[str, Any]] = mapped_column(JSON)
    depth: Mapped[int]
    with_texts: Mapped[bool]
    # The tags of its runs, with {date} and {number}.
    tag: Mapped[str]
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id"))
    description: Mapped[str] = mapped_column(default="")
    run_type: Mapped[str] = mapped_column(default=RunType.UNKNOWN)
    priority: Mapped[int] = mapped_column(default=1)
    # The key of the task of its runs; it stays when that task is removed, so that no run is fetched for another.
    task: Mapped[str | None]
    # The hour of the day, in UTC, and when it is due next; None for a source that people run.
    hour: Mapped[int | None]
    due_at: Mapped[datetime | None]
    # How many runs it has brought, those that were deleted since included.
    fetched: Mapped[int] = mapped_column(default=0)
    # The last attempt, and why it failed, as a template in English with its values; empty when it did not.
    tried_at: Mapped[datetime | None]
    problem: Mapped[str] = mapped_column(default="")
    problem_values: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    set_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    set_at: Mapped[datetime]


class FetchedRun(Base):
    """A run that came from a source."""

    __tablename__ = "fetched_run"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"), primary_key=True)
    source_id: Mapped[int] = mapped_column(ForeignKey("run_source.id", ondelete="CASCADE"), index=True)
