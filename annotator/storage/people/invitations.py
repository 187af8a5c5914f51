"""Links that let somebody in once: to a new account with a role, or to a new password for one they have."""

from datetime import datetime

from sqlalchemy import ForeignKey, select, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.storage.people.accounts import User
from annotator.storage.site.columns import Base


class Invitation(Base):
    __tablename__ = "invitation"

    id: Mapped[int] = mapped_column(primary_key=True)
    # The SHA-256 of the link's secret, which is shown once and never stored.
    fingerprint: Mapped[str] = mapped_column(unique=True)
    # Whom it is for, as the organiser noted it; no account has this name yet.
    note: Mapped[str]
    # None: the link is of an administrator and gives no role.
    collection_id: Mapped[int | None] = mapped_column(ForeignKey("collection.id"), index=True)
    role: Mapped[str | None]
    team: Mapped[str | None]
    # Of a link to a new password: whose. None: whoever opens the link makes an account or signs in with theirs.
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    made_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    made_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    used_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    withdrawn_at: Mapped[datetime | None]


def joined_by_link(session: Session, collection_id: int, user: User) -> bool:
    """Whether somebody accepted an invitation to the collection, or a file of its people made the account."""
    accepted = (Invitation.used_by_id == user.id) & Invitation.role.is_not(None)
    made = (Invitation.user_id == user.id) & (Invitation.made_at == user.added_at)
    links = select(Invitation.id).where(Invitation.collection_id == collection_id, accepted | made)
    return session.scalar(links.limit(1)) is not None


def withdraw_password_links(session: Session, user_id: int, *, at: datetime) -> None:
    """End every link to a new password of an account that was not used."""
    ended = update(Invitation).where(
        Invitation.user_id == user_id, Invitation.used_at.is_(None), Invitation.withdrawn_at.is_(None)
    )
    session.execute(ended.values(withdrawn_at=at))
