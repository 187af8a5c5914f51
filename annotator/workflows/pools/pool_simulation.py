"""Simulation of strategies on existing judgements."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, Problems
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.pooling.pool_simulation import (
    SHARES,
    Documents,
    Grades,
    JudgedPool,
    Point,
    TopicTexts,
    Trial,
    orders_of_topic,
    trials,
)
from annotator.evaluation.pooling.text_features import count_terms, weighted
from annotator.evaluation.pooling.topic_runs import TopicRuns, topic_runs
from annotator.evaluation.qrels.qrels_format import parse_qrels
from annotator.evaluation.runs.rankings import decode_documents, decode_scores
from annotator.evaluation.stopping.stopping_simulation import RuleOutcome, StoppingTrial, try_rules
from annotator.files import InputFile
from annotator.storage import ACCEPTED, IN_FORCE, Run
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.documents.documents import docnos_of, document_ids, whole_texts
from annotator.storage.pools.pools import packed_lists
from annotator.workflows.pools.learning import text_of_topic

USUAL_START_DEPTHS = (10, 0)
# Simulating judges every list down to its depth for each strategy: about a second for 1,500 lists. More are for a job.
MOST_LISTS_AT_ONCE = 500


@dataclass(frozen=True)
class SimulatedStrategy:
    """The result of one strategy; the start depth is None if it takes none."""

    name: str
    start_depth: int | None
    points: tuple[Point, ...]
    rules: tuple[RuleOutcome, ...] = ()  # of stopping, where they were tried


class SimulationPart(StrEnum):
    """The tables of a simulation."""

    POINTS = "points"
    STOPPING = "stopping"


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
    stopping: StoppingTrial | None = None

    def rules_table(self) -> tuple[tuple[str, ...], list[tuple[str | int | float | None, ...]]]:
        """Headings, and a row for each strategy and stopping rule; without rows where none was tried."""
        rows: list[tuple[str | int | float | None, ...]] = [
            (
                one.name,
                one.start_depth,
                rule.rule,
                rule.certainty,
                rule.recall,
                rule.judged,
                rule.reliability,
                rule.stopped,
            )
            for one in self.strategies
            for rule in one.rules
        ]
        return ("strategy", "start_depth", "rule", "certainty", "recall", "judged", "reliability", "stopped"), rows

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
    stopping: StoppingTrial | None = None,
    seed: int,
    unpacked_limit: int,
) -> Simulation:
    """Simulate strategies on the active runs, with the grades of a qrels file as judgements.

    A share of all judgements is divided over the topics like a total budget; for each share the result has the recall
    and the rank correlation of the runs by mean AP with that by all judgements. The seed is that of `stratified`
    samples. Adaptive strategies see every label at once here, but with a delay in real judging. With `stopping` the
    stopping rules are tried in the order of each strategy, for which every judged document is ordered. Raises
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
    orders = _orders(session, run_ids, pool, tried, seed, SHARES[-1] if stopping is None else 1.0)
    told = [*given.unknown, *(grade for grades in given.grades.values() for grade in grades.values())]
    return Simulation(
        tuple(_results(pool, tried, orders, stopping, seed)),
        runs=len(run_ids),
        topics=len(pool.grades),
        judged=pool.judged,
        relevant=pool.relevant,
        in_no_run=len(told) - pool.judged,
        relevant_in_no_run=sum(grade >= collection.relevant_from for grade in told) - pool.relevant,
        seed=seed,
        stopping=stopping,
    )


def _results(
    pool: JudgedPool,
    tried: Sequence[Trial],
    orders: Sequence[Mapping[int, Documents]],
    stopping: StoppingTrial | None,
    seed: int,
) -> Iterator[SimulatedStrategy]:
    means = pool.means(pool.grades)
    for trial, order in zip(tried, orders, strict=True):
        points, rules = pool.points(order, means), _rules(pool, order, stopping, seed)
        yield SimulatedStrategy(trial.strategy.name, trial.start_depth, points, rules)


def _rules(
    pool: JudgedPool, order: Mapping[int, Documents], stopping: StoppingTrial | None, seed: int
) -> tuple[RuleOutcome, ...]:
    if stopping is None:
        return ()
    relevant = {
        topic: {document: grade >= pool.relevant_from for document, grade in grades.items()}
        for topic, grades in pool.grades.items()
    }
    return try_rules(order, relevant, stopping, seed=seed)


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
    session: Session, run_ids: Sequence[int], pool: JudgedPool, tried: Sequence[Trial], seed: int, share: float
) -> list[dict[int, Documents]]:
    """For each trial, topic id → documents in judging order, up to a share; one topic's runs in memory at a time."""
    with_scores = any(trial.strategy.definition.reads_scores for trial in tried)
    most = pool.budgets(share)
    learns = any(trial.strategy.definition.learns for trial in tried)
    orders: list[dict[int, Documents]] = [{} for _ in tried]
    for topic, lists in packed_lists(session, run_ids, pool.grades, most_bytes=None, with_scores=with_scores):
        rankings = [decode_documents(one.documents) for one in lists]
        docnos = docnos_of(session, {document for ranking in rankings for document in ranking.tolist()})
        scores = [decode_scores(one.scores) for one in lists if one.scores is not None]
        runs = topic_runs(pool.numbers[topic], rankings, docnos, scores=scores or None)
        texts = _texts(session, topic, runs) if learns else None
        of_topic = orders_of_topic(
            tried, runs, pool.grades[topic], pool.relevant_from, most=most[topic], seed=seed, texts=texts
        )
        for order, of_trial in zip(orders, of_topic, strict=True):
            order[topic] = of_trial
    return orders


def _texts(session: Session, topic_id: int, runs: TopicRuns) -> TopicTexts:
    features = weighted(count_terms(whole_texts(session, runs.documents.tolist())))
    return TopicTexts(text_of_topic(session, topic_id), features)
