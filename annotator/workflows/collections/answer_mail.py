"""E-mail about answers to questions, and about announcements."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from annotator.storage import Announcement, Collection, MailKind, Membership, Question, Role
from annotator.storage.site.mail import Letter, queue_for_account, queue_for_accounts
from annotator.storage.tables.collections import SHOWN


class About(StrEnum):
    """What an e-mail of this kind is about."""

    TEAM_ANSWER = "team-answer"  # to a question of a participant
    JUDGE_ANSWER = "judge-answer"
    PUBLIC_ANSWER = "public-answer"
    ANNOUNCEMENT = "announcement"


def mail_answer(session: Session, collection: Collection, question: Question, *, at: datetime) -> None:
    """Queue an e-mail about an answer to the author of the question."""
    about = About.JUDGE_ANSWER if question.team_id is None else About.TEAM_ANSWER
    queue_for_account(session, question.asked_by_id, _letter(collection, about, question.id), at=at)


def mail_announcement(
    session: Session, collection: Collection, announcement: Announcement, *, but: int | None = None, at: datetime
) -> None:
    """Queue an e-mail about an announcement or a public answer to those who see it, without one person.

    Organisers publish them, and get none as such. An answer that was private for a while is sent only to those to whom
    not the same one was sent last.
    """
    users = _readers(announcement).where(Membership.user_id != (0 if but is None else but))
    question = session.get(Question, announcement.question_id or 0)
    about = About.ANNOUNCEMENT if question is None else About.PUBLIC_ANSWER
    letter = _letter(collection, about, announcement.id, announcement.title)
    if question is not None:
        # Not the id: the outbox outlives a deleted collection, whose ids SQLite gives to others.
        letter = replace(letter, once=f"{about.value}:{_digest(question.client_id)}", version=_digest(question.answer))
    queue_for_accounts(session, users, letter, at=at)


def answer_mail_now(session: Session, user_id: int | None, content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The content of a queued e-mail as it is now, None if the person may not read any more what it is about.

    Days may have passed: an announcement may have got another title.
    """
    if content.get("about") in {About.TEAM_ANSWER, About.JUDGE_ANSWER}:
        return content if session.scalar(_own_answer(user_id, content)) is not None else None
    announcement = session.scalar(
        select(Announcement)
        .join(Collection, Collection.id == Announcement.collection_id)
        .where(SHOWN, Announcement.id == content.get("number"))
    )
    if announcement is None or session.scalar(_readers(announcement).where(Membership.user_id == user_id)) is None:
        return None
    return {**content, "subject": announcement.title}


def _own_answer(user_id: int | None, content: Mapping[str, Any]) -> Select[int]:
    """The question, while it is answered and its author has the role, and the team, for which they asked."""
    is_member: ColumnElement[bool] = Membership.role.in_([Role.JUDGE, Role.ADJUDICATOR])
    if content["about"] == About.TEAM_ANSWER:
        is_member = (Membership.role == Role.PARTICIPANT) & (Membership.team_id == Question.team_id)
    return (
        select(Question.id)
        .join(Collection, Collection.id == Question.collection_id)
        .join(Membership, (Membership.collection_id == Collection.id) & (Membership.user_id == Question.asked_by_id))
        .where(SHOWN, is_member, Question.id == content.get("number"), Question.asked_by_id == user_id)
        .where(Question.answered_at.is_not(None))
        .limit(1)
    )


def _readers(announcement: Announcement) -> Select[int]:
    """The accounts of those for whom an announcement is."""
    of_role = Membership.role != Role.ORGANISER if announcement.for_everyone else Membership.role == Role.PARTICIPANT
    return select(Membership.user_id).where(Membership.collection_id == announcement.collection_id, of_role).distinct()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _letter(collection: Collection, about: About, number: int, subject: str = "") -> Letter:
    content = {
        "title": collection.title,
        "slug": collection.slug,
        "about": about.value,
        "number": number,
        "subject": subject,
    }
    return Letter(MailKind.ANSWER, content)
