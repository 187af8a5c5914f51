"""The versions of a collection's qrels that are kept, whole, to be cited and compared."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, UniqueConstraint, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.errors import InvalidValueError, NotFoundError
from annotator.storage.columns import Base

MOST_DIGITS = 9  # every database holds numbers of so many; one of more digits is of no version
LONGEST_SHOWN = 40  # of its digits, in the sentence that says so


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


def kept_version(session: Session, collection_id: int, number: str) -> QrelsVersion:
    """A version that is kept, by its number as it was written; `NotFoundError` when there is none of that number."""
    version = None
    if _is_number(number) and len(number) <= MOST_DIGITS:
        version = session.scalar(
            select(QrelsVersion).where(QrelsVersion.collection_id == collection_id, QrelsVersion.number == int(number))
        )
    if version is None:
        raise NotFoundError("There is no version %(number)s of these qrels.", number=_shown(number))
    return version


def version_number(written: str) -> int:
    """The number of a version as it was written.

    Raises `InvalidValueError` for what is no number, and `NotFoundError` for one that no version can have.
    """
    if not _is_number(written):
        raise InvalidValueError("“%(name)s” is neither the number of a version nor “live”.", name=_shown(written))
    if len(written) > MOST_DIGITS:
        raise NotFoundError("There is no version %(number)s of these qrels.", number=_shown(written))
    return int(written)


def _is_number(written: str) -> bool:
    return written.isascii() and written.isdecimal()


def _shown(written: str) -> str:
    return written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}…"
