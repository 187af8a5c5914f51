"""E-mail addresses of accounts: confirmed by a link, with the language and the kinds of e-mail that a person wants."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.mail_values import checked_mail_address
from annotator.passwords import new_secret, secret_fingerprint
from annotator.storage import EmailAddress, Mail, MailKind
from annotator.storage.people.accounts import lock_user, withdraw_password_links
from annotator.storage.site.mail import Letter, Recipient, delete_mail_of, queue_mail, queue_notice
from annotator.storage.tables.mail import CHOSEN_BY_PEOPLE, Notice

VALID_FOR = timedelta(days=2)
CONFIRM = "/account/email/confirm"  # the page of a link


@dataclass(frozen=True)
class EmailSettings:
    """The e-mail address of an account, and the one that waits for its confirmation; None: there is none."""

    address: str | None = None
    new_address: str | None = None
    language: str | None = None
    unwanted: frozenset[MailKind] = frozenset()


def show_email(session: Session, user_id: int, *, now: datetime) -> EmailSettings:
    """The address of an account and its settings."""
    found = session.get(EmailAddress, user_id)
    if found is None:
        return EmailSettings()
    is_waiting = found.expires_at is not None and now < found.expires_at
    return EmailSettings(
        found.address,
        found.new_address if is_waiting else None,
        found.language,
        frozenset(map(MailKind, found.unwanted.split())),
    )


def ask_to_confirm(session: Session, user_id: int, written: str, *, language: str, at: datetime) -> str:
    """Queue an e-mail with a link that confirms a new address, and return it; until then the earlier one stays.

    It is the same whether or not another account has the address. Raises `InvalidValueError` for a text that is no
    address, and `ConflictError` for the address of the account.
    """
    address = normalised(checked_mail_address(written))
    found = _locked(session, user_id, language)
    if found.address == address:
        raise ConflictError("This is your address already.")
    secret, until = new_secret(), at + VALID_FOR
    found.new_address, found.fingerprint, found.expires_at = address, secret_fingerprint(secret), until
    _withdraw_confirmations(session, user_id)
    content = {"path": f"{CONFIRM}?key={secret}", "until": until.isoformat()}
    to = Recipient(address, found.language, user_id)
    queue_mail(session, to, Letter(MailKind.CONFIRMATION, content, until), at=at)
    return address


def confirm(session: Session, user_id: int, secret: str, *, at: datetime) -> str:
    """Make the new address that of the account, withdraw links to a new password, and return the address.

    The earlier address gets a notice.

    Raises `NotFoundError` for a link that was used, has expired, was replaced, or is of another account.
    """
    user = lock_user(session, user_id)
    found = session.get(EmailAddress, user_id, populate_existing=True)
    if (
        found is None
        or found.fingerprint != secret_fingerprint(secret)
        or found.new_address is None
        or found.expires_at is None
        or at >= found.expires_at
    ):
        raise NotFoundError(
            "This link is not valid: it was used already, has expired, was replaced by a later one, or is for another "
            "account than the one that is signed in."
        )
    # Links that were sent to the earlier address give the account away.
    withdraw_password_links(session, user_id, at=at)
    queue_notice(session, user, Notice.ADDRESS_CHANGED, at=at)
    found.address, found.new_address, found.fingerprint, found.expires_at = found.new_address, None, None, None
    return found.address


def choose_mail(session: Session, user_id: int, *, language: str, wanted: Collection[MailKind]) -> None:
    """Store the language of e-mails to an account, and which kinds its owner wants."""
    found = _locked(session, user_id, language)
    found.language = language
    found.unwanted = " ".join(kind for kind in CHOSEN_BY_PEOPLE if kind not in wanted)


def remove_email(session: Session, user_id: int, *, at: datetime) -> None:
    """Delete the address of an account with every e-mail to the account, and withdraw links to a new password.

    The address gets a notice.
    """
    user = lock_user(session, user_id)
    withdraw_password_links(session, user_id, at=at)
    queue_notice(session, user, Notice.ADDRESS_REMOVED, at=at)
    delete_mail_of(session, user_id)


def normalised(address: str) -> str:
    """An address whose domain is in small letters, as it is compared."""
    name, at, domain = address.strip().rpartition("@")
    return f"{name}{at}{domain.lower()}"


def _locked(session: Session, user_id: int, language: str) -> EmailAddress:
    """The row of an account, added if missing, while no other request changes it."""
    lock_user(session, user_id)
    found = session.scalar(
        select(EmailAddress).where(EmailAddress.user_id == user_id).execution_options(populate_existing=True)
    )
    if found is None:
        found = EmailAddress(user_id=user_id, language=language, unwanted="")
        session.add(found)
        session.flush()
    return found


def _withdraw_confirmations(session: Session, user_id: int) -> None:
    waiting = (Mail.user_id == user_id) & (Mail.kind == MailKind.CONFIRMATION) & Mail.next_at.is_not(None)
    session.execute(delete(Mail).where(waiting))
