"""Times scoring as the leaderboard does it: from the document numbers that are stored for each ranked list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytrec_eval
from numpy.typing import NDArray

from annotator.errors import Problems
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import parse_measures
from annotator.evaluation.metrics.scoring import Scores, score, score_runs
from annotator.evaluation.metrics.setting import Compat
from annotator.evaluation.runs.parsed_runs import ParsedList, ParsedRun
from annotator.evaluation.runs.rankings import trec_order
from annotator.evaluation.runs.run_format import parse_run
from benchmarks.costs import Cost, cost_of_call
from benchmarks.measure_set import KEYS, MEASURES, Values
from benchmarks.same_values import refuse_if_different
from benchmarks.synthetic import Collection, trec8_documents
from benchmarks.table import Row

# As a live leaderboard does. The first of them, after a pause, also waits for the memory that the system took back;
# the peer waits for it only at the first of all its runs.
IN_SUCCESSION = 3
CHANGES = 200  # judgements changed one after the other
LEAST_SPEED, GOAL_SPEED = 14, 20  # times as fast as pytrec_eval
MOST_LATENCY, GOAL_LATENCY = 0.005, 0.003  # seconds


@dataclass(frozen=True)
class Stored:
    """A collection as the database gives it: numbers for topics and for documents."""

    tags: Sequence[str]
    runs: Sequence[Mapping[int, NDArray[np.int32]]]
    qrels: Mapping[int, dict[int, int]]
    topics: Mapping[int, str]
    measures: tuple[Measure, ...]

    def scores(self) -> Scores:
        """Score every run for every topic."""
        return score_runs(self.runs, self.qrels, self.topics, self.measures, 1)

    def scores_of(self, topic: int) -> Scores:
        """Score every run for one topic."""
        return score_runs(
            [{topic: run[topic]} for run in self.runs], {topic: self.qrels[topic]}, self.topics, self.measures, 1
        )


def all_runs(collection: Collection, rounds: int) -> Row:
    """Score all runs, against pytrec_eval with qrels and runs in its dictionaries already."""
    stored = _store(collection)
    with collection.qrels.open() as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), set(MEASURES))
    refuse_if_different(_values(stored), {path.name: _peer(evaluator, path)[0] for path in collection.runs})
    ours, theirs = [], []
    for _ in range(rounds):
        ours += [cost_of_call(stored.scores) for _ in range(IN_SUCCESSION)]
        theirs.append(Cost.total([_peer(evaluator, path)[1] for path in collection.runs]))
    return Row.of_speed(
        f"{len(stored.runs)} runs, from stored arrays",
        Cost.middle(ours),
        "pytrec_eval, evaluate only",
        Cost.middle(theirs),
        LEAST_SPEED,
        GOAL_SPEED,
    )


def one_judgement(collection: Collection) -> Row:
    """Change one judgement and take all measures of all runs for its topic, many times."""
    stored = _store(collection)
    topics = list(stored.qrels)
    chance = np.random.default_rng(CHANGES)
    costs = []
    for topic in chance.choice(topics, CHANGES).tolist():
        grades = stored.qrels[topic]
        changed = int(chance.choice(list(grades)))
        grades[changed] = 0 if grades[changed] else 1
        costs.append(cost_of_call(partial(stored.scores_of, topic)))
    values = stored.scores().values
    for place, topic in enumerate(topics):
        if not np.array_equal(stored.scores_of(topic).values[:, 0], values[:, place]):
            raise SystemExit(f"Topic {stored.topics[topic]} is scored otherwise alone than among all.")
    work = f"one judgement changed, {len(stored.runs)} runs"
    return Row.of_latency(work, Cost.middle(costs), MOST_LATENCY, GOAL_LATENCY)


def _store(collection: Collection) -> Stored:
    """Give numbers to topics and documents."""
    documents = trec8_documents()
    rows = [line.split() for line in collection.qrels.read_text().splitlines()]
    # In the order of their bytes, which is that of the scores.
    topics = {topic: number for number, topic in enumerate(sorted({row[0] for row in rows}))}
    qrels: dict[int, dict[int, int]] = {number: {} for number in topics.values()}
    for topic, _, docno, grade in rows:
        qrels[topics[topic]][documents[docno]] = int(grade)
    return Stored(
        tags=[path.name for path in collection.runs],
        runs=[
            {
                topics[topic]: np.array([documents[docno.decode()] for docno in ranked.docnos.tolist()], np.int32)
                for topic, ranked in _read(path).lists.items()
            }
            for path in collection.runs
        ],
        qrels=qrels,
        topics={number: topic for topic, number in topics.items()},
        measures=parse_measures(MEASURES),
    )


def _read(path: Path) -> ParsedRun:
    """Read a run, its lists in the order of trec_eval 9, which sees 32-bit scores, for pytrec_eval is that."""
    problems = Problems()
    parsed = parse_run(path.name, path.read_bytes(), problems)
    problems.refuse_if_any()
    if parsed is None:
        raise SystemExit(f"{path.name} holds no run.")
    lists = {}
    for topic, ranked in parsed.lists.items():
        scores = ranked.scores.astype(np.float32).astype(np.float64)
        order = trec_order(ranked.docnos, scores)
        lists[topic] = ParsedList(ranked.docnos[order], scores[order])
    return ParsedRun(parsed.tag, lists, parsed.lines)


def _values(stored: Stored) -> Values:
    """Take what is timed, but interpolated precision, about which the versions of trec_eval disagree, as 9 does."""
    timed = stored.scores()
    of_9 = score(timed.judged, timed.topics, stored.measures, 1, compat=Compat.TREC_EVAL_9)
    for place, key in enumerate(KEYS):
        if not key.startswith("iprec") and not np.array_equal(timed.values[..., place], of_9.values[..., place]):
            raise SystemExit(f"{key} is another for trec_eval 9.")
    return {tag: of_9.by_topic(run) for run, tag in enumerate(stored.tags)}


def _peer(evaluator: pytrec_eval.RelevanceEvaluator, path: Path) -> tuple[dict[str, tuple[float, ...]], Cost]:
    """Score one run; the cost is without reading it, and its dictionaries are dropped before the next is read."""
    with path.open() as file:
        run = pytrec_eval.parse_run(file)
    scored: list[dict[str, dict[str, float]]] = []
    cost = cost_of_call(lambda: scored.append(evaluator.evaluate(run)))
    return {topic: tuple(of[key] for key in KEYS) for topic, of in scored[0].items()}, cost
