"""What a judge keeps beside the documents: evidence, notes and marks of a topic, questions, and their training."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, bindparam, func, select
from sqlalchemy.orm import Session

from annotator.storage.tables.collections import Collection, GuidelineVersion
from annotator.storage.tables.judging import (
    Preparation,
    QualifyingAnswer,
    QualifyingItem,
    Question,
    TopicMark,
    TopicNote,
)
from annotator.storage.tables.people import Membership, Role, User
from annotator.storage.tables.topics import Topic


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
