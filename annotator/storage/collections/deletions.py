"""What was deleted, when and how much it was: the tables. `removal` takes rows out and puts them back.

Nothing that lists, counts, draws or scores has to look past what was deleted, for it is not in its tables any more.
Only a collection stays where it is, without being found by its short name.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.storage.site.columns import Base


class DeletedKind(StrEnum):
    """What can be deleted as a whole."""

    COLLECTION = "collection"
    DOCUMENTS = "documents"
    LABELS = "labels"
    POOL = "pool"
    TOPIC = "topic"


class Deletion(Base):
    """Something that was deleted; the line stays when it was restored, or removed for good."""

    __tablename__ = "deletion"
    __table_args__ = (Index("ix_deletion_collection_id_kind", "collection_id", "kind"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    kind: Mapped[str]
    # A topic's number, a pool's version, an import's id, how many documents; "" for the collection.
    subject: Mapped[str]
    # How many there were of what, such as documents and judgements.
    counts: Mapped[dict[str, Any]]
    deleted_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    deleted_at: Mapped[datetime]
    restored_at: Mapped[datetime | None]
    # When it was removed for good.
    removed_at: Mapped[datetime | None]


class DeletedPart(Base):
    """Rows of one table, or changes of rows that stayed, as compressed lines of JSON."""

    __tablename__ = "deleted_part"

    deletion_id: Mapped[int] = mapped_column(ForeignKey("deletion.id"), primary_key=True)
    # In the order in which they were taken out.
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    table_name: Mapped[str]
    # The column whose values were changed in rows that stayed; None for rows that were taken out.
    column_name: Mapped[str | None]
    content: Mapped[bytes]


def deleted_subjects(session: Session, collection_id: int, kind: DeletedKind) -> list[str]:
    """What was ever deleted of a kind and was not restored."""
    return list(
        session.scalars(
            select(Deletion.subject).where(
                Deletion.collection_id == collection_id, Deletion.kind == kind, Deletion.restored_at.is_(None)
            )
        )
    )
