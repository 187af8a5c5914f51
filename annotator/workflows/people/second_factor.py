"""A second factor for signing in: codes by time (TOTP, RFC 6238), passkeys, and recovery codes."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pyotp import TOTP, random_base32
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.storage import Membership, Role, SecondFactor, User
from annotator.storage.people import second_factors
from annotator.storage.people.accounts import Person, end_sessions, lock_user, locked_user, person_of
from annotator.storage.people.second_factors import count_recovery_codes, delete_codes_without_factor, has_factor
from annotator.workflows.people import passkeys
from annotator.workflows.people.accounts import lock_signed_in
from annotator.workflows.people.passkeys import CheckedPasskey, PasskeyRow
from annotator.workflows.people.recovery_codes import new_codes, normalised, uses_code

SECONDS = 30  # that a code is valid, what every app supposes
DRIFT = 1  # of clocks, in codes to either side
ISSUER = "annotator"


@dataclass(frozen=True)
class SecondFactorState:
    """A second factor that is on: since when by an app (None: by none), its passkeys, and the recovery codes left."""

    app_since: datetime | None
    passkeys: Sequence[PasskeyRow]
    codes_left: int


@dataclass(frozen=True)
class Proof:
    """That somebody has the second factor of an account: a code, or a passkey whose signature was checked."""

    code: str = ""
    passkey: CheckedPasskey | None = None


@dataclass(frozen=True)
class CodeAccepted:
    """Who has signed in by a code or passkey; `codes_left` is None unless it was a recovery code."""

    person: Person
    codes_left: int | None


def is_on(session: Session, user_id: int) -> bool:
    """Whether signing in to the account by password takes a code or a passkey as well."""
    return second_factors.is_on(session, user_id)


def is_missing(session: Session, user_id: int) -> bool:
    """Whether the account has no second factor, and administers the site or organises a collection."""
    organises = select(Membership.id).where(Membership.user_id == User.id, Membership.role == Role.ORGANISER)
    found = select(User.id).where(User.id == user_id, User.administrator | organises.exists(), ~has_factor())
    return session.scalar(found) is not None


def show_state(session: Session, user_id: int) -> SecondFactorState | None:
    """The second factor of an account; None when it is off."""
    app, keys = session.get(SecondFactor, user_id), passkeys.list_passkeys(session, user_id)
    if app is None and not keys:
        return None
    return SecondFactorState(app.added_at if app else None, keys, count_recovery_codes(session, user_id))


def begin(session: Session, user_id: int, generation: int, proof: Proof, *, at: datetime) -> str:
    """A new secret for an account without app, which is not stored; passkeys that it has must be proven.

    Raises `ConflictError` when the account has an app, and as `confirm`.
    """
    _refuse_second(session, user_id)
    confirm(session, user_id, generation, proof, at=at)
    return random_base32()


def begin_passkey(session: Session, user_id: int, generation: int, proof: Proof, *, name: str, at: datetime) -> str:
    """The name of a passkey that may be added; raises as `passkeys.check_adding` and `confirm`."""
    checked = passkeys.check_adding(session, user_id, name)
    confirm(session, user_id, generation, proof, at=at)
    return checked


def confirm(session: Session, user_id: int, generation: int, proof: Proof, *, at: datetime) -> None:
    """Accept the second factor of an account that has one, in a session of this generation.

    Raises `ConflictError` when the session has ended, `InvalidValueError` for a wrong or used code, and as
    `passkeys.use_passkey`.
    """
    user = lock_signed_in(session, user_id, generation)
    if is_on(session, user_id):
        _expect(session, user, proof, at)


def address_for_app(secret: str, name: str, site: str) -> str:
    """The `otpauth` address that an app reads from a QR code; it shows site and account."""
    return TOTP(secret).provisioning_uri(name=f"{name}@{site}", issuer_name=ISSUER)


def turn_on(
    session: Session, user_id: int, generation: int, secret: str, code: str, *, at: datetime
) -> tuple[Person, Sequence[str]]:
    """Turn on codes of an app with this secret, and return recovery codes if it is the first second factor.

    All other sessions of the account end: the returned person has a new generation. Raises `InvalidValueError` for a
    code that is not of this secret and `ConflictError` when the account has an app, or the session of this generation
    has ended.
    """
    user = lock_signed_in(session, user_id, generation)
    _refuse_second(session, user_id)
    step = _step_of(secret, normalised(code), at)
    if step is None:
        raise InvalidValueError(
            "This is not the code that the app shows now. If it is, the clock of the phone or of this server is wrong "
            "by more than half a minute."
        )
    is_first = not is_on(session, user_id)
    session.add(SecondFactor(user_id=user_id, secret=secret, last_step=step, added_at=at))
    end_sessions(user)
    return person_of(user), new_codes(session, user_id) if is_first else ()


def turn_off(session: Session, user_id: int, proof: Proof, *, at: datetime) -> None:
    """Turn off codes of an app; recovery codes are deleted with the last second factor. Raises as `renew_codes`."""
    user = lock_user(session, user_id)
    if session.get(SecondFactor, user_id, populate_existing=True) is None:
        raise ConflictError("Your second factor is off.")
    _expect(session, user, proof, at)
    session.execute(delete(SecondFactor).where(SecondFactor.user_id == user_id))
    delete_codes_without_factor(session, user_id)


def renew_codes(session: Session, user_id: int, proof: Proof, *, at: datetime) -> Sequence[str]:
    """New recovery codes in place of all earlier ones.

    Raises `ConflictError` when no second factor is on, `InvalidValueError` for a wrong or used code, and as
    `passkeys.use_passkey`.
    """
    _expect(session, lock_user(session, user_id), proof, at)
    return new_codes(session, user_id)


def remove_passkey(
    session: Session, user_id: int, generation: int, number: int, proof: Proof, *, at: datetime
) -> Person:
    """Remove a passkey of one's own; the account's other sessions end: the returned person has a new generation.

    Raises `NotFoundError` when the account has none such, `ConflictError` when the session of this generation has
    ended, and as `renew_codes`.
    """
    _expect(session, lock_signed_in(session, user_id, generation), proof, at)
    return passkeys.remove_passkey(session, user_id, number)


def sign_in(session: Session, user_id: int, generation: int, proof: Proof, *, at: datetime) -> CodeAccepted | None:
    """The person whose password was accepted in this generation of the account; None when the code is not.

    A code is accepted once, and none that is older than the last. Raises `ConflictError` when the password has to be
    given again, as the sessions of the account have ended or its second factor is off, and as `passkeys.use_passkey`.
    """
    user = lock_user(session, user_id)
    if user.sign_in_generation != generation or not is_on(session, user_id):
        raise ConflictError(
            "Sign in with name and password again: since you did, your second factor was turned off, or all of your "
            "sessions were ended."
        )
    if proof.passkey is not None:
        passkeys.use_passkey(session, user, proof.passkey, at=at)
        return CodeAccepted(person_of(user), None)
    if _uses_app(session, user_id, proof.code, at):
        return CodeAccepted(person_of(user), None)
    if uses_code(session, user_id, proof.code):
        return CodeAccepted(person_of(user), count_recovery_codes(session, user_id))
    return None


def reset(session: Session, name: str) -> None:
    """Remove app, passkeys and recovery codes of an account whose owner has lost them; sessions end with passkeys.

    Raises `NotFoundError` for an unknown name and `ConflictError` when no second factor is on.
    """
    user = locked_user(session, name)
    state = show_state(session, user.id)
    if state is None:
        raise ConflictError("“%(name)s” has no second factor.", name=name)
    second_factors.delete_factors(session, user.id)
    if state.passkeys:
        end_sessions(user)


def _refuse_second(session: Session, user_id: int) -> None:
    if session.get(SecondFactor, user_id) is not None:
        raise ConflictError("Your second factor is on already.")


def _expect(session: Session, user: User, proof: Proof, at: datetime) -> None:
    """Raise unless somebody has the second factor of this account, which is locked."""
    if not is_on(session, user.id):
        raise ConflictError("Your second factor is off.")
    if proof.passkey is not None:
        passkeys.use_passkey(session, user, proof.passkey, at=at)
    elif not (_uses_app(session, user.id, proof.code, at) or uses_code(session, user.id, proof.code)):
        raise InvalidValueError("This code is wrong, or it was used already: then wait for the next one.")


def _uses_app(session: Session, user_id: int, code: str, at: datetime) -> bool:
    factor = session.get(SecondFactor, user_id, populate_existing=True)
    step = None if factor is None else _step_of(factor.secret, normalised(code), at)
    if factor is None or step is None or step <= factor.last_step:
        return False
    factor.last_step = step
    return True


def _step_of(secret: str, digits: str, at: datetime) -> int | None:
    """The newest step around this time that has the code; every one is looked at, so that it takes equally long."""
    now, codes = int(at.timestamp()) // SECONDS, TOTP(secret)
    fitting = [
        step
        for step in range(now - DRIFT, now + DRIFT + 1)
        if secrets.compare_digest(codes.generate_otp(step).encode(), digits.encode("utf-8", "surrogateescape"))
    ]
    return max(fitting, default=None)
