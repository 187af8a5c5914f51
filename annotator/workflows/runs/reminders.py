"""Reminders of a deadline for runs: an e-mail to the members of teams that have sent no run yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from annotator.storage import (
    IN_FORCE,
    Collection,
    CollectionState,
    EmailAddress,
    Mail,
    MailKind,
    Membership,
    Role,
    Round,
    Run,
)
from annotator.storage.site.mail import Letter, queue_for_account
from annotator.storage.tables.collections import SHOWN
from annotator.workflows.runs.submissions import deadline_in_words

BEFORE = timedelta(days=3)


@dataclass(frozen=True)
class Reminder:
    """An e-mail to a person about a deadline; `once` keeps it from being sent again."""

    user_id: int
    letter: Letter


def due_reminders(session: Session, *, now: datetime) -> Sequence[Reminder]:
    """The reminders of deadlines in the next days that were not queued yet."""
    known = set(session.scalars(select(Mail.once).where(Mail.kind == MailKind.REMINDER)))
    return [one for one in _reminders(session, now) if one.letter.once not in known]


def is_reminder_needed(session: Session, user_id: int | None, once: str | None, *, now: datetime) -> bool:
    """Whether a queued reminder would be queued now: same deadline, still a member of a team without a run."""
    to_person = EmailAddress.user_id == user_id
    return any(one.letter.once == once for one in _reminders(session, now, to_person))


def queue_reminders(session: Session, due: Sequence[Reminder], *, at: datetime) -> None:
    """Queue reminders; one that another worker has queued meanwhile is not queued again."""
    for one in due:
        queue_for_account(session, one.user_id, one.letter, at=at)


def _reminders(session: Session, now: datetime, *conditions: ColumnElement[bool]) -> list[Reminder]:
    is_of_now = or_(Run.round_id.is_(None), Run.round_id.in_(select(Round.id).where(Round.closed_at.is_(None))))
    has_sent = select(Run.id).where(Run.team_id == Membership.team_id, IN_FORCE, is_of_now).exists()
    rows = session.execute(
        select(Collection, EmailAddress.user_id, EmailAddress.unwanted)
        .join(Membership, Membership.collection_id == Collection.id)
        .join(EmailAddress, EmailAddress.user_id == Membership.user_id)
        .where(
            SHOWN,
            Collection.state == CollectionState.OPEN,
            Collection.submissions_until > now,
            Collection.submissions_until <= now + BEFORE,
            Membership.role == Role.PARTICIPANT,
            EmailAddress.address.is_not(None),
            ~has_sent,
            *conditions,
        )
        .order_by(Collection.id, EmailAddress.user_id)
    )
    return [
        Reminder(user_id, _letter(collection, user_id))
        for collection, user_id, unwanted in rows
        if MailKind.REMINDER not in unwanted.split()
    ]


def _letter(collection: Collection, user_id: int) -> Letter:
    deadline = collection.submissions_until
    content = {
        "title": collection.title,
        "slug": collection.slug,
        "deadline": deadline_in_words(deadline, collection.submissions_until_written),
    }
    once = f"{collection.id} {deadline.isoformat() if deadline else ''} {user_id}"
    return Letter(MailKind.REMINDER, content, deadline, once=once)
