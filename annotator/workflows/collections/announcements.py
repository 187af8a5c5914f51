"""Announcements for the participants, or for all members, and answers to participants that all of them see.

No reader but the organisers is shown who asked, nor for which team or about which run.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.formats.identifiers import check_free_text, is_blank
from annotator.storage import Announcement, Collection, Question, User
from annotator.storage.collections.collection import find_collection
from annotator.workflows.collections.answer_mail import mail_announcement

LONGEST_TITLE = 200
LONGEST_TEXT = 20_000


@dataclass(frozen=True)
class NewAnnouncement:
    """What organisers write: a title in one line, a text in Markdown, and whether all members see it."""

    title: str
    text: str
    for_everyone: bool = False


@dataclass(frozen=True)
class AnnouncementRow:
    """An announcement, or a question of a participant with its public answer as the text.

    `question` is None for the former, the title is empty for the latter. `published_by` is for organisers.
    """

    id: int
    title: str
    text: str
    question: str | None
    for_everyone: bool
    published_by: str | None
    published_at: datetime
    changed_at: datetime | None


def announce(
    session: Session, slug: str, new: NewAnnouncement, *, published_by_id: int | None, published_at: datetime
) -> int:
    """Publish an announcement, queue e-mail about it, and return its number.

    Allowed in a closed collection, too. Raises `NotFoundError` and, for a title or a text that is empty or too long,
    `InvalidValueError`.
    """
    collection = find_collection(session, slug)
    _check(new)
    made = Announcement(
        collection_id=collection.id,
        title=new.title.strip(),
        text=new.text.strip(),
        for_everyone=new.for_everyone,
        published_by_id=published_by_id,
        published_at=published_at,
    )
    session.add(made)
    session.flush()
    mail_announcement(session, collection, made, at=published_at)
    return made.id


def change(session: Session, slug: str, number: int, new: NewAnnouncement, *, changed_at: datetime) -> bool:
    """Change an announcement, without another e-mail; whether anything was changed.

    Raises as `announce`, `NotFoundError` for an unknown number, and `ConflictError` for a public answer, which is
    changed where the question is answered.
    """
    found = _locked(session, slug, number)
    if found.question_id is not None:
        raise ConflictError("The announcement %(number)d is an answer: change it where you answered.", number=number)
    _check(new)
    given = (new.title.strip(), new.text.strip(), new.for_everyone)
    if given == (found.title, found.text, found.for_everyone):
        return False
    found.title, found.text, found.for_everyone = given
    found.changed_at = changed_at
    return True


def withdraw(session: Session, slug: str, number: int) -> None:
    """Withdraw an announcement, or make an answer private again; raises `NotFoundError`."""
    session.delete(_locked(session, slug, number))


def list_announcements(session: Session, slug: str, *, participates: bool) -> list[AnnouncementRow]:
    """The announcements, newest first; all for organisers and participants, else those for everyone."""
    return _rows(session, slug, *([] if participates else [Announcement.for_everyone.is_(True)]))


def show_announcement(session: Session, slug: str, number: int) -> AnnouncementRow:
    """One announcement of a collection; raises `NotFoundError`."""
    found = _rows(session, slug, Announcement.id == number)
    if not found:
        raise _missing(number)
    return found[0]


def is_public(session: Session, question: Question) -> bool:
    """Whether all participants see the answer to a question."""
    return session.scalar(select(Announcement.id).where(Announcement.question_id == question.id)) is not None


def publish_answer(
    session: Session, question: Question, *, published_by_id: int | None, published_at: datetime
) -> None:
    """Show a question of a participant and its answer to all participants, and queue e-mail when it becomes public."""
    present = session.scalar(select(Announcement).where(Announcement.question_id == question.id).with_for_update())
    if present is not None:
        present.changed_at = published_at
        return
    made = Announcement(
        collection_id=question.collection_id,
        question_id=question.id,
        published_by_id=published_by_id,
        published_at=published_at,
    )
    session.add(made)
    session.flush()
    collection = session.get_one(Collection, question.collection_id)
    # The author gets an e-mail about the answer.
    mail_announcement(session, collection, made, but=question.asked_by_id, at=published_at)


def withdraw_answer(session: Session, question: Question) -> None:
    """Show the answer to a question only to the team that asked."""
    present = session.scalar(select(Announcement).where(Announcement.question_id == question.id).with_for_update())
    if present is not None:
        session.delete(present)
        session.flush()


def _check(new: NewAnnouncement) -> None:
    title = new.title.strip()
    if is_blank(title) or is_blank(new.text):
        raise InvalidValueError("An announcement has a title and a text.")
    check_free_text(title, LONGEST_TITLE)
    if len(title.splitlines()) > 1:
        raise InvalidValueError("The title of an announcement is one line.")
    check_free_text(new.text, LONGEST_TEXT)


def _locked(session: Session, slug: str, number: int) -> Announcement:
    found = session.scalar(
        select(Announcement)
        .where(Announcement.id == number, Announcement.collection_id == find_collection(session, slug).id)
        .with_for_update()
    )
    if found is None:
        raise _missing(number)
    return found


def _missing(number: int) -> NotFoundError:
    return NotFoundError("There is no announcement %(number)d in this collection.", number=number)


def _rows(session: Session, slug: str, *conditions: ColumnElement[bool]) -> list[AnnouncementRow]:
    rows = session.execute(
        select(Announcement, Question.text, Question.answer, User.name)
        .outerjoin(Question, Question.id == Announcement.question_id)
        .outerjoin(User, User.id == Announcement.published_by_id)
        .where(Announcement.collection_id == find_collection(session, slug).id, *conditions)
        .order_by(Announcement.id.desc())
    )
    return [
        AnnouncementRow(
            one.id,
            one.title,
            one.text if question is None else answer or "",
            question,
            one.for_everyone,
            name,
            one.published_at,
            one.changed_at,
        )
        for one, question, answer, name in rows
    ]
