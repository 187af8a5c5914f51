"""What is shown beside the documents: guidelines, the judge's note on a topic, and words to highlight."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.identifiers import check_free_text, natural_order
from annotator.evaluation.search.search_snippets import Mark, marks_in
from annotator.storage import Topic, TopicMark, TopicNote, TopicState, User
from annotator.storage.collections.collection import (
    find_collection,
    find_topic,
    latest_guidelines,
    refuse_closed_judging,
)
from annotator.storage.judging.judge_desk import NoteRow, marks_of, note_of, topic_notes, unread_answers
from annotator.storage.site.epoch import current_epoch
from annotator.workflows.judging.clarifications import (
    TopicClarification,
    clarifications_of,
    newest_clarification,
)

LONGEST_NOTE = 10_000
MOST_MARKS = 50
LONGEST_MARK = 100
SHOWN_TO_JUDGES = Topic.state != TopicState.DRAFT


@dataclass(frozen=True)
class Desk:
    """A topic with one judge's note and highlighted words."""

    number: str
    title: str
    language: str | None
    note: str
    marks: tuple[str, ...]


def show_desk(session: Session, slug: str, number: str, judge_id: int) -> Desk:
    """The judge's note and highlighted words; `NotFoundError` when judges have no such topic."""
    topic = _topic(session, slug, number)
    note, marks = note_of(session, topic.id, judge_id), marks_of(session, topic.id, judge_id)
    return Desk(topic.number, topic.title, topic.language, note, tuple(marks))


def save_desk(
    session: Session,
    slug: str,
    number: str,
    judge_id: int,
    *,
    note: str,
    marks: Sequence[str],
    changed_at: datetime,
) -> None:
    """Store both a judge's note on a topic and the words to highlight, as `save_note` and `save_marks` do."""
    save_note(session, slug, number, judge_id, note, changed_at=changed_at)
    save_marks(session, slug, number, judge_id, marks)


def save_note(session: Session, slug: str, number: str, judge_id: int, text: str, *, changed_at: datetime) -> None:
    """Store a judge's note on a topic, an empty one meaning none; an unchanged text is not stored again.

    Raises `NotFoundError`, `InvalidValueError` for a text too long, and `ConflictError` when judging has ended.
    """
    topic = _open_topic(session, slug, number)
    check_free_text(text, LONGEST_NOTE)
    _one_at_a_time(session, judge_id)
    note = session.get(TopicNote, (topic.id, judge_id))
    if not text.strip():
        if note is not None:
            session.delete(note)
    elif note is None:
        session.add(TopicNote(topic_id=topic.id, judge_id=judge_id, text=text, changed_at=changed_at))
    elif note.text != text:
        note.text, note.changed_at = text, changed_at


def save_marks(session: Session, slug: str, number: str, judge_id: int, words: Sequence[str]) -> None:
    """Replace the words that a judge wants highlighted in the documents of a topic.

    Words are stripped of blanks and deduplicated regardless of case.
    """
    topic = _open_topic(session, slug, number)
    marks = _marks(words)
    _one_at_a_time(session, judge_id)
    session.execute(delete(TopicMark).where(TopicMark.topic_id == topic.id, TopicMark.judge_id == judge_id))
    rows = [
        {"topic_id": topic.id, "judge_id": judge_id, "words": mark, "position": position}
        for position, mark in enumerate(marks)
    ]
    if rows:
        session.execute(insert(TopicMark), rows)


def list_notes(session: Session, slug: str) -> list[NoteRow]:
    """The notes of every judge, by topic; for organisers."""
    rows = topic_notes(session, find_collection(session, slug).id)
    return sorted(rows, key=lambda row: (natural_order(row.topic), row.judge))


def _topic(session: Session, slug: str, number: str) -> Topic:
    return find_topic(session, find_collection(session, slug).id, number, SHOWN_TO_JUDGES)


def _open_topic(session: Session, slug: str, number: str) -> Topic:
    collection = find_collection(session, slug)
    refuse_closed_judging(session, collection.id)
    return find_topic(session, collection.id, number, SHOWN_TO_JUDGES)


def _one_at_a_time(session: Session, judge_id: int) -> None:
    """Serialise a judge's requests from two tabs by a lock, so that both do not insert the same row."""
    session.execute(select(User.id).where(User.id == judge_id).with_for_update(key_share=True))


def _marks(words: Sequence[str]) -> list[str]:
    marks: dict[str, str] = {}
    for mark in (" ".join(each.split()) for each in words):
        check_free_text(mark, LONGEST_MARK)
        if mark:
            marks.setdefault(mark.casefold(), mark)
    if len(marks) > MOST_MARKS:
        raise InvalidValueError(
            "At most %(most)d words can be marked in a topic; these are %(count)d.", most=MOST_MARKS, count=len(marks)
        )
    return list(marks.values())


@dataclass(frozen=True)
class GuidelinesInForce:
    """The current guidelines; number 0 and an empty text before the first version."""

    number: int
    text: str


@dataclass(frozen=True)
class Beside:
    """What one judge sees beside a topic's documents."""

    guidelines: GuidelinesInForce
    words: tuple[Mark, ...]
    note: str
    marks: tuple[str, ...]
    answers: int
    epoch: str
    clarifications: tuple[TopicClarification, ...]
    newest_clarification: int


def database_epoch(session: Session) -> str:
    """A random value that a restore of the database changes."""
    return current_epoch(session)


def show_beside(session: Session, slug: str, topic_number: str, judge_id: int) -> Beside:
    """What one judge sees beside the documents of a topic; `NotFoundError` for an unknown topic."""
    collection = find_collection(session, slug)
    topic = find_topic(session, collection.id, topic_number)
    latest = latest_guidelines(session, collection.id)
    return Beside(
        GuidelinesInForce(latest.number, latest.text) if latest else GuidelinesInForce(0, ""),
        tuple(marks_in(topic.title)),
        note_of(session, topic.id, judge_id),
        tuple(marks_of(session, topic.id, judge_id)),
        unread_answers(session, collection.id, judge_id),
        current_epoch(session),
        tuple(clarifications_of(session, topic.id, judge_id)),
        newest_clarification(session, collection.id),
    )
