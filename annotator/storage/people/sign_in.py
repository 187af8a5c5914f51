"""Who is kept out: attempts to sign in are counted, and a session that was ended stays ended."""

from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import Table, bindparam, case, delete
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from annotator.storage.tables.people import Attempts, EndedSession

_COUNTED = cast("Table", Attempts.__table__)
_ADDED: dict[str, object] = {"key": bindparam("key"), "count": bindparam("amount"), "ends_at": bindparam("ends_at")}
_HAS_ENDED = _COUNTED.c.ends_at <= bindparam("now", type_=_COUNTED.c.ends_at.type)
_CHANGED: dict[str, object] = {
    "count": case((_HAS_ENDED, bindparam("amount")), else_=_COUNTED.c.count + bindparam("amount")),
    "ends_at": case((_HAS_ENDED, bindparam("ends_at", type_=_COUNTED.c.ends_at.type)), else_=_COUNTED.c.ends_at),
}
COUNT = {
    name: kind.insert(_COUNTED)
    .values(_ADDED)
    .on_conflict_do_update(index_elements=[_COUNTED.c.key], set_=_CHANGED)
    .returning(_COUNTED.c.count)
    for name, kind in (("sqlite", sqlite), ("postgresql", postgresql))
}


def count_attempts(session: Session, key: str, amount: int, *, now: datetime, lasts: timedelta) -> int:
    """Count further attempts and return how many there were since the first of them, which is `lasts` ago at most."""
    session.execute(delete(Attempts).where(Attempts.ends_at <= now))
    values = {"key": key, "amount": amount, "now": now, "ends_at": now + lasts}
    return int(session.execute(COUNT[session.get_bind().dialect.name], values).scalar_one())


def attempts_so_far(session: Session, key: str, *, now: datetime) -> tuple[int, datetime]:
    """How many attempts are counted, and until when."""
    found = session.get(Attempts, key)
    return (0, now) if found is None or found.ends_at <= now else (found.count, found.ends_at)


def forget_attempts(session: Session, key: str) -> None:
    """Count from nothing again."""
    session.execute(delete(Attempts).where(Attempts.key == key))


_ENDED = cast("Table", EndedSession.__table__)
END = {
    "sqlite": sqlite.insert(_ENDED).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(_ENDED).on_conflict_do_nothing(),
}


def end_session(session: Session, key: str, *, until: datetime, now: datetime) -> None:
    """Remember a session as ended for as long as its cookie would be believed; ending it twice is ending it."""
    session.execute(delete(EndedSession).where(EndedSession.until < now))
    if until > now:
        session.execute(END[session.get_bind().dialect.name], {"key": key, "until": until})


def has_ended(session: Session, key: str) -> bool:
    """Whether the session was ended."""
    return session.get(EndedSession, key) is not None
