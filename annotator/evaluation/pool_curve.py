"""Pools of growing amounts, for every strategy: how large, how much of it is there already, who alone puts in what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.pool_choice import DocnosOf, ListsOfTopics, TopicLists, choose, read_topics
from annotator.evaluation.pooling import Kind, Strategy, TopicRuns, plan_depths, shares

Counts = NDArray[np.int64]
Numbers = NDArray[np.int32]

NONE: Numbers = np.empty(0, np.int32)
LEAST_DEPTHS = 100  # a curve of depths goes so far at least, if the lists do
POINTS = 100  # of a curve of budgets, which ends at twice the budget that was asked for


@dataclass(frozen=True, eq=False)
class PoolCurve:
    """Pools of several amounts, the last axis of everything here; one pool alone where there is nothing to vary.

    An amount is a depth, or a budget in total or for each topic. What an adaptive strategy will choose is known by its
    number only: `pooled`, `judged` and the rest then count in what it begins with.
    """

    grows: str | None  # the parameter that the amounts are of
    amounts: Counts
    asked: int  # index of the amount that was asked for
    size: Counts  # topics x amounts: documents in the pool
    pooled: Counts  # topics x amounts: of these, in the pool already
    complete: Counts  # topics x amounts: of these, with all the judgements they want
    only_run: Counts  # runs x amounts: documents, over all topics, that no other run puts in
    only_team: Counts  # teams x amounts: documents, over all topics, that no other team puts in


@dataclass(frozen=True, eq=False)
class Present:
    """The documents of a topic that are pooled, and those of them that have all the judgements they want."""

    pooled: Numbers
    complete: Numbers

    @classmethod
    def of(cls, documents: Mapping[int, bool]) -> "Present":
        """Take pooled documents in, each with whether it is completely judged."""
        complete = [document for document, is_complete in documents.items() if is_complete]
        return cls(np.array(list(documents), np.int32), np.array(complete, np.int32))


NOTHING = Present(NONE, NONE)


@dataclass(frozen=True, eq=False)
class _Taken:
    """The documents of a topic in the order in which a growing amount takes them in."""

    documents: Numbers
    only_run: NDArray[np.intp]  # of each: the run that alone has it, -1 where several have
    only_team: NDArray[np.intp]
    candidates: int  # how many there are to take at the very most


def curve_of_depths(
    topics: Mapping[int, str],
    lists: ListsOfTopics,
    teams: Sequence[int],
    present: Mapping[int, Present],
    *,
    depth: int,
    own_depths: Mapping[int, int],
) -> PoolCurve:
    """Draw the curve of the strategy depth: to `depth`, and to `LEAST_DEPTHS` if the lists go so far.

    `teams` has the team of each run; `own_depths` what some of them have for a depth whatever the others have.
    """
    found = dict(lists.of(topics))
    rankings = [_by_run(found.get(topic), len(teams)) for topic in topics]
    longest = max((ranked.size for ranked_lists in rankings for ranked in ranked_lists), default=0)
    limit = max(depth, min(LEAST_DEPTHS, longest))
    whose, pieces = _in_pieces(rankings, own_depths)
    here = [present.get(topic, NOTHING) for topic in topics]
    plan = plan_depths(
        pieces,
        [teams[run] for run in whose],
        limit,
        pooled=[one.pooled for one in here],
        judged=[one.complete for one in here],
    )
    only_run = np.zeros((len(teams), limit), np.int64)
    np.add.at(only_run, whose, plan.only_run)
    amounts = np.arange(1, limit + 1)
    return PoolCurve("depth", amounts, depth - 1, plan.size, plan.pooled, plan.judged, only_run, plan.only_team)


def curve_of_budgets(
    strategy: Strategy,
    topics: Mapping[int, str],
    lists: ListsOfTopics,
    teams: Sequence[int],
    present: Mapping[int, Present],
    *,
    docnos_of: DocnosOf,
    seed: int,
) -> PoolCurve:
    """Draw the curve of any other strategy: over budgets up to twice the one asked for; of a sample, that alone."""
    amounts = _amounts(strategy)
    most = int(amounts[-1])
    further = replace(strategy, budget=strategy.budget and most, per_topic=strategy.per_topic and most)
    read = read_topics(topics, lists, docnos_of)
    chosen = {topic: _chosen(further, runs, given, teams, seed) for topic, runs, given in read}
    growing = dict(zip(chosen, _shares(strategy, amounts, list(chosen.values())), strict=True))
    size, pooled, complete = (np.zeros((len(topics), amounts.size), np.int64) for _ in range(3))
    only_run = np.zeros((len(teams), amounts.size), np.int64)
    only_team = np.zeros((max(teams) + 1, amounts.size), np.int64)
    for row, topic in enumerate(topics):
        if topic not in chosen:
            continue
        one, here = chosen[topic], present.get(topic, NOTHING)
        size[row] = growing[topic]
        # The first amount with which a document is taken in; documents that none takes in are left out.
        entry = np.searchsorted(size[row], np.arange(1, one.documents.size + 1))
        entry = entry[: np.searchsorted(entry, amounts.size)]
        documents = one.documents[: entry.size]
        pooled[row] = np.bincount(entry[np.isin(documents, here.pooled)], minlength=amounts.size)
        complete[row] = np.bincount(entry[np.isin(documents, here.complete)], minlength=amounts.size)
        for only, holder in ((only_run, one.only_run), (only_team, one.only_team)):
            alone = np.flatnonzero(holder[: entry.size] >= 0)
            np.add.at(only, (holder[alone], entry[alone]), 1)
    grown = (np.cumsum(each, axis=1) for each in (pooled, complete, only_run, only_team))
    if strategy.definition.kind is Kind.SAMPLE:
        return PoolCurve(None, size.sum(axis=0), 0, size, *grown)
    grows = "budget" if strategy.budget is not None else "per_topic"
    return PoolCurve(grows, amounts, amounts.tolist().index(getattr(strategy, grows)), size, *grown)


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


def _chosen(strategy: Strategy, runs: TopicRuns, given: TopicLists, teams: Sequence[int], seed: int) -> _Taken:
    documents = choose(strategy, runs, seed).documents
    is_adaptive = strategy.definition.kind is Kind.ADAPTIVE
    counts = runs.entries.rank <= strategy.start_depth if is_adaptive else np.ones(runs.entries.rank.size, np.bool_)
    place = runs.entries.place[counts]
    run = given.runs[runs.given[runs.entries.row[counts]]]
    by_number = np.argsort(runs.documents)
    places = by_number[np.searchsorted(runs.documents, documents, sorter=by_number)]
    only_run, only_team = (
        _alone(place, holder, runs.candidates)[places] for holder in (run, np.array(teams, np.intp)[run])
    )
    return _Taken(documents, only_run, only_team, runs.candidates)


def _alone(place: Numbers, holder: NDArray[np.intp], candidates: int) -> NDArray[np.intp]:
    """Give each place the one holder that has its document, -1 where several have it."""
    least = np.full(candidates, np.iinfo(np.intp).max)
    greatest = np.full(candidates, -1)
    np.minimum.at(least, place, holder)
    np.maximum.at(greatest, place, holder)
    return np.where(least == greatest, least, -1)


def _shares(strategy: Strategy, amounts: Counts, chosen: Sequence[_Taken]) -> Counts:
    """Give the number of documents of each topic with each amount."""
    known = np.array([[one.documents.size] for one in chosen], np.int64).reshape(-1, 1)
    if strategy.definition.kind is Kind.SAMPLE:
        return known
    is_adaptive = strategy.definition.kind is Kind.ADAPTIVE
    begin = known if is_adaptive else np.zeros_like(known)
    left = np.array([one.candidates for one in chosen], np.int64).reshape(-1, 1) - begin
    if strategy.per_topic is not None:
        given: Counts = np.minimum(left, amounts)
    else:
        given = np.array([shares(int(amount), left.ravel().tolist()) for amount in amounts], np.int64)
        given = given.reshape(amounts.size, -1).T
    return begin + given
