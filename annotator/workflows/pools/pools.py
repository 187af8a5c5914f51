"""Pools: strategies, versions, contents with their reasons, and judging progress."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.pooling.adaptive import explain
from annotator.evaluation.pooling.parameters import PARAMETERS
from annotator.evaluation.pooling.pool_choice import is_adaptive, stored_strategy
from annotator.evaluation.pooling.strategies import STRATEGIES, StrategyKind
from annotator.evaluation.pooling.text_features import can_learn
from annotator.storage import (
    CollectionState,
    Contribution,
    Document,
    Pool,
    PoolItem,
    Run,
    SelectionEvent,
    Team,
    Topic,
    User,
)
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.judging.adaptive_choices import choices_of_strategy
from annotator.storage.judging.topic_counts import topic_counts
from annotator.storage.pools.pools import all_pools
from annotator.storage.pools.stopping_decisions import stopped_topics
from annotator.storage.tables.runs import RunState
from annotator.storage.tables.topics import ACCEPTED

# The default of a plan for a strategy that needs a budget, in documents per topic.
USUAL_STRATEGY = "depth"
USUAL_DEPTH = 10
USUAL_AMOUNT = 100
USUAL_BUDGET = 1_000  # of a strategy that takes it in total only


@dataclass(frozen=True)
class ParameterHelp:
    """A parameter of a strategy; `usual` is its default, where None is no limit."""

    name: str
    text: Sentence
    usual: str | None
    needed: bool  # it, or an alternative to it


@dataclass(frozen=True)
class StrategyHelp:
    """A strategy: its text is one sentence, an empty line, and its reference."""

    name: str
    text: str
    parameters: tuple[ParameterHelp, ...]
    adaptive: bool  # keeps choosing from judgements
    sampled: bool  # draws documents at random
    missing_library: bool  # needs one that is not installed here

    @property
    def needs_machine(self) -> bool:
        """Whether it works only with a machine judge's labels."""
        return any(one.name == "machine" and one.needed for one in self.parameters)

    @property
    def sentence(self) -> str:
        """The first sentence of its text."""
        return self.text.split("\n", 1)[0]


def with_usual(name: str, said: Mapping[str, str | int]) -> Mapping[str, str | int]:
    """Add defaults for missing required parameters, for a plan; an unknown strategy is left unchanged."""
    needs = STRATEGIES[name].needs if name in STRATEGIES else ()
    if not needs or any(parameter in said for parameter in needs):
        return said
    if name == USUAL_STRATEGY:
        return {**said, "depth": USUAL_DEPTH}
    return {**said, "per_topic": USUAL_AMOUNT} if "per_topic" in needs else {**said, "budget": USUAL_BUDGET}


def list_strategies() -> Mapping[str, StrategyHelp]:
    """Every strategy by name, in the order of explanation."""
    return {
        name: StrategyHelp(
            name,
            definition.help,
            tuple(
                ParameterHelp(
                    parameter, PARAMETERS[parameter].help, usual, parameter in {*definition.needs, *definition.requires}
                )
                for parameter, usual in definition.takes.items()
            ),
            adaptive=definition.kind is StrategyKind.ADAPTIVE,
            sampled=definition.kind is StrategyKind.SAMPLE,
            missing_library=definition.learns and not can_learn(),
        )
        for name, definition in STRATEGIES.items()
    }


LAST_REASONS = 10


@dataclass(frozen=True)
class TopicProgress:
    """Judging progress of one topic's pool; `complete` items, or those they copy, have all judgements wanted.

    `remaining` judgements are wanted by the others.
    """

    number: str
    title: str
    items: int
    judged: int
    complete: int
    remaining: int


@dataclass(frozen=True)
class PoolVersion:
    """One version of a pool in its history."""

    version: int
    strategy: str
    parameters: dict[str, object]
    seed: int
    showing: str
    built_by: str | None
    built_at: datetime
    added: int


@dataclass(frozen=True)
class RunInPool:
    """A run's contribution to the pool: documents, and how many of these only it contributed."""

    tag: str
    team: str | None
    state: RunState
    items: int
    only: int

    @property
    def is_latest(self) -> bool:
        """Whether it is the latest file of its tag, of which there is one."""
        return self.state is not RunState.REPLACED


@dataclass(frozen=True)
class MadeChoice:
    """A document that an adaptive strategy chose, with the reason."""

    topic: str
    docno: str
    reason: Sentence
    chosen_at: datetime


@dataclass(frozen=True)
class SelectionProgress:
    """Progress of an adaptive strategy: choices made, in all its versions, the limit, and the last choices.

    The limit is a budget, or a stopping rule, which has been followed in `stopped` of the topics. The last choices are
    those of the newest version, newest first.
    """

    version: int
    strategy: str
    made: int
    budget: int | None
    until: str | None
    topics: int
    stopped: int
    last: tuple[MadeChoice, ...]

    @property
    def goes_on(self) -> bool:
        """Whether it may choose further documents."""
        return self.stopped < self.topics and (self.budget is None or self.made < self.budget)


def pool_progress(session: Session, slug: str) -> list[TopicProgress]:
    """The accepted topics that have a pool, each with its judging progress."""
    collection_id = find_collection(session, slug).id
    counts = topic_counts(session, collection_id)
    topics = session.execute(
        select(Topic.id, Topic.number, Topic.title).where(Topic.collection_id == collection_id, ACCEPTED)
    )
    rows = [TopicProgress(number, title, *counts[id_]) for id_, number, title in topics if counts[id_].items]
    return sorted(rows, key=lambda topic: natural_order(topic.number))


def pool_versions(session: Session, slug: str) -> list[PoolVersion]:
    """The versions of a pool, oldest first."""
    added = select(func.count()).where(PoolItem.first_pool_id == Pool.id).correlate(Pool).scalar_subquery()
    rows = session.execute(
        select(Pool, User.name, added)
        .outerjoin(User, User.id == Pool.built_by_id)
        .where(Pool.collection_id == find_collection(session, slug).id)
        .order_by(Pool.version)
    )
    return [
        PoolVersion(pool.version, pool.strategy, pool.parameters, pool.seed, pool.showing, name, pool.built_at, count)
        for pool, name, count in rows
    ]


def runs_in_pool(session: Session, slug: str) -> list[RunInPool]:
    """The runs that contributed to the pool, including withdrawn and corrected ones, by tag.

    A corrected file is not counted as the sole contributor, nor does it compete with its correction.
    """
    collection_id = find_collection(session, slug).id
    # For an item contributed by one run only, min and max of the run are equal.
    pooled = (
        select(PoolItem.id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
        .subquery()
    )
    corrected = select(Run.id).where(Run.collection_id == collection_id, Run.replaced_at.is_not(None))
    sole = (
        select(func.min(Contribution.run_id).label("run_id"))
        .join(pooled, pooled.c.id == Contribution.pool_item_id)
        .where(Contribution.run_id.is_(None) | Contribution.run_id.not_in(corrected))
        .group_by(Contribution.pool_item_id)
        .having(func.min(Contribution.run_id) == func.max(Contribution.run_id))
        .having(func.count(Contribution.run_id) == func.count())
        .subquery()
    )
    alone = select(sole.c.run_id, func.count()).group_by(sole.c.run_id)
    only = {run_id: count for run_id, count in session.execute(alone)}
    given = (
        select(Contribution.run_id, func.count().label("documents"))
        .join(pooled, pooled.c.id == Contribution.pool_item_id)
        .group_by(Contribution.run_id)
        .subquery()
    )
    rows = session.execute(
        select(Run, Team.name, given.c.documents)
        .join(given, given.c.run_id == Run.id)
        .outerjoin(Team, Team.id == Run.team_id)
    )
    found = sorted(rows, key=lambda row: (natural_order(row[0].tag), row[0].id))
    return [RunInPool(run.tag, team, run.state, items, only.get(run.id, 0)) for run, team, items in found]


def pooled_docnos(session: Session, slug: str, *, version: int | None = None) -> set[tuple[str, str]]:
    """The pool as (topic number, docno), now or as of a version; `NotFoundError` for an unknown version."""
    collection_id = find_collection(session, slug).id
    statement = (
        select(Topic.number, Document.docno)
        .select_from(PoolItem)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Topic.collection_id == collection_id)
    )
    if version is not None:
        if version not in {pool.version for pool in all_pools(session, collection_id)}:
            raise NotFoundError("There is no version %(version)d of the pool.", version=version)
        statement = statement.join(Pool, Pool.id == PoolItem.first_pool_id).where(Pool.version <= version)
    return {(number, docno) for number, docno in session.execute(statement)}


def may_still_grow(session: Session, slug: str, *, version: int) -> bool:
    """Whether an adaptive strategy may still add documents to a version, or to one before it."""
    collection = find_collection(session, slug)
    progress = selection_progress(session, slug)
    return (
        progress is not None
        and collection.state == CollectionState.OPEN
        and progress.version <= version
        and progress.goes_on
    )


def export_pool(session: Session, slug: str, *, version: int | None = None) -> bytes:
    """The pool as lines of topic and docno, topics in natural order and docnos in byte order."""
    pairs = pooled_docnos(session, slug, version=version)
    ordered = sorted(pairs, key=lambda pair: (natural_order(pair[0]), pair))
    return "".join(f"{number} {docno}\n" for number, docno in ordered).encode()


def selection_progress(session: Session, slug: str) -> SelectionProgress | None:
    """Progress of the adaptive strategy that was started last; None when there is none."""
    collection_id = find_collection(session, slug).id
    adaptive = [pool for pool in all_pools(session, collection_id) if is_adaptive(pool.strategy)]
    if not adaptive:
        return None
    pool = adaptive[-1]
    made = sum(each.total for each in choices_of_strategy(session, pool).values())
    strategy = stored_strategy(pool.strategy, pool.parameters)
    topics = set(topic_ids(session, collection_id, ACCEPTED).values())
    stopped = len(topics & stopped_topics(session, collection_id))
    until = None if strategy.until is None else str(strategy.until)
    budget = strategy.budget or (strategy.per_topic or 0) * len(topics) if until is None else None
    last = _last_choices(session, pool)
    return SelectionProgress(pool.version, pool.strategy, made, budget, until, len(topics), stopped, last)


def _last_choices(session: Session, pool: Pool) -> tuple[MadeChoice, ...]:
    events = session.execute(
        select(Topic.number, Document.docno, SelectionEvent.reason, SelectionEvent.chosen_at)
        .join(Topic, Topic.id == SelectionEvent.topic_id)
        .join(PoolItem, PoolItem.id == SelectionEvent.pool_item_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(SelectionEvent.pool_id == pool.id)
        .order_by(SelectionEvent.id.desc())
        .limit(LAST_REASONS)
    ).all()
    ids = {reason["run"] for _, _, reason, _ in events if "run" in reason}
    tags = {id_: tag for id_, tag in session.execute(select(Run.id, Run.tag).where(Run.id.in_(ids)))}
    return tuple(
        MadeChoice(number, docno, explain(reason, tags.get(reason.get("run"), "")), at)
        for number, docno, reason, at in events
    )
