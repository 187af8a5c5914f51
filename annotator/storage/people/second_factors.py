"""Second factors of accounts, whatever their kind, and the recovery codes beside them."""

from datetime import datetime

from sqlalchemy import ColumnElement, delete, exists, func, or_, select
from sqlalchemy.orm import Session

from annotator.storage.tables.people import Passkey, RecoveryCode, SecondFactor, UsedChallenge, User


def has_factor() -> ColumnElement[bool]:
    """The condition that a `User` of the query has a second factor: an app, or a passkey."""
    return or_(exists().where(SecondFactor.user_id == User.id), exists().where(Passkey.user_id == User.id))


def is_on(session: Session, user_id: int) -> bool:
    """Whether the account has a second factor."""
    return session.scalar(select(User.id).where(User.id == user_id, has_factor())) is not None


def add_recovery_codes(session: Session, user_id: int, fingerprints: list[str]) -> None:
    """Store recovery codes in place of all earlier ones."""
    session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))
    session.add_all(RecoveryCode(fingerprint=one, user_id=user_id) for one in fingerprints)


def takes_recovery_code(session: Session, user_id: int, fingerprint: str) -> bool:
    """Whether the account has this recovery code, which is deleted."""
    found = session.scalar(
        select(RecoveryCode).where(RecoveryCode.user_id == user_id, RecoveryCode.fingerprint == fingerprint)
    )
    if found is None:
        return False
    session.delete(found)
    session.flush()
    return True


def count_recovery_codes(session: Session, user_id: int) -> int:
    """How many recovery codes of the account are left."""
    return session.scalar(select(func.count()).where(RecoveryCode.user_id == user_id)) or 0


def delete_codes_without_factor(session: Session, user_id: int) -> None:
    """Delete the recovery codes of an account that has no second factor any more."""
    session.flush()
    if not is_on(session, user_id):
        session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))


def delete_factors(session: Session, user_id: int) -> None:
    """Delete every second factor and recovery code of an account."""
    for table in (RecoveryCode, SecondFactor, Passkey):
        session.execute(delete(table).where(table.user_id == user_id))


def uses_challenge(session: Session, fingerprint: str, *, until: datetime, now: datetime) -> bool:
    """Whether a challenge is used for the first time; it is kept as used until it would expire."""
    session.execute(delete(UsedChallenge).where(UsedChallenge.until < now))
    if session.get(UsedChallenge, fingerprint) is not None:
        return False
    session.add(UsedChallenge(fingerprint=fingerprint, until=until))
    return True
