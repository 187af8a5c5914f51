"""Identities of accounts at a provider of sign-in: link, find and unlink them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotAllowedError, NotFoundError
from annotator.storage import Identity, User
from annotator.storage.people.accounts import Person, lock_user, locked_user, person_of
from annotator.storage.site.transient_errors import stored_before_others


@dataclass(frozen=True)
class ProvenIdentity:
    """A person who has just signed in at a provider; issuer and subject name them for good.

    `address` is the e-mail address that the provider gave, "" for none. It may be another person's, or be given to
    another person tomorrow, and is only shown.
    """

    issuer: str
    subject: str
    address: str = ""

    @property
    def label(self) -> str:
        """What people recognise the identity by."""
        return self.address or self.subject


@dataclass(frozen=True)
class IdentityRow:
    """An identity of an account, and since when it opens the account."""

    number: int
    issuer: str
    label: str
    added_at: datetime


def find_person(session: Session, identity: ProvenIdentity) -> Person | None:
    """The person whose account is linked with an identity; None when no account is.

    Raises `NotAllowedError` when the account can no longer sign in.
    """
    user = session.scalar(
        select(User)
        .join(Identity, Identity.user_id == User.id)
        .where(Identity.issuer == identity.issuer, Identity.subject == identity.subject)
    )
    if user is None:
        return None
    if user.password_hash is None or user.being_imported:
        raise NotAllowedError("The account “%(name)s” cannot sign in. Ask an administrator.", name=user.name)
    return person_of(user)


def list_identities(session: Session, user_id: int) -> list[IdentityRow]:
    """The identities of an account, the oldest first."""
    found = session.scalars(select(Identity).where(Identity.user_id == user_id).order_by(Identity.id))
    return [IdentityRow(one.id, one.issuer, one.label or one.subject, one.added_at) for one in found]


def link_identity(
    session: Session, user_id: int, identity: ProvenIdentity, *, generation: int | None = None, at: datetime
) -> None:
    """Let an identity open an account.

    `generation` is that of the session in which the password was checked, None for an account that is new. Raises
    `ConflictError` when the identity opens an account already, this or another, and when the account was erased, or
    its password changed or its sessions ended, since the check.
    """
    user = lock_user(session, user_id)
    if generation is not None and user.sign_in_generation != generation:
        raise ConflictError("You were signed out meanwhile. Nothing was linked: sign in and begin again.")
    known = session.scalar(
        select(Identity.user_id).where(Identity.issuer == identity.issuer, Identity.subject == identity.subject)
    )
    if known == user_id:
        raise ConflictError("“%(label)s” is linked with your account already.", label=identity.label)
    if known is not None:
        # Whose it is remains unnamed: a shared identity would otherwise reveal names of accounts.
        raise ConflictError(
            "“%(label)s” is linked with another account of this site: unlink it there first.",
            label=identity.label,
        )
    with stored_before_others(session):
        session.add(
            Identity(
                user_id=user_id,
                issuer=identity.issuer,
                subject=identity.subject,
                label=identity.address,
                added_at=at,
            )
        )


def unlink_identity(session: Session, user_id: int, number: int) -> str:
    """Remove an identity of an account, and return its issuer; `NotFoundError` when the account has none such."""
    lock_user(session, user_id)
    found = session.get(Identity, number)
    if found is None or found.user_id != user_id:
        raise NotFoundError("Your account has no such link any more.")
    session.delete(found)
    return found.issuer


def unlink_all(session: Session, name: str) -> int:
    """Remove all identities of an account, and return how many there were.

    Raises `NotFoundError` for an unknown name and `ConflictError` when there is none.
    """
    user = locked_user(session, name)
    numbers = session.scalars(select(Identity.id).where(Identity.user_id == user.id)).all()
    if not numbers:
        raise ConflictError("“%(name)s” is linked with no identity at a provider.", name=name)
    session.execute(delete(Identity).where(Identity.user_id == user.id))
    return len(numbers)
