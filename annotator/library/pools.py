"""Pools of runs, and strategies of pooling simulated on judged documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.pooling.pool_choice import TopicChoice, choose, run_depths, within_budget
from annotator.evaluation.pooling.pool_simulation import JudgedPool, Trial, orders_of_topic, trials
from annotator.evaluation.pooling.strategies import Strategy, StrategyKind, parse_strategy
from annotator.evaluation.pooling.topic_runs import TopicRuns, topic_runs
from annotator.evaluation.runs.parsed_runs import ParsedList
from annotator.library.inputs import Given, grades_of, lists_by_run
from annotator.library.tables import Table

USUAL_START_DEPTHS = (10,)
# Document numbers and scores, best first.
ParsedNumbers = tuple[NDArray[np.int32], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class _Numbered:
    """The lists of all runs with documents as numbers, the places of their docnos in `docnos`."""

    topics: tuple[str, ...]  # in natural order
    docnos: tuple[str, ...]
    rankings: Mapping[str, Mapping[str, ParsedNumbers]]  # by run and topic

    def of_topic(self, topic: str) -> list[ParsedNumbers]:
        """The lists of the runs that have the topic, in the order of the runs."""
        return [lists[topic] for lists in self.rankings.values() if topic in lists]


def pool(runs: Given, *, strategy: str = "depth", seed: int = 1, **parameters: str | int) -> Table:
    """Pool runs: the documents to judge, a row each, topics in natural order.

    Runs are as of `evaluate`. Strategies and their parameters are those of `annotator pool strategies`, such as
    `depth=10`, or `strategy="rrf", budget=1000`; without parameters the depth is 10. Adaptive strategies give the pool
    with which they begin. `rank` is the best rank of any run, `runs` how many runs have the document as deep as
    the strategy reads them. The order within a topic is by docno, so that it says nothing of ranks. Raises
    `InvalidValueError` for an unknown strategy and invalid parameters, `FileRefusedError` for files with problems.
    """
    named = parse_strategy(strategy, parameters or ({"depth": 10} if strategy.lower() == "depth" else {}))
    numbered = _numbered(lists_by_run(runs))
    of_topics = [_topic_runs(topic, numbered, named.candidate_depth) for topic in numbered.topics]
    choices = within_budget(named, [choose(named, one, seed) for one in of_topics])
    rows = [
        row
        for topic, choice in zip(numbered.topics, choices, strict=True)
        for row in sorted(_rows(topic, choice, numbered, named))
    ]
    return Table(("topic", "docno", "rank", "runs"), tuple(rows))


def simulate(
    qrels: Given,
    runs: Given,
    strategies: Sequence[str] = (),
    *,
    relevant_from: int = 1,
    start_depths: Sequence[int] = USUAL_START_DEPTHS,
    strata: str | None = None,
    seed: int = 1,
) -> Table:
    """Simulate strategies of pooling with qrels as the judgements, all strategies unless some are named.

    A row for each strategy and share of all judgements: how many documents it has judged by then, the share of all
    relevant documents found (recall), and Kendall's tau of the runs by mean AP with that by all judgements. Arguments
    are as of `evaluate` and of `annotator pool simulate`. Raises `InvalidValueError` when no run has a relevant
    document, and for an unknown strategy.
    """
    grades, numbered = grades_of(qrels), _numbered(lists_by_run(runs))
    tried = trials(list(strategies), start_depths, strata)
    topics = [topic for topic in numbered.topics if topic in grades]
    judged = {place: _retrieved(grades[topic], topic, numbered) for place, topic in enumerate(topics)}
    lists = [
        {place: lists[topic][0] for place, topic in enumerate(topics) if topic in lists}
        for lists in numbered.rankings.values()
    ]
    judged_pool = JudgedPool(dict(enumerate(topics)), judged, lists, relevant_from)
    if not judged_pool.relevant:
        raise InvalidValueError("No run has a document that is relevant by these qrels, so there is nothing to find.")
    orders = _orders(tried, judged_pool, numbered, seed)
    means = judged_pool.means(judged_pool.grades)
    rows = [
        (trial.strategy.name, trial.start_depth, point.share, point.judged, point.found, point.tau)
        for trial, order in zip(tried, orders, strict=True)
        for point in judged_pool.points(order, means)
    ]
    return Table(("strategy", "start_depth", "share", "judged", "recall", "tau"), tuple(rows))


def _orders(
    tried: Sequence[Trial], judged_pool: JudgedPool, numbered: _Numbered, seed: int
) -> list[dict[int, NDArray[np.int32]]]:
    """For each strategy, the order in which it selects the judged documents of each topic."""
    orders: list[dict[int, NDArray[np.int32]]] = [{} for _ in tried]
    for place, topic in judged_pool.numbers.items():
        grades = judged_pool.grades[place]
        runs = _topic_runs(topic, numbered, None)
        found = orders_of_topic(tried, runs, grades, judged_pool.relevant_from, most=len(grades), seed=seed)
        for order, documents in zip(orders, found, strict=True):
            order[place] = documents
    return orders


def _numbered(lists: Mapping[str, Mapping[str, ParsedList]]) -> _Numbered:
    topics = sorted({topic for of_run in lists.values() for topic in of_run}, key=natural_order)
    numbers: dict[str, int] = {}
    rankings = {
        run: {
            topic: (
                np.array([numbers.setdefault(bytes(one).decode(), len(numbers)) for one in ranked.docnos], np.int32),
                ranked.scores,
            )
            for topic, ranked in of_run.items()
        }
        for run, of_run in lists.items()
    }
    return _Numbered(tuple(topics), tuple(numbers), rankings)


def _topic_runs(topic: str, numbered: _Numbered, depth: int | None) -> TopicRuns:
    documents, scores = zip(*numbered.of_topic(topic), strict=True)
    names = {number: numbered.docnos[number] for number in np.unique(np.concatenate(documents)).tolist()}
    return topic_runs(topic, documents, names, scores=scores, depth=depth)


def _retrieved(grades: Mapping[str, int], topic: str, numbered: _Numbered) -> dict[int, int]:
    """The grades of the documents of a topic that some run retrieved, by number."""
    retrieved = np.unique(np.concatenate([documents for documents, _ in numbered.of_topic(topic)])).tolist()
    docnos = ((document, numbered.docnos[document]) for document in retrieved)
    return {document: grades[docno] for document, docno in docnos if docno in grades}


def _rows(topic: str, choice: TopicChoice, numbered: _Numbered, strategy: Strategy) -> list[tuple[str, str, int, int]]:
    """Topic, docno, best rank and number of runs of each chosen document."""
    is_adaptive = strategy.definition.kind is StrategyKind.ADAPTIVE
    [depth] = [strategy.start_depth] if is_adaptive else run_depths(strategy, [""], {})
    chosen = set(choice.documents.tolist())
    best: dict[int, int] = {}
    holders: dict[int, int] = {}
    for documents, _ in numbered.of_topic(topic):
        for rank, document in enumerate(documents[:depth].tolist(), 1):
            if document in chosen:
                best[document] = min(rank, best.get(document, rank))
                holders[document] = holders.get(document, 0) + 1
    return [(topic, numbered.docnos[document], best[document], holders[document]) for document in chosen]
