"""The versions of a collection's qrels that are kept, whole, to be cited and compared."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.columns import Base


class QrelsVersion(Base):
    """The settled grades of one moment; what comes later changes nothing in them."""

    __tablename__ = "qrels_version"
    __table_args__ = (UniqueConstraint("collection_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    # From 1 in each collection.
    number: Mapped[int]
    # As it is written in commands: a policy's name, or judge:NAME.
    policy: Mapped[str]
    manifest: Mapped[dict[str, Any]]
    # The SHA-256 of the grades as a qrels file.
    fingerprint: Mapped[str]
    made_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    made_at: Mapped[datetime]


class QrelsGrade(Base):
    __tablename__ = "qrels_grade"

    qrels_version_id: Mapped[int] = mapped_column(ForeignKey("qrels_version.id"), primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"), primary_key=True)
    grade: Mapped[int]
