"""Tokens by which programs act for an account; what opens the door is stored as a hash alone."""

from datetime import datetime

from sqlalchemy import ForeignKey, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.storage.site.columns import Base


class ApiToken(Base):
    __tablename__ = "api_token"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    # What its owner calls it.
    name: Mapped[str]
    # The SHA-256 of the token, which is 32 random bytes: nothing slower is needed for what cannot be guessed.
    fingerprint: Mapped[str] = mapped_column(unique=True)
    # Blank-separated, such as “read runs judge organise”.
    scopes: Mapped[str]
    # None: in every collection of which the owner is a member.
    collection_id: Mapped[int | None] = mapped_column(ForeignKey("collection.id"))
    made_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    # To the minute, so that a program that asks often does not write often.
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


def revoke_all(session: Session, user_id: int, *, at: datetime) -> None:
    """End every token of an account that has not ended."""
    session.execute(
        update(ApiToken).where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None)).values(revoked_at=at)
    )
