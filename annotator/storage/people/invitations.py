"""Links that let somebody in once: to a new account with a role, or to a new password for one they have."""

from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.storage.tables.people import Invitation, User


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
