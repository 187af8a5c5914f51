"""Tables of click logs and their variants."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from annotator.storage.tables.columns import Base, ByteOrdered


class ClickLog(Base):
    """An analysed click log: numbers of users only, no identities or queries."""

    __tablename__ = "click_log"
    __table_args__ = (UniqueConstraint("collection_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    name: Mapped[str]
    # Of the bytes of its files, concatenated.
    checksum: Mapped[str]
    # How it was parsed and what was compared: names of files and columns, the variants.
    options: Mapped[dict[str, Any]]
    findings: Mapped[dict[str, Any]] = mapped_column(deferred=True)
    lines: Mapped[int]
    # Valid lines that were excluded; the findings have the reasons.
    dropped: Mapped[int]
    added_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    added_at: Mapped[datetime]


class ClickVariant(Base):
    """The run whose results a variant of a log showed."""

    __tablename__ = "click_variant"

    click_log_id: Mapped[int] = mapped_column(ForeignKey("click_log.id"), primary_key=True)
    variant: Mapped[str] = mapped_column(ByteOrdered, primary_key=True)
    # A corrected run file takes over by its tag.
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))
