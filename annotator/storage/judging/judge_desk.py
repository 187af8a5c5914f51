"""A judge's own material: topic notes and marked words, unread answers, guidelines and training."""

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
    """A judge's attempt at the training (`number` from 1): documents answered, answered right, and in total (`of`)."""

    judge_id: int
    number: int
    answered: int
    right: int
    of: int
    begun_at: datetime
    last_at: datetime

    @property
    def is_finished(self) -> bool:
        """Whether every document of the attempt was answered."""
        return self.answered == self.of

    def passes(self, pass_mark: int | None) -> bool:
        """Whether it is finished and reaches the pass mark (a percentage); without a mark, finishing is enough."""
        return self.is_finished and self.right * 100 >= (pass_mark or 0) * self.of


# A prebuilt statement: one judgement in two runs it.
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
    """What this judge has to complete before drawing documents; None when nothing is left.

    They must accept the current guidelines and, where there are a training and a pass mark, pass the training.
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
    """Number of training documents."""
    return session.scalars(
        select(func.count()).select_from(QualifyingItem).where(QualifyingItem.collection_id == collection_id)
    ).one()


def training_length(session: Session, collection_id: int) -> int:
    """Number of training documents in an attempt."""
    size = session.scalars(select(Collection.training_size).where(Collection.id == collection_id)).one()
    stored = count_qualifying(session, collection_id)
    return stored if size is None else min(size, stored)


def attempts_at_training(session: Session, collection_id: int, judge_id: int | None = None) -> list[Attempt]:
    """Attempts of one judge, or of all, ordered by judge and number."""
    of = training_length(session, collection_id)
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
    """A judge's note on what counts as relevant for a topic."""

    topic: str
    topic_title: str
    judge: str
    text: str
    changed_at: datetime


def note_of(session: Session, topic_id: int, judge_id: int) -> str:
    """The judge's own note on a topic, "" when there is none."""
    note = session.get(TopicNote, (topic_id, judge_id))
    return note.text if note else ""


def marks_of(session: Session, topic_id: int, judge_id: int) -> list[str]:
    """The words that a judge has highlighted in a topic's documents, in the order entered."""
    return list(
        session.scalars(
            select(TopicMark.words)
            .where(TopicMark.topic_id == topic_id, TopicMark.judge_id == judge_id)
            .order_by(TopicMark.position)
        )
    )


def unread_answers(session: Session, collection_id: int, judge_id: int) -> int:
    """Number of the judge's questions with an answer that they have not seen."""
    return session.scalars(
        select(func.count())
        .select_from(Question)
        .where(
            Question.collection_id == collection_id,
            Question.asked_by_id == judge_id,
            Question.team_id.is_(None),
            Question.answered_at.is_not(None),
            Question.read_at.is_(None),
        )
    ).one()


def topic_notes(session: Session, collection_id: int, *conditions: ColumnElement[bool]) -> list[NoteRow]:
    """The notes of all judges that satisfy the conditions, by topic number and judge."""
    rows = session.execute(
        select(Topic.number, Topic.title, User.name, TopicNote.text, TopicNote.changed_at)
        .join(Topic, Topic.id == TopicNote.topic_id)
        .join(User, User.id == TopicNote.judge_id)
        .where(Topic.collection_id == collection_id, *conditions)
        .order_by(Topic.number, User.name)
    )
    return [NoteRow(*row) for row in rows]
