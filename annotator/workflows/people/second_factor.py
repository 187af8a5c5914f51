"""A second factor for signing in: codes by time (TOTP, RFC 6238) and recovery codes."""

import secrets
import unicodedata
from base64 import b32encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pyotp import TOTP, random_base32
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.passwords import secret_fingerprint
from annotator.storage import Membership, RecoveryCode, Role, SecondFactor, User
from annotator.storage.people.accounts import Person, end_sessions, lock_user, locked_user, person_of
from annotator.workflows.people.accounts import check_password

SECONDS = 30  # that a code is valid, what every app supposes
DRIFT = 1  # of clocks, in codes to either side
ISSUER = "annotator"
RECOVERY_CODES = 10
RECOVERY_BYTES = 15  # 24 letters and digits
GROUP = 4


@dataclass(frozen=True)
class SecondFactorState:
    """A second factor that is on, and how many recovery codes are left."""

    added_at: datetime
    codes_left: int


@dataclass(frozen=True)
class CodeAccepted:
    """Who has signed in by a code; `codes_left` is None unless it was a recovery code."""

    person: Person
    codes_left: int | None


def is_on(session: Session, user_id: int) -> bool:
    """Whether signing in to the account takes a code."""
    return session.get(SecondFactor, user_id) is not None


def is_missing(session: Session, user_id: int) -> bool:
    """Whether the account has no second factor, and administers the site or organises a collection."""
    organises = select(Membership.id).where(Membership.user_id == User.id, Membership.role == Role.ORGANISER)
    has_one = select(SecondFactor.user_id).where(SecondFactor.user_id == User.id)
    found = select(User.id).where(User.id == user_id, User.administrator | organises.exists(), ~has_one.exists())
    return session.scalar(found) is not None


def show_state(session: Session, user_id: int) -> SecondFactorState | None:
    """The second factor of an account; None when it is off."""
    factor = session.get(SecondFactor, user_id)
    return None if factor is None else SecondFactorState(factor.added_at, _codes_left(session, user_id))


def begin(session: Session, user_id: int, password: str) -> str:
    """A new secret for an account without second factor; nothing is stored.

    Raises `NotAllowedError` for a wrong password and `ConflictError` when a second factor is on.
    """
    check_password(session, user_id, password)
    _refuse_second(session, user_id)
    return random_base32()


def address_for_app(secret: str, name: str, site: str) -> str:
    """The `otpauth` address that an app reads from a QR code; it shows site and account."""
    return TOTP(secret).provisioning_uri(name=f"{name}@{site}", issuer_name=ISSUER)


def turn_on(session: Session, user_id: int, secret: str, code: str, *, at: datetime) -> tuple[Person, Sequence[str]]:
    """Turn on the second factor with this secret, and return its recovery codes, which are not stored.

    All other sessions of the account end: the returned person has a new generation. Raises `InvalidValueError` for a
    code that is not of this secret and `ConflictError` when a second factor is on.
    """
    user = lock_user(session, user_id)
    _refuse_second(session, user_id)
    step = _step_of(secret, _normalised(code), at)
    if step is None:
        raise InvalidValueError(
            "This is not the code that the app shows now. If it is, the clock of the phone or of this server is wrong "
            "by more than half a minute."
        )
    session.add(SecondFactor(user_id=user_id, secret=secret, last_step=step, added_at=at))
    end_sessions(user)
    return person_of(user), _new_codes(session, user_id)


def turn_off(session: Session, user_id: int, code: str, *, at: datetime) -> None:
    """Turn off the second factor of an account, and delete its recovery codes. Raises as `renew_codes`."""
    _expect_code(session, user_id, code, at)
    _remove(session, user_id)


def renew_codes(session: Session, user_id: int, code: str, *, at: datetime) -> Sequence[str]:
    """New recovery codes in place of all earlier ones.

    Raises `ConflictError` when no second factor is on, and `InvalidValueError` for a wrong or used code.
    """
    _expect_code(session, user_id, code, at)
    return _new_codes(session, user_id)


def sign_in_with_code(
    session: Session, user_id: int, generation: int, code: str, *, at: datetime
) -> CodeAccepted | None:
    """The person whose password was accepted in this generation of the account; None when the code is not.

    A code is accepted once, and none that is older than the last. Raises `ConflictError` when the password has to be
    given again, as the sessions of the account have ended or its second factor is off.
    """
    user = lock_user(session, user_id)
    factor = session.get(SecondFactor, user_id, populate_existing=True)
    if user.sign_in_generation != generation or factor is None:
        raise ConflictError(
            "Sign in with name and password again: since you did, your second factor was turned off, or all of your "
            "sessions were ended."
        )
    if _uses_step(factor, code, at):
        return CodeAccepted(person_of(user), None)
    if _uses_recovery_code(session, user_id, code):
        return CodeAccepted(person_of(user), _codes_left(session, user_id))
    return None


def reset(session: Session, name: str) -> None:
    """Turn off the second factor of an account whose owner has lost it.

    Raises `NotFoundError` for an unknown name and `ConflictError` when none is on.
    """
    user = locked_user(session, name)
    if not is_on(session, user.id):
        raise ConflictError("“%(name)s” has no second factor.", name=name)
    _remove(session, user.id)


def _refuse_second(session: Session, user_id: int) -> None:
    if is_on(session, user_id):
        raise ConflictError("Your second factor is on already.")


def _expect_code(session: Session, user_id: int, code: str, at: datetime) -> None:
    lock_user(session, user_id)
    factor = session.get(SecondFactor, user_id, populate_existing=True)
    if factor is None:
        raise ConflictError("Your second factor is off.")
    if not (_uses_step(factor, code, at) or _uses_recovery_code(session, user_id, code)):
        raise InvalidValueError("This code is wrong, or it was used already: then wait for the next one.")


def _uses_step(factor: SecondFactor, code: str, at: datetime) -> bool:
    step = _step_of(factor.secret, _normalised(code), at)
    if step is None or step <= factor.last_step:
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


def _uses_recovery_code(session: Session, user_id: int, code: str) -> bool:
    fingerprint = secret_fingerprint(_normalised(code))
    found = session.scalar(
        select(RecoveryCode).where(RecoveryCode.user_id == user_id, RecoveryCode.fingerprint == fingerprint)
    )
    if found is None:
        return False
    session.delete(found)
    session.flush()
    return True


def _new_codes(session: Session, user_id: int) -> Sequence[str]:
    session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))
    codes = [b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode().lower() for _ in range(RECOVERY_CODES)]
    session.add_all(RecoveryCode(fingerprint=secret_fingerprint(code), user_id=user_id) for code in codes)
    return ["-".join(code[at : at + GROUP] for at in range(0, len(code), GROUP)) for code in codes]


def _remove(session: Session, user_id: int) -> None:
    session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))
    session.execute(delete(SecondFactor).where(SecondFactor.user_id == user_id))


def _codes_left(session: Session, user_id: int) -> int:
    return session.scalar(select(func.count()).where(RecoveryCode.user_id == user_id)) or 0


def _normalised(code: str) -> str:
    """A code as it may be typed: with blanks or hyphens, in full-width digits or capitals."""
    plain = unicodedata.normalize("NFKC", code).lower()
    return "".join(sign for sign in plain if not sign.isspace() and sign != "-")
