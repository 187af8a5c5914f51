"""Tables of pools, their items, runs, strata and selections."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import NEVER_REUSED, Base, partial_index


class Besides(StrEnum):
    """How documents join a pool version without a strategy; a value of `Pool.strategy`."""

    CLICKS = "clicks"
    IMPORT = "import"
    SEARCH = "search"
    TEST_QUESTIONS = "test-questions"


class Showing(StrEnum):
    """Order in which judges see a version's documents. Only `SELECTION` depends on the runs.

    In random order they are mixed with those of earlier versions; otherwise they come after them.
    """

    RANDOM = "random"
    DOCNO = "docno"
    SELECTION = "selection"


class Pool(Base):
    """A version of a collection's pool: every build or import adds one, and versions only add items."""

    __tablename__ = "pool"
    __table_args__ = (UniqueConstraint("collection_id", "version"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    version: Mapped[int]
    strategy: Mapped[str]
    parameters: Mapped[dict[str, Any]]
    # Seed of the order of showing, and of the strategy's random choices.
    seed: Mapped[int] = mapped_column(BigInteger)
    showing: Mapped[str] = mapped_column(default=Showing.RANDOM)
    built_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    built_at: Mapped[datetime]


class PoolRun(Base):
    __tablename__ = "pool_run"

    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"), primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True, index=True)
    # None: the strategy read the whole run.
    depth: Mapped[int | None]


class Stratum(Base):
    """A stratum of a topic's documents, from which a share was sampled for judging."""

    __tablename__ = "stratum"

    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"), primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    # Numbered from 1, the top ranks.
    number: Mapped[int] = mapped_column(primary_key=True)
    rate: Mapped[float]
    # All documents of the stratum, packed as in a ranked list, in order of the draw: the first `drawn` are sampled.
    drawn: Mapped[int]
    documents: Mapped[bytes]


class PoolItem(Base):
    __tablename__ = "pool_item"
    __table_args__ = (
        UniqueConstraint("topic_id", "document_id"),
        # For drawing: open items of a topic in order of showing.
        partial_index("ix_pool_item_open", "topic_id", "priority", where="taken < judgements_wanted"),
        partial_index("ix_pool_item_for_everyone", "topic_id", "priority", where="for_everyone"),
        # For second opinions in owned topics.
        partial_index("ix_pool_item_second", "topic_id", "priority", where="is_overlap AND taken < judgements_wanted"),
        # To count them.
        partial_index("ix_pool_item_overlap", "topic_id", where="is_overlap"),
        partial_index("ix_pool_item_duplicate_of_id", "duplicate_of_id", where="duplicate_of_id IS NOT NULL"),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"), index=True)
    first_pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"), index=True)
    # Order of showing within the topic; independent of ranks unless shown by selection.
    priority: Mapped[int] = mapped_column(BigInteger)
    judgements_wanted: Mapped[int]
    # Held or completed assignments; draws do not exceed `judgements_wanted`, except on items for everyone.
    taken: Mapped[int] = mapped_column(default=0)
    # Number of the sampling stratum, and the share of it that was drawn.
    stratum: Mapped[int | None]
    rate: Mapped[float | None]
    # Random number from 0 to 2^31 - 1 by the pool's seed: decides overlap, items for everyone and second showings.
    lot: Mapped[int] = mapped_column(default=0)
    # Wants one more judgement, by another judge; included in `judgements_wanted`.
    is_overlap: Mapped[bool] = mapped_column(default=False)
    # Shown to every judge of the topic: a common item or a gold question.
    for_everyone: Mapped[bool] = mapped_column(default=False)
    # The correct grade of a gold question.
    known_grade: Mapped[int | None]
    # The representative with the same text: its judgements are carried over, and this item is not shown.
    duplicate_of_id: Mapped[int | None] = mapped_column(ForeignKey("pool_item.id"))
    # When it was last requeued because its text had changed.
    requeued_at: Mapped[datetime | None]


class SelectionEvent(Base):
    """A selection by an adaptive strategy, with reason and known judgements, so that it can be replayed."""

    __tablename__ = "selection_event"
    __table_args__ = (UniqueConstraint("pool_id", "topic_id", "step"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"))
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    # Numbered from 1 within version and topic.
    step: Mapped[int]
    pool_item_id: Mapped[int] = mapped_column(ForeignKey("pool_item.id"), index=True)
    # The last judgement known to the strategy; None without any.
    seen_judgement_id: Mapped[int | None] = mapped_column(ForeignKey("judgement.id"), index=True)
    reason: Mapped[dict[str, Any]]
    chosen_at: Mapped[datetime]


class LearningRound(Base):
    """The last round in which a worker trained the classifier of a topic, and the documents as it ranked them."""

    __tablename__ = "learning_round"

    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id", ondelete="CASCADE"), primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id", ondelete="CASCADE"), primary_key=True, index=True)
    # Numbered from 1 within version and topic, and how many new judgements end it.
    number: Mapped[int]
    batch: Mapped[int]
    # The last judgement by a person that was known, 0 without any, and how many there were up to it.
    seen_judgement_id: Mapped[int]
    judgements: Mapped[int]
    # What else it depends on: rules of consensus and active runs, and the last document that there was.
    basis: Mapped[dict[str, Any]]
    training_hash: Mapped[str]
    # The first unjudged and unpooled candidates, packed; empty where there was nothing to learn from.
    documents: Mapped[bytes]
    trained_at: Mapped[datetime]


class Contribution(Base):
    """Why a document is in the pool: a run with a rank, a person's search, or imported labels."""

    __tablename__ = "contribution"

    id: Mapped[int] = mapped_column(primary_key=True)
    pool_item_id: Mapped[int] = mapped_column(ForeignKey("pool_item.id"), index=True)
    pool_id: Mapped[int] = mapped_column(ForeignKey("pool.id"))
    run_id: Mapped[int | None] = mapped_column(ForeignKey("run.id"))
    rank: Mapped[int | None]
    imported_from: Mapped[str | None]
    searched_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    query: Mapped[str | None]


class StoppingDecision(Base):
    """A decision to stop judging a topic or to go on with it; the latest of a topic counts.

    An organiser takes it, or a version of the pool by its stopping rule.
    """

    __tablename__ = "stopping_decision"

    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), index=True)
    stops: Mapped[bool]
    # The name of the stopping rule that was followed; "" for none.
    rule: Mapped[str]
    reason: Mapped[str]
    # What was known then: judged and relevant documents, and recall with its interval where a sample gave one.
    judged: Mapped[int]
    relevant: Mapped[int]
    recall: Mapped[float | None]
    recall_low: Mapped[float | None]
    recall_high: Mapped[float | None]
    decided_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    # The version of the pool whose rule decided; NULL where a person did.
    pool_id: Mapped[int | None] = mapped_column(ForeignKey("pool.id"))
    decided_at: Mapped[datetime]


class TopicCounts(Base):
    """The progress of judging a topic, counted by a worker: valid while the topic's revision is the same."""

    __tablename__ = "topic_counts"

    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id", ondelete="CASCADE"), primary_key=True)
    revision: Mapped[int]
    items: Mapped[int]
    judged: Mapped[int]
    complete: Mapped[int]
    # Judgements that items want and do not have.
    remaining: Mapped[int]
