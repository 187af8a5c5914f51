"""How often something was tried: the counts behind the limits on signing in, the same for every server process."""

import hashlib
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from annotator.storage.people.sign_in import attempts_so_far, count_attempts, forget_attempts


def count_attempt(session: Session, what: str, amount: int, *, now: datetime, seconds: int) -> int:
    """Count further attempts of `what`; how many there were since the first, which is `seconds` ago at most."""
    return count_attempts(session, _key(what), amount, now=now, lasts=timedelta(seconds=seconds))


def attempts(session: Session, what: str, *, now: datetime) -> tuple[int, datetime]:
    """How many attempts of `what` are counted, and until when."""
    return attempts_so_far(session, _key(what), now=now)


def forget(session: Session, what: str) -> None:
    """Count `what` from nothing again."""
    forget_attempts(session, _key(what))


def _key(what: str) -> str:
    return hashlib.sha256(what.encode("utf-8", "surrogateescape")).hexdigest()
