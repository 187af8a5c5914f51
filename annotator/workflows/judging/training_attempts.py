"""The training for judges: one document at a time, with the correct grade and its reason after each answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import CannotJudge, Collection, Document, Grade, QualifyingAnswer, QualifyingItem, Topic, User
from annotator.storage.collections.collection import find_collection, refuse_closed_judging
from annotator.storage.judging.judge_desk import Attempt, attempts_at_training, count_qualifying, training_length
from annotator.storage.judging.judge_history import ShownDocument
from annotator.storage.tables.judging import REASONS
from annotator.workflows.judging.training_draws import draw


@dataclass(frozen=True)
class TrainingAnswer:
    """The answer at a position of an attempt: a grade or the reason for none, and what is correct."""

    position: int
    topic: str
    docno: str
    title: str
    grade: int | None
    cannot_judge: str | None
    known_grade: int
    explanation: str

    @property
    def is_right(self) -> bool:
        """Whether it is the correct grade."""
        return self.grade == self.known_grade


@dataclass(frozen=True)
class TrainingState:
    """A judge's progress: `current` is the attempt to begin or continue, None when there is nothing to do.

    `documents` counts those of an attempt, `stored` all. `answers` are those of each attempt, by its number.
    """

    documents: int
    stored: int
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

    @property
    def finished(self) -> Attempt | None:
        """The last finished attempt."""
        return next((attempt for attempt in reversed(self.attempts) if attempt.is_finished), None)

    @property
    def wrong(self) -> tuple[TrainingAnswer, ...]:
        """The wrong answers of the last finished attempt."""
        return tuple(one for one in self.answers[self.finished.number] if not one.is_right) if self.finished else ()


@dataclass(frozen=True)
class TrainingTask:
    """A training document with its topic; `position` counts from 1, and is the document's `assignment_id`."""

    item_id: int
    attempt: int
    position: int
    of: int
    topic_number: str
    topic_title: str
    topic_description: str
    topic_narrative: str
    topic_language: str | None
    document: ShownDocument


@dataclass(frozen=True)
class Feedback:
    """A judge's answer to a document, and where to go on.

    `next_wrong` is the position of the next wrong answer of a finished attempt.
    """

    task: TrainingTask
    answer: TrainingAnswer
    is_finished: bool
    next_wrong: int | None


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
    items = _items(session, collection, judge_id, attempt)
    following = _next(session, judge_id, attempt, items)
    return _task(session, items[following - 1], attempt, following, len(items)) if following else None


def answer_item(
    session: Session,
    slug: str,
    judge_id: int,
    attempt: int,
    item_id: int,
    grade: int | None,
    *,
    cannot_judge: CannotJudge | None = None,
    answered_at: datetime,
) -> int:
    """Store a grade, or the reason for none, and return the document's position; the first answer is final.

    Raises `NotFoundError` for an unknown document or attempt, `InvalidValueError` for a grade outside the scale, and
    `ConflictError` for a document out of order and when judging has ended.
    """
    collection = find_collection(session, slug)
    refuse_closed_judging(session, collection.id)
    # Serialises requests from two tabs, so that both do not insert the same answer.
    session.execute(select(User.id).where(User.id == judge_id).with_for_update(key_share=True))
    known = QualifyingItem.id == item_id, QualifyingItem.collection_id == collection.id
    if session.scalar(select(QualifyingItem.id).where(*known)) is None:
        raise NotFoundError("This document is not in the training any more.")
    _check_answer(session, collection.id, grade, cannot_judge)
    items = _items(session, collection, judge_id, attempt)
    positions = {item.id: position for position, item in enumerate(items, start=1)}
    if session.get(QualifyingAnswer, (item_id, judge_id, attempt)) is None:
        if attempt != _state(session, collection, judge_id).current:
            raise ConflictError("This attempt is not the one that you are at.")
        if positions.get(item_id) != _next(session, judge_id, attempt, items):
            raise ConflictError("Another document of the training comes first.")
        session.add(
            QualifyingAnswer(
                qualifying_item_id=item_id,
                judge_id=judge_id,
                attempt=attempt,
                grade=grade,
                cannot_judge=cannot_judge,
                answered_at=answered_at,
            )
        )
    return positions[item_id]


def feedback_on(session: Session, slug: str, judge_id: int, attempt: int, position: int) -> Feedback:
    """A judge's answer to a document of an attempt, and the correct one; `NotFoundError` before they answered."""
    collection = find_collection(session, slug)
    items = _items(session, collection, judge_id, attempt)
    answers = {one.position: one for one in _answers(session, judge_id, attempt, items)}
    if position not in answers:
        raise NotFoundError("You have not answered this document of the training.")
    is_finished = len(answers) == len(items)
    wrong = (at for at, one in answers.items() if at > position and not one.is_right)
    task = _task(session, items[position - 1], attempt, position, len(items))
    return Feedback(task, answers[position], is_finished, next(wrong, None) if is_finished else None)


def shown_document(session: Session, slug: str, judge_id: int, attempt: int, position: int) -> ShownDocument:
    """A document of an attempt that the judge has answered, or is to answer now; `NotFoundError` for others."""
    collection = find_collection(session, slug)
    state = _state(session, collection, judge_id)
    if attempt != state.current:
        _require_known(state, attempt)
    items = _items(session, collection, judge_id, attempt)
    if not 1 <= position <= (_next(session, judge_id, attempt, items) or len(items)):
        raise NotFoundError("You have not answered this document of the training.")
    return _task(session, items[position - 1], attempt, position, len(items)).document


def _check_answer(session: Session, collection_id: int, grade: int | None, cannot_judge: CannotJudge | None) -> None:
    if (grade is None) == (cannot_judge is None):
        raise InvalidValueError("Choose a grade, or a reason why the document cannot be judged.")
    if cannot_judge is not None and cannot_judge not in REASONS:
        raise InvalidValueError("This is not a reason to choose.")
    if grade is not None and session.get(Grade, (collection_id, grade)) is None:
        raise InvalidValueError("%(grade)d is not a grade of this collection's scale.", grade=grade)


def _state(session: Session, collection: Collection, judge_id: int) -> TrainingState:
    documents = training_length(session, collection.id)
    attempts = tuple(attempts_at_training(session, collection.id, judge_id))
    passed = any(attempt.passes(collection.pass_mark) for attempt in attempts)
    if not documents or passed:
        current = None
    elif attempts and not attempts[-1].is_finished:
        current = attempts[-1].number
    else:
        current = len(attempts) + 1
    answers = {
        attempt.number: _answers(
            session, judge_id, attempt.number, _items(session, collection, judge_id, attempt.number)
        )
        for attempt in attempts
    }
    stored = count_qualifying(session, collection.id)
    return TrainingState(documents, stored, collection.pass_mark, attempts, current, answers)


def _require_known(state: TrainingState, attempt: int) -> None:
    if attempt not in {each.number for each in state.attempts}:
        raise NotFoundError("There is no such attempt at the training.")


def _items(session: Session, collection: Collection, judge_id: int, attempt: int) -> list[QualifyingItem]:
    """The documents of an attempt in the order of showing.

    They depend on judge and attempt alone, so that a repeated attempt is no exercise in remembering a row of grades,
    and stay the same until it is finished: while there are answers, neither documents nor their number change.
    """
    items = session.scalars(
        select(QualifyingItem).where(QualifyingItem.collection_id == collection.id).order_by(QualifyingItem.position)
    ).all()
    seed = f"{collection.id}:{judge_id}"
    return [items[place] for place in draw(len(items), collection.training_size, attempt, seed=seed)]


def _answers(
    session: Session, judge_id: int, attempt: int, items: Sequence[QualifyingItem]
) -> tuple[TrainingAnswer, ...]:
    """The answers of an attempt, in the order of showing."""
    rows = session.execute(
        select(QualifyingAnswer, Topic.number, Document.docno, Document.title)
        .join(QualifyingItem, QualifyingItem.id == QualifyingAnswer.qualifying_item_id)
        .join(Topic, Topic.id == QualifyingItem.topic_id)
        .join(Document, Document.id == QualifyingItem.document_id)
        .where(*_of(judge_id, attempt, items))
    )
    given = {answer.qualifying_item_id: (answer, topic, docno, title) for answer, topic, docno, title in rows}
    found = []
    for position, item in enumerate(items, start=1):
        if item.id in given:
            answer, topic, docno, title = given[item.id]
            known = (item.known_grade, item.explanation)
            found.append(TrainingAnswer(position, topic, docno, title, answer.grade, answer.cannot_judge, *known))
    return tuple(found)


def _next(session: Session, judge_id: int, attempt: int, items: Sequence[QualifyingItem]) -> int | None:
    """The position of the first document of an attempt without an answer; None when all have one."""
    given = set(session.scalars(select(QualifyingAnswer.qualifying_item_id).where(*_of(judge_id, attempt, items))))
    return next((at for at, item in enumerate(items, start=1) if item.id not in given), None)


def _of(judge_id: int, attempt: int, items: Sequence[QualifyingItem]) -> tuple[ColumnElement[bool], ...]:
    return (
        QualifyingAnswer.judge_id == judge_id,
        QualifyingAnswer.attempt == attempt,
        QualifyingAnswer.qualifying_item_id.in_([item.id for item in items]),
    )


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
        document=ShownDocument(
            assignment_id=position,
            document_id=document.id,
            docno=document.docno,
            title=document.title,
            body=document.body,
            url=document.url,
            language=document.language,
            text_hash=document.text_hash,
            judgement=None,
        ),
    )
