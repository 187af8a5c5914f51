"""Accounts: create, sign in, change a password."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotAllowedError
from annotator.passwords import password_matches
from annotator.storage import User, UserKind
from annotator.storage.judging.leases import return_assignments
from annotator.storage.people.accounts import (
    Person,
    end_session,
    end_sessions,
    has_ended,
    labels_by_account,
    lock_user,
    locked_user,
    new_user,
    person_of,
    replace_password,
    revoke_all,
    withdraw_password_links,
)
from annotator.storage.people.second_factors import has_factor
from annotator.storage.site.mail import delete_mail_of, queue_notice
from annotator.storage.tables.mail import Notice


@dataclass(frozen=True)
class AccountRow:
    """An account in the administrator's list; a machine has its model, "" if unknown."""

    name: str
    administrator: bool
    can_sign_in: bool
    added_at: datetime
    machine: str | None = None
    has_second_factor: bool = False
    identities: Sequence[str] = ()  # at a provider of sign-in, as people recognise them


def add_user(
    session: Session, name: str, *, password_hash: str | None, administrator: bool = False, added_at: datetime
) -> int:
    """Create an account and return its id; without a password it cannot sign in.

    Raises `InvalidValueError` for an invalid name and `ConflictError` for a name in use.
    """
    return new_user(session, name, password_hash=password_hash, administrator=administrator, added_at=added_at).id


def sign_in(session: Session, name: str, password: str) -> Person | None:
    """The person with that name and password, None if they do not match; takes equally long either way."""
    user = session.scalar(select(User).where(User.name == name))
    if not password_matches(user.password_hash if user else None, password) or user is None:
        return None
    return person_of(user)


def load_person(session: Session, user_id: int, generation: int, key: str | None = None) -> Person | None:
    """The person of a session; None when the account is gone, its password changed, or the session ended."""
    user = session.get(User, user_id)
    if user is None or user.sign_in_generation != generation or (key is not None and has_ended(session, key)):
        return None
    return person_of(user)


def sign_out(session: Session, user_id: int, key: str, *, until: datetime, at: datetime) -> None:
    """End one session, whose cookie would expire at `until`; the account's leases are returned."""
    return_assignments(session, user_id)
    sign_in_again(session, key, until=until, at=at)


def sign_in_again(session: Session, key: str, *, until: datetime, at: datetime) -> None:
    """End the previous session, whose cookie would expire at `until`; the account keeps its leases."""
    end_session(session, key, until=until, now=at)


def change_password(
    session: Session, user_id: int, old_password: str, new_hash: str, *, end_tokens: bool = False, at: datetime
) -> Person:
    """Replace one's own password, and end all other sessions of the account and all password links.

    API tokens stay valid unless `end_tokens`: they cannot be derived from a password.
    """
    user = lock_user(session, user_id)
    if not password_matches(user.password_hash, old_password):
        raise NotAllowedError("That is not your present password.")
    if end_tokens:
        revoke_all(session, user.id, at=at)
    queue_notice(session, user, Notice.PASSWORD_CHANGED, at=at)
    return _replace_password(session, user, new_hash, at)


def check_password(session: Session, user_id: int, password: str) -> None:
    """Raise `NotAllowedError` when this is not the password of the account."""
    if not password_matches(session.get_one(User, user_id).password_hash, password):
        raise NotAllowedError("That is not your present password.")


def lock_signed_in(session: Session, user_id: int, generation: int) -> User:
    """The account of a session in this generation, reread and locked; `ConflictError` when the session has ended."""
    user = lock_user(session, user_id)
    if user.sign_in_generation != generation:
        raise ConflictError("Nothing was done: your session was ended meanwhile. Sign in again.")
    return user


def set_password(session: Session, name: str, new_hash: str, *, at: datetime) -> Person:
    """Set an account's password as an administrator, and end its sessions, tokens and password links.

    Its e-mail address is deleted: somebody who knew the earlier password may have given theirs, for links to a new one.
    """
    user = locked_user(session, name)
    revoke_all(session, user.id, at=at)
    queue_notice(session, user, Notice.PASSWORD_BY_OTHERS, at=at)
    delete_mail_of(session, user.id)
    return _replace_password(session, user, new_hash, at)


def list_users(session: Session) -> list[AccountRow]:
    """Every account, by name."""
    labels = labels_by_account(session)
    return [
        AccountRow(
            user.name,
            user.administrator,
            user.password_hash is not None,
            user.added_at,
            user.model if user.kind == UserKind.MACHINE else None,
            has_second_factor,
            labels.get(user.id, ()),
        )
        for user, has_second_factor in session.execute(
            select(User, has_factor()).where(User.being_imported.is_(False)).order_by(User.name)
        )
    ]


def sign_out_everywhere(session: Session, name: str, *, at: datetime) -> Person:
    """End every session, token and password link of an account; its password stays.

    Its leases are returned to the queue.
    """
    user = locked_user(session, name)
    end_sessions(user)
    revoke_all(session, user.id, at=at)
    withdraw_password_links(session, user.id, at=at)
    return_assignments(session, user.id)
    return person_of(user)


def _replace_password(session: Session, user: User, new_hash: str, at: datetime) -> Person:
    withdraw_password_links(session, user.id, at=at)
    replace_password(user, new_hash)
    return person_of(user)
