"""The training for judges: one document at a time, with the correct grade and its reason after each answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Collection, Document, Grade, QualifyingAnswer, QualifyingItem, Topic, User
from annotator.storage.collections.collection import find_collection, refuse_closed_judging
from annotator.storage.judging.judge_desk import Attempt, attempts_at_training, count_qualifying


@dataclass(frozen=True)
class TrainingAnswer:
    """Whether the answer at a position of an attempt was correct."""

    position: int
    is_right: bool


@dataclass(frozen=True)
class TrainingState:
    """A judge's progress: `current` is the attempt to begin or continue, None when there is nothing to do.

    `answers` are those of each attempt, by its number.
    """

    documents: int
    pass_mark: int | None
    attempts: tuple[Attempt, ...]
    current: int | None
    answers: Mapping[int, tuple[TrainingAnswer, ...]]

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
    following = _next(session, collection.id, judge_id, attempt)
    return _task(session, following[0], attempt, following[1], state.documents) if following else None


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
        following = _next(session, collection.id, judge_id, attempt)
        if following is None or item != following[0]:
            raise ConflictError("Another document of the training comes first.")
        session.add(
            QualifyingAnswer(
                qualifying_item_id=item_id, judge_id=judge_id, attempt=attempt, grade=grade, answered_at=answered_at
            )
        )
    return _items(session, collection.id, judge_id, attempt).index(item) + 1


def feedback_on(session: Session, slug: str, judge_id: int, attempt: int, position: int) -> Feedback:
    """A judge's answer to a document of an attempt, and the correct one; `NotFoundError` before they answered."""
    collection = find_collection(session, slug)
    items = _items(session, collection.id, judge_id, attempt)
    item = items[position - 1] if 1 <= position <= len(items) else None
    given = session.get(QualifyingAnswer, (item.id, judge_id, attempt)) if item else None
    if item is None or given is None:
        raise NotFoundError("You have not answered this document of the training.")
    task = _task(session, item, attempt, position, len(items))
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
    answers = _answers(session, collection.id, judge_id, attempts)
    return TrainingState(documents, collection.pass_mark, attempts, current, answers)


def _require_known(state: TrainingState, attempt: int) -> None:
    if attempt not in {each.number for each in state.attempts}:
        raise NotFoundError("There is no such attempt at the training.")


def _items(session: Session, collection_id: int, judge_id: int, attempt: int) -> list[QualifyingItem]:
    """The training documents in the order of an attempt: the organisers' first, then another for each attempt.

    The order depends on judge and attempt alone, so that a repeated attempt is no exercise in remembering a row of
    grades, and stays the same until it is finished.
    """
    items = list(
        session.scalars(
            select(QualifyingItem)
            .where(QualifyingItem.collection_id == collection_id)
            .order_by(QualifyingItem.position)
        )
    )
    if attempt == 1 or len(items) == 1:
        return items
    others = items.copy()
    Random(f"{collection_id}:{judge_id}:{attempt}").shuffle(others)  # noqa: S311 - an order, no secret
    return others if others != items else [*items[1:], items[0]]


def _answered(session: Session, judge_id: int, attempt: int, items: Sequence[QualifyingItem]) -> dict[int, int]:
    """Item id → the grade that the judge gave in an attempt."""
    rows = session.execute(
        select(QualifyingAnswer.qualifying_item_id, QualifyingAnswer.grade).where(
            QualifyingAnswer.judge_id == judge_id,
            QualifyingAnswer.attempt == attempt,
            QualifyingAnswer.qualifying_item_id.in_([item.id for item in items]),
        )
    )
    return {item_id: grade for item_id, grade in rows}


def _answers(
    session: Session, collection_id: int, judge_id: int, attempts: Sequence[Attempt]
) -> dict[int, tuple[TrainingAnswer, ...]]:
    """Attempt → its answers, in the order of showing."""
    found = {}
    for attempt in attempts:
        items = _items(session, collection_id, judge_id, attempt.number)
        given = _answered(session, judge_id, attempt.number, items)
        found[attempt.number] = tuple(
            TrainingAnswer(position, given[item.id] == item.known_grade)
            for position, item in enumerate(items, start=1)
            if item.id in given
        )
    return found


def _next(session: Session, collection_id: int, judge_id: int, attempt: int) -> tuple[QualifyingItem, int] | None:
    """The first document of an attempt without an answer, and its position; None when all have one."""
    items = _items(session, collection_id, judge_id, attempt)
    given = _answered(session, judge_id, attempt, items)
    return next(((item, at) for at, item in enumerate(items, start=1) if item.id not in given), None)


def _task(session: Session, item: QualifyingItem, attempt: int, position: int, of: int) -> TrainingTask:
    topic, document = session.get_one(Topic, item.topic_id), session.get_one(Document, item.document_id)
    return TrainingTask(
        item_id=item.id,
        attempt=attempt,
        position=position,
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
