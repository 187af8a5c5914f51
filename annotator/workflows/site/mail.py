"""The outbox for administrators: list what waits, was sent or given up; send again; remove."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.storage import Mail, MailKind
from annotator.storage.site.mail import (
    LINK_CLOSED,
    NOT_SENT,
    REMOVED,
    RESTORED,
    STALE,
    is_being_sent,
    outbox_epoch,
    useless_because,
)

MOST_SHOWN = 100
# Reasons for giving up about which nothing is to be done.
NO_TROUBLE = (LINK_CLOSED, NOT_SENT, REMOVED, RESTORED, STALE)


class MailState(StrEnum):
    """What became of an e-mail."""

    WAITING = "waiting"
    SENT = "sent"
    GIVEN_UP = "given-up"


CONDITIONS: dict[MailState, ColumnElement[bool]] = {
    MailState.WAITING: Mail.next_at.is_not(None),
    MailState.SENT: Mail.sent_at.is_not(None),
    MailState.GIVEN_UP: Mail.next_at.is_(None) & Mail.sent_at.is_(None),
}


@dataclass(frozen=True)
class MailRow:
    """An e-mail in lists, without its text, which may have a secret in it."""

    number: int
    kind: MailKind
    address: str
    asked_at: datetime
    state: MailState
    attempts: int
    next_at: datetime | None
    sent_at: datetime | None
    problem: str


def list_mail(session: Session, state: MailState | None = None) -> list[MailRow]:
    """The newest e-mails, newest first; with a state only those in it."""
    rows = session.scalars(
        select(Mail).where(*([] if state is None else [CONDITIONS[state]])).order_by(Mail.id.desc()).limit(MOST_SHOWN)
    )
    return [
        MailRow(
            row.id,
            MailKind(row.kind),
            row.address,
            row.asked_at,
            state_of(row),
            row.attempts,
            row.next_at,
            row.sent_at,
            row.problem,
        )
        for row in rows
    ]


def count_mail(session: Session) -> dict[MailState, int]:
    """The number of e-mails in each state."""
    return {
        state: session.scalar(select(func.count()).select_from(Mail).where(condition)) or 0
        for state, condition in CONDITIONS.items()
    }


def count_undelivered(session: Session) -> int:
    """The number of e-mails given up that were refused, or could not be sent in time."""
    is_trouble = CONDITIONS[MailState.GIVEN_UP] & Mail.problem.not_in(NO_TROUBLE)
    return session.scalar(select(func.count()).select_from(Mail).where(is_trouble)) or 0


def retry_mail(session: Session, number: int, *, at: datetime) -> None:
    """Have an e-mail sent at the next opportunity, also one that was given up.

    Raises `NotFoundError` for an unknown number, and `ConflictError` when it was sent, is being sent, its link is
    closed, or its time is over.
    """
    mail = _found(session, number)
    if mail.sent_at is not None:
        raise ConflictError("The e-mail %(number)d was sent already.", number=number)
    if is_being_sent(mail, now=at):
        # Two workers would send it twice.
        raise ConflictError("The e-mail %(number)d is being sent at this moment.", number=number)
    reason = useless_because(session, mail, now=at) if mail.content else mail.problem
    if reason is not None:
        raise ConflictError("The e-mail %(number)d is of no use any more: %(reason)s", number=number, reason=reason)
    mail.epoch, mail.asked_at, mail.next_at, mail.attempts = outbox_epoch(session), at, at, 0


def remove_mail(session: Session, number: int) -> None:
    """Give up an e-mail if it waits, delete it otherwise; raises `NotFoundError` for an unknown number.

    What is sent once, such as a reminder, is never deleted here, only emptied: it would be queued again.
    """
    mail = _found(session, number)
    if mail.next_at is None and mail.once is None:
        session.delete(mail)
        return
    mail.next_at, mail.content = None, {}
    if mail.sent_at is None:
        mail.problem = REMOVED


def state_of(mail: Mail) -> MailState:
    """What became of an e-mail."""
    if mail.sent_at is not None:
        return MailState.SENT
    return MailState.GIVEN_UP if mail.next_at is None else MailState.WAITING


def _found(session: Session, number: int) -> Mail:
    mail = session.get(Mail, number, with_for_update=True)
    if mail is None:
        raise NotFoundError("There is no e-mail %(number)d.", number=number)
    return mail
