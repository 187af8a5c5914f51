"""Sessions that were ended before their time: a copy of their cookie opens nothing any more."""

from datetime import datetime

from sqlalchemy import delete
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.storage.columns import Base


class EndedSession(Base):
    __tablename__ = "ended_session"

    # What names the session; without the signature of the cookie it opens nothing.
    key: Mapped[str] = mapped_column(primary_key=True)
    # When the session would have ended by itself, so that the row can go.
    until: Mapped[datetime]


def end_session(session: Session, key: str, *, until: datetime, now: datetime) -> None:
    """Remember a session as ended for as long as its cookie would be believed; ending it twice is ending it."""
    session.execute(delete(EndedSession).where(EndedSession.until < now))
    if until > now and session.get(EndedSession, key) is None:
        session.add(EndedSession(key=key, until=until))


def has_ended(session: Session, key: str) -> bool:
    """Whether the session was ended."""
    return session.get(EndedSession, key) is not None
