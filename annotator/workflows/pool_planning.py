"""What a pool would cost and bring before anybody pays for it: the whole curve at once, and nothing is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.pool_choice import ListsOfTopics, most_bytes, run_depths
from annotator.evaluation.pool_curve import (
    LEAST_DEPTHS,
    Counts,
    PoolCurve,
    Present,
    curve_of_budgets,
    curve_of_depths,
)
from annotator.evaluation.pooling import Kind, Strategy, parse_strategy
from annotator.storage import Collection, Judgement, PoolItem, Topic
from annotator.storage.collection import find_collection
from annotator.storage.documents import docnos_of
from annotator.storage.pooled_runs import PooledRun, PoolRequest, packed_lists, runs_to_pool, topics_to_pool
from annotator.storage.pools import next_seed

SECONDS_UNMEASURED = 30.0
LEAST_MEASURED = 50
SECONDS_AN_HOUR = 3_600

Numbers = tuple[int, ...]  # one for each amount


@dataclass(frozen=True)
class Effort:
    """How long judging takes: the median of the judgements so far, or a usual time while there are too few."""

    seconds: float
    is_measured: bool
    judgements_wanted: int

    def hours(self, documents: int) -> float:
        """How long all judges together are busy with so many documents."""
        return documents * self.judgements_wanted * self.seconds / SECONDS_AN_HOUR


@dataclass(frozen=True)
class Planned:
    """A topic's pool, or that of all topics, by amount: documents, those pooled already, those completely judged."""

    name: str
    size: Numbers
    pooled: Numbers
    complete: Numbers


@dataclass(frozen=True)
class Bringing:
    """The documents that a run, or a team, puts in and nobody else, by amount."""

    name: str
    team: str | None
    only: Numbers


@dataclass(frozen=True)
class PoolPlan:
    """Pools of growing amounts by one strategy, of which the one at `asked` was asked for.

    `grows` is the parameter that the amounts are of; None when there is one pool alone. What an adaptive strategy
    chooses later depends on judgements: only its number is known, and what runs bring is of the beginning.
    """

    strategy: str
    grows: str | None
    adaptive: bool
    amounts: Numbers
    asked: int
    total: Planned
    topics: tuple[Planned, ...]
    runs: tuple[Bringing, ...]
    teams: tuple[Bringing, ...]
    effort: Effort
    hours: float | None  # that there are for judging

    def hours_at(self, index: int) -> float:
        """The hours that a pool still takes."""
        return self.effort.hours(self.total.size[index] - self.total.complete[index])

    @property
    def affordable(self) -> int | None:
        """The index of the greatest amount for which the hours are enough; None for none, or when none were said."""
        if self.hours is None:
            return None
        enough = [index for index in range(len(self.amounts)) if self.hours_at(index) <= self.hours]
        return enough[-1] if enough else None

    @property
    def as_json(self) -> dict[str, object]:
        """All of it, for scripts and for the page that moves along the curve."""
        return {
            **{name: getattr(self, name) for name in ("strategy", "grows", "adaptive", "amounts", "asked", "hours")},
            "effort": vars(self.effort),
            "total": vars(self.total),
            "topics": [vars(topic) for topic in self.topics],
            "runs": [vars(run) for run in self.runs],
            "teams": [vars(team) for team in self.teams],
        }


def plan_pool(
    session: Session, slug: str, request: PoolRequest, *, seed: int | None = None, hours: float | None = None
) -> PoolPlan:
    """Plan a pool, and all smaller and somewhat larger ones; the seed is of a sample, as when it is built.

    Raises what building it would raise, and `InvalidValueError` for less than no hours.
    """
    collection = find_collection(session, slug)
    strategy = parse_strategy(request.strategy, request.said)
    runs = runs_to_pool(session, collection.id, request)
    if hours is not None and not 0 <= hours < float("inf"):
        raise InvalidValueError("The hours for judging must be 0 or more, not %(hours)s.", hours=hours)
    topics = dict(sorted(topics_to_pool(session, collection.id).items(), key=lambda topic: natural_order(topic[1])))
    if not topics:
        raise ConflictError("There is no accepted topic to pool for yet.")
    teams = _team_numbers(runs)
    seed = next_seed(session, collection.id) if seed is None else seed
    curve = _curve(session, strategy, request, runs, teams, topics, seed)
    counts = (curve.size, curve.pooled, curve.complete)
    return PoolPlan(
        strategy=strategy.name,
        grows=curve.grows,
        adaptive=strategy.definition.kind is Kind.ADAPTIVE,
        amounts=_numbers(curve.amounts),
        asked=curve.asked,
        total=Planned("", *(_numbers(each.sum(axis=0)) for each in counts)),
        topics=tuple(
            Planned(number, *(_numbers(each[row]) for each in counts)) for row, number in enumerate(topics.values())
        ),
        runs=tuple(
            Bringing(run.tag, run.team, _numbers(only))
            for run, only in sorted(zip(runs, curve.only_run, strict=True), key=lambda one: natural_order(one[0].tag))
        ),
        teams=_teams(runs, teams, curve),
        effort=_effort(session, collection),
        hours=hours,
    )


def _numbers(counts: Counts) -> Numbers:
    return tuple(counts.tolist())


def _team_numbers(runs: Sequence[PooledRun]) -> list[int]:
    """Number the teams of the runs from 0; a run without a team is one of its own."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(run.team or run, len(numbers)) for run in runs]


def _teams(runs: Sequence[PooledRun], teams: Sequence[int], curve: PoolCurve) -> tuple[Bringing, ...]:
    named = {run.team: team for run, team in zip(runs, teams, strict=True) if run.team is not None}
    return tuple(
        Bringing(name, name, _numbers(curve.only_team[named[name]])) for name in sorted(named, key=natural_order)
    )


def _curve(
    session: Session,
    strategy: Strategy,
    request: PoolRequest,
    runs: Sequence[PooledRun],
    teams: Sequence[int],
    topics: Mapping[int, str],
    seed: int,
) -> PoolCurve:
    depths = run_depths(strategy, [run.tag for run in runs], request.depth_of)
    own = {index: request.depth_of[run.tag] for index, run in enumerate(runs) if run.tag in request.depth_of}
    if strategy.definition.kind is Kind.DEPTH:
        depths = [own.get(index, max(depth, LEAST_DEPTHS)) for index, depth in enumerate(depths)]
    read = partial(
        packed_lists,
        session,
        [run.id for run in runs],
        most_bytes=most_bytes(depths),
        with_scores=strategy.definition.reads_scores,
    )
    lists = ListsOfTopics({run.id: depth for run, depth in zip(runs, depths, strict=True)}, read)
    present = _present(session, topics)
    if strategy.depth is not None and strategy.definition.kind is Kind.DEPTH:
        return curve_of_depths(topics, lists, teams, present, depth=strategy.depth, own_depths=own)
    return curve_of_budgets(strategy, topics, lists, teams, present, docnos_of=partial(docnos_of, session), seed=seed)


def _present(session: Session, topics: Mapping[int, str]) -> dict[int, Present]:
    """What is pooled of each topic, and what is completely judged."""
    judgements = (
        select(Judgement.pool_item_id, func.count().label("given"))
        .where(Judgement.current)
        .group_by(Judgement.pool_item_id)
        .subquery()
    )
    rows = session.execute(
        select(
            PoolItem.topic_id,
            PoolItem.document_id,
            func.coalesce(judgements.c.given, 0) >= PoolItem.judgements_wanted,
        )
        .outerjoin(judgements, judgements.c.pool_item_id == PoolItem.id)
        .where(PoolItem.topic_id.in_(topics))
        .order_by(PoolItem.topic_id)
    )
    return {
        topic: Present.of({document: bool(is_complete) for _, document, is_complete in items})
        for topic, items in groupby(rows, key=itemgetter(0))
    }


def _effort(session: Session, collection: Collection) -> Effort:
    seconds = (
        select(Judgement.seconds)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection.id, Judgement.seconds.is_not(None))
    )
    count = session.scalars(select(func.count()).select_from(seconds.subquery())).one()
    if count < LEAST_MEASURED:
        return Effort(SECONDS_UNMEASURED, is_measured=False, judgements_wanted=collection.judgements_wanted)
    middle = session.scalars(seconds.order_by(Judgement.seconds).offset((count - 1) // 2).limit(2 - count % 2)).all()
    median = sum(each for each in middle if each is not None) / len(middle)
    return Effort(median, is_measured=True, judgements_wanted=collection.judgements_wanted)
