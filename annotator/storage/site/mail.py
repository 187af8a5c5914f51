"""The outbox: queue an e-mail, take what is due, and record what came of it."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, Table, and_, case, delete, false, func, literal, or_, select, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks
from annotator.storage.site.epoch import current_epoch
from annotator.storage.tables.mail import EmailAddress, Mail, MailKind, Notice
from annotator.storage.tables.people import Invitation, User

# The pauses between attempts; the last one is repeated.
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240, 480, 720))
# What cannot be delivered is given up after this time.
TRIED_FOR = timedelta(days=5)
# An attempt whose worker was lost is made again after this time; an attempt takes less.
LONGEST_ATTEMPT = timedelta(minutes=5)
KEPT = timedelta(days=30)
AN_HOUR = timedelta(hours=1)
MESSAGE_BYTES = 16

LINK_CLOSED = "The link in it was used or withdrawn."
TOO_LATE = "It could not be sent in time."
RESTORED = "It waited when a backup was made, and may have been sent before the backup was restored."
NOT_SENT = "This site sends no e-mail of this kind."
STALE = "What it is about has changed since."
REMOVED = "An administrator removed it."

# Somebody waits for these in front of a page: they are sent before others, also when many others were sent.
URGENT = (MailKind.PASSWORD, MailKind.CONFIRMATION)
_ORDER = case((Mail.kind.in_(URGENT), 0), (Mail.kind == MailKind.INVITATION, 1), else_=2)


@dataclass(frozen=True)
class Letter:
    """An e-mail to write: what it is about, and from what its text is made."""

    kind: MailKind
    content: Mapping[str, Any]
    until: datetime | None = None
    invitation_id: int | None = None
    # What is queued under the same word is sent only once; with a version, only until another one was sent.
    once: str | None = None
    version: str | None = None


@dataclass(frozen=True)
class Recipient:
    """To whom an e-mail is sent, in their language."""

    address: str
    language: str
    user_id: int | None = None


@dataclass(frozen=True)
class DueMail:
    """An e-mail that a worker sends, with the number of this attempt."""

    id: int
    attempt: int
    message: str
    kind: MailKind
    address: str
    language: str
    content: Mapping[str, Any]
    asked_at: datetime
    user_id: int | None = None
    once: str | None = None


_MAIL = cast("Table", Mail.__table__)
_ONCE = {
    name: kind.insert(_MAIL).on_conflict_do_nothing(index_elements=[_MAIL.c.once])
    for name, kind in (("sqlite", sqlite), ("postgresql", postgresql))
}


def wants_mail(session: Session, user_id: int | None, kind: MailKind) -> bool:
    """Whether a person has not switched off e-mail of this kind, perhaps since it was queued."""
    unwanted = session.scalar(select(EmailAddress.unwanted).where(EmailAddress.user_id == user_id))
    return unwanted is None or kind not in unwanted.split()


def recipient_now(session: Session, user_id: int | None) -> Recipient | None:
    """The account with its confirmed address and its language; None without one."""
    found = session.get(EmailAddress, user_id) if user_id is not None else None
    return None if found is None or found.address is None else Recipient(found.address, found.language, found.user_id)


def queue_mail(session: Session, to: Recipient, letter: Letter, *, at: datetime) -> None:
    """Queue an e-mail, in the transaction of what it is about, so that neither is there without the other."""
    _queue(session, [to], letter, at)


def queue_for_account(session: Session, user_id: int | None, letter: Letter, *, at: datetime) -> None:
    """Queue an e-mail to an account, if it has a confirmed address and wants e-mail of this kind."""
    recipient = recipient_now(session, user_id)
    if recipient is not None and wants_mail(session, user_id, letter.kind):
        queue_mail(session, recipient, letter, at=at)


def queue_for_accounts(session: Session, users: Select[int], letter: Letter, *, at: datetime) -> None:
    """Queue an e-mail to each of the selected accounts, as `queue_for_account` does.

    With `once` each account is sent it once: another is queued only to those to whom the earlier one was not sent, or
    to whom another version was sent since.
    """
    rows = session.execute(
        select(EmailAddress.address, EmailAddress.language, EmailAddress.user_id, EmailAddress.unwanted)
        .where(EmailAddress.user_id.in_(users), EmailAddress.address.is_not(None))
        .order_by(EmailAddress.user_id)
    )
    wanted = [
        Recipient(address, language, user_id)
        for address, language, user_id, unwanted in rows
        if address is not None and letter.kind not in unwanted.split()
    ]
    if wanted and letter.once is not None:
        _forget_unsent(session, letter, wanted, at)
    if wanted:
        _queue(session, wanted, letter, at, once_each=True)


def _once_for(letter: Letter, user_id: int | None) -> str | None:
    """The word for a letter to one of several accounts."""
    return None if letter.once is None else f"{letter.once}:{letter.version or ''}:{user_id}"


def _forget_unsent(session: Session, letter: Letter, to: Sequence[Recipient], now: datetime) -> None:
    """Let an e-mail be queued to accounts that were sent none of it, or another version after it.

    What waits, in whatever version, is given up; what is being sent counts as sent.
    """
    for some in chunks([one.user_id for one in to]):
        rows = session.scalars(
            select(Mail)
            .where(Mail.user_id.in_(some), Mail.once.startswith(f"{letter.once}:", autoescape=True))
            .with_for_update()
            .execution_options(populate_existing=True)
        )
        sent = []
        for mail in rows:
            if mail.sent_at is not None or is_being_sent(mail, now=now):
                sent.append(mail)
                continue
            if mail.next_at is not None:
                mail.next_at, mail.problem, mail.content = None, STALE, {}
            mail.once = None
        sent.sort(key=lambda mail: (mail.sent_at or mail.tried_at or mail.asked_at, mail.id))
        latest = {mail.user_id: mail for mail in sent}
        for mail in sent:
            if mail.once == _once_for(letter, mail.user_id) and mail is not latest[mail.user_id]:
                mail.once = None
    session.flush()


def queue_notice(session: Session, user: User, what: Notice, *, at: datetime) -> None:
    """Queue an e-mail to the confirmed address of an account, if it has one, about a change that others may have made.

    The caller changes or removes the address after that; the notice is sent all the same.
    """
    found = session.get(EmailAddress, user.id, populate_existing=True)
    if found is not None and found.address is not None:
        letter = Letter(MailKind.NOTICE, {"what": what.value, "name": user.name, "at": at.isoformat()})
        queue_mail(session, Recipient(found.address, found.language, user.id), letter, at=at)


def outbox_epoch(session: Session) -> str:
    """A value that differs once a backup was restored, or in a copy of the database.

    A restore creates the table again, which on PostgreSQL gives it another object identifier.
    """
    epoch = current_epoch(session)
    if session.get_bind().dialect.name != "postgresql":
        return epoch
    return (
        f"{epoch} {session.scalar(text('SELECT CAST(CAST(:name AS regclass) AS oid)'), {'name': Mail.__tablename__})}"
    )


def has_due_mail(session: Session, *, now: datetime, per_hour: int) -> bool:
    """Whether `take_mail` may find an e-mail; takes no lock, as workers ask every second."""
    return session.scalar(select(Mail.id).where(*_may_be_sent(session, now, per_hour)).limit(1)) is not None


def take_mail(session: Session, *, now: datetime, kinds: Collection[str], per_hour: int) -> DueMail | None:
    """Take an e-mail that is due; no other worker takes it until the attempt would be over.

    Links that people asked for themselves come first, then invitations, then the rest; of these what is due longest.
    What is of no use any more is given up first. Returns None when nothing is left, or when `per_hour` were sent in the
    last hour: the first group waits only when a fifth more were sent.
    """
    _give_up_useless(session, kinds, now)
    row = session.scalar(
        select(Mail)
        .where(*_may_be_sent(session, now, per_hour))
        .order_by(_ORDER, Mail.next_at, Mail.id)
        .limit(1)
        .with_for_update(of=Mail, skip_locked=True)
        .execution_options(populate_existing=True)
    )
    if row is None:
        return None
    row.attempts, row.tried_at, row.next_at = row.attempts + 1, now, now + LONGEST_ATTEMPT
    return DueMail(
        row.id,
        row.attempts,
        row.message,
        MailKind(row.kind),
        row.address,
        row.language,
        row.content,
        row.asked_at,
        row.user_id,
        row.once,
    )


def send_to(session: Session, due: DueMail, to: Recipient) -> DueMail:
    """Send an e-mail that was taken to another address, or in another language, which the outbox then shows."""
    session.execute(update(Mail).where(Mail.id == due.id).values(address=to.address, language=to.language))
    return replace(due, address=to.address, language=to.language)


def _may_be_sent(session: Session, now: datetime, per_hour: int) -> list[ColumnElement[bool]]:
    """The condition of e-mails that are due and that the limit of an hour admits."""
    sent = session.scalar(select(func.count()).where(Mail.tried_at > now - AN_HOUR)) or 0
    if sent >= per_hour + max(per_hour // 5, 1):
        return [false()]
    return [Mail.next_at <= now, *([Mail.kind.in_(URGENT)] if sent >= per_hour else [])]


def record_sent(session: Session, due: DueMail, *, at: datetime) -> None:
    """Record that the mail server accepted an e-mail; its text is not needed any more."""
    _record(session, due, sent_at=at, next_at=None, problem="", content={})


def record_failure(session: Session, due: DueMail, problem: str, *, is_final: bool, at: datetime) -> None:
    """Record a failed attempt: it is repeated later, unless it is final or has been tried for days."""
    next_at = at + PAUSES[min(due.attempt, len(PAUSES)) - 1]
    is_over = is_final or next_at > due.asked_at + TRIED_FOR
    # What was removed during the attempt stays so.
    _record(session, due, Mail.next_at.is_not(None), next_at=None if is_over else next_at, problem=problem)


def record_stale(session: Session, due: DueMail) -> None:
    """Give up an e-mail that was taken and is of no use any more: no attempt was made."""
    _record(session, due, next_at=None, problem=STALE, content={}, attempts=due.attempt - 1, tried_at=None)


def is_being_sent(mail: Mail, *, now: datetime) -> bool:
    """Whether a worker has taken an e-mail and its attempt may not be over."""
    is_taken = mail.tried_at is not None and mail.next_at == mail.tried_at + LONGEST_ATTEMPT
    return is_taken and mail.next_at is not None and mail.next_at > now


def useless_because(session: Session, mail: Mail, *, now: datetime) -> str | None:
    """Why an e-mail must not be sent any more: its link is closed, or its time is over; None if it may be."""
    if mail.until is not None and mail.until <= now:
        return TOO_LATE
    link = session.get(Invitation, mail.invitation_id) if mail.invitation_id is not None else None
    return LINK_CLOSED if link is not None and (link.used_at or link.withdrawn_at) else None


def forget_mail(session: Session, *, now: datetime) -> None:
    """Delete what was sent or given up long ago, and give up what waited too long, also where none is sent."""
    _give_up(session, Mail.asked_at < now - TRIED_FOR, TOO_LATE)
    session.execute(delete(Mail).where(Mail.next_at.is_(None), Mail.asked_at < now - KEPT))


def delete_mail_of(session: Session, user_id: int, *, also_to_address: bool = False) -> None:
    """Delete the address of an account, and every e-mail to the account but notices that something has changed.

    Somebody who changes a second thing would keep those from the owner. With `also_to_address`, of a person who is
    erased, they are deleted, too, and so is what went to its confirmed address without an account, such as an
    invitation, unless another account has that address. An address that nobody has confirmed may be anybody's.
    """
    which: ColumnElement[bool] = (Mail.user_id == user_id) & (Mail.kind != MailKind.NOTICE)
    if also_to_address:
        confirmed = select(EmailAddress.address).where(EmailAddress.user_id == user_id)
        others = select(EmailAddress.address).where(EmailAddress.user_id != user_id, EmailAddress.address.is_not(None))
        which = or_(
            Mail.user_id == user_id,
            and_(Mail.user_id.is_(None), Mail.address.in_(confirmed), Mail.address.not_in(others)),
        )
    session.execute(delete(Mail).where(which), execution_options={"synchronize_session": False})
    session.execute(delete(EmailAddress).where(EmailAddress.user_id == user_id))


def _queue(session: Session, to: Sequence[Recipient], letter: Letter, at: datetime, *, once_each: bool = False) -> None:
    epoch = outbox_epoch(session)
    rows = [
        {
            "message": secrets.token_hex(MESSAGE_BYTES),
            "kind": letter.kind.value,
            "user_id": one.user_id,
            "invitation_id": letter.invitation_id,
            "address": one.address,
            "language": one.language,
            "content": dict(letter.content),
            "epoch": epoch,
            "once": _once_for(letter, one.user_id) if once_each else letter.once,
            "asked_at": at,
            "until": letter.until,
            "attempts": 0,
            "next_at": at,
            "problem": "",
        }
        for one in to
    ]
    session.execute(_ONCE[session.get_bind().dialect.name], rows)


def _record(session: Session, due: DueMail, *conditions: ColumnElement[bool], **values: object) -> None:
    """Record an attempt; one that another worker has repeated since stays as that one left it."""
    session.execute(update(Mail).where(Mail.id == due.id, Mail.attempts == due.attempt, *conditions).values(**values))


def _give_up_useless(session: Session, kinds: Collection[str], now: datetime) -> None:
    due = Mail.next_at <= now
    _give_up(session, and_(due, Mail.epoch != outbox_epoch(session)), RESTORED)
    _give_up(session, and_(due, Mail.kind.not_in([*kinds, MailKind.CONFIRMATION, MailKind.NOTICE])), NOT_SENT)
    _give_up(session, and_(due, Mail.asked_at < now - TRIED_FOR), TOO_LATE)
    # These cannot be sent again either.
    _give_up(session, and_(due, Mail.until <= now), TOO_LATE, content={})
    is_closed = or_(Invitation.used_at.is_not(None), Invitation.withdrawn_at.is_not(None))
    closed = select(Invitation.id).where(is_closed)
    _give_up(session, and_(due, Mail.invitation_id.in_(closed)), LINK_CLOSED, content={})


def _give_up(session: Session, which: ColumnElement[bool], problem: str, **values: object) -> None:
    """Give up e-mails that wait; of those that are late, the problem of an earlier attempt is kept as the reason."""
    reason = func.coalesce(func.nullif(Mail.problem, ""), literal(problem)) if problem == TOO_LATE else literal(problem)
    session.execute(
        update(Mail).where(Mail.next_at.is_not(None), which).values(next_at=None, problem=reason, **values),
        execution_options={"synchronize_session": False},
    )
