"""Tables of topics and their revisions."""

from enum import StrEnum

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import NEVER_REUSED, Base, ByteOrdered


class TopicState(StrEnum):
    """Life cycle of a topic; other code checks it by `ACCEPTED`.

    A draft is visible to organisers only and in no pool, qrels or mean, though runs may contain it. An accepted topic
    is shown, pooled, judged, exported and scored. A dropped one stays visible and its judgements are still exported,
    but it is not pooled or drawn any more, and counts in no qrels, mean or agreement.
    """

    DRAFT = "draft"
    ACCEPTED = "accepted"
    DROPPED = "dropped"


class Topic(Base):
    __tablename__ = "topic"
    __table_args__ = (UniqueConstraint("collection_id", "number"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    number: Mapped[str] = mapped_column(ByteOrdered)
    title: Mapped[str]
    description: Mapped[str]
    narrative: Mapped[str]
    language: Mapped[str | None]
    state: Mapped[str] = mapped_column(default=TopicState.ACCEPTED)
    # The organiser's reason for dropping it.
    reason: Mapped[str] = mapped_column(default="")
    # The judge of the whole topic in owned mode.
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))


# Topics that are pooled, drawn, exported to qrels, averaged and compared between judges.
ACCEPTED = Topic.state == TopicState.ACCEPTED


# Topics that are missing from results; reports name them.
DROPPED = Topic.state == TopicState.DROPPED


# `judge_id` for changes by imported labels, requeueing and released duplicates.
EVERYBODY = 0


class TopicRevision(Base):
    """A judge's share of a topic's revision: with one row per topic, its judges would wait for each other's locks."""

    __tablename__ = "topic_revision"

    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    judge_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    revision: Mapped[int]
