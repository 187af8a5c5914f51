"""Who is kept out: refused passwords are counted, and a session that was ended stays ended."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import Table, bindparam, case, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from annotator.storage.tables.people import Attempts, EndedSession

_COUNTED = cast("Table", Attempts.__table__)
_ADDED: dict[str, object] = {"key": bindparam("key"), "count": 1, "ends_at": bindparam("ends_at")}
_HAS_ENDED = _COUNTED.c.ends_at <= bindparam("now", type_=_COUNTED.c.ends_at.type)
_CHANGED: dict[str, object] = {
    "count": case((_HAS_ENDED, 1), else_=_COUNTED.c.count + 1),
    "ends_at": case((_HAS_ENDED, bindparam("ends_at", type_=_COUNTED.c.ends_at.type)), else_=_COUNTED.c.ends_at),
}
COUNT = {
    name: kind.insert(_COUNTED).values(_ADDED).on_conflict_do_update(index_elements=[_COUNTED.c.key], set_=_CHANGED)
    for name, kind in (("sqlite", sqlite), ("postgresql", postgresql))
}


def count_attempt(session: Session, windows: Mapping[str, timedelta], *, now: datetime) -> None:
    """Count an attempt under each key; a count begins again so long after the first attempt that it counts."""
    session.execute(delete(Attempts).where(Attempts.ends_at <= now))
    rows = [{"key": key, "now": now, "ends_at": now + window} for key, window in windows.items()]
    session.execute(COUNT[session.get_bind().dialect.name], rows)


def attempts_so_far(session: Session, keys: Iterable[str], *, now: datetime) -> dict[str, tuple[int, datetime]]:
    """How many attempts are counted under each key, and until when; a key without any is absent."""
    found = session.scalars(select(Attempts).where(Attempts.key.in_(keys), Attempts.ends_at > now))
    return {one.key: (one.count, one.ends_at) for one in found}


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
