"""Sessions that were ended before their time: a copy of their cookie opens nothing any more."""

from datetime import datetime
from typing import cast

from sqlalchemy import Table, delete
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from annotator.storage.tables.people import EndedSession

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
