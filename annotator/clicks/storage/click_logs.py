"""Click logs: what was found in them, never the log itself; and which run each variant of a log stands for."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, UniqueConstraint, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.errors import NotFoundError
from annotator.storage.collections.collection import ACCEPTED, Topic
from annotator.storage.runs.runs import IN_FORCE, Run
from annotator.storage.site.columns import Base, ByteOrdered


class ClickLog(Base):
    """One log that was studied: numbers of users, never who they are or what they typed."""

    __tablename__ = "click_log"
    __table_args__ = (UniqueConstraint("collection_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    name: Mapped[str]
    # Of the bytes of its files, one after the other.
    checksum: Mapped[str]
    # How it was read and what was compared: names of files and columns, the variants.
    options: Mapped[dict[str, Any]]
    findings: Mapped[dict[str, Any]] = mapped_column(deferred=True)
    lines: Mapped[int]
    # Good lines that do not count; the reasons stand in the findings.
    dropped: Mapped[int]
    added_by_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    added_at: Mapped[datetime]


class ClickVariant(Base):
    """That a variant of a log showed the results of this run."""

    __tablename__ = "click_variant"

    click_log_id: Mapped[int] = mapped_column(ForeignKey("click_log.id"), primary_key=True)
    variant: Mapped[str] = mapped_column(ByteOrdered, primary_key=True)
    # A corrected file takes its place by its tag.
    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"))


def click_logs_of(session: Session, collection_id: int) -> list[ClickLog]:
    """Every log, newest first, without its findings."""
    newest = select(ClickLog).where(ClickLog.collection_id == collection_id).order_by(ClickLog.id.desc())
    return list(session.scalars(newest))


def find_click_log(session: Session, collection_id: int, name: str) -> ClickLog:
    """The log of that name; `NotFoundError` when there is none."""
    log = session.scalar(select(ClickLog).where(ClickLog.collection_id == collection_id, ClickLog.name == name))
    if log is None:
        raise NotFoundError("There is no click log “%(name)s” in this collection.", name=name)
    return log


def runs_of_variants(session: Session, log_ids: Iterable[int]) -> dict[int, dict[str, str]]:
    """Log id → variant → tag of the run it stands for, be the run in force or not."""
    wanted = list(log_ids)
    rows = session.execute(
        select(ClickVariant.click_log_id, ClickVariant.variant, Run.tag)
        .join(Run, Run.id == ClickVariant.run_id)
        .where(ClickVariant.click_log_id.in_(wanted))
        .order_by(ClickVariant.variant)
    )
    linked: dict[int, dict[str, str]] = {id_: {} for id_ in wanted}
    for log_id, variant, tag in rows:
        linked[log_id][variant] = tag
    return linked


def tags_in_force(session: Session, collection_id: int) -> list[str]:
    """The tags of the runs that a variant can stand for."""
    return list(session.scalars(select(Run.tag).where(Run.collection_id == collection_id, IN_FORCE).order_by(Run.tag)))


def titles_of_topics(session: Session, collection_id: int) -> dict[str, str]:
    """Number → title of every accepted topic."""
    rows = session.execute(select(Topic.number, Topic.title).where(Topic.collection_id == collection_id, ACCEPTED))
    return {number: title for number, title in rows}
