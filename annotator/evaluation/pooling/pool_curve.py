"""Pools of growing size for every strategy: what each adds to the present pool, which runs contribute alone."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.pooling.planning import plan_depths, shares
from annotator.evaluation.pooling.pool_choice import DocnosOf, ListsOfTopics, TopicLists, choose, read_topics
from annotator.evaluation.pooling.pool_selection import still_to_choose
from annotator.evaluation.pooling.strategies import Strategy, StrategyKind
from annotator.evaluation.pooling.topic_runs import TopicRuns

Counts = NDArray[np.int64]
Numbers = NDArray[np.int32]

NONE: Numbers = np.empty(0, np.int32)
LEAST_DEPTHS = 100  # a curve of depths goes so far at least, if the lists do
POINTS = 100  # of a curve of budgets, which ends at twice the budget that was asked for


@dataclass(frozen=True, eq=False)
class PoolCurve:
    """Pools of several amounts, the last axis of everything here; one pool alone where there is nothing to vary.

    An amount is a depth, or a budget in total or for each topic. What an adaptive strategy will choose is known by its
    number only: the runs and teams then count in what it begins with.
    """

    grows: str | None  # the parameter that the amounts are of
    amounts: Counts
    asked: int  # index of the amount that was asked for
    added: Counts  # topics x amounts: documents that are not in the pool yet
    to_come: Counts  # topics x amounts: of these, chosen from judgements later
    only_run: Counts  # runs x amounts: documents, over all topics, that no other run puts in
    only_team: Counts  # teams x amounts: documents, over all topics, that no other team puts in


@dataclass(frozen=True, eq=False)
class Present:
    """What is pooled of a topic: documents, how many have all their judgements, and the judgements still missing."""

    documents: Numbers
    complete: int
    missing: int

    @classmethod
    def of(cls, documents: Mapping[int, int]) -> "Present":
        """Take pooled documents in, each with the judgements it still wants; it may have more than it wants."""
        wanting = [max(missing, 0) for missing in documents.values()]
        return cls(np.array(list(documents), np.int32), wanting.count(0), sum(wanting))


NOTHING = Present(NONE, 0, 0)


@dataclass(frozen=True, eq=False)
class TakenFromRuns:
    """The documents of a topic in the order in which a growing amount takes them in, whatever is pooled already."""

    documents: Numbers
    only_run: NDArray[np.intp]  # of each: the run that alone has it, -1 where several have
    only_team: NDArray[np.intp]
    candidates: int  # how many there are to take at the very most
    retrieved: Numbers  # all of these where an adaptive strategy chooses among them later, else none


# By topic. What the runs alone decide takes nearly all of the time: it can be had from where it is kept.
AllTaken = Mapping[int, TakenFromRuns]
Recall = Callable[[Strategy, Callable[[], AllTaken]], AllTaken]


@dataclass(frozen=True, eq=False)
class _Taken:
    """`TakenFromRuns` together with what is pooled already."""

    of_runs: TakenFromRuns
    is_new: NDArray[np.bool_]  # of each document: it is not pooled yet
    untouched: int  # of what was retrieved, neither among the documents nor pooled


def curve_of_depths(
    topics: Mapping[int, str],
    lists: ListsOfTopics,
    teams: Sequence[int],
    pooled: Mapping[int, Numbers],
    *,
    depth: int,
    own_depths: Mapping[int, int],
) -> PoolCurve:
    """Draw the curve of the strategy depth: to `depth`, and to `LEAST_DEPTHS` if the lists go so far.

    `teams` has the team of each run, `pooled` the documents of each topic that are; `own_depths` what some runs have
    for a depth whatever the others have.
    """
    found = dict(lists.of(topics))
    rankings = [_by_run(found.get(topic), len(teams)) for topic in topics]
    longest = max((ranked.size for ranked_lists in rankings for ranked in ranked_lists), default=0)
    limit = max(depth, min(LEAST_DEPTHS, longest))
    whose, pieces = _in_pieces(rankings, own_depths)
    here = [pooled.get(topic, NONE) for topic in topics]
    plan = plan_depths(pieces, [teams[run] for run in whose], limit, pooled=here)
    only_run = np.zeros((len(teams), limit), np.int64)
    np.add.at(only_run, whose, plan.only_run)
    amounts = np.arange(1, limit + 1)
    added = plan.size - plan.pooled
    return PoolCurve("depth", amounts, depth - 1, added, np.zeros_like(added), only_run, plan.only_team)


def curve_of_budgets(
    strategy: Strategy,
    topics: Mapping[int, str],
    lists: ListsOfTopics,
    teams: Sequence[int],
    pooled: Mapping[int, Numbers],
    *,
    docnos_of: DocnosOf,
    seed: int,
    made: Mapping[int, int] | None = None,
    recall: Recall = lambda _, take: take(),
) -> PoolCurve:
    """Draw the curve of any other strategy: over budgets up to twice the one asked for; of a sample, that alone.

    `made` has how many documents of each topic, also of topics not given, the same adaptive strategy has chosen before:
    its budget is that much smaller. `recall` may know what a strategy takes from these very runs with this seed.
    """
    amounts = _amounts(strategy)
    most = int(amounts[-1])
    further = replace(strategy, budget=strategy.budget and most, per_topic=strategy.per_topic and most)
    taken = recall(
        further,
        lambda: {
            topic: _taken_from_runs(further, runs, given, teams, seed)
            for topic, runs, given in read_topics(topics, lists, docnos_of)
        },
    )
    chosen = {topic: _beside(of_runs, pooled.get(topic, NONE)) for topic, of_runs in taken.items()}
    to_come = _to_come(strategy, amounts, topics, chosen, made or {})
    growing = dict(zip(taken, _shares(strategy, amounts, list(taken.values())), strict=True))
    added, only_run, only_team = _added_up(topics, amounts, chosen, growing, (len(teams), max(teams) + 1))
    if strategy.definition.kind is StrategyKind.SAMPLE:
        size = sum((of_runs.documents.size for of_runs in taken.values()), 0)
        return PoolCurve(None, np.array([size]), 0, added, to_come, only_run, only_team)
    grows = "budget" if strategy.budget is not None else "per_topic"
    asked = amounts.tolist().index(getattr(strategy, grows))
    return PoolCurve(grows, amounts, asked, added + to_come, to_come, only_run, only_team)


def _added_up(
    topics: Iterable[int],
    amounts: Counts,
    chosen: Mapping[int, _Taken],
    growing: Mapping[int, Counts],
    runs_and_teams: tuple[int, int],
) -> tuple[Counts, Counts, Counts]:
    """Count by amount what is new, of each topic, and what each run and each team alone puts in."""
    topics = list(topics)
    added = np.zeros((len(topics), amounts.size), np.int64)
    only_run, only_team = (np.zeros((holders, amounts.size), np.int64) for holders in runs_and_teams)
    for row, topic in ((row, topic) for row, topic in enumerate(topics) if topic in chosen):
        one, of_runs = chosen[topic], chosen[topic].of_runs
        # The first amount with which a document is taken in; documents that none takes in are left out.
        entry = np.searchsorted(growing[topic], np.arange(1, of_runs.documents.size + 1))
        entry = entry[: np.searchsorted(entry, amounts.size)]
        added[row] = np.bincount(entry[one.is_new[: entry.size]], minlength=amounts.size)
        for only, holder in ((only_run, of_runs.only_run), (only_team, of_runs.only_team)):
            alone = np.flatnonzero(holder[: entry.size] >= 0)
            np.add.at(only, (holder[alone], entry[alone]), 1)
    return np.cumsum(added, axis=1), np.cumsum(only_run, axis=1), np.cumsum(only_team, axis=1)


def _by_run(given: TopicLists | None, runs: int) -> list[Numbers]:
    """Give every run's list, an empty one where it leaves the topic out."""
    rankings = [NONE] * runs
    if given is not None:
        for run, ranking in zip(given.runs.tolist(), given.rankings, strict=True):
            rankings[run] = ranking
    return rankings


def _in_pieces(
    rankings: Sequence[Sequence[Numbers]], own_depths: Mapping[int, int]
) -> tuple[list[int], list[list[Numbers]]]:
    """Cut runs that have depths of their own into pieces of one document, which are then in the pool at every depth.

    The run that each piece is of, and the pieces of each topic.
    """
    pieces = [own_depths.get(run, 0) for run in range(len(rankings[0]) if rankings else 0)]
    whose = [run for run, depth in enumerate(pieces) for _ in range(depth or 1)]
    return whose, [
        [
            piece
            for depth, ranking in zip(pieces, topic, strict=True)
            for piece in ([ranking[at : at + 1] for at in range(depth)] if depth else [ranking])
        ]
        for topic in rankings
    ]


def _amounts(strategy: Strategy) -> Counts:
    """Choose the points of the curve; the amount that was asked for is the middle one."""
    asked = strategy.budget or strategy.per_topic or 0
    amounts: Counts = np.unique(-(-2 * asked * np.arange(1, POINTS + 1) // POINTS))
    return amounts


def _taken_from_runs(
    strategy: Strategy, runs: TopicRuns, given: TopicLists, teams: Sequence[int], seed: int
) -> TakenFromRuns:
    documents = choose(strategy, runs, seed).documents
    is_adaptive = strategy.definition.kind is StrategyKind.ADAPTIVE
    counts = runs.entries.rank <= strategy.start_depth if is_adaptive else np.ones(runs.entries.rank.size, np.bool_)
    place = runs.entries.place[counts]
    run = given.runs[runs.given[runs.entries.row[counts]]]
    by_number = np.argsort(runs.documents)
    places = by_number[np.searchsorted(runs.documents, documents, sorter=by_number)]
    only_run, only_team = (
        _alone(place, holder, runs.candidates)[places] for holder in (run, np.array(teams, np.intp)[run])
    )
    return TakenFromRuns(documents, only_run, only_team, runs.candidates, runs.documents if is_adaptive else NONE)


def _beside(taken: TakenFromRuns, pooled: Numbers) -> _Taken:
    chosen_or_pooled = np.isin(taken.retrieved, np.concatenate([taken.documents, pooled]))
    untouched = taken.retrieved.size - np.count_nonzero(chosen_or_pooled)
    return _Taken(taken, ~np.isin(taken.documents, pooled), int(untouched))


def _alone(place: Numbers, holder: NDArray[np.intp], candidates: int) -> NDArray[np.intp]:
    """Give each place the one holder that has its document, -1 where several have it."""
    least = np.full(candidates, np.iinfo(np.intp).max)
    greatest = np.full(candidates, -1)
    np.minimum.at(least, place, holder)
    np.maximum.at(greatest, place, holder)
    return np.where(least == greatest, least, -1)


def _shares(strategy: Strategy, amounts: Counts, chosen: Sequence[TakenFromRuns]) -> Counts:
    """Give the number of documents of each topic with each amount, of those whose order is known."""
    if strategy.definition.kind is not StrategyKind.ORDER:
        sizes = np.array([[one.documents.size] for one in chosen], np.int64).reshape(-1, 1)
        return np.repeat(sizes, amounts.size, axis=1)
    candidates = [one.candidates for one in chosen]
    if strategy.per_topic is not None:
        return np.minimum(np.array(candidates, np.int64).reshape(-1, 1), amounts)
    given = np.array([shares(int(amount), candidates) for amount in amounts], np.int64)
    return given.reshape(amounts.size, -1).T


def _to_come(
    strategy: Strategy,
    amounts: Counts,
    topics: Mapping[int, str],
    chosen: Mapping[int, _Taken],
    made: Mapping[int, int],
) -> Counts:
    """Count what an adaptive strategy chooses of each topic with each amount; nothing of any other."""
    counts = np.zeros((len(topics), amounts.size), np.int64)
    if strategy.definition.kind is not StrategyKind.ADAPTIVE:
        return counts
    before = {number: made.get(topic, 0) for topic, number in topics.items()}
    sizes = {
        number: before[number] + (chosen[topic].untouched if topic in chosen else 0) for topic, number in topics.items()
    }
    used = sum(made.values()) - sum(before.values())
    for column, amount in enumerate(amounts.tolist()):
        grown = replace(strategy, budget=strategy.budget and amount, per_topic=strategy.per_topic and amount)
        left = still_to_choose(grown, sizes, before, used=used)
        counts[:, column] = [left[number] for number in topics.values()]
    return counts


MOST_PLANS = 24  # of about a megabyte each, three of an adaptive strategy, for 143 runs of 30 topics


@dataclass(eq=False)
class PlanMemory:
    """What strategies take from runs, under all that it depends on: what is pooled and judged has no part in it.

    Nothing is ever told to forget; plans of runs that are no more go when nobody has asked for them for longest.
    """

    _taken: OrderedDict[Hashable, AllTaken] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def recall(self, key: Hashable, take: Callable[[], AllTaken]) -> AllTaken:
        """What was taken under this key, or else is taken now; two who ask at once may both take it."""
        with self._lock:
            if key in self._taken:
                self._taken.move_to_end(key)
                return self._taken[key]
        taken = take()
        with self._lock:
            self._taken[key] = taken
            while len(self._taken) > MOST_PLANS:
                self._taken.popitem(last=False)
        return taken
