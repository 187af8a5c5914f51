"""Clarifications for all judges of a topic: public answers to questions, and texts of the organisers.

Who asked is shown to nobody but the organisers, nor is the document that a question is about, as it may not be in the
queue of others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, insert, select
from sqlalchemy.orm import Session, aliased

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.formats.identifiers import check_free_text
from annotator.storage import Clarification, ClarificationSeen, Question, Topic, TopicState, User
from annotator.storage.collections.collection import find_collection, find_topic

LONGEST_TEXT = 10_000
SHOWN_TO_JUDGES = Topic.state != TopicState.DRAFT


@dataclass(frozen=True)
class TopicClarification:
    """A clarification as a judge sees it; `question` is None for one that answers no question."""

    id: int
    question: str | None
    text: str
    published_at: datetime
    is_new: bool


@dataclass(frozen=True)
class ClarificationRow:
    """A clarification as organisers see it, with the number of judges who have seen it."""

    id: int
    topic: str
    topic_title: str
    question_id: int | None
    text: str
    published_by: str | None
    published_at: datetime
    seen: int


def clarify(
    session: Session, slug: str, topic: str, text: str, *, published_by_id: int | None, published_at: datetime
) -> int:
    """Add a clarification for all judges of a topic, and return its number.

    Allowed after judging has ended, too. Raises `NotFoundError` and, for a text that is empty or too long,
    `InvalidValueError`.
    """
    collection = find_collection(session, slug)
    if not text.strip():
        raise InvalidValueError("A clarification cannot be empty.")
    check_free_text(text, LONGEST_TEXT)
    made = Clarification(
        collection_id=collection.id,
        topic_id=find_topic(session, collection.id, topic, SHOWN_TO_JUDGES).id,
        text=text.strip(),
        published_by_id=published_by_id,
        published_at=published_at,
    )
    session.add(made)
    session.flush()
    return made.id


def remove(session: Session, slug: str, number: int) -> None:
    """Take a clarification back, or make an answer private again; raises `NotFoundError`."""
    found = session.scalar(
        select(Clarification)
        .where(Clarification.id == number, Clarification.collection_id == find_collection(session, slug).id)
        .with_for_update()
    )
    if found is None:
        raise _missing(number)
    _take_back(session, found)


def is_public(session: Session, question: Question) -> bool:
    """Whether all judges of the topic see the answer to a question."""
    return session.scalar(select(Clarification.id).where(Clarification.question_id == question.id)) is not None


def publish_answer(
    session: Session, question: Question, *, published_by_id: int | None, published_at: datetime
) -> None:
    """Show a question and its answer to all judges of its topic; it is new to all of them but who asked.

    Raises `InvalidValueError` for a question that is about no topic.
    """
    if question.topic_id is None:
        raise InvalidValueError("Only the answer to a question about a topic can be shown to all judges of the topic.")
    withdraw_answer(session, question)
    made = Clarification(
        collection_id=question.collection_id,
        topic_id=question.topic_id,
        question_id=question.id,
        published_by_id=published_by_id,
        published_at=published_at,
    )
    session.add(made)
    session.flush()
    # The asker sees the answer among their questions.
    seen = ClarificationSeen(clarification_id=made.id, judge_id=question.asked_by_id, seen_at=published_at)
    session.add(seen)


def withdraw_answer(session: Session, question: Question) -> None:
    """Show the answer to a question to nobody but who asked."""
    found = session.scalar(select(Clarification).where(Clarification.question_id == question.id).with_for_update())
    if found is not None:
        _take_back(session, found)


def list_clarifications(session: Session, slug: str) -> list[ClarificationRow]:
    """All clarifications of a collection, the newest first; for organisers."""
    return _rows(session, slug)


def show_clarification(session: Session, slug: str, number: int) -> ClarificationRow:
    """One clarification of a collection; raises `NotFoundError`."""
    found = _rows(session, slug, Clarification.id == number)
    if not found:
        raise _missing(number)
    return found[0]


def _missing(number: int) -> NotFoundError:
    return NotFoundError("There is no clarification %(number)d in this collection.", number=number)


def _rows(session: Session, slug: str, *conditions: ColumnElement[bool]) -> list[ClarificationRow]:
    publisher = aliased(User)
    seen = (
        select(func.count())
        .select_from(ClarificationSeen)
        .where(ClarificationSeen.clarification_id == Clarification.id)
        .scalar_subquery()
    )
    rows = session.execute(
        select(Clarification, Topic.number, Topic.title, Question.answer, publisher.name, seen)
        .join(Topic, Topic.id == Clarification.topic_id)
        .outerjoin(Question, Question.id == Clarification.question_id)
        .outerjoin(publisher, publisher.id == Clarification.published_by_id)
        .where(Clarification.collection_id == find_collection(session, slug).id, *conditions)
        .order_by(Clarification.id.desc())
    )
    return [
        ClarificationRow(one.id, number, title, one.question_id, answer or one.text, name, one.published_at, count)
        for one, number, title, answer, name, count in rows
    ]


def clarifications_of(session: Session, topic_id: int, judge_id: int) -> list[TopicClarification]:
    """The clarifications of a topic, the newest first, each new until this judge has seen it."""
    rows = session.execute(
        select(Clarification, Question.text, Question.answer, ClarificationSeen.seen_at)
        .outerjoin(Question, Question.id == Clarification.question_id)
        .outerjoin(
            ClarificationSeen,
            (ClarificationSeen.clarification_id == Clarification.id) & (ClarificationSeen.judge_id == judge_id),
        )
        .where(Clarification.topic_id == topic_id)
        .order_by(Clarification.id.desc())
    )
    return [
        TopicClarification(one.id, question, answer or one.text, one.published_at, seen_at is None)
        for one, question, answer, seen_at in rows
    ]


def show_clarifications(session: Session, slug: str, topic: str, judge_id: int) -> list[TopicClarification]:
    """The clarifications of a topic as a judge sees them; raises `NotFoundError` when judges have no such topic."""
    collection = find_collection(session, slug)
    return clarifications_of(session, find_topic(session, collection.id, topic, SHOWN_TO_JUDGES).id, judge_id)


def newest_clarification(session: Session, collection_id: int) -> int:
    """The number of the newest clarification of a collection, 0 before the first."""
    newest = select(func.max(Clarification.id)).where(Clarification.collection_id == collection_id)
    return session.scalar(newest) or 0


def mark_seen(
    session: Session, slug: str, topic: str, judge_id: int, numbers: Sequence[int], *, seen_at: datetime
) -> None:
    """Remember that a judge has seen these clarifications of a topic; others are ignored, as are repetitions."""
    collection = find_collection(session, slug)
    topic_id = find_topic(session, collection.id, topic, SHOWN_TO_JUDGES).id
    # Serialises the requests of a judge's devices, so that both do not insert the same row.
    session.execute(select(User.id).where(User.id == judge_id).with_for_update(key_share=True))
    new = {one.id for one in clarifications_of(session, topic_id, judge_id) if one.is_new}
    rows = [
        {"clarification_id": number, "judge_id": judge_id, "seen_at": seen_at}
        for number in sorted(new.intersection(numbers))
    ]
    if rows:
        session.execute(insert(ClarificationSeen), rows)


def _take_back(session: Session, clarification: Clarification) -> None:
    session.execute(delete(ClarificationSeen).where(ClarificationSeen.clarification_id == clarification.id))
    session.delete(clarification)
    session.flush()
