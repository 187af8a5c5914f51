"""Simulation of strategies on existing judgements, and replay of an adaptive pool or a sample to verify it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError, Problems
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.pooling.pool_choice import is_adaptive, stored_strategy
from annotator.evaluation.pooling.pool_selection import ChosenDocument, TopicSelection, begin_selection, verdicts
from annotator.evaluation.pooling.pool_simulation import (
    SHARES,
    Documents,
    Grades,
    JudgedPool,
    Point,
    Trial,
    orders_of_topic,
    trials,
)
from annotator.evaluation.pooling.strategies import Strategy
from annotator.evaluation.pooling.topic_runs import topic_runs
from annotator.evaluation.qrels.qrels_format import parse_qrels
from annotator.evaluation.runs.rankings import decode_documents, decode_scores
from annotator.files import InputFile
from annotator.storage import ACCEPTED, IN_FORCE, Pool, Run, SelectionEvent
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.documents.documents import docnos_of, document_ids
from annotator.storage.judging.adaptive_choices import choices_made, events_of, items_of, judgements_of, runs_in_force
from annotator.storage.pools.pools import packed_lists
from annotator.storage.pools.samples import STRATEGY
from annotator.workflows.pools.sample_replay import redraw

USUAL_START_DEPTHS = (10, 0)
# Simulating judges every list down to its depth for each strategy: about a second for 1,500 lists. More are for a job.
MOST_LISTS_AT_ONCE = 500


@dataclass(frozen=True)
class SimulatedStrategy:
    """The result of one strategy; the start depth is None if it takes none."""

    name: str
    start_depth: int | None
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Simulation:
    """Results of strategies on a file's judgements, restricted to documents retrieved by some run."""

    strategies: tuple[SimulatedStrategy, ...]
    runs: int
    topics: int
    judged: int
    relevant: int
    in_no_run: int  # judged documents that no run retrieved, so no strategy could choose them
    relevant_in_no_run: int
    seed: int

    def table(self) -> tuple[tuple[str, ...], list[tuple[str | int | float | None, ...]]]:
        """Headings, and a row for each strategy and share of the judgements."""
        rows: list[tuple[str | int | float | None, ...]] = [
            (one.name, one.start_depth, point.share, point.judged, point.found, point.tau)
            for one in self.strategies
            for point in one.points
        ]
        return ("strategy", "start_depth", "share", "judged", "found", "tau"), rows


@dataclass(frozen=True)
class _FileGrades:
    """The judgements of a file by topic id and document id, and how many documents no run retrieved."""

    grades: dict[int, dict[int, int]]
    unknown: tuple[int, ...]  # grades of documents without a row


def simulate_strategies(
    session: Session,
    slug: str,
    qrels: InputFile,
    *,
    names: Sequence[str] = (),
    start_depths: Sequence[int] = USUAL_START_DEPTHS,
    strata: str | None = None,
    seed: int,
    unpacked_limit: int,
) -> Simulation:
    """Simulate strategies on the active runs, with the grades of a qrels file as judgements.

    A share of all judgements is divided over the topics like a total budget; for each share the result has the recall
    and the rank correlation of the runs by mean AP with that by all judgements. The seed is that of `stratified`
    samples. Adaptive strategies see every label at once here, but with a delay in real judging. Raises
    `FileRefusedError` for a bad file, `InvalidValueError` for invalid parameters of a strategy, and `ConflictError`
    when no run has a relevant document.
    """
    collection = find_collection(session, slug)
    tried = trials(names, start_depths, strata)
    topics = topic_ids(session, collection.id, ACCEPTED)
    run_ids = list(session.scalars(select(Run.id).where(Run.collection_id == collection.id, IN_FORCE).order_by(Run.id)))
    given = _grades_of(session, collection.id, topics, qrels, unpacked_limit)
    pool = _judged_pool(session, run_ids, topics, given.grades, collection.relevant_from)
    if not pool.relevant:
        raise ConflictError("No run has a document that is relevant by these qrels, so there is nothing to find.")
    orders = _orders(session, run_ids, pool, tried, seed)
    means = pool.means(pool.grades)
    told = [*given.unknown, *(grade for grades in given.grades.values() for grade in grades.values())]
    return Simulation(
        tuple(
            SimulatedStrategy(trial.strategy.name, trial.start_depth, pool.points(order, means))
            for trial, order in zip(tried, orders, strict=True)
        ),
        runs=len(run_ids),
        topics=len(pool.grades),
        judged=pool.judged,
        relevant=pool.relevant,
        in_no_run=len(told) - pool.judged,
        relevant_in_no_run=sum(grade >= collection.relevant_from for grade in told) - pool.relevant,
        seed=seed,
    )


def _grades_of(
    session: Session, collection_id: int, topics: Mapping[str, int], file: InputFile, unpacked_limit: int
) -> _FileGrades:
    """Read a qrels file; lines of topics that are not accepted, and lines with -1, are ignored."""
    problems = Problems()
    text = unpack_into(problems, file.name, file.content, unpacked_limit)
    known_topics = topic_ids(session, collection_id)
    parsed = parse_qrels(file.name, text, problems, topics=known_topics) if text is not None else None
    problems.report_if_any()
    rows = [row for row in (parsed.rows if parsed else ()) if row.topic in topics and row.grade >= 0]
    documents = document_ids(session, collection_id, {row.docno for row in rows})
    grades: dict[int, dict[int, int]] = {}
    for row in rows:
        if row.docno in documents:
            grades.setdefault(topics[row.topic], {})[documents[row.docno]] = row.grade
    return _FileGrades(grades, tuple(row.grade for row in rows if row.docno not in documents))


def _judged_pool(
    session: Session,
    run_ids: Sequence[int],
    topics: Mapping[str, int],
    grades: Mapping[int, Grades],
    relevant_from: int,
) -> JudgedPool:
    numbers = {id_: number for number, id_ in topics.items() if id_ in grades}
    in_order = sorted(numbers, key=lambda topic: natural_order(numbers[topic]))
    rankings: dict[int, dict[int, Documents]] = {run_id: {} for run_id in run_ids}
    pooled: dict[int, Grades] = {}
    for topic, lists in packed_lists(session, run_ids, in_order, most_bytes=None):
        retrieved: set[int] = set()
        for one in lists:
            rankings[one.run_id][topic] = decode_documents(one.documents)
            retrieved.update(rankings[one.run_id][topic].tolist())
        pooled[topic] = {document: grade for document, grade in grades[topic].items() if document in retrieved}
    return JudgedPool(numbers, pooled, list(rankings.values()), relevant_from)


def _orders(
    session: Session, run_ids: Sequence[int], pool: JudgedPool, tried: Sequence[Trial], seed: int
) -> list[dict[int, Documents]]:
    """For each trial, topic id → documents in judging order; one topic's runs in memory at a time."""
    with_scores = any(trial.strategy.definition.reads_scores for trial in tried)
    most = pool.budgets(SHARES[-1])
    orders: list[dict[int, Documents]] = [{} for _ in tried]
    for topic, lists in packed_lists(session, run_ids, pool.grades, most_bytes=None, with_scores=with_scores):
        rankings = [decode_documents(one.documents) for one in lists]
        docnos = docnos_of(session, {document for ranking in rankings for document in ranking.tolist()})
        scores = [decode_scores(one.scores) for one in lists if one.scores is not None]
        runs = topic_runs(pool.numbers[topic], rankings, docnos, scores=scores or None)
        of_topic = orders_of_topic(tried, runs, pool.grades[topic], pool.relevant_from, most=most[topic], seed=seed)
        for order, of_trial in zip(orders, of_topic, strict=True):
            order[topic] = of_trial
    return orders


@dataclass(frozen=True)
class Difference:
    """A stored choice that differs from the replayed one, whose docno and run are None if it chooses nothing."""

    topic: str
    step: int
    docno: str
    run: str
    docno_replayed: str | None
    run_replayed: str | None


@dataclass(frozen=True)
class Replay:
    """The differences found by a replay."""

    version: int
    strategy: str
    topics: int
    choices: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class _Event:
    """A stored choice with its document and the state it was based on."""

    event: SelectionEvent
    document_id: int

    @property
    def run_id(self) -> int:
        return int(self.event.reason["run"])

    @property
    def runs_left_out(self) -> frozenset[int]:
        return frozenset(self.event.reason["runs_left_out"])


def replay_choices(session: Session, slug: str, *, version: int | None = None) -> Replay:
    """Repeat every choice of a version from the state at the time, and report the differences.

    Without `version` it is the newest that was built by an adaptive strategy or by the strategy sample. Of the former
    documents and runs are compared, of the latter the documents drawn of each stratum, whose number is then the step.
    Raises `NotFoundError` for an unknown version, and `ConflictError` for one of another strategy and for a sample
    drawn by labels that have changed.
    """
    pool = _replayed_pool(session, find_collection(session, slug).id, version)
    if pool.strategy == STRATEGY:
        topics, drawn, rows = redraw(session, pool)
        redrawn = (Difference(topic, number, docno, "", other, None) for topic, number, docno, other in rows)
        return Replay(pool.version, pool.strategy, topics, drawn, tuple(redrawn))
    made = choices_made(session, pool.id)
    numbers = {id_: number for number, id_ in topic_ids(session, pool.collection_id).items() if id_ in made}
    differences = [
        difference
        for topic_id, number in sorted(numbers.items(), key=lambda topic: natural_order(topic[1]))
        for difference in _differences(session, pool, topic_id, number)
    ]
    return Replay(pool.version, pool.strategy, len(made), sum(made.values()), tuple(differences))


def _replayed_pool(session: Session, collection_id: int, version: int | None) -> Pool:
    pools = session.scalars(select(Pool).where(Pool.collection_id == collection_id).order_by(Pool.version)).all()
    if version is None:
        replayed = [pool for pool in pools if is_adaptive(pool.strategy) or pool.strategy == STRATEGY]
        if not replayed:
            raise NotFoundError("No version of this pool was built by an adaptive strategy or by the strategy sample.")
        return replayed[-1]
    found = [pool for pool in pools if pool.version == version]
    if not found:
        raise NotFoundError("There is no version %(version)d of the pool.", version=version)
    if not is_adaptive(found[0].strategy) and found[0].strategy != STRATEGY:
        raise ConflictError(
            "Version %(version)d was built by the strategy %(strategy)s, which neither chooses by judgements nor draws "
            "a sample with a budget.",
            version=version,
            strategy=found[0].strategy,
        )
    return found[0]


def _differences(session: Session, pool: Pool, topic_id: int, number: str) -> Iterator[Difference]:
    events = [_Event(event, document_id) for event, document_id in events_of(session, pool.id, topic_id)]
    replayed = list(_replayed(session, pool, topic_id, number, events))
    differing = [
        (event, choice)
        for event, choice in zip(events, replayed, strict=True)
        if choice is None or (choice.document_id, choice.run_id) != (event.document_id, event.run_id)
    ]
    docnos = docnos_of(session, {event.document_id for event, _ in differing})
    ids = {run for event, choice in differing for run in (event.run_id, choice.run_id if choice else event.run_id)}
    tags = {id_: tag for id_, tag in session.execute(select(Run.id, Run.tag).where(Run.id.in_(ids)))}
    for event, choice in differing:
        yield Difference(
            number,
            event.event.step,
            docnos[event.document_id],
            tags[event.run_id],
            choice.docno if choice else None,
            tags[choice.run_id] if choice else None,
        )


def _replayed(
    session: Session, pool: Pool, topic_id: int, number: str, events: Sequence[_Event]
) -> Iterator[ChosenDocument | None]:
    """The strategy's choice at each step, given the stored choices of earlier steps."""
    strategy = stored_strategy(pool.strategy, pool.parameters)
    words, items = judgements_of(session, topic_id), items_of(session, topic_id)
    chosen_from = {event.document_id: event.run_id for event in events}
    selections: dict[frozenset[int], TopicSelection] = {}
    for step, event in enumerate(events):
        left_out = event.runs_left_out
        if left_out not in selections:
            selections[left_out] = _begin(session, pool, strategy, topic_id, number, left_out)
        seen = event.event.seen_judgement_id or 0
        known = verdicts(
            (word for word in words if word.id <= seen), int(event.event.reason["relevant_from"]), chosen_from
        )
        # Additions to a topic are serialised: an older item has a smaller id.
        later = {one.document_id for one in events[step:]}
        out = [item.document_id for item in items if item.id < event.event.pool_item_id]
        out = [document_id for document_id in out if document_id not in later]
        chosen = selections[left_out].choose(known, [*out, *(one.document_id for one in events[:step])], 1)
        yield chosen[0] if chosen else None


def _begin(
    session: Session, pool: Pool, strategy: Strategy, topic_id: int, number: str, left_out: frozenset[int]
) -> TopicSelection:
    runs = [run_id for run_id in runs_in_force(session, pool.id) if run_id not in left_out]
    lists = [
        (one.run_id, one.documents)
        for _, several in packed_lists(session, runs, [topic_id], most_bytes=None)
        for one in several
    ]
    return begin_selection(strategy, number, lists, partial(docnos_of, session), pool.seed)
