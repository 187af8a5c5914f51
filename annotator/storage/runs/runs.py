"""Runs as they were sent, and their ranked lists as two BLOBs a topic."""

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.storage.site.bulk_insert import insert_rows
from annotator.storage.tables.people import Team
from annotator.storage.tables.runs import RANKED_LISTS, RUN_FILES, Run

FILES_AT_ONCE = 10  # of up to hundreds of megabytes each
LISTS_AT_ONCE = 500


def find_run(session: Session, collection_id: int, tag: str, *, team: str | None = None) -> Run:
    """The newest run of that tag, also when it is withdrawn; `NotFoundError` when there is none, or not of the team."""
    statement = select(Run).where(Run.collection_id == collection_id, Run.tag == tag, Run.replaced_at.is_(None))
    if team is not None:
        statement = statement.join(Team, Team.id == Run.team_id).where(Team.name == team)
    run = session.scalar(statement)
    if run is None:
        raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=tag)
    return run


def add_files(session: Session, files: Iterable[tuple[int, bool, bytes]]) -> None:
    """Store files: run id, whether we packed it, content."""
    insert_rows(session, RUN_FILES, ("run_id", "packed_here", "content"), files, at_once=FILES_AT_ONCE)


def add_ranked_lists(session: Session, lists: Iterable[tuple[int, int, bytes, bytes]]) -> None:
    """Store ranked lists: run id, topic id, documents and scores as they are packed."""
    columns = ("run_id", "topic_id", "documents", "scores")
    insert_rows(session, RANKED_LISTS, columns, lists, at_once=LISTS_AT_ONCE)
