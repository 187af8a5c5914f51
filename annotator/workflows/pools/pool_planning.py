"""Cost and yield of a pool before it is built, for all amounts at once; stores nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.pooling.learned_order import CandidateSet
from annotator.evaluation.pooling.pool_choice import ListsOfTopics, most_bytes, run_depths
from annotator.evaluation.pooling.pool_curve import (
    LEAST_DEPTHS,
    NOTHING,
    AllTaken,
    Counts,
    PlanMemory,
    PoolCurve,
    Present,
    curve_of_budgets,
    curve_of_depths,
    curve_of_sample,
)
from annotator.evaluation.pooling.strategies import Strategy, StrategyKind, parse_strategy
from annotator.storage import Collection, PoolItem
from annotator.storage.collections.collection import find_collection, find_open_collection
from annotator.storage.documents.documents import count_corpus, docnos_of
from annotator.storage.judging.adaptive_choices import chosen_before
from annotator.storage.judging.progress import Effort, judging_effort
from annotator.storage.judging.topic_counts import topic_counts
from annotator.storage.pools.pools import (
    PooledRun,
    PoolRequest,
    check_seed,
    looked_past,
    packed_lists,
    round_to_pool,
    runs_to_pool,
    team_numbers,
    topics_to_pool,
)
from annotator.storage.runs.run_tops import TOP, read_tops
from annotator.storage.site.bulk_insert import fetch_rows
from annotator.workflows.pools.choosing_version import refuse_rule_without_sample
from annotator.workflows.pools.sample_drawing import known_of_sample
from annotator.workflows.pools.sample_planning import PrecisionWanted, SamplePrecision, foresee_precision

Numbers = tuple[int, ...]  # one value per amount


@dataclass(frozen=True)
class Planned:
    """The planned pool of a topic, or of all topics, including everything pooled before.

    By amount: all its documents, and those to be added. Completely judged documents are counted as of now.
    """

    name: str
    size: Numbers
    added: Numbers
    complete: int


@dataclass(frozen=True)
class Bringing:
    """The documents that only this run, or team, contributes, by amount."""

    name: str
    team: str | None
    only: Numbers


@dataclass(frozen=True)
class PoolPlan:
    """Pools of growing amounts by one strategy; `asked` is the index of the requested one.

    `grows` is the parameter that the amounts are values of; None when there is only one pool. An adaptive strategy's
    later choices depend on judgements: only their number `to_come` is known, and contributions of runs are those of its
    initial documents. Its earlier choices, `made`, count towards the budget.
    """

    strategy: str
    grows: str | None
    adaptive: bool
    amounts: Numbers
    asked: int
    total: Planned
    to_come: Numbers
    made: int
    missing: int  # judgements that pooled documents still need
    topics: tuple[Planned, ...]
    runs: tuple[Bringing, ...]
    teams: tuple[Bringing, ...]
    effort: Effort
    hours: float | None  # available for judging
    precision: SamplePrecision | None = None  # of a sample by a machine's labels
    until: str | None = None  # the stopping rule that ends an adaptive strategy: the amount is the most that it may add

    def judgements_at(self, index: int) -> int:
        """The judgements still needed at an amount: those missing now, and those of added documents."""
        return self.missing + round(self.total.added[index] * self.effort.judgements_wanted)

    def hours_at(self, index: int) -> float:
        """The hours of judging still needed at an amount."""
        return self.effort.hours(self.judgements_at(index))

    def price_at(self, index: int) -> float | None:
        """The pay for these hours; None when the collection states no pay."""
        return self.effort.price(self.judgements_at(index))

    @property
    def affordable(self) -> int | None:
        """The index of the greatest amount within the hours; None if there is none, or no hours were given."""
        if self.hours is None:
            return None
        enough = [index for index in range(len(self.amounts)) if self.hours_at(index) <= self.hours]
        return enough[-1] if enough else None

    @property
    def as_json(self) -> dict[str, object]:
        """The plan as JSON, for scripts and for the page."""
        return {
            **{name: getattr(self, name) for name in ("strategy", "grows", "adaptive", "amounts", "asked", "hours")},
            **{name: getattr(self, name) for name in ("to_come", "made", "missing", "until")},
            "effort": vars(self.effort),
            "total": vars(self.total),
            "topics": [vars(topic) for topic in self.topics],
            "runs": [vars(run) for run in self.runs],
            "teams": [vars(team) for team in self.teams],
            "precision": None if self.precision is None else asdict(self.precision),
        }


@dataclass(frozen=True)
class PoolGrowth:
    """The judging work that a pool adds; `to_come` of the documents are chosen as judgements arrive."""

    documents: int
    topics: int
    to_come: int
    effort: Effort

    @property
    def judgements(self) -> int:
        """The estimated judgements of these documents; overlap items are drawn at random."""
        return round(self.documents * self.effort.judgements_wanted)

    @property
    def hours(self) -> float:
        """The total hours of all judges for these judgements."""
        return self.effort.hours(self.judgements)


@dataclass(frozen=True)
class _Asked:
    collection_id: int
    strategy: Strategy
    runs: Sequence[PooledRun]
    teams: Sequence[int]
    topics: Mapping[int, str]  # topic id → number
    seed: int
    past: Mapping[int, frozenset[int]]  # topic id → documents judged in earlier rounds
    memory: PlanMemory

    def recall(self, strategy: Strategy, take: Callable[[], AllTaken]) -> AllTaken:
        """The cached choice of the strategy from these runs, which depends on nothing else."""
        source = (tuple(self.runs), tuple(self.topics.items()), tuple(sorted(self.past.items())), self.seed)
        return self.memory.recall((source, strategy), take)


def plan_pool(
    session: Session,
    slug: str,
    request: PoolRequest,
    *,
    seed: int | None = None,
    hours: float | None = None,
    memory: PlanMemory | None = None,
    precision: PrecisionWanted | None = None,
) -> PoolPlan:
    """Plan a pool, with all smaller and somewhat larger ones; the seed is that of a sample, as in building.

    With `precision` also the intervals that a sample with a machine will give. Raises as building the pool, and
    `InvalidValueError` for negative hours and for a precision that is not above 0.
    """
    collection = find_collection(session, slug)
    asked = _asked(session, collection.id, request, seed, memory or PlanMemory())
    strategy, runs, topics = asked.strategy, asked.runs, asked.topics
    _check(hours, precision)
    present = _present(session, collection.id, topics)
    made = chosen_before(session, collection.id, strategy.name)
    curve = _curve(session, request, asked, present, made)
    by_topic = tuple(
        _planned(number, present[topic], added)
        for (topic, number), added in zip(topics.items(), curve.added, strict=True)
    )
    return PoolPlan(
        strategy=strategy.name,
        grows=curve.grows,
        adaptive=strategy.definition.kind is StrategyKind.ADAPTIVE,
        amounts=_numbers(curve.amounts),
        asked=curve.asked,
        total=_together(by_topic),
        to_come=_numbers(curve.to_come.sum(axis=0)),
        made=sum(made.values()),
        missing=sum(one.missing for one in present.values()),
        topics=by_topic,
        runs=_runs(runs, curve),
        teams=_teams(runs, asked.teams, curve),
        effort=judging_effort(session, collection),
        hours=hours,
        precision=None if precision is None else _precision(session, collection, request, asked, precision),
        until=None if strategy.until is None else str(strategy.until),
    )


def _check(hours: float | None, precision: PrecisionWanted | None) -> None:
    if precision is not None:
        precision.check()
    if hours is not None and not 0 <= hours < float("inf"):
        raise InvalidValueError("The hours for judging must be 0 or more, not %(hours)s.", hours=hours)


def foresee_growth(
    session: Session,
    slug: str,
    request: PoolRequest,
    *,
    seed: int | None = None,
    memory: PlanMemory | None = None,
) -> PoolGrowth:
    """The work that building a pool would add; raises as `plan_pool`, and `ConflictError` in a closed collection."""
    find_open_collection(session, slug)
    plan = plan_pool(session, slug, request, seed=seed, memory=memory)
    at = plan.asked
    topics = sum(topic.added[at] > 0 for topic in plan.topics)
    return PoolGrowth(plan.total.added[at], topics, plan.to_come[at], plan.effort)


def _asked(session: Session, collection_id: int, request: PoolRequest, seed: int | None, memory: PlanMemory) -> _Asked:
    strategy = parse_strategy(request.strategy, request.said)
    refuse_rule_without_sample(session, collection_id, strategy)
    runs = runs_to_pool(session, collection_id, request)
    past = looked_past(session, collection_id, round_to_pool(session, collection_id, request))
    topics = dict(sorted(topics_to_pool(session, collection_id).items(), key=lambda topic: natural_order(topic[1])))
    if not topics:
        raise ConflictError("There is no accepted topic to pool for yet.")
    seed = check_seed(session, collection_id, seed)
    return _Asked(collection_id, strategy, runs, team_numbers(runs), topics, seed, past, memory)


def _planned(name: str, present: Present, added: Counts) -> Planned:
    return Planned(name, _numbers(present.documents.size + added), _numbers(added), present.complete)


def _together(topics: Sequence[Planned]) -> Planned:
    size, added = (
        tuple(map(sum, zip(*numbers, strict=True)))
        for numbers in ([topic.size for topic in topics], [topic.added for topic in topics])
    )
    return Planned("", size, added, sum(topic.complete for topic in topics))


def _numbers(counts: Counts) -> Numbers:
    return tuple(counts.tolist())


def _runs(runs: Sequence[PooledRun], curve: PoolCurve) -> tuple[Bringing, ...]:
    in_order = sorted(zip(runs, curve.only_run, strict=True), key=lambda one: natural_order(one[0].tag))
    return tuple(Bringing(run.tag, run.team, _numbers(only)) for run, only in in_order)


def _teams(runs: Sequence[PooledRun], teams: Sequence[int], curve: PoolCurve) -> tuple[Bringing, ...]:
    named = {run.team: team for run, team in zip(runs, teams, strict=True) if run.team is not None}
    return tuple(
        Bringing(name, name, _numbers(curve.only_team[named[name]])) for name in sorted(named, key=natural_order)
    )


def _curve(
    session: Session, request: PoolRequest, asked: _Asked, present: Mapping[int, Present], made: Mapping[int, int]
) -> PoolCurve:
    strategy, runs, topics = asked.strategy, asked.runs, asked.topics
    own = {index: request.depth_of[run.tag] for index, run in enumerate(runs) if run.tag in request.depth_of}
    lists = _lists(session, request, asked)
    pooled = {topic: one.documents for topic, one in present.items()}
    if strategy.depth is not None and strategy.definition.kind is StrategyKind.DEPTH:
        return curve_of_depths(topics, lists, asked.teams, pooled, depth=strategy.depth, own_depths=own)
    if strategy.divides_budget:
        return curve_of_sample(
            *(strategy, topics, lists, asked.teams, pooled),
            docnos_of=partial(docnos_of, session),
            seed=asked.seed,
            known=known_of_sample(session, asked.collection_id, strategy, topics).known,
        )
    return curve_of_budgets(
        strategy,
        topics,
        lists,
        asked.teams,
        pooled,
        docnos_of=partial(docnos_of, session),
        seed=asked.seed,
        made=made,
        corpus=count_corpus(session, asked.collection_id) if strategy.candidates is CandidateSet.CORPUS else None,
        recall=asked.recall,
    )


def _lists(session: Session, request: PoolRequest, asked: _Asked) -> ListsOfTopics:
    """The lists of the runs; for a curve of depths down to its end."""
    strategy, runs = asked.strategy, asked.runs
    depths = run_depths(strategy, [run.tag for run in runs], request.depth_of)
    if strategy.definition.kind is StrategyKind.DEPTH:
        depths = [
            request.depth_of.get(run.tag, max(depth, LEAST_DEPTHS)) for run, depth in zip(runs, depths, strict=True)
        ]
    read = partial(
        packed_lists,
        session,
        [run.id for run in runs],
        most_bytes=None if asked.past else most_bytes(depths),
        with_scores=strategy.definition.reads_scores,
    )
    tops = partial(read_tops, session, [run.id for run in runs]) if max(depths) <= TOP else None
    return ListsOfTopics({run.id: depth for run, depth in zip(runs, depths, strict=True)}, read, asked.past, tops)


def _precision(
    session: Session, collection: Collection, request: PoolRequest, asked: _Asked, wanted: PrecisionWanted
) -> SamplePrecision | None:
    if not asked.strategy.divides_budget:
        return None
    return foresee_precision(
        *(session, collection, asked.strategy, asked.topics, _lists(session, request, asked)),
        partial(docnos_of, session),
        seed=asked.seed,
        known=known_of_sample(session, collection.id, asked.strategy, asked.topics).known,
        wanted=wanted,
    )


def _present(session: Session, collection_id: int, topics: Mapping[int, str]) -> dict[int, Present]:
    counts = topic_counts(session, collection_id)
    items = select(PoolItem.topic_id, PoolItem.document_id).where(PoolItem.topic_id.in_(topics))
    present = dict.fromkeys(topics, NOTHING)
    for topic, of_topic in groupby(fetch_rows(session, items.order_by(PoolItem.topic_id)), key=itemgetter(0)):
        present[topic] = Present.of([row[1] for row in of_topic], counts[topic].complete, counts[topic].remaining)
    return present
