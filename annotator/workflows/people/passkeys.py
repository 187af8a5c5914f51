"""Passkeys of accounts: add, use, rename and remove them."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.passwords import secret_fingerprint
from annotator.storage import Passkey, User
from annotator.storage.people.accounts import Person, end_sessions, find_user, lock_user, locked_user, person_of
from annotator.storage.people.second_factors import delete_codes_without_factor, is_on, uses_challenge
from annotator.storage.site.transient_errors import stored_before_others
from annotator.workflows.people import passkey_protocol
from annotator.workflows.people.accounts import lock_signed_in, set_password
from annotator.workflows.people.passkey_protocol import PasskeySite, Signed
from annotator.workflows.people.recovery_codes import new_codes

MOST_PASSKEYS = 20
LONGEST_NAME = 64
CHALLENGE_BYTES = HANDLE_BYTES = 32


class UsedAtOnceError(ConflictError):
    """The passkey was used since its signature was checked: it has to be used once more."""


class ClonedPasskeyError(NotAllowedError):
    """The device counts fewer signatures than it did before: somebody may have a copy of the passkey."""

    def __init__(self, account: str, name: str) -> None:
        """Keep whose passkey it is, for the audit log."""
        self.account = account
        super().__init__(
            "The passkey “%(name)s” was refused: its device counts fewer uses than this site, so somebody may have a "
            "copy of it. Sign in another way and remove it, and tell an administrator.",
            name=name,
        )


@dataclass(frozen=True)
class PasskeyRequest:
    """What a browser was asked to sign for which site, and until when the response is accepted."""

    site: PasskeySite
    challenge: str
    until: datetime


@dataclass(frozen=True)
class CheckedPasskey:
    """What a passkey has signed in response to a request, after its signature was checked; it is not accepted yet.

    `counted` is how many uses the site had counted then.
    """

    number: int
    credential: str
    request: PasskeyRequest
    signed: Signed
    counted: int


@dataclass(frozen=True)
class PasskeyRow:
    """A passkey of an account, for which host it was made, and when it was used last.

    `signs_in_alone`: it takes the place of the password as well, as its device checked who used it when it was made.
    """

    number: int
    account: str
    name: str
    host: str
    signs_in_alone: bool
    added_at: datetime
    last_used_at: datetime | None


def new_challenge() -> str:
    """A random challenge, in base64url."""
    return passkey_protocol.encoded(secrets.token_bytes(CHALLENGE_BYTES))


def list_passkeys(session: Session, user_id: int) -> list[PasskeyRow]:
    """The passkeys of an account, the oldest first."""
    return _rows(session, Passkey.user_id == user_id)


def list_all_passkeys(session: Session, name: str | None = None) -> list[PasskeyRow]:
    """The passkeys of all accounts, or of the one with this name; raises `NotFoundError` for an unknown name."""
    return _rows(session, True if name is None else Passkey.user_id == find_user(session, name).id)


def count_passkeys(session: Session, name: str) -> int:
    """How many passkeys the account with this name has; raises `NotFoundError` for an unknown name."""
    return len(list_all_passkeys(session, name))


def check_adding(session: Session, user_id: int, name: str) -> str:
    """The name of a passkey that may be added.

    Raises `InvalidValueError` for an unusable name and `ConflictError` when the account has as many passkeys as it can
    have.
    """
    _refuse_too_many(session, user_id)
    return _checked_name(name)


def ask_for_new(session: Session, user_id: int, site: PasskeySite, challenge: str) -> dict[str, Any]:
    """What the browser is asked for to make a passkey, as JSON; a device that has one of the account refuses."""
    known = session.scalars(select(Passkey).where(Passkey.user_id == user_id).order_by(Passkey.id)).all()
    # A device that finds passkeys by itself has one for each handle.
    handle = known[0].user_handle if known else passkey_protocol.encoded(secrets.token_bytes(HANDLE_BYTES))
    here = [one.credential for one in known if one.host == site.host]
    name = session.get_one(User, user_id).name
    return passkey_protocol.creation_options(site, challenge, user_handle=handle, name=name, known=here)


def ask_for_known(session: Session, user_id: int, site: PasskeySite, challenge: str) -> dict[str, Any]:
    """What the browser is asked for to use a passkey of this account, as JSON.

    Raises `NotFoundError` when none of them was made for this site's host.
    """
    known = session.scalars(
        select(Passkey.credential).where(Passkey.user_id == user_id, Passkey.host == site.host).order_by(Passkey.id)
    ).all()
    if not known:
        raise NotFoundError("Your account has no passkey for %(host)s: use a code.", host=site.host)
    return passkey_protocol.request_options(site, challenge, known)


def add_passkey(
    session: Session,
    user_id: int,
    generation: int,
    request: PasskeyRequest,
    response: str,
    *,
    name: str,
    user_handle: str,
    at: datetime,
) -> tuple[Person, Sequence[str]]:
    """Add a passkey that the browser has made, and return recovery codes if it is the first second factor.

    All other sessions of the account end: the returned person has a new generation. Raises `InvalidValueError` for a
    response that is not right, and `ConflictError` for a passkey that is known, for one too many, and when the session
    of this generation has ended.
    """
    made = passkey_protocol.read_new(request.site, request.challenge, response)
    user = lock_signed_in(session, user_id, generation)
    _refuse_too_many(session, user_id)
    if session.scalar(select(Passkey.id).where(Passkey.credential == made.credential)) is not None:
        raise ConflictError("This passkey was added already.")
    is_first = not is_on(session, user_id)
    with stored_before_others(session):
        session.add(
            Passkey(
                user_id=user_id,
                credential=made.credential,
                public_key=made.public_key,
                user_handle=user_handle,
                host=request.site.host,
                name=_checked_name(name),
                sign_count=made.sign_count,
                verified=made.is_verified,
                added_at=at,
            )
        )
    end_sessions(user)
    return person_of(user), new_codes(session, user_id) if is_first else ()


def check_signature(session: Session, request: PasskeyRequest, response: str) -> CheckedPasskey:
    """Check the signature of a passkey; it takes time, and needs no transaction that writes.

    Raises `InvalidValueError` for a response that is not right, and `NotAllowedError` for an unknown passkey.
    """
    credential = passkey_protocol.credential_in(response)
    found = session.scalar(select(Passkey).where(Passkey.credential == credential, Passkey.host == request.site.host))
    if found is None:
        raise _unknown()
    signed = passkey_protocol.read_signed(
        request.site, request.challenge, response, credential=credential, public_key=found.public_key
    )
    return CheckedPasskey(found.id, credential, request, signed, found.sign_count)


def sign_in(session: Session, checked: CheckedPasskey, *, at: datetime) -> Person:
    """The person whose passkey has signed, without password, as its device has checked who uses it.

    It must have checked that when the passkey was made, too: a thief can set the PIN of a security key without one.
    Raises `NotAllowedError` for one whose device checked nobody and for an account that cannot sign in, and as
    `use_passkey`.
    """
    owner = session.scalar(select(Passkey.user_id).where(Passkey.credential == checked.credential))
    if owner is None:
        raise _unknown()
    user = lock_user(session, owner)
    if user.password_hash is None or user.being_imported:
        raise _unknown()
    signed, passkey = checked.signed, _use(session, user, checked, at)
    if not (signed.is_verified and passkey.verified) or signed.user_handle != passkey.user_handle:
        raise NotAllowedError(
            "With this passkey alone nobody can sign in, as it asks for no PIN, finger or face, or asked for none when "
            "it was added: sign in with your password first, and then use it."
        )
    return person_of(user)


def use_passkey(session: Session, user: User, checked: CheckedPasskey, *, at: datetime) -> None:
    """Accept a passkey of an account, which the caller has locked, as its second factor.

    Raises `InvalidValueError` for a response that was used or is too old, `NotAllowedError` for a passkey of nobody or
    somebody else, `UsedAtOnceError` when it was used since its signature was checked, and `ClonedPasskeyError`.
    """
    _use(session, user, checked, at)


def rename_passkey(session: Session, user_id: int, number: int, name: str) -> None:
    """Give a passkey of an account another name; raises `NotFoundError` when the account has none such."""
    lock_user(session, user_id)  # somebody may remove it at this moment
    _own(session, user_id, number).name = _checked_name(name)


def remove_passkey(session: Session, user_id: int, number: int) -> Person:
    """Remove a passkey of an account, which the caller has locked; its sessions end.

    Recovery codes are deleted with the last second factor. Raises `NotFoundError` when the account has none such.
    """
    session.delete(_own(session, user_id, number))
    delete_codes_without_factor(session, user_id)
    user = session.get_one(User, user_id)
    end_sessions(user)
    return person_of(user)


def remove_passkeys(session: Session, name: str, number: int | None = None) -> int:
    """Remove all passkeys of an account, or the one with this number, and return how many; its sessions end.

    Raises `NotFoundError` for an unknown name or number and `ConflictError` when the account has none.
    """
    user = locked_user(session, name)
    found = session.scalars(select(Passkey).where(Passkey.user_id == user.id)).all()
    if not found:
        raise ConflictError("“%(name)s” has no passkeys.", name=name)
    removed = [one for one in found if number in {None, one.id}]
    if not removed:
        raise NotFoundError("“%(name)s” has no passkey %(number)d.", name=name, number=number)
    for one in removed:
        session.delete(one)
    delete_codes_without_factor(session, user.id)
    end_sessions(user)
    return len(removed)


def give_password(session: Session, name: str, new_hash: str, *, removes_passkeys: bool, at: datetime) -> int:
    """Set an account's password as an administrator, and remove its passkeys if wanted; returns how many were removed.

    Raises as `set_password`.
    """
    set_password(session, name, new_hash, at=at)
    has_any = count_passkeys(session, name) > 0
    return remove_passkeys(session, name) if removes_passkeys and has_any else 0


def _use(session: Session, user: User, checked: CheckedPasskey, at: datetime) -> Passkey:
    """The passkey of the account, whose use is recorded."""
    found = session.scalar(
        select(Passkey)
        .where(Passkey.user_id == user.id, Passkey.credential == checked.credential, Passkey.id == checked.number)
        .execution_options(populate_existing=True)
    )
    if found is None:
        raise _unknown()
    request, count = checked.request, checked.signed.sign_count
    fingerprint = secret_fingerprint(request.challenge)
    if at > request.until or not uses_challenge(session, fingerprint, until=request.until, now=at):
        raise InvalidValueError("This use of the passkey was too long ago, or was accepted already: use it again.")
    if found.sign_count != checked.counted:
        # A device counts once for each use: of two at once the second may come first, which is no sign of a copy.
        raise UsedAtOnceError("The passkey was used for something else at the same moment: use it again.")
    if max(count, found.sign_count) > 0 and count <= found.sign_count:
        raise ClonedPasskeyError(user.name, found.name)
    found.sign_count, found.last_used_at = count, at
    return found


def _rows(session: Session, condition: Any) -> list[PasskeyRow]:  # noqa: ANN401 - a condition, or True
    found = session.execute(select(Passkey, User.name).join(User).where(condition).order_by(User.name, Passkey.id))
    return [
        PasskeyRow(one.id, name, one.name, one.host, one.verified, one.added_at, one.last_used_at)
        for one, name in found
    ]


def _own(session: Session, user_id: int, number: int) -> Passkey:
    found = session.get(Passkey, number, populate_existing=True)
    if found is None or found.user_id != user_id:
        raise NotFoundError("Your account has no such passkey any more.")
    return found


def _refuse_too_many(session: Session, user_id: int) -> None:
    if len(session.scalars(select(Passkey.id).where(Passkey.user_id == user_id)).all()) >= MOST_PASSKEYS:
        raise ConflictError("An account has at most %(most)d passkeys: remove one first.", most=MOST_PASSKEYS)


def _checked_name(name: str) -> str:
    plain = " ".join(name.split())
    if not 1 <= len(plain) <= LONGEST_NAME or not plain.isprintable():
        raise InvalidValueError("A passkey's name has 1 to %(most)d printable characters.", most=LONGEST_NAME)
    return plain


def _unknown() -> NotAllowedError:
    return NotAllowedError(
        "This passkey opens no account here: it was removed, or was made at another address. Sign in with name and "
        "password."
    )
