"""Who put each document into the pool: the runs, also those that count no more, and people who searched."""

from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import fetch_rows
from annotator.storage.tables.people import Team
from annotator.storage.tables.pools import Contribution, PoolItem
from annotator.storage.tables.runs import IN_FORCE, Run
from annotator.storage.tables.topics import Topic


class Finder(NamedTuple):
    """A run, and the team that sent it."""

    run_id: int
    tag: str
    team: str | None
    counts: bool  # neither withdrawn nor replaced


class Find(NamedTuple):
    """That a document of a topic is in the pool because a run has it, or None: because a search found it."""

    topic_id: int
    document_id: int
    run_id: int | None


def finders(session: Session, collection_id: int) -> list[Finder]:
    """Every run there ever was, in the order of arrival."""
    rows = session.execute(
        select(Run.id, Run.tag, Team.name, IN_FORCE)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == collection_id)
        .order_by(Run.id)
    )
    return [Finder(*row) for row in rows]


def finds_of_runs(session: Session, collection_id: int) -> list[Find]:
    """What runs put into the pool; a document that several versions of the pool took from a run may come twice."""
    statement = (
        select(PoolItem.topic_id, PoolItem.document_id, Contribution.run_id)
        .join(Contribution, Contribution.pool_item_id == PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, Contribution.run_id.is_not(None))
    )
    return list(map(Find._make, fetch_rows(session, statement)))


def finds_of_searches(session: Session, collection_id: int) -> list[Find]:
    """What people found by searching."""
    statement = (
        select(PoolItem.topic_id, PoolItem.document_id)
        .join(Contribution, Contribution.pool_item_id == PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, Contribution.searched_by_id.is_not(None))
    )
    return [Find(topic, document, None) for topic, document in session.execute(statement)]


def feeding_runs(session: Session, collection_id: int) -> set[int]:
    """The ids of the runs that put anything into the pool."""
    statement = (
        select(Contribution.run_id)
        .join(PoolItem, PoolItem.id == Contribution.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
        .distinct()
    )
    return {run for run in session.scalars(statement) if run is not None}
