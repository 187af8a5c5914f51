"""The training for judges: one document at a time, with the correct grade and its reason after each answer."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, exists, func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Collection, Document, Grade, QualifyingAnswer, QualifyingItem, Topic, User
from annotator.storage.collections.collection import find_collection, refuse_closed_judging
from annotator.storage.judging.judge_desk import Attempt, attempts_at_training, count_qualifying


@dataclass(frozen=True)
class TrainingState:
    """A judge's progress: `current` is the attempt to begin or continue, None when there is nothing to do."""

    documents: int
    pass_mark: int | None
    attempts: tuple[Attempt, ...]
    current: int | None

    @property
    def passed(self) -> bool:
        """Whether one of the attempts passes."""
        return any(attempt.passes(self.pass_mark) for attempt in self.attempts)

    @property
    def must_be_passed(self) -> bool:
        """Whether the judge gets no documents before passing."""
        return self.pass_mark is not None and self.documents > 0 and not self.passed

    @property
    def answered(self) -> int:
        """The number of answered documents in the current attempt."""
        return next((attempt.answered for attempt in self.attempts if attempt.number == self.current), 0)


@dataclass(frozen=True)
class TrainingTask:
    """A training document with its topic; `position` counts from 1."""

    item_id: int
    attempt: int
    position: int
    of: int
    topic_number: str
    topic_title: str
    topic_description: str
    topic_narrative: str
    topic_language: str | None
    docno: str
    title: str
    body: str | None
    language: str | None


@dataclass(frozen=True)
class Feedback:
    """A judge's answer, the correct grade, and the reason."""

    task: TrainingTask
    grade: int
    known_grade: int
    explanation: str

    @property
    def is_right(self) -> bool:
        """Whether the answer equals the correct grade."""
        return self.grade == self.known_grade


def training_of(session: Session, slug: str, judge_id: int) -> TrainingState:
    """A judge's progress in the training."""
    return _state(session, find_collection(session, slug), judge_id)


def next_of_attempt(session: Session, slug: str, judge_id: int, attempt: int) -> TrainingTask | None:
    """The first unanswered document of the current attempt; None when the attempt is finished.

    Raises `NotFoundError` for an unknown attempt.
    """
    collection = find_collection(session, slug)
    state = _state(session, collection, judge_id)
    if attempt != state.current:
        _require_known(state, attempt)
        return None
    return _task(session, _unanswered(collection.id, judge_id, attempt), attempt, state.documents)


def answer_item(
    session: Session, slug: str, judge_id: int, attempt: int, item_id: int, grade: int, *, answered_at: datetime
) -> int:
    """Store an answer and return the document's position; the first answer of an attempt is final.

    Raises `NotFoundError` for an unknown document or attempt, `InvalidValueError` for a grade outside the scale, and
    `ConflictError` for a document out of order and when judging has ended.
    """
    collection = find_collection(session, slug)
    refuse_closed_judging(session, collection.id)
    # Serialises requests from two tabs, so that both do not insert the same answer.
    session.execute(select(User.id).where(User.id == judge_id).with_for_update(key_share=True))
    item = session.scalar(
        select(QualifyingItem).where(QualifyingItem.id == item_id, QualifyingItem.collection_id == collection.id)
    )
    if item is None:
        raise NotFoundError("This document is not in the training any more.")
    if session.get(Grade, (collection.id, grade)) is None:
        raise InvalidValueError("%(grade)d is not a grade of this collection's scale.", grade=grade)
    if session.get(QualifyingAnswer, (item_id, judge_id, attempt)) is None:
        if attempt != _state(session, collection, judge_id).current:
            raise ConflictError("This attempt is not the one that you are at.")
        if item != session.scalar(_unanswered(collection.id, judge_id, attempt).limit(1)):
            raise ConflictError("Another document of the training comes first.")
        session.add(
            QualifyingAnswer(
                qualifying_item_id=item_id, judge_id=judge_id, attempt=attempt, grade=grade, answered_at=answered_at
            )
        )
    return _position(session, item)


def feedback_on(session: Session, slug: str, judge_id: int, attempt: int, position: int) -> Feedback:
    """A judge's answer to a document of an attempt, and the correct one; `NotFoundError` before they answered."""
    collection = find_collection(session, slug)
    of_position = _items(collection.id).offset(max(position, 1) - 1)
    task = _task(session, of_position, attempt, count_qualifying(session, collection.id))
    given = session.get(QualifyingAnswer, (task.item_id, judge_id, attempt)) if task else None
    if task is None or given is None:
        raise NotFoundError("You have not answered this document of the training.")
    item = session.get_one(QualifyingItem, task.item_id)
    return Feedback(task, given.grade, item.known_grade, item.explanation)


def _state(session: Session, collection: Collection, judge_id: int) -> TrainingState:
    documents = count_qualifying(session, collection.id)
    attempts = tuple(attempts_at_training(session, collection.id, judge_id))
    passed = any(attempt.passes(collection.pass_mark) for attempt in attempts)
    if not documents or passed:
        current = None
    elif attempts and not attempts[-1].is_finished:
        current = attempts[-1].number
    else:
        current = len(attempts) + 1
    return TrainingState(documents, collection.pass_mark, attempts, current)


def _require_known(state: TrainingState, attempt: int) -> None:
    if attempt not in {each.number for each in state.attempts}:
        raise NotFoundError("There is no such attempt at the training.")


def _items(collection_id: int) -> Select[QualifyingItem]:
    return select(QualifyingItem).where(QualifyingItem.collection_id == collection_id).order_by(QualifyingItem.position)


def _unanswered(collection_id: int, judge_id: int, attempt: int) -> Select[QualifyingItem]:
    """Select the documents that the judge has not answered in an attempt, in training order."""
    answered = exists().where(
        QualifyingAnswer.qualifying_item_id == QualifyingItem.id,
        QualifyingAnswer.judge_id == judge_id,
        QualifyingAnswer.attempt == attempt,
    )
    return _items(collection_id).where(~answered)


def _position(session: Session, item: QualifyingItem) -> int:
    """The position of a document in the training, from 1."""
    return session.scalars(
        select(func.count())
        .select_from(QualifyingItem)
        .where(QualifyingItem.collection_id == item.collection_id, QualifyingItem.position <= item.position)
    ).one()


def _task(session: Session, items: Select[QualifyingItem], attempt: int, of: int) -> TrainingTask | None:
    item = session.scalar(items.limit(1))
    if item is None:
        return None
    topic, document = session.get_one(Topic, item.topic_id), session.get_one(Document, item.document_id)
    return TrainingTask(
        item_id=item.id,
        attempt=attempt,
        position=_position(session, item),
        of=of,
        topic_number=topic.number,
        topic_title=topic.title,
        topic_description=topic.description,
        topic_narrative=topic.narrative,
        topic_language=topic.language,
        docno=document.docno,
        title=document.title,
        body=document.body,
        language=document.language,
    )
