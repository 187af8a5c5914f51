"""What a judge keeps beside the documents: evidence, notes and marks of a topic, questions, and their training."""

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.columns import Base


class Evidence(Base):
    """Words of the document for which a judgement was made; the places count characters of the text as shown."""

    __tablename__ = "evidence"

    id: Mapped[int] = mapped_column(primary_key=True)
    judgement_id: Mapped[int] = mapped_column(ForeignKey("judgement.id"), index=True)
    start: Mapped[int]
    end: Mapped[int]
    text: Mapped[str]


class TopicNote(Base):
    """What a judge decided counts as relevant for a topic: for themselves and the organisers."""

    __tablename__ = "topic_note"

    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True)
    text: Mapped[str]
    changed_at: Mapped[datetime]


class TopicMark(Base):
    """Words that a judge wants marked in every document of a topic, in the order in which they were typed."""

    __tablename__ = "topic_mark"

    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True)
    words: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]


class Question(Base):
    """What a judge asked the organisers, about a topic or a document or anything, and the answer."""

    __tablename__ = "question"

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"), index=True)
    topic_id: Mapped[int | None] = mapped_column(ForeignKey("topic.id"))
    pool_item_id: Mapped[int | None] = mapped_column(ForeignKey("pool_item.id"))
    asked_by_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    # Made where the question was asked, so that it is stored once however often it arrives.
    client_id: Mapped[str] = mapped_column(unique=True)
    text: Mapped[str]
    asked_at: Mapped[datetime]
    answer: Mapped[str] = mapped_column(default="")
    answered_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    answered_at: Mapped[datetime | None]
    # When the judge was shown the answer.
    read_at: Mapped[datetime | None]


class QualifyingItem(Base):
    """A document of the training, with the grade that is right and why. What is said of it never becomes a qrel."""

    __tablename__ = "qualifying_item"
    __table_args__ = (UniqueConstraint("topic_id", "document_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"))
    position: Mapped[int]
    known_grade: Mapped[int]
    explanation: Mapped[str]


class QualifyingAnswer(Base):
    """What a judge in training said; a new attempt begins at the first document again."""

    __tablename__ = "qualifying_answer"

    qualifying_item_id: Mapped[int] = mapped_column(ForeignKey("qualifying_item.id"), primary_key=True)
    judge_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True)
    # From 1.
    attempt: Mapped[int] = mapped_column(primary_key=True)
    grade: Mapped[int]
    answered_at: Mapped[datetime]
