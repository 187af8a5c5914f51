"""Building the pool: a strategy chooses without a lock, then new documents are added. Pools only grow."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, Sentence
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.pooling.ordering import showing_order
from annotator.evaluation.pooling.pool_choice import (
    WHOLE_LIST,
    ChosenTopic,
    ListsOfTopics,
    choose_topics,
    most_bytes,
    run_depths,
)
from annotator.evaluation.pooling.strategies import STRATEGIES, Strategy, StrategyKind, parse_strategy
from annotator.evaluation.pooling.text_features import learning_library
from annotator.evaluation.pooling.topic_runs import Ties
from annotator.evaluation.runs.rankings import encode_documents
from annotator.storage import IN_FORCE, Contribution, Pool, PoolItem, PoolRun, Run, Showing, Stratum
from annotator.storage.collections.collection import find_open_collection, lock_open_collection
from annotator.storage.documents.documents import docnos_of
from annotator.storage.pools.pool_items import (
    NewContribution,
    NewItem,
    PlacedContribution,
    PreparedItems,
    draw_lot,
    insert_contributions,
    insert_items,
    insert_prepared_items,
    prepare_items,
)
from annotator.storage.pools.pools import (
    PooledRun,
    PoolRequest,
    PoolState,
    all_pools,
    check_seed,
    latest_pool,
    looked_past,
    next_pool,
    packed_lists,
    pool_item_ids,
    pool_state,
    round_to_pool,
    runs_to_pool,
    topics_to_pool,
)
from annotator.storage.site.bulk_insert import fetch_rows
from annotator.workflows.pools.choosing_version import refuse_rule_without_sample
from annotator.workflows.pools.machine_chances import facts_of_chances
from annotator.workflows.pools.sample_drawing import SampleFacts, facts_of_sample, known_of_sample

# Versions of these do more than add documents: they keep choosing, or define the sample.
WITH_A_STATE = (StrategyKind.ADAPTIVE, StrategyKind.SAMPLE)

ItemIds = Mapping[tuple[int, int], int]  # by topic id and document id


@dataclass(frozen=True)
class TopicGrowth:
    """The effect of building the pool on one topic."""

    number: str
    added: int
    already_pooled: int


@dataclass(frozen=True)
class PoolSummary:
    """The effect of building the pool; `version` is the current one, which is new unless nothing changed."""

    version: int
    topics: tuple[TopicGrowth, ...]
    is_new: bool
    notices: tuple[Sentence, ...] = ()  # about a sample

    @property
    def added(self) -> int:
        """The number of items new to the pool."""
        return sum(topic.added for topic in self.topics)

    @property
    def already_pooled(self) -> int:
        """The number of chosen documents that were in the pool before."""
        return sum(topic.already_pooled for topic in self.topics)


@dataclass(frozen=True, eq=False)
class PoolAdditions:
    """What a choice adds to the pool while the pool has this state: items with their lots, and contributions.

    A contribution is a topic, a document, a run and its rank; `known` are the ids of items that are pooled already.
    """

    state: PoolState
    growth: tuple[TopicGrowth, ...]
    items: tuple[NewItem, ...]
    lots: tuple[int, ...]
    contributions: tuple[tuple[int, int, int, int], ...]
    known: ItemIds
    prepared: PreparedItems | None  # the items and contributions as rows, on SQLite


@dataclass(frozen=True, eq=False)
class PoolChoice:
    """A chosen pool that is not stored yet, and what it adds to the pool as it was then."""

    strategy: Strategy
    parameters: dict[str, object]  # of the strategy and the runs
    runs: tuple[PooledRun, ...]
    depths: tuple[int, ...]  # per run
    seed: int
    showing: Showing
    topics: tuple[ChosenTopic, ...]
    additions: PoolAdditions
    notices: tuple[Sentence, ...] = ()  # about a sample


def build_pool(
    session: Session,
    slug: str,
    request: PoolRequest,
    *,
    seed: int | None = None,
    showing: Showing = Showing.RANDOM,
    built_by_id: int | None,
    built_at: datetime,
) -> PoolSummary:
    """Choose a pool and store it in one transaction, which blocks judges."""
    choice = choose_pool(session, slug, request, seed=seed, showing=showing)
    return store_pool(session, slug, choice, built_by_id=built_by_id, built_at=built_at)


def choose_pool(
    session: Session, slug: str, request: PoolRequest, *, seed: int | None = None, showing: Showing = Showing.RANDOM
) -> PoolChoice:
    """Choose the documents to judge from the active runs for every accepted topic; stores nothing.

    An adaptive strategy chooses its initial documents. The seed, of samples and of the display order, is that of the
    previous version unless given. Raises `InvalidValueError` for invalid parameters of the strategy or a seed out of
    range or a library that is missing, `NotFoundError` for an unknown tag, and `ConflictError` when there is no run to
    pool, and without the random sample that a stopping rule needs.
    """
    collection = find_open_collection(session, slug)
    strategy = _strategy_of(request)
    refuse_rule_without_sample(session, collection.id, strategy)
    runs = runs_to_pool(session, collection.id, request)
    depths = run_depths(strategy, [run.tag for run in runs], request.depth_of)
    seed = check_seed(session, collection.id, seed)
    topics = topics_to_pool(session, collection.id)
    parameters: dict[str, object] = {**strategy.parameters, "runs": sorted(run.tag for run in runs)}
    limits = {"priority": request.priority, "per_team": request.per_team, "task": request.task}
    parameters |= {name: limit for name, limit in limits.items() if limit is not None}
    if request.depth_of:
        parameters["depth_of"] = dict(request.depth_of)
    its_round = round_to_pool(session, collection.id, request)
    past = looked_past(session, collection.id, its_round)
    if its_round is not None:
        parameters |= {"round": its_round.number, "looks_past_judged_before": bool(past)}
    read = partial(
        packed_lists,
        session,
        [run.id for run in runs],
        most_bytes=None if past else most_bytes(depths),
        with_scores=strategy.definition.reads_scores,
    )
    lists = ListsOfTopics({run.id: depth for run, depth in zip(runs, depths, strict=True)}, read, past)
    in_order = dict(sorted(topics.items(), key=lambda topic: natural_order(topic[1])))
    choose = partial(choose_topics, strategy, in_order, lists, partial(docnos_of, session), seed)
    chosen, facts = _chosen_with_facts(session, collection.id, strategy, [run.id for run in runs], in_order, choose)
    parameters |= facts.parameters
    additions = _additions(session, collection.id, [run.id for run in runs], chosen, seed, showing)
    pooled = tuple(runs), tuple(depths), seed, showing
    return PoolChoice(strategy, parameters, *pooled, tuple(chosen), additions, facts.notices)


def _chosen_with_facts(
    session: Session,
    collection_id: int,
    strategy: Strategy,
    runs: Sequence[int],
    topics: Mapping[int, str],
    choose: Callable[..., list[ChosenTopic]],
) -> tuple[list[ChosenTopic], SampleFacts]:
    """The chosen documents, and what is recorded of a sample or of a machine's labels with the parameters."""
    if strategy.divides_budget:
        given = known_of_sample(session, collection_id, strategy, topics)
        chosen = choose(given.known)
        return chosen, facts_of_sample(session, strategy, given, chosen)
    return choose(), SampleFacts(facts_of_chances(session, collection_id, strategy, runs))


def _strategy_of(request: PoolRequest) -> Strategy:
    strategy = parse_strategy(request.strategy, request.said)
    if strategy.definition.learns:
        learning_library("sklearn")  # better missing now than in the worker
    return strategy


def filling_request(depth: int, task: str | None = None) -> PoolRequest:
    """The request for a pool of the unjudged documents of all runs, or those of a task, down to a depth."""
    return PoolRequest("depth", {"depth": depth}, every_round=True, task=task)


def choose_filling(session: Session, slug: str, depth: int, task: str | None = None) -> PoolChoice:
    """Choose the unjudged documents of all runs, or those of a task, to a depth as the next version; stores nothing.

    The display order is that of the last version built from runs. Raises as `choose_pool`.
    """
    pools = all_pools(session, find_open_collection(session, slug).id)
    showings = [Showing(pool.showing) for pool in pools if pool.strategy in STRATEGIES]
    return choose_pool(
        session, slug, filling_request(depth, task), showing=showings[-1] if showings else Showing.RANDOM
    )


def store_pool(
    session: Session, slug: str, choice: PoolChoice, *, built_by_id: int | None, built_at: datetime
) -> PoolSummary:
    """Add the chosen documents to the pool as its next version; pooled items and their judgements remain.

    No version is created if it would change nothing: no new document, no new contribution of a run, and no adaptive
    strategy or sample that begins. Raises `ConflictError` when runs or topics have changed since the choice.
    """
    collection = lock_open_collection(session, slug)
    _refuse_changes(session, collection.id, choice)
    new = _additions_now(session, collection.id, choice)
    if not new.contributions and not _begins(session, collection.id, choice):
        latest = latest_pool(session, collection.id)
        return PoolSummary(latest.version if latest else 0, new.growth, is_new=False, notices=choice.notices)
    pool = next_pool(
        session,
        collection.id,
        strategy=choice.strategy.name,
        parameters=choice.parameters,
        seed=choice.seed,
        showing=choice.showing,
        built_by_id=built_by_id,
        built_at=built_at,
    )
    _insert_runs(session, pool, choice)
    _insert_additions(session, pool, new, judgements_wanted=collection.judgements_wanted)
    _insert_strata(session, pool, choice)
    return PoolSummary(pool.version, new.growth, is_new=True, notices=choice.notices)


def _insert_additions(session: Session, pool: Pool, new: PoolAdditions, *, judgements_wanted: int) -> None:
    if new.prepared is not None:
        insert_prepared_items(session, pool, new.prepared, judgements_wanted=judgements_wanted)
        return
    ids = insert_items(session, pool, new.items, judgements_wanted=judgements_wanted, lots=new.lots)
    added = {(item.topic_id, item.document_id): id_ for item, id_ in zip(new.items, ids, strict=True)}
    contributions = (
        NewContribution(added.get((topic, document)) or new.known[topic, document], run, rank)
        for topic, document, run, rank in new.contributions
    )
    insert_contributions(session, pool, contributions)


def _additions(
    session: Session,
    collection_id: int,
    run_ids: Sequence[int],
    topics: Sequence[ChosenTopic],
    seed: int,
    showing: Showing,
) -> PoolAdditions:
    state, known = pool_state(session, collection_id), pool_item_ids(session, collection_id)
    items, lots = _new_items(session, topics, known, seed, showing)
    growth = tuple(_growth(topic, known) for topic in topics)
    contributions = _fresh_contributions(session, run_ids, topics, known)
    places = {(item.topic_id, item.document_id): place for place, item in enumerate(items)}
    placed = [
        PlacedContribution(places.get(pair, known.get(pair, 0)), run, rank, pair in places)
        for pair, run, rank in (((topic, document), run, rank) for topic, document, run, rank in contributions)
    ]
    prepared = prepare_items(session, items, lots, placed)
    return PoolAdditions(state, growth, items, lots, contributions, known, prepared)


def _additions_now(session: Session, collection_id: int, choice: PoolChoice) -> PoolAdditions:
    """What the choice adds to the pool as it is: computed again, which takes long, only if the pool has changed."""
    if pool_state(session, collection_id) == choice.additions.state:
        return choice.additions
    ids = [run.id for run in choice.runs]
    return _additions(session, collection_id, ids, choice.topics, choice.seed, choice.showing)


def _refuse_changes(session: Session, collection_id: int, choice: PoolChoice) -> None:
    runs = session.scalars(select(Run.id).where(Run.collection_id == collection_id, IN_FORCE))
    topics = topics_to_pool(session, collection_id)
    if not {run.id for run in choice.runs} <= set(runs) or not {topic.id for topic in choice.topics} <= topics.keys():
        raise ConflictError(
            "Runs or topics changed while the documents were being chosen. Nothing was stored: try again."
        )


def _growth(topic: ChosenTopic, known: ItemIds) -> TopicGrowth:
    added = sum((topic.id, document) not in known for document in topic.chosen.documents.tolist())
    return TopicGrowth(topic.number, added, topic.chosen.documents.size - added)


def _fresh_contributions(
    session: Session, run_ids: Sequence[int], topics: Sequence[ChosenTopic], known: ItemIds
) -> tuple[tuple[int, int, int, int], ...]:
    """Topic, document, run and rank of contributions that no earlier version has recorded."""
    contributed = select(Contribution.pool_item_id, Contribution.run_id).where(Contribution.run_id.in_(run_ids))
    recorded = set(map(tuple, fetch_rows(session, contributed)))
    return tuple(
        (topic.id, document, run_ids[run], rank)
        for topic in topics
        for document, run, rank in zip(
            topic.found.document.tolist(), topic.found.run.tolist(), topic.found.rank.tolist(), strict=True
        )
        if (known.get((topic.id, document)), run_ids[run]) not in recorded
    )


def _begins(session: Session, collection_id: int, choice: PoolChoice) -> bool:
    """Whether an adaptive strategy or a sample begins that differs from the current one."""
    kind = choice.strategy.definition.kind
    if kind not in WITH_A_STATE:
        return False
    alike = [
        pool
        for pool in all_pools(session, collection_id)
        if pool.strategy in STRATEGIES and STRATEGIES[pool.strategy].kind is kind
    ]
    if not alike:
        return True
    runs = set(session.scalars(select(PoolRun.run_id).where(PoolRun.pool_id == alike[-1].id)))
    is_same = (alike[-1].strategy, alike[-1].parameters) == (choice.strategy.name, choice.parameters)
    # The seed affects what is sampled and random tie-breaking; otherwise only the display order.
    draws = kind is StrategyKind.SAMPLE or choice.strategy.ties is Ties.RANDOM
    is_same &= not draws or alike[-1].seed == choice.seed
    return not is_same or runs != {run.id for run in choice.runs}


def _insert_runs(session: Session, pool: Pool, choice: PoolChoice) -> None:
    rows = [
        {"pool_id": pool.id, "run_id": run.id, "depth": None if depth == WHOLE_LIST else depth}
        for run, depth in zip(choice.runs, choice.depths, strict=True)
    ]
    session.execute(insert(PoolRun), rows)


def _new_items(
    session: Session, topics: Sequence[ChosenTopic], known: ItemIds, seed: int, showing: Showing
) -> tuple[tuple[NewItem, ...], tuple[int, ...]]:
    """The items that the chosen documents add, and their lots."""
    greatest = select(PoolItem.topic_id, func.max(PoolItem.priority)).group_by(PoolItem.topic_id)
    last = dict(fetch_rows(session, greatest.where(PoolItem.topic_id.in_([topic.id for topic in topics]))))
    items: list[NewItem] = []
    lots: list[int] = []
    for topic in topics:
        drawn = {
            document: (stratum.number, stratum.rate)
            for stratum in topic.chosen.strata
            for document in stratum.sample.tolist()
        }
        new = [
            (document, docno)
            for document, docno in zip(topic.chosen.documents.tolist(), topic.docnos, strict=True)
            if (topic.id, document) not in known
        ]
        docnos = [docno for _, docno in new]
        priorities = showing_order(showing, docnos, seed, topic.number, last=last.get(topic.id)).tolist()
        for (document, docno), priority in zip(new, priorities, strict=True):
            items.append(NewItem(topic.id, document, priority, *drawn.get(document, ())))
            lots.append(draw_lot(seed, topic.number, docno))
    return tuple(items), tuple(lots)


def _insert_strata(session: Session, pool: Pool, choice: PoolChoice) -> None:
    rows = [
        {
            "pool_id": pool.id,
            "topic_id": topic.id,
            "number": stratum.number,
            "rate": stratum.rate,
            "drawn": stratum.drawn,
            "documents": encode_documents(stratum.documents),
        }
        for topic in choice.topics
        for stratum in topic.chosen.strata
    ]
    if rows:
        session.execute(insert(Stratum), rows)
