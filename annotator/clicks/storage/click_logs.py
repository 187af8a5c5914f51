"""Click logs as stored: the results and the run that each variant is linked to, never the log itself."""

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.storage.tables.clicks import ClickLog, ClickVariant
from annotator.storage.tables.runs import IN_FORCE, Run
from annotator.storage.tables.topics import ACCEPTED, Topic


def click_logs_of(session: Session, collection_id: int) -> list[ClickLog]:
    """List the logs, newest first, without their findings."""
    newest = select(ClickLog).where(ClickLog.collection_id == collection_id).order_by(ClickLog.id.desc())
    return list(session.scalars(newest))


def find_click_log(session: Session, collection_id: int, name: str) -> ClickLog:
    """Return the log of that name; raises `NotFoundError` when there is none."""
    log = session.scalar(select(ClickLog).where(ClickLog.collection_id == collection_id, ClickLog.name == name))
    if log is None:
        raise NotFoundError("There is no click log “%(name)s” in this collection.", name=name)
    return log


def runs_of_variants(session: Session, log_ids: Iterable[int]) -> dict[int, dict[str, str]]:
    """Map log id → variant → tag of the linked run, active or withdrawn."""
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
    """List the tags of the active runs, to which a variant can be linked."""
    return list(session.scalars(select(Run.tag).where(Run.collection_id == collection_id, IN_FORCE).order_by(Run.tag)))


def titles_of_topics(session: Session, collection_id: int) -> dict[str, str]:
    """Map number → title of every accepted topic."""
    rows = session.execute(select(Topic.number, Topic.title).where(Topic.collection_id == collection_id, ACCEPTED))
    return {number: title for number, title in rows}
