"""Tables of e-mail: what waits to be sent or was sent, and the addresses of accounts."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import NEVER_REUSED, Base


class MailKind(StrEnum):
    """What an e-mail is about; the setting of the kinds that a site sends has these names."""

    INVITATION = "invitations"
    PASSWORD = "passwords"  # noqa: S105 - a kind of e-mail
    RECEIPT = "receipts"
    REMINDER = "reminders"
    JOB = "jobs"
    ANSWER = "answers"
    # Always sent where e-mail is: without it no address is confirmed.
    CONFIRMATION = "confirmation"
    # Always sent, too, to an address that was known: that a password or the address has changed.
    NOTICE = "notice"


class Notice(StrEnum):
    """What a notice says."""

    ADDRESS_CHANGED = "address-changed"
    ADDRESS_REMOVED = "address-removed"
    PASSWORD_CHANGED = "password-changed"  # noqa: S105 - what has changed
    # By an administrator or a link from others, which removes the address as well.
    PASSWORD_BY_OTHERS = "password-by-others"  # noqa: S105 - what has changed


# What people can turn off for themselves.
CHOSEN_BY_PEOPLE = (MailKind.RECEIPT, MailKind.REMINDER, MailKind.JOB, MailKind.ANSWER)


class Mail(Base):
    __tablename__ = "mail"
    __table_args__ = (
        Index("ix_mail_next_at", "next_at"),
        Index("ix_mail_tried_at", "tried_at"),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    # Of the header Message-ID, the same in every attempt, so that a mailbox recognises a repetition.
    message: Mapped[str]
    kind: Mapped[str]
    # The account that it is sent to; None: an invitation to somebody without one.
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"), index=True)
    # The invitation or password link in it: once that is not open any more, it is not sent.
    invitation_id: Mapped[int | None] = mapped_column(ForeignKey("invitation.id", ondelete="CASCADE"), index=True)
    address: Mapped[str]
    language: Mapped[str]
    # What its text is made from, with the secret of a link; empty once it was sent or is of no use.
    content: Mapped[dict[str, Any]]
    # Of the database in which it was written: what waited when a backup was made may have been sent since.
    epoch: Mapped[str]
    # Of what is sent only once, such as a reminder of one deadline.
    once: Mapped[str | None] = mapped_column(unique=True)
    asked_at: Mapped[datetime]
    # After this moment it is of no use.
    until: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)
    # When it is sent next; None once it was sent or given up.
    next_at: Mapped[datetime | None]
    tried_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    # Of the last attempt, in English.
    problem: Mapped[str] = mapped_column(default="")


class EmailAddress(Base):
    __tablename__ = "email_address"

    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True, autoincrement=False)
    # The confirmed address; None before the first is confirmed.
    address: Mapped[str | None] = mapped_column(index=True)
    # Of the e-mails to this person.
    language: Mapped[str]
    # Blank-separated kinds that the person does not want.
    unwanted: Mapped[str] = mapped_column(default="")
    # The address that waits for its confirmation, and the SHA-256 of the secret in the link that confirms it.
    new_address: Mapped[str | None]
    fingerprint: Mapped[str | None] = mapped_column(unique=True)
    expires_at: Mapped[datetime | None]
