"""Questions of judges to the organisers, and the answers of the organisers to them and to participants."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, func, select, update
from sqlalchemy.orm import Session, aliased

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.formats.identifiers import check_free_text, is_blank
from annotator.storage import (
    Announcement,
    Assignment,
    Clarification,
    Document,
    PoolItem,
    Question,
    Run,
    Team,
    Topic,
    TopicState,
    User,
)
from annotator.storage.collections.collection import find_collection, find_topic, refuse_closed_judging
from annotator.storage.judging.judge_desk import unread_answers
from annotator.storage.tables.judging import HAS_IT, JUDGES
from annotator.workflows.collections import announcements
from annotator.workflows.collections.answer_mail import mail_answer
from annotator.workflows.collections.asked_questions import LONGEST_TEXT, check_question, is_stored
from annotator.workflows.judging import clarifications

# The assignment of the question's document to its author.
OWN_ASSIGNMENT = (
    select(func.max(Assignment.id))
    .where(Assignment.pool_item_id == Question.pool_item_id, Assignment.judge_id == Question.asked_by_id)
    .where(HAS_IT, JUDGES)
    .scalar_subquery()
)
# Of a judge, not of a participant, who may be the same person.
OF_JUDGE = Question.team_id.is_(None)


@dataclass(frozen=True)
class QuestionRow:
    """A question with its subject and its answer, empty until there is one.

    `judge` is the person who asked; with a `team` it was a participant, who may ask about a run.
    """

    id: int
    client_id: str
    topic: str | None
    topic_title: str | None
    docno: str | None
    document_title: str | None
    judge: str
    text: str
    asked_at: datetime
    answer: str
    answered_by: str | None
    answered_at: datetime | None
    read_at: datetime | None
    # The assignment of the document to the author of the question; None when it was withdrawn.
    assignment_id: int | None
    is_public: bool
    team: str | None
    run: str | None

    @property
    def is_open(self) -> bool:
        """Whether it has no answer yet."""
        return self.answered_at is None

    @property
    def version(self) -> str:
        """Differs once somebody has changed the answer, or who sees it."""
        return _version(self.answered_at, is_public=self.is_public)

    @property
    def is_new(self) -> bool:
        """Whether it has an answer that the judge has not read."""
        return self.answered_at is not None and self.read_at is None


@dataclass(frozen=True)
class About:
    """The subject of a question; all None for a general question."""

    topic: str | None = None
    topic_title: str | None = None
    docno: str | None = None


def ask(
    session: Session,
    slug: str,
    judge_id: int,
    text: str,
    *,
    client_id: str,
    asked_at: datetime,
    topic: str | None = None,
    assignment_id: int | None = None,
) -> None:
    """Store a question about a document (by assignment), a topic, or neither; resubmission stores it once.

    Raises `InvalidValueError` for a text that is empty or too long and for an invalid id or that of another,
    `NotFoundError` for a subject the judge may not see, and `ConflictError` when judging has ended.
    """
    collection = find_collection(session, slug)
    refuse_closed_judging(session, collection.id)
    check_question(text)
    topic_id, pool_item_id = _about(session, collection.id, judge_id, topic, assignment_id)
    if is_stored(session, client_id, judge_id, collection.id):
        return
    session.add(
        Question(
            collection_id=collection.id,
            topic_id=topic_id,
            pool_item_id=pool_item_id,
            asked_by_id=judge_id,
            client_id=client_id,
            text=text.strip(),
            asked_at=asked_at,
        )
    )


def ask_about(session: Session, slug: str, judge_id: int, topic: str | None, assignment_id: int | None) -> About:
    """The subject for a form of a question; `NotFoundError` for a subject the judge may not see."""
    collection = find_collection(session, slug)
    topic_id, pool_item_id = _about(session, collection.id, judge_id, topic, assignment_id)
    row = session.get(Topic, topic_id) if topic_id is not None else None
    docno = None if pool_item_id is None else _docno_of(session, pool_item_id)
    return About(row.number, row.title, docno) if row is not None else About()


def _docno_of(session: Session, pool_item_id: int) -> str | None:
    return session.scalar(
        select(Document.docno).join(PoolItem, PoolItem.document_id == Document.id).where(PoolItem.id == pool_item_id)
    )


def own_questions(session: Session, slug: str, judge_id: int) -> list[QuestionRow]:
    """A judge's questions in a collection, newest first."""
    collection_id = find_collection(session, slug).id
    return _rows(session, Question.collection_id == collection_id, Question.asked_by_id == judge_id, OF_JUDGE)


def list_questions(session: Session, slug: str) -> list[QuestionRow]:
    """All questions, for organisers: open ones first, oldest first; then by newest answer."""
    rows = _rows(session, Question.collection_id == find_collection(session, slug).id)
    answered = [(row.answered_at, row) for row in rows if row.answered_at is not None]
    return [
        *sorted((row for row in rows if row.is_open), key=lambda row: row.id),
        *(row for _, row in sorted(answered, key=lambda pair: (pair[0], pair[1].id), reverse=True)),
    ]


def count_new_answers(session: Session, slug: str, judge_id: int) -> int:
    """The number of answers the judge has not read."""
    return unread_answers(session, find_collection(session, slug).id, judge_id)


def answer(
    session: Session,
    slug: str,
    question_id: int,
    text: str,
    *,
    answered_by_id: int | None,
    answered_at: datetime,
    public: bool | None = None,
    seen: str | None = None,
) -> None:
    """Answer a question, or change its answer, which is then unread again; an unchanged text is ignored.

    `public`: whether all judges of the topic, or all participants, see question and answer; None for no change. `seen`:
    the `version` of the answer that the organiser saw, None where it is not compared. Allowed after judging has ended,
    too. E-mail to the author is queued, unless an earlier answer has not been read. Raises `NotFoundError`,
    `ConflictError` if the answer has another version by now, and, for a text that is empty or too long and for a public
    answer to a judge about no topic, `InvalidValueError`.
    """
    if is_blank(text):
        raise InvalidValueError("An answer cannot be empty.")
    check_free_text(text, LONGEST_TEXT)
    collection = find_collection(session, slug)
    question = session.scalar(
        select(Question).where(Question.id == question_id, Question.collection_id == collection.id).with_for_update()
    )
    if question is None:
        raise NotFoundError("There is no question %(number)d in this collection.", number=question_id)
    shown = clarifications if question.team_id is None else announcements
    was_public = shown.is_public(session, question)
    is_changed = question.answer != text.strip()
    if seen not in {None, _version(question.answered_at, is_public=was_public)} and (
        is_changed or public != was_public
    ):
        raise ConflictError("The answer has changed since you opened the page. Look at it before you save yours.")
    if is_changed:
        if question.answered_at is None or question.read_at is not None:
            mail_answer(session, collection, question, at=answered_at)
        question.answer = text.strip()
        question.answered_by_id, question.answered_at, question.read_at = answered_by_id, answered_at, None
    if public is False:
        shown.withdraw_answer(session, question)
    elif (was_public and is_changed) or (public and not was_public):
        shown.publish_answer(session, question, published_by_id=answered_by_id, published_at=answered_at)


def _version(answered_at: datetime | None, *, is_public: bool) -> str:
    moment = "" if answered_at is None else answered_at.isoformat()
    return f"{moment} {'public' if is_public else 'private'}"


def read_answers(
    session: Session, slug: str, judge_id: int, *, read_at: datetime, client_ids: Sequence[str] | None = None
) -> None:
    """Mark the answers to these questions of a judge, or to all, as read."""
    statement = update(Question).where(
        Question.collection_id == find_collection(session, slug).id,
        Question.asked_by_id == judge_id,
        OF_JUDGE,
        Question.answered_at.is_not(None),
        Question.read_at.is_(None),
    )
    if client_ids is not None:
        statement = statement.where(Question.client_id.in_(client_ids))
    session.execute(statement.values(read_at=read_at))


def _about(
    session: Session, collection_id: int, judge_id: int, topic: str | None, assignment_id: int | None
) -> tuple[int | None, int | None]:
    """Topic id and pool item id of a question's subject; a document implies its topic."""
    if assignment_id is not None:
        row = session.execute(
            select(PoolItem.topic_id, PoolItem.id)
            .join(Assignment, Assignment.pool_item_id == PoolItem.id)
            .join(Topic, Topic.id == PoolItem.topic_id)
            .where(
                Assignment.id == assignment_id,
                Assignment.judge_id == judge_id,
                Topic.collection_id == collection_id,
            )
        ).one_or_none()
        if row is None:
            raise NotFoundError("You have no such assignment.")
        return row.topic_id, row.id
    if topic is not None:
        return find_topic(session, collection_id, topic, Topic.state != TopicState.DRAFT).id, None
    return None, None


def _rows(session: Session, *conditions: ColumnElement[bool]) -> list[QuestionRow]:
    answering = aliased(User)
    rows = session.execute(
        select(
            Question,
            Topic.number,
            Topic.title.label("topic_title"),
            Document.docno,
            Document.title.label("document_title"),
            User.name,
            answering.name.label("answered_by"),
            OWN_ASSIGNMENT.label("assignment_id"),
            func.coalesce(Clarification.id, Announcement.id).label("public"),
            Team.name.label("team"),
            Run.tag.label("run"),
        )
        .join(User, User.id == Question.asked_by_id)
        .outerjoin(Topic, Topic.id == Question.topic_id)
        .outerjoin(PoolItem, PoolItem.id == Question.pool_item_id)
        .outerjoin(Document, Document.id == PoolItem.document_id)
        .outerjoin(Team, Team.id == Question.team_id)
        .outerjoin(Run, Run.id == Question.run_id)
        .outerjoin(Clarification, Clarification.question_id == Question.id)
        .outerjoin(Announcement, Announcement.question_id == Question.id)
        .outerjoin(answering, answering.id == Question.answered_by_id)
        .where(*conditions)
        .order_by(Question.id.desc())
    )
    return [_row(row) for row in rows]


def _row(row: Row[*tuple[Any, ...]]) -> QuestionRow:
    asked: Question = row.Question
    return QuestionRow(
        id=asked.id,
        client_id=asked.client_id,
        topic=row.number,
        topic_title=row.topic_title,
        docno=row.docno,
        document_title=row.document_title,
        judge=row.name,
        text=asked.text,
        asked_at=asked.asked_at,
        answer=asked.answer,
        answered_by=row.answered_by,
        answered_at=asked.answered_at,
        read_at=asked.read_at,
        assignment_id=row.assignment_id,
        is_public=row.public is not None,
        team=row.team,
        run=row.run,
    )
