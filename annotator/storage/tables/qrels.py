"""Tables of stored qrels versions."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base


class QrelsVersion(Base):
    """Grades stored at one time; later judgements do not change them."""

    __tablename__ = "qrels_version"
    __table_args__ = (UniqueConstraint("collection_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    # Numbered from 1 in each collection; negative while its grades are stored, before anybody can find it.
    number: Mapped[int]
    # As in commands: a policy's name, or judge:NAME.
    policy: Mapped[str]
    manifest: Mapped[dict[str, Any]]
    # SHA-256 of the grades as a qrels file.
    fingerprint: Mapped[str]
    made_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    made_at: Mapped[datetime]

    @property
    def pool_version(self) -> int:
        """The newest pool version when it was stored; 0 without a pool."""
        return max((int(pool["version"]) for pool in self.manifest.get("pool_versions", ())), default=0)

    @property
    def relevant_from(self) -> int | None:
        """The relevance threshold when it was stored; None when the manifest lacks it."""
        return self.manifest.get("relevant_from")

    @property
    def best_grade(self) -> int | None:
        """The highest grade of the scale when it was stored; None when the manifest lacks it."""
        return max((grade["value"] for grade in self.manifest.get("scale", ())), default=None)

    @property
    def scored_by(self) -> tuple[object, ...]:
        """Everything that scores depend on: versions with equal values have equal scores."""
        return (self.fingerprint, self.policy, self.pool_version, self.relevant_from, self.best_grade)


# Versions that are stored whole.
KEPT = QrelsVersion.number > 0


class QrelsGrade(Base):
    __tablename__ = "qrels_grade"

    qrels_version_id: Mapped[int] = mapped_column(ForeignKey("qrels_version.id"), primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    document_id: Mapped[int] = mapped_column(ForeignKey("document.id"), primary_key=True, index=True)
    grade: Mapped[int]
