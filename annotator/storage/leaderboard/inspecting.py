"""What a closer look at runs is made from: the runs with their lists and scores, and who found what by searching."""

from collections.abc import Collection
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.storage.runs.runs import find_run
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.people import Team, User
from annotator.storage.tables.pools import Contribution, PoolItem
from annotator.storage.tables.runs import IN_FORCE, RankedList, Run


@dataclass(frozen=True)
class ListedRun:
    """A run in force with its lists, {topic id: documents packed}."""

    id: int
    tag: str
    team: str | None
    lists: dict[int, bytes] = field(default_factory=dict)


def listed_runs(
    session: Session, collection_id: int, topics: Collection[int], *, runs_of: Collection[int] | None = None
) -> list[ListedRun]:
    """The runs in force by their arrival, with their lists for these topics.

    `runs_of` are the ids of the runs of a round, the only ones then.
    """
    counting = [Run.collection_id == collection_id, IN_FORCE]
    if runs_of is not None:
        counting.append(Run.id.in_(runs_of))
    named = select(Run.id, Run.tag, Team.name).outerjoin(Team, Team.id == Run.team_id).where(*counting).order_by(Run.id)
    runs = {id_: ListedRun(id_, tag, team) for id_, tag, team in session.execute(named)}
    lists = select(RankedList.run_id, RankedList.topic_id, RankedList.documents)
    for some in chunks(sorted(topics)):
        wanted = lists.where(RankedList.run_id.in_(select(Run.id).where(*counting)), RankedList.topic_id.in_(some))
        for run_id, topic_id, packed in session.execute(wanted):
            runs[run_id].lists[topic_id] = packed
    return list(runs.values())


def require_in_force(session: Session, collection_id: int, tag: str) -> Run:
    """The run of this tag; `NotFoundError` when there is none, `ConflictError` when it is withdrawn."""
    run = find_run(session, collection_id, tag)
    if run.withdrawn_at is not None:
        raise ConflictError("The run %(tag)s is withdrawn, so that it is not scored.", tag=tag)
    return run


def packed_scores(session: Session, run_id: int) -> dict[int, bytes]:
    """The scores of a run's documents by topic id, packed in the order of its lists."""
    rows = session.execute(select(RankedList.topic_id, RankedList.scores).where(RankedList.run_id == run_id))
    return {topic: packed for topic, packed in rows}


def searchers_of(session: Session, topic_id: int) -> dict[int, tuple[str, ...]]:
    """Document id → who found it by searching, by name; only documents that were found so."""
    rows = session.execute(
        select(PoolItem.document_id, User.name)
        .join(Contribution, Contribution.pool_item_id == PoolItem.id)
        .join(User, User.id == Contribution.searched_by_id)
        .where(PoolItem.topic_id == topic_id)
        .distinct()
        .order_by(User.name)
    )
    found: dict[int, tuple[str, ...]] = {}
    for document, name in rows:
        found[document] = (*found.get(document, ()), name)
    return found
