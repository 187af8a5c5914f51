"""What a judge keeps beside the documents: evidence, notes and marks of a topic, questions, and their training."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, ForeignKey, UniqueConstraint, bindparam, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.storage.collections.collection import Collection, GuidelineVersion, Topic
from annotator.storage.people.accounts import Membership, Role, User
from annotator.storage.site.columns import Base


class Preparation(StrEnum):
    """What a judge still has to do before they are given documents."""

    GUIDELINES = "guidelines"
    TRAINING = "training"


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
    pool_item_id: Mapped[int | None] = mapped_column(ForeignKey("pool_item.id"), index=True)
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
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"), index=True)
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


@dataclass(frozen=True)
class Attempt:
    """One way of a judge through the training, `number` from 1: how many documents of how many, how many right."""

    judge_id: int
    number: int
    answered: int
    right: int
    of: int
    begun_at: datetime
    last_at: datetime

    @property
    def is_finished(self) -> bool:
        """Whether every document was answered."""
        return self.answered == self.of

    def passes(self, pass_mark: int | None) -> bool:
        """Whether it is finished and the mark, a percentage, is reached; without one, that it is finished is enough."""
        return self.is_finished and self.right * 100 >= (pass_mark or 0) * self.of


# Put together once: it is asked for with one judgement in four.
ACCEPTED_GUIDELINES = select(
    select(func.max(GuidelineVersion.number))
    .where(GuidelineVersion.collection_id == bindparam("collection_id"))
    .scalar_subquery()
    .label("in_force"),
    select(func.max(Membership.guidelines_accepted))
    .where(
        Membership.collection_id == bindparam("collection_id"),
        Membership.user_id == bindparam("judge_id"),
        Membership.role == Role.JUDGE,
    )
    .scalar_subquery()
    .label("accepted"),
)


def may_judge(session: Session, collection: Collection, judge_id: int) -> Preparation | None:
    """What this judge has to do before anything is drawn for them, None when nothing is left.

    The guidelines in force are to be accepted and, where there is a training and a pass mark, it is to be passed.
    """
    wanted = {"collection_id": collection.id, "judge_id": judge_id}
    session.flush()
    row = session.connection().execute(ACCEPTED_GUIDELINES, wanted).one()
    if row.in_force is not None and row.accepted != row.in_force:
        return Preparation.GUIDELINES
    if collection.pass_mark is None or count_qualifying(session, collection.id) == 0:
        return None
    attempts = attempts_at_training(session, collection.id, judge_id)
    return None if any(attempt.passes(collection.pass_mark) for attempt in attempts) else Preparation.TRAINING


def count_qualifying(session: Session, collection_id: int) -> int:
    """How many documents the training has."""
    return session.scalars(
        select(func.count()).select_from(QualifyingItem).where(QualifyingItem.collection_id == collection_id)
    ).one()


def attempts_at_training(session: Session, collection_id: int, judge_id: int | None = None) -> list[Attempt]:
    """The attempts of a judge, or of all, each judge's first one first."""
    of = count_qualifying(session, collection_id)
    right = func.count().filter(QualifyingAnswer.grade == QualifyingItem.known_grade)
    statement = (
        select(
            QualifyingAnswer.judge_id,
            QualifyingAnswer.attempt,
            func.count(),
            right,
            func.min(QualifyingAnswer.answered_at),
            func.max(QualifyingAnswer.answered_at),
        )
        .join(QualifyingItem, QualifyingItem.id == QualifyingAnswer.qualifying_item_id)
        .where(QualifyingItem.collection_id == collection_id)
        .group_by(QualifyingAnswer.judge_id, QualifyingAnswer.attempt)
        .order_by(QualifyingAnswer.judge_id, QualifyingAnswer.attempt)
    )
    if judge_id is not None:
        statement = statement.where(QualifyingAnswer.judge_id == judge_id)
    return [
        Attempt(judge, number, answered, right, of, begun_at, last_at)
        for judge, number, answered, right, begun_at, last_at in session.execute(statement)
    ]


@dataclass(frozen=True)
class NoteRow:
    """What a judge decided counts as relevant for a topic."""

    topic: str
    topic_title: str
    judge: str
    text: str
    changed_at: datetime


def note_of(session: Session, topic_id: int, judge_id: int) -> str:
    """The judge's own note of a topic, empty when there is none."""
    note = session.get(TopicNote, (topic_id, judge_id))
    return note.text if note else ""


def marks_of(session: Session, topic_id: int, judge_id: int) -> list[str]:
    """The words that a judge wants marked in the documents of a topic, in the order in which they were typed."""
    return list(
        session.scalars(
            select(TopicMark.words)
            .where(TopicMark.topic_id == topic_id, TopicMark.judge_id == judge_id)
            .order_by(TopicMark.position)
        )
    )


def unread_answers(session: Session, collection_id: int, judge_id: int) -> int:
    """How many of the judge's questions have an answer that they have not been shown."""
    return session.scalars(
        select(func.count())
        .select_from(Question)
        .where(
            Question.collection_id == collection_id,
            Question.asked_by_id == judge_id,
            Question.answered_at.is_not(None),
            Question.read_at.is_(None),
        )
    ).one()


def topic_notes(session: Session, collection_id: int, *conditions: ColumnElement[bool]) -> list[NoteRow]:
    """The notes of all judges, or those that fit, by topic and then by judge."""
    rows = session.execute(
        select(Topic.number, Topic.title, User.name, TopicNote.text, TopicNote.changed_at)
        .join(Topic, Topic.id == TopicNote.topic_id)
        .join(User, User.id == TopicNote.judge_id)
        .where(Topic.collection_id == collection_id, *conditions)
        .order_by(Topic.number, User.name)
    )
    return [NoteRow(*row) for row in rows]
