"""Pools, their items, runs, strata and choices."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import NEVER_REUSED, Base, partial_index


class Besides(StrEnum):
    """How documents join a pool that no strategy chose from runs; it stands in a version's `strategy`."""

    CLICKS = "clicks"
    IMPORT = "import"
    SEARCH = "search"
    TEST_QUESTIONS = "test-questions"


class Showing(StrEnum):
    """In which order judges see the documents that a version adds. Only `SELECTION` tells something of the runs.

    Documents in random order mix with those of earlier versions; in any other order they come after them.
    """

    RANDOM = "random"
    DOCNO = "docno"
    SELECTION = "selection"


class Pool(Base):
    """One version of a collection's pool: every building or import adds a version, and versions only add items."""

    __tablename__ = "pool"
    __table_args__ = (UniqueConstraint("collection_id", "version"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    version: Mapped[int]
    strategy: Mapped[str]
    parameters: Mapped[dict[str, Any]]
    # Of the order in which judges see the documents, and of the strategy's own choices.
    seed: Mapped[int] = mapped_column(BigInteger)
    showing: Mapped[str] = mapped_column(default=Showing.RANDOM)
    built_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    built_at: Mapped[datetime]


class PoolRun(Base):
    __tablename__ = "pool_run"

    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"), primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True, index=True)
    # None: the strategy looked at the whole of the run.
    depth: Mapped[int | None]


class Stratum(Base):
    """A part of one topic's documents of which a share was drawn for judging, for estimates from the sample."""

    __tablename__ = "stratum"

    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"), primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    # From 1, the top of the ranked lists.
    number: Mapped[int] = mapped_column(primary_key=True)
    rate: Mapped[float]
    # All its documents, packed as in a ranked list, in the order of the draw: the first `drawn` are the sample.
    drawn: Mapped[int]
    documents: Mapped[bytes]


class PoolItem(Base):
    __tablename__ = "pool_item"
    __table_args__ = (
        UniqueConstraint("topic_id", "document_id"),
        # What a draw reads: the items of a topic that still want a judge, in the order of showing.
        partial_index("ix_pool_item_open", "topic_id", "priority", where="taken < judgements_wanted"),
        partial_index("ix_pool_item_for_everyone", "topic_id", "priority", where="for_everyone"),
        # What second judges of owned topics draw.
        partial_index("ix_pool_item_second", "topic_id", "priority", where="is_overlap AND taken < judgements_wanted"),
        partial_index("ix_pool_item_duplicate_of_id", "duplicate_of_id", where="duplicate_of_id IS NOT NULL"),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"), index=True)
    first_pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"), index=True)
    # The order of showing within the topic; tells nothing of ranks.
    priority: Mapped[int] = mapped_column(BigInteger)
    judgements_wanted: Mapped[int]
    # Assignments in somebody's hands or done: never above `judgements_wanted` by drawing, but for items for everyone.
    taken: Mapped[int] = mapped_column(default=0)
    # Where a sample put it: the number of its stratum, and the share of that stratum that was drawn.
    stratum: Mapped[int | None]
    rate: Mapped[float | None]
    # Drawn by the pool's seed when it joined, from 0 to 2^31 - 1: what is overlap, for everyone or shown again.
    lot: Mapped[int] = mapped_column(default=0)
    # Wants one judgement more than others, by another judge; counted in `judgements_wanted`.
    is_overlap: Mapped[bool] = mapped_column(default=False)
    # Every judge of the topic sees it: one of the common set, or a test question.
    for_everyone: Mapped[bool] = mapped_column(default=False)
    # A test question: the grade that the organiser knows to be right.
    known_grade: Mapped[int | None]
    # The item of the topic that has the very same text: its judgements are carried over, and this one is not shown.
    duplicate_of_id: Mapped[int | None] = mapped_column(ForeignKey("pool_item.id"))
    # When it was last put back to be judged again, for its text had changed.
    requeued_at: Mapped[datetime | None]


class SelectionEvent(Base):
    """A choice of an adaptive strategy: what it chose, why, and what it knew, so that it can be replayed."""

    __tablename__ = "selection_event"
    __table_args__ = (UniqueConstraint("pool_id", "topic_id", "step"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"))
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    # From 1 within the version and topic.
    step: Mapped[int]
    pool_item_id: Mapped[int] = mapped_column(ForeignKey("pool_item.id"), index=True)
    # The last judgement that the choice knew of; None when there was none.
    seen_judgement_id: Mapped[int | None] = mapped_column(ForeignKey("judgement.id"), index=True)
    reason: Mapped[dict[str, Any]]
    chosen_at: Mapped[datetime]


class Contribution(Base):
    """Why a document is in the pool: a run at a rank, a person's search, or labels that were imported."""

    __tablename__ = "contribution"

    id: Mapped[int] = mapped_column(primary_key=True)
    pool_item_id: Mapped[int] = mapped_column(ForeignKey("pool_item.id"), index=True)
    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"))
    run_id: Mapped[int | None] = mapped_column(ForeignKey("run.id"))
    rank: Mapped[int | None]
    imported_from: Mapped[str | None]
    searched_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    query: Mapped[str | None]
