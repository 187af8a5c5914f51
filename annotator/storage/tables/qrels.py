"""Kept versions of the qrels."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base


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

    @property
    def pool_version(self) -> int:
        """The newest version of the pool when it was made; 0 when there was none."""
        return max((int(pool["version"]) for pool in self.manifest.get("pool_versions", ())), default=0)

    @property
    def relevant_from(self) -> int | None:
        """The least grade that counted as relevant when it was made; None when the manifest does not have it."""
        return self.manifest.get("relevant_from")

    @property
    def best_grade(self) -> int | None:
        """The best grade of the scale when it was made; None when the manifest does not have it."""
        return max((grade["value"] for grade in self.manifest.get("scale", ())), default=None)

    @property
    def scored_by(self) -> tuple[object, ...]:
        """All that scores depend on: versions that are equal in it give equal scores."""
        return (self.fingerprint, self.policy, self.pool_version, self.relevant_from, self.best_grade)


class QrelsGrade(Base):
    __tablename__ = "qrels_grade"

    qrels_version_id: Mapped[int] = mapped_column(ForeignKey("qrels_version.id"), primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"), primary_key=True, index=True)
    grade: Mapped[int]
