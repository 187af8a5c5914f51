"""Topics and their revisions."""

from enum import StrEnum

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import NEVER_REUSED, Base, ByteOrdered


class TopicState(StrEnum):
    """What a topic is to everybody; the rest of the code asks by `ACCEPTED`.

    A draft is being tried out: organisers alone see it, and it is in no pool, qrels or mean, though runs may answer it.
    An accepted topic is shown, pooled, judged, settled and scored. A dropped one stays, marked, and its judgements
    go out as judgements; but nothing more of it is pooled or drawn, and it counts in no qrels, mean or agreement.
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
    # Why it was dropped, in the organiser's words.
    reason: Mapped[str] = mapped_column(default="")
    # Who judges all of it where topics are owned.
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))


# Topics that count: what is pooled, drawn, settled into qrels, averaged and compared between judges.
ACCEPTED = Topic.state == TopicState.ACCEPTED


# Topics that whoever reads a result must know of, because they are missing from it.
DROPPED = Topic.state == TopicState.DROPPED


# Of files of labels, and of what is put back or no longer carried.
EVERYBODY = 0


class TopicRevision(Base):
    """A judge's part of a topic's revision: with one number for all, judges of a topic would wait for each other."""

    __tablename__ = "topic_revision"

    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    judge_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    revision: Mapped[int]
