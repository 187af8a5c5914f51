"""Pool versions, samples and contributions, and the runs and ranked lists from which a pool is built."""

from collections import Counter
from collections.abc import Collection as SizedIterable
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, and_, bindparam, exists, func, null, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage.collections.collection import find_round, judged_before, rounds_of, topic_ids
from annotator.storage.runs.tasks import find_task
from annotator.storage.site.bulk_insert import chunks, fetch_rows
from annotator.storage.tables.collections import DeletedKind, Deletion, Round
from annotator.storage.tables.people import Team
from annotator.storage.tables.pools import Contribution, Pool, PoolItem, Showing, Stratum
from annotator.storage.tables.runs import IN_FORCE, RankedList, Run
from annotator.storage.tables.topics import ACCEPTED, EVERYBODY, Topic, TopicRevision

FIRST_SEED = 1
GREATEST_SEED = 2**62


def latest_pool(session: Session, collection_id: int) -> Pool | None:
    """The newest version, or None when there is no pool."""
    newest = select(func.max(Pool.version)).where(Pool.collection_id == collection_id).scalar_subquery()
    return session.scalar(select(Pool).where(Pool.collection_id == collection_id, Pool.version == newest))


def all_pools(session: Session, collection_id: int) -> list[Pool]:
    """All versions, oldest first."""
    return list(session.scalars(select(Pool).where(Pool.collection_id == collection_id).order_by(Pool.version)))


def next_seed(session: Session, collection_id: int) -> int:
    """The seed of the newest version, the default for the next one."""
    latest = latest_pool(session, collection_id)
    return latest.seed if latest else FIRST_SEED


def check_seed(session: Session, collection_id: int, seed: int | None) -> int:
    """The seed for the next version: the given one, else the newest; raises `InvalidValueError` out of range."""
    if seed is None:
        return next_seed(session, collection_id)
    if not 0 <= seed <= GREATEST_SEED:
        raise InvalidValueError("A seed is a whole number from 0 to 2^62, not %(seed)d.", seed=seed)
    return seed


def next_pool(
    session: Session,
    collection_id: int,
    *,
    strategy: str,
    parameters: dict[str, Any],
    seed: int,
    showing: Showing = Showing.RANDOM,
    built_by_id: int | None,
    built_at: datetime,
) -> Pool:
    """Insert the next version of a collection's pool."""
    pool = Pool(
        collection_id=collection_id,
        version=_next_version(session, collection_id),
        strategy=strategy,
        parameters=parameters,
        seed=seed,
        showing=showing,
        built_by_id=built_by_id,
        built_at=built_at,
    )
    session.add(pool)
    session.flush()
    return pool


def _next_version(session: Session, collection_id: int) -> int:
    """One above the greatest version, also of deleted pools: log entries and restored versions keep their numbers."""
    latest = latest_pool(session, collection_id)
    deleted = deleted_subjects(session, collection_id, DeletedKind.POOL)
    return max([latest.version if latest else 0, *map(int, deleted)]) + 1


def pool_item_ids(session: Session, collection_id: int) -> dict[tuple[int, int], int]:
    """(topic id, document id) → pool item id, for the whole pool."""
    items = (
        select(PoolItem.topic_id, PoolItem.document_id, PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
    )
    return {(topic_id, document_id): id_ for topic_id, document_id, id_ in fetch_rows(session, items)}


class PoolState(NamedTuple):
    """While it is equal, the pool has the same items, and runs have contributed the same; judges may have judged.

    The ids of the pool's versions, and each topic with the revision that every change of its items raises.
    """

    versions: tuple[int, ...]
    topics: tuple[tuple[int, int], ...]


def pool_state(session: Session, collection_id: int) -> PoolState:
    """The state of a collection's pool."""
    versions = session.scalars(select(Pool.id).where(Pool.collection_id == collection_id).order_by(Pool.id)).all()
    revision = func.coalesce(TopicRevision.revision, 0)
    of_everybody = and_(TopicRevision.topic_id == Topic.id, TopicRevision.judge_id == EVERYBODY)
    topics = session.execute(
        select(Topic.id, revision)
        .outerjoin(TopicRevision, of_everybody)
        .where(Topic.collection_id == collection_id)
        .order_by(Topic.id)
    )
    return PoolState(tuple(versions), tuple((id_, int(number)) for id_, number in topics))


GREATEST_VERSION = 1 << 30  # fits the integers of every database
DOCUMENT_BYTES = 4  # per document of a stratum


class DrawnSample(NamedTuple):
    """A sample for estimated measures; counts are totals over the accepted topics."""

    pool_id: int
    version: int
    built_at: datetime
    rates: tuple[float, ...]  # sampling rates of the strata, from the top ranks down
    documents: int
    drawn: int


def sampled_pool(
    session: Session, collection_id: int, *, version: int | None = None, up_to: int | None = None
) -> Pool | None:
    """The pool version that drew a sample: the given one, else the newest (not above `up_to`); None without one."""
    statement = select(Pool).where(Pool.collection_id == collection_id, exists().where(Stratum.pool_id == Pool.id))
    if version is not None:
        statement = statement.where(Pool.version == min(version, GREATEST_VERSION))
    if up_to is not None:
        statement = statement.where(Pool.version <= up_to)
    return session.scalar(statement.order_by(Pool.version.desc()).limit(1))


def drawn_sample(session: Session, collection_id: int, *, up_to: int | None = None) -> DrawnSample | None:
    """The newest sample, or the newest up to a pool version; None when there is none."""
    pool = sampled_pool(session, collection_id, up_to=up_to)
    if pool is None:
        return None
    rows = session.execute(
        select(Stratum.number, Stratum.rate, func.sum(func.length(Stratum.documents)), func.sum(Stratum.drawn))
        .join(Topic, Topic.id == Stratum.topic_id)
        .where(Stratum.pool_id == pool.id, ACCEPTED)
        .group_by(Stratum.number, Stratum.rate)
        .order_by(Stratum.number)
    ).all()
    documents, drawn = sum(int(row[2]) for row in rows) // DOCUMENT_BYTES, sum(int(row[3]) for row in rows)
    return DrawnSample(pool.id, pool.version, pool.built_at, tuple(row[1] for row in rows), documents, drawn)


def strata_of(session: Session, sample: DrawnSample | None, topics: SizedIterable[int]) -> list[Stratum]:
    """The strata of a sample for these topics; empty without a sample."""
    if sample is None:
        return []
    statement = select(Stratum).where(Stratum.pool_id == sample.pool_id).order_by(Stratum.topic_id, Stratum.number)
    return [
        stratum
        for some in chunks(sorted(topics))
        for stratum in session.scalars(statement.where(Stratum.topic_id.in_(some)))
    ]


class Finder(NamedTuple):
    """A run and its team, as a contributor to the pool."""

    run_id: int
    tag: str
    team: str | None
    counts: bool  # neither withdrawn nor replaced


class Find(NamedTuple):
    """A contributed document of a topic; `run_id` is None when it was found by a search."""

    topic_id: int
    document_id: int
    run_id: int | None


def finders(session: Session, collection_id: int) -> list[Finder]:
    """All runs of a collection, withdrawn and replaced ones included, in order of upload."""
    rows = session.execute(
        select(Run.id, Run.tag, Team.name, IN_FORCE)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == collection_id)
        .order_by(Run.id)
    )
    return [Finder(*row) for row in rows]


def finds_of_runs(session: Session, collection_id: int) -> list[Find]:
    """Documents contributed by runs; a document contributed to several pool versions may occur repeatedly."""
    statement = (
        select(PoolItem.topic_id, PoolItem.document_id, Contribution.run_id)
        .join(Contribution, Contribution.pool_item_id == PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, Contribution.run_id.is_not(None))
    )
    return list(map(Find._make, fetch_rows(session, statement)))


def finds_of_searches(session: Session, collection_id: int) -> list[Find]:
    """Documents contributed by people's searches."""
    statement = (
        select(PoolItem.topic_id, PoolItem.document_id)
        .join(Contribution, Contribution.pool_item_id == PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id, Contribution.searched_by_id.is_not(None))
    )
    return [Find(topic, document, None) for topic, document in session.execute(statement)]


def feeding_runs(session: Session, collection_id: int) -> set[int]:
    """Ids of the runs that contributed to the pool."""
    statement = (
        select(Contribution.run_id)
        .join(PoolItem, PoolItem.id == Contribution.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
        .distinct()
    )
    return {run for run in session.scalars(statement) if run is not None}


def deleted_subjects(session: Session, collection_id: int, kind: DeletedKind) -> list[str]:
    """Subjects of all deletions of a kind that were not restored."""
    return list(
        session.scalars(
            select(Deletion.subject).where(
                Deletion.collection_id == collection_id, Deletion.kind == kind, Deletion.restored_at.is_(None)
            )
        )
    )


# With few runs, one query reads several topics: there may be thousands of topics.
LISTS_AT_ONCE = 256


@dataclass(frozen=True)
class PoolRequest:
    """Parameters of a pool to build: the strategy with its options, and the runs.

    `tags` None means all runs in force; `priority` P those with team priority 1 to P; `per_team` N at most N of these
    for each team, by priority; `depth_of` maps tags to depths of their own. With rounds, a pool uses the runs of one
    round (the newest by default) and skips documents judged before it; `every_round` is for filling holes. With a
    `task`, its key, only the runs of that task are pooled.
    """

    strategy: str = "depth"
    said: Mapping[str, str | int] = field(default_factory=dict)
    tags: Sequence[str] | None = None
    priority: int | None = None
    depth_of: Mapping[str, int] = field(default_factory=dict)
    round: int | None = None
    every_round: bool = False
    per_team: int | None = None
    task: str | None = None


class PooledRun(NamedTuple):
    """A run to be pooled; its lists never change, and no other run has the same id and upload time."""

    id: int
    tag: str
    team: str | None
    uploaded_at: datetime


class PackedList(NamedTuple):
    """A run's ranked list for a topic, or its top, in packed form; scores only if requested."""

    run_id: int
    documents: bytes
    scores: bytes | None


def runs_to_pool(session: Session, collection_id: int, request: PoolRequest) -> list[PooledRun]:
    """Runs in force that a request selects, ordered by id.

    Raises `NotFoundError` for an unknown tag or task, `ConflictError` for a withdrawn run or when there is none to
    pool, and `InvalidValueError` for a depth of a run that is not selected.
    """
    task = None if request.task is None else find_task(session, collection_id, request.task)
    rows = session.execute(
        select(Run.id, Run.tag, Team.name, Run.priority, IN_FORCE, Run.round_id, Run.uploaded_at)
        .add_columns(Run.task_id)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == collection_id)
        .order_by(Run.id)
    ).all()
    pooled = round_to_pool(session, collection_id, request)
    in_force = [
        (PooledRun(id_, tag, team, uploaded_at), priority)
        for id_, tag, team, priority, counts, its_round, uploaded_at, task_id in rows
        if counts and (pooled is None or its_round == pooled.id) and (task is None or task_id == task.id)
    ]
    if request.tags is not None:
        _check_tags(request.tags, known={row.tag for row in rows}, in_force={row.tag for row in rows if row[4]})
        _check_round(request.tags, pooled, of_round={run.tag for run, _ in in_force})
    if request.priority is not None and request.priority < 1:
        raise InvalidValueError("A priority is a number from 1, not %(given)d.", given=request.priority)
    if request.per_team is not None and request.per_team < 1:
        raise InvalidValueError("The runs per team are a number from 1, not %(given)d.", given=request.per_team)
    chosen = [
        (run, priority)
        for run, priority in in_force
        if (request.tags is None or run.tag in request.tags)
        and (request.priority is None or priority <= request.priority)
    ]
    runs = _first_of_teams(chosen, request.per_team)
    if not runs:
        raise ConflictError("There is no run to pool yet.")
    for tag in sorted(request.depth_of.keys() - {run.tag for run in runs}):
        raise InvalidValueError("A depth is given for “%(tag)s”, which is no run of this pool.", tag=tag)
    return runs


def _first_of_teams(runs: Sequence[tuple[PooledRun, int]], per_team: int | None) -> list[PooledRun]:
    """At most so many runs of each team, by priority and then by id; a run without a team counts as its own team."""
    if per_team is None:
        return [run for run, _ in runs]
    taken: Counter[object] = Counter()
    first = []
    for run, _ in sorted(runs, key=itemgetter(1)):
        team = run.team or run
        taken[team] += 1
        if taken[team] <= per_team:
            first.append(run)
    return sorted(first, key=attrgetter("id"))


def team_numbers(runs: Iterable[PooledRun]) -> list[int]:
    """A team number for each run, from 0; a run without a team counts as its own team."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(run.team or run, len(numbers)) for run in runs]


def round_to_pool(session: Session, collection_id: int, request: PoolRequest) -> Round | None:
    """The round of a request, None without rounds; raises `NotFoundError` for an unknown round."""
    if request.round is not None:
        return find_round(session, collection_id, request.round)
    rounds = [] if request.every_round else rounds_of(session, collection_id)
    return rounds[-1] if rounds else None


def looked_past(session: Session, collection_id: int, pooled: Round | None) -> dict[int, frozenset[int]]:
    """Topic id → documents that a pool of this round skips because they were judged in earlier rounds."""
    judged = {} if pooled is None else judged_before(session, collection_id, pooled.number)
    return {topic: frozenset(documents) for topic, documents in judged.items()}


def topics_to_pool(session: Session, collection_id: int) -> dict[int, str]:
    """Topic id → number of the accepted topics."""
    return {id_: number for number, id_ in topic_ids(session, collection_id, ACCEPTED).items()}


def packed_lists(
    session: Session,
    run_ids: Sequence[int],
    topic_ids: Iterable[int],
    *,
    most_bytes: int | None,
    with_scores: bool = False,
) -> Iterator[tuple[int, list[PackedList]]]:
    """Ranked lists of the runs topic by topic, ordered by run id; topics without lists are left out.

    Of each list only the first `most_bytes` of the packed documents are read; scores are read whole. At most
    `LISTS_AT_ONCE` lists, or those of one topic, are in memory.
    """
    documents = RankedList.documents if most_bytes is None else func.substr(RankedList.documents, 1, most_bytes)
    # Rendered into the statement: there may be more runs than a database allows bound values.
    wanted: BindParameter[int] = bindparam("runs", value=list(run_ids), expanding=True, literal_execute=True)
    scores = RankedList.scores if with_scores else null()
    columns = (RankedList.topic_id, RankedList.run_id, documents, scores)
    statement = select(*columns).where(RankedList.run_id.in_(wanted)).order_by(RankedList.run_id)
    waiting = iter(topic_ids)
    while some := list(islice(waiting, max(LISTS_AT_ONCE // max(len(run_ids), 1), 1))):
        lists: dict[int, list[PackedList]] = {}
        for topic_id, *packed in session.execute(statement.where(RankedList.topic_id.in_(some))):
            lists.setdefault(topic_id, []).append(PackedList(*packed))
        yield from ((topic_id, lists.pop(topic_id)) for topic_id in some if topic_id in lists)


def _check_tags(tags: Sequence[str], *, known: set[str], in_force: set[str]) -> None:
    unknown = sorted(set(tags) - known)
    if unknown:
        raise NotFoundError("There is no run “%(tag)s” in this collection.", tag=", ".join(unknown))
    withdrawn = sorted(set(tags) - in_force)
    if withdrawn:
        raise ConflictError("The run “%(tag)s” is withdrawn, so it is not pooled.", tag=", ".join(withdrawn))


def _check_round(tags: Sequence[str], pooled: Round | None, *, of_round: set[str]) -> None:
    others = sorted(set(tags) - of_round)
    if others and pooled is not None:
        raise ConflictError(
            "The run “%(tag)s” is not of round %(number)d, from whose runs this pool is made.",
            tag=", ".join(others),
            number=pooled.number,
        )
