"""Pools of growing size for every strategy: the documents each adds and the runs' unique contributions."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.pooling.planning import JoinedLists, plan_depths, shares
from annotator.evaluation.pooling.pool_choice import (
    DocnosOf,
    ListsOfTopics,
    TopicLists,
    choose,
    read_topics,
    within_budget,
)
from annotator.evaluation.pooling.pool_selection import still_to_choose
from annotator.evaluation.pooling.probability_sample import Known, growing
from annotator.evaluation.pooling.strategies import Strategy, StrategyKind
from annotator.evaluation.pooling.topic_runs import TopicRuns

Counts = NDArray[np.int64]
Numbers = NDArray[np.int32]

NONE: Numbers = np.empty(0, np.int32)
LEAST_DEPTHS = 100  # least range of a curve of depths, if the lists are that long
POINTS = 100  # of a curve of budgets, which ends at twice the requested budget


@dataclass(frozen=True, eq=False)
class PoolCurve:
    """Pools of several amounts, the last axis of every array; a single pool where there is nothing to vary.

    An amount is a depth, or a budget in total or per topic. Of what an adaptive strategy will choose only the number
    is known: contributions of runs and teams are then counted in its initial pool.
    """

    grows: str | None  # the parameter that varies
    amounts: Counts
    asked: int  # index of the requested amount
    added: Counts  # topics x amounts: documents that are not in the pool yet
    to_come: Counts  # topics x amounts: those of `added` chosen later, from judgements
    only_run: Counts  # runs x amounts: documents, over all topics, contributed by this run alone
    only_team: Counts  # teams x amounts: documents, over all topics, contributed by this team alone


@dataclass(frozen=True, eq=False)
class Present:
    """A topic's pooled documents, how many of them are fully judged, and how many judgements are missing."""

    documents: Numbers
    complete: int
    missing: int

    @classmethod
    def of(cls, documents: Sequence[int], complete: int, missing: int) -> "Present":
        """The pooled documents of a topic, with these counts."""
        return cls(np.array(documents, np.int32), complete, missing)


NOTHING = Present(NONE, 0, 0)


@dataclass(frozen=True, eq=False)
class TakenFromRuns:
    """The documents of a topic in the order in which a growing amount adds them, pooled ones included."""

    documents: Numbers
    only_run: NDArray[np.intp]  # for each document: the only run that has it, -1 where several have
    only_team: NDArray[np.intp]
    candidates: int  # the most documents that can be taken
    retrieved: Numbers  # all candidates where an adaptive strategy chooses among them later, else none


# By topic. What depends on the runs alone takes nearly all of the time, and is cached.
AllTaken = Mapping[int, TakenFromRuns]
Recall = Callable[[Strategy, Callable[[], AllTaken]], AllTaken]


@dataclass(frozen=True, eq=False)
class _Taken:
    """`TakenFromRuns` together with what is pooled already."""

    of_runs: TakenFromRuns
    is_new: NDArray[np.bool_]  # for each document: whether it is not pooled yet
    untouched: int  # number of documents to choose from that are neither in `documents` nor pooled


def curve_of_depths(
    topics: Mapping[int, str],
    lists: ListsOfTopics,
    teams: Sequence[int],
    pooled: Mapping[int, Numbers],
    *,
    depth: int,
    own_depths: Mapping[int, int],
) -> PoolCurve:
    """Compute the curve of depth pooling: to `depth`, and to `LEAST_DEPTHS` if the lists are that long.

    `teams` has the team of each run, `pooled` the pooled documents of each topic, `own_depths` the fixed depths of
    runs that have one of their own, at which `lists` cuts them.
    """
    limit = max(depth, LEAST_DEPTHS)
    places = {topic: place for place, topic in enumerate(topics)}
    read: list[int] = []

    def following() -> Iterator[tuple[JoinedLists, Numbers]]:
        for topic, joined in lists.joined(topics):
            read.append(places[topic])
            yield joined, pooled.get(topic, NONE)

    plan = plan_depths(following(), teams, limit, whole=own_depths.keys())
    limit = max(depth, min(LEAST_DEPTHS, plan.longest))
    added = np.zeros((len(topics), limit), np.int64)
    added[read] = (plan.size - plan.pooled)[:, :limit]
    only_run, only_team = plan.only_run[:, :limit], plan.only_team[:, :limit]
    return PoolCurve("depth", np.arange(1, limit + 1), depth - 1, added, np.zeros_like(added), only_run, only_team)


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
    corpus: int | None = None,
    recall: Recall = lambda _, take: take(),
) -> PoolCurve:
    """Compute the curve of any other strategy: budgets up to twice the requested one; for a sample, one point.

    A strategy that goes on until a stopping rule has one point, too: the most documents that it may choose.

    `made` has the number of documents per topic, also of topics not given, that the same adaptive strategy has chosen
    before: they reduce its budget. `corpus` is the number of documents that it can choose from if not only those of the
    runs. `recall` is a cache of what a strategy takes from these runs with this seed.
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
    chosen = {topic: _beside(of_runs, pooled.get(topic, NONE), corpus) for topic, of_runs in taken.items()}
    to_come = _to_come(strategy, amounts, topics, chosen, made or {})
    growing = dict(zip(taken, _shares(strategy, amounts, list(taken.values())), strict=True))
    added, only_run, only_team = _added_up(topics, amounts, chosen, growing, (len(teams), max(teams) + 1))
    if strategy.definition.kind is StrategyKind.SAMPLE:
        size = sum((of_runs.documents.size for of_runs in taken.values()), 0)
        return PoolCurve(None, np.array([size]), 0, added, to_come, only_run, only_team)
    if strategy.until is not None:
        most_added = added + to_come
        return PoolCurve(None, most_added.sum(axis=0), 0, most_added, to_come, only_run, only_team)
    grows = "budget" if strategy.budget is not None else "per_topic"
    asked = amounts.tolist().index(getattr(strategy, grows))
    return PoolCurve(grows, amounts, asked, added + to_come, to_come, only_run, only_team)


def curve_of_sample(
    strategy: Strategy,
    topics: Mapping[int, str],
    lists: ListsOfTopics,
    teams: Sequence[int],
    pooled: Mapping[int, Numbers],
    *,
    docnos_of: DocnosOf,
    seed: int,
    known: Known,
) -> PoolCurve:
    """Compute the curve of a sample whose budget is divided among strata, from the smallest budget.

    Raises `InvalidValueError` when the requested budget is smaller than that.
    """
    read = {topic: (runs, given) for topic, runs, given in read_topics(topics, lists, docnos_of)}
    choices = [choose(strategy, runs, seed, known, topic) for topic, (runs, _) in read.items()]
    within_budget(strategy, choices)
    grown = growing([choice.open for choice in choices], strategy.allocation)
    amounts = _amounts(strategy)
    amounts = amounts[amounts >= grown.least]
    chosen = {
        topic: _beside(_held(documents, *read[topic], teams), pooled.get(topic, NONE))
        for topic, documents in zip(read, grown.documents, strict=True)
    }
    sizes = {
        topic: np.searchsorted(entered, amounts, side="right")
        for topic, entered in zip(read, grown.entered, strict=True)
    }
    added, only_run, only_team = _added_up(topics, amounts, chosen, sizes, (len(teams), max(teams) + 1))
    asked = amounts.tolist().index(strategy.budget)
    return PoolCurve("budget", amounts, asked, added, np.zeros_like(added), only_run, only_team)


def _held(documents: Numbers, runs: TopicRuns, given: TopicLists, teams: Sequence[int]) -> TakenFromRuns:
    """The documents in this order, with the only run and team that have each; -1 also where no run does."""
    place, run = runs.entries.place, given.runs[runs.given[runs.entries.row]]
    places = np.array([runs.place_of.get(document, -1) for document in documents.tolist()], np.intp)
    only_run, only_team = (
        np.append(_alone(place, holder, runs.candidates), -1)[places] for holder in (run, np.array(teams, np.intp)[run])
    )
    return TakenFromRuns(documents, only_run, only_team, runs.candidates, NONE)


def _added_up(
    topics: Iterable[int],
    amounts: Counts,
    chosen: Mapping[int, _Taken],
    growing: Mapping[int, Counts],
    runs_and_teams: tuple[int, int],
) -> tuple[Counts, Counts, Counts]:
    """Count per amount the new documents of each topic and the unique contributions of each run and team."""
    topics = list(topics)
    added = np.zeros((len(topics), amounts.size), np.int64)
    only_run, only_team = (np.zeros((holders, amounts.size), np.int64) for holders in runs_and_teams)
    for row, topic in ((row, topic) for row, topic in enumerate(topics) if topic in chosen):
        one, of_runs = chosen[topic], chosen[topic].of_runs
        # The first amount that includes a document; documents that no amount includes are left out.
        entry = np.searchsorted(growing[topic], np.arange(1, of_runs.documents.size + 1))
        entry = entry[: np.searchsorted(entry, amounts.size)]
        added[row] = np.bincount(entry[one.is_new[: entry.size]], minlength=amounts.size)
        for only, holder in ((only_run, of_runs.only_run), (only_team, of_runs.only_team)):
            alone = np.flatnonzero(holder[: entry.size] >= 0)
            np.add.at(only, (holder[alone], entry[alone]), 1)
    return np.cumsum(added, axis=1), np.cumsum(only_run, axis=1), np.cumsum(only_team, axis=1)


def _amounts(strategy: Strategy) -> Counts:
    """Choose the points of the curve; the requested amount is the middle one. Until a stopping rule there is one."""
    if strategy.until is not None:
        return np.zeros(1, np.int64)
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


def _beside(taken: TakenFromRuns, pooled: Numbers, corpus: int | None = None) -> _Taken:
    is_new = ~np.isin(taken.documents, pooled)
    if corpus is not None:
        return _Taken(taken, is_new, max(corpus - pooled.size - int(np.count_nonzero(is_new)), 0))
    chosen_or_pooled = np.isin(taken.retrieved, np.concatenate([taken.documents, pooled]))
    untouched = taken.retrieved.size - np.count_nonzero(chosen_or_pooled)
    return _Taken(taken, is_new, int(untouched))


def _alone(place: Numbers, holder: NDArray[np.intp], candidates: int) -> NDArray[np.intp]:
    """Return for each place the only holder of its document, -1 where several have it."""
    least = np.full(candidates, np.iinfo(np.intp).max)
    greatest = np.full(candidates, -1)
    np.minimum.at(least, place, holder)
    np.maximum.at(greatest, place, holder)
    return np.where(least == greatest, least, -1)


def _shares(strategy: Strategy, amounts: Counts, chosen: Sequence[TakenFromRuns]) -> Counts:
    """Count the documents of each topic for each amount, among those whose order is known."""
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
    """Count the documents that an adaptive strategy will choose per topic and amount; 0 for any other strategy."""
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


MOST_PLANS = 24  # about 1 MB each, 3 MB for an adaptive strategy, with 143 runs of 30 topics


@dataclass(eq=False)
class PlanMemory:
    """LRU cache of what strategies take from runs; the key has all inputs, and pool and judgements are not among them.

    There is no invalidation: plans of deleted runs are evicted as the least recently used.
    """

    _taken: OrderedDict[Hashable, AllTaken] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def recall(self, key: Hashable, take: Callable[[], AllTaken]) -> AllTaken:
        """Return the cached value of this key, or compute it; concurrent callers may both compute it."""
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
