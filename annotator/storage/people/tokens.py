"""Tokens by which programs act for an account; what opens the door is stored as a hash alone."""

from datetime import datetime

from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.storage.tables.people import ApiToken


def revoke_all(session: Session, user_id: int, *, at: datetime) -> None:
    """End every token of an account that has not ended."""
    session.execute(
        update(ApiToken).where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None)).values(revoked_at=at)
    )
