"""A new password for somebody who forgot theirs: a link to the confirmed address of the account."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from annotator.passwords import new_secret, secret_fingerprint
from annotator.storage import EmailAddress, Invitation, MailKind, User
from annotator.storage.site.mail import Recipient
from annotator.workflows.people.invitations import MadeLink, send_link

VALID_FOR = timedelta(hours=2)
# Nobody's mailbox is filled by somebody who asks again and again.
PAUSE = timedelta(minutes=5)
MOST_ACCOUNTS = 10  # with one address
# Of an account, that are valid at a time: a slow mail server delivers none that a later one has ended.
MOST_LINKS = 5


def send_password_links(session: Session, written: str, *, at: datetime) -> Sequence[str]:
    """Queue an e-mail with a link to a new password for each account with this name or address.

    Only accounts with a confirmed address get one, and none that got one a few minutes ago or has several that are
    valid; earlier links stay valid until one of them is used or they expire. Returns the names of the accounts for the
    audit log alone: the page must give the same answer in every case.
    """
    found = session.execute(
        select(User, EmailAddress)
        .join(EmailAddress, EmailAddress.user_id == User.id)
        .where(
            EmailAddress.address.is_not(None),
            or_(User.name == written, func.lower(EmailAddress.address) == written.strip().lower()),
        )
        .order_by(User.id)
        .limit(MOST_ACCOUNTS)
        .with_for_update(of=User, key_share=True)
    ).all()
    sent = []
    for user, email in found:
        if not _has_enough(session, user, at):
            _send(session, user, email, at)
            sent.append(user.name)
    return sent


def _send(session: Session, user: User, email: EmailAddress, at: datetime) -> None:
    secret = new_secret()
    link = Invitation(
        fingerprint=secret_fingerprint(secret),
        note="",
        user_id=user.id,
        made_by_id=user.id,
        made_at=at,
        expires_at=at + VALID_FOR,
    )
    session.add(link)
    session.flush()
    to = Recipient(str(email.address), email.language, user.id)
    send_link(session, to, MailKind.PASSWORD, {"name": user.name}, MadeLink(link, secret))


def _has_enough(session: Session, user: User, at: datetime) -> bool:
    """Whether an account asked for a link a few minutes ago, or has several that are valid."""
    own = (Invitation.user_id == user.id) & (Invitation.made_by_id == user.id)
    if session.scalar(select(Invitation.id).where(own, Invitation.made_at > at - PAUSE).limit(1)) is not None:
        return True
    is_open = Invitation.used_at.is_(None) & Invitation.withdrawn_at.is_(None) & (Invitation.expires_at > at)
    return len(session.scalars(select(Invitation.id).where(own, is_open)).all()) >= MOST_LINKS
