"""What a pool is to be made from: the runs, the topics, and the tops of the ranked lists, topic by topic."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from sqlalchemy import BindParameter, bindparam, func, null, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage.collections.collection import find_round, judged_before, rounds_of, topic_ids
from annotator.storage.tables.collections import Round
from annotator.storage.tables.people import Team
from annotator.storage.tables.runs import IN_FORCE, RankedList, Run
from annotator.storage.tables.topics import ACCEPTED

# Of a few runs, several topics are read by one statement: there may be thousands of topics.
LISTS_AT_ONCE = 256


@dataclass(frozen=True)
class PoolRequest:
    """A pool as somebody asks for it: the strategy with what was said of it, and the runs.

    `tags` None means all runs in force, `priority` P those to which their teams gave 1 to P; `depth_of` gives runs a
    depth of their own, by tag. Where there are rounds, a pool is made from the runs of one of them, the newest unless
    its number is given, and looks past what was judged before it; `every_round` is for pools that fill holes.
    """

    strategy: str = "depth"
    said: Mapping[str, str | int] = field(default_factory=dict)
    tags: Sequence[str] | None = None
    priority: int | None = None
    depth_of: Mapping[str, int] = field(default_factory=dict)
    round: int | None = None
    every_round: bool = False


class PooledRun(NamedTuple):
    """A run that is to be pooled; its lists never change, and its id and moment together are no other run's."""

    id: int
    tag: str
    team: str | None
    uploaded_at: datetime


class PackedList(NamedTuple):
    """One run's answer for a topic, or the top of it, as it is stored; scores only where they were asked for."""

    run_id: int
    documents: bytes
    scores: bytes | None


def runs_to_pool(session: Session, collection_id: int, request: PoolRequest) -> list[PooledRun]:
    """The runs in force that a request means, by id.

    Raises `NotFoundError` for an unknown tag, `ConflictError` for a withdrawn run or when there is none to pool, and
    `InvalidValueError` for a depth of a run that is not among them.
    """
    rows = session.execute(
        select(Run.id, Run.tag, Team.name, Run.priority, IN_FORCE, Run.round_id, Run.uploaded_at)
        .outerjoin(Team, Team.id == Run.team_id)
        .where(Run.collection_id == collection_id)
        .order_by(Run.id)
    ).all()
    pooled = round_to_pool(session, collection_id, request)
    in_force = [
        (PooledRun(id_, tag, team, uploaded_at), priority)
        for id_, tag, team, priority, counts, its_round, uploaded_at in rows
        if counts and (pooled is None or its_round == pooled.id)
    ]
    if request.tags is not None:
        _check_tags(request.tags, known={row.tag for row in rows}, in_force={row.tag for row in rows if row[4]})
        _check_round(request.tags, pooled, of_round={run.tag for run, _ in in_force})
    if request.priority is not None and request.priority < 1:
        raise InvalidValueError("A priority is a number from 1, not %(given)d.", given=request.priority)
    runs = [
        run
        for run, priority in in_force
        if (request.tags is None or run.tag in request.tags)
        and (request.priority is None or priority <= request.priority)
    ]
    if not runs:
        raise ConflictError("There is no run to pool yet.")
    for tag in sorted(request.depth_of.keys() - {run.tag for run in runs}):
        raise InvalidValueError("A depth is given for “%(tag)s”, which is no run of this pool.", tag=tag)
    return runs


def team_numbers(runs: Iterable[PooledRun]) -> list[int]:
    """Number the teams of the runs from 0; a run without a team is one of its own."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(run.team or run, len(numbers)) for run in runs]


def round_to_pool(session: Session, collection_id: int, request: PoolRequest) -> Round | None:
    """The round that a request means, None where there are no rounds; `NotFoundError` for one there is not."""
    if request.round is not None:
        return find_round(session, collection_id, request.round)
    rounds = [] if request.every_round else rounds_of(session, collection_id)
    return rounds[-1] if rounds else None


def looked_past(session: Session, collection_id: int, pooled: Round | None) -> dict[int, frozenset[int]]:
    """Topic id → the documents that a pool of this round looks past, for they were judged before it."""
    judged = {} if pooled is None else judged_before(session, collection_id, pooled.number)
    return {topic: frozenset(documents) for topic, documents in judged.items()}


def topics_to_pool(session: Session, collection_id: int) -> dict[int, str]:
    """Topic id → number, of the accepted topics."""
    return {id_: number for number, id_ in topic_ids(session, collection_id, ACCEPTED).items()}


def packed_lists(
    session: Session,
    run_ids: Sequence[int],
    topic_ids: Iterable[int],
    *,
    most_bytes: int | None,
    with_scores: bool = False,
) -> Iterator[tuple[int, list[PackedList]]]:
    """The lists of the runs, one topic after the other, by run id; no topic without any.

    Of each list only the first `most_bytes` of the documents leave the database; scores come whole. There are never
    more than `LISTS_AT_ONCE` in memory, or those of one topic.
    """
    documents = RankedList.documents if most_bytes is None else func.substr(RankedList.documents, 1, most_bytes)
    # In the statement itself, since there may be more runs than a database takes bound values.
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
