"""Depth-k pools: their documents, their cost for every k, and the division of a budget among topics."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Documents = NDArray[np.int32]  # numbers of documents, or one whole number for each
Indices = NDArray[np.intp]
Counts = NDArray[np.int64]

NONE: Documents = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False)
class DepthPlan:
    """Pools of depth 1 to a limit; the last axis is the depth, depth 1 at index 0."""

    size: Counts  # topics x depths: documents in the pool
    pooled: Counts  # topics x depths: of these, already pooled
    only_run: Counts  # runs x depths: documents, over all topics, that only this run contributes
    only_team: Counts  # teams x depths: documents, over all topics, that only this team contributes


@dataclass(frozen=True, eq=False)
class _Entrants:
    """The distinct documents of a topic, with the depths at which they join and get a second contributor."""

    document: Indices
    run: Documents  # index of the run with the best rank
    rank: Documents  # the best rank
    rank_elsewhere: Documents  # the best rank in another run, limit + 1 if there is none
    rank_of_rivals: Documents  # the same for the runs of other teams


class _Entries:
    """The tops of all lists as one column of places; a place is rank * runs + run, rank from 1.

    The least place of a document is its best rank; `least` finds it without sorting, in a table by
    document number that is reused for every topic.
    """

    def __init__(self, teams: Sequence[int], limit: int, longest: int) -> None:
        self.runs, self.limit = len(teams), limit
        self.teams = np.array(teams, np.intp)
        by_rank = np.arange(1, min(limit, longest) + 1, dtype=np.int32) * self.runs
        self.places = by_rank + np.arange(self.runs, dtype=np.int32)[:, None]
        self.table = NONE
        self.document, self.place, self.team = NONE.astype(np.intp), NONE, NONE.astype(np.intp)

    def load(self, rankings: Sequence[Documents]) -> None:
        """Load the lists of a topic."""
        tops = [ranked[: self.limit] for ranked in rankings]
        lengths = [top.size for top in tops]
        self.document = np.concatenate([NONE, *tops]).astype(np.intp)
        self.place = np.concatenate([NONE, *(row[:length] for row, length in zip(self.places, lengths, strict=True))])
        self.team = np.repeat(self.teams, lengths)
        if self.document.max(initial=-1) >= self.table.size:
            self.table = np.empty(int(self.document.max()) + 1, np.int32)

    def least(self, entries: Indices, wanted: Indices) -> Documents:
        """Find the least place of each wanted document among some entries, which are of wanted documents only."""
        self.table[wanted] = (self.limit + 1) * self.runs
        np.minimum.at(self.table, self.document.take(entries), self.place.take(entries))
        return self.table.take(wanted)

    def entrants(self) -> _Entrants:
        """Find the first contributor of each document, and the rank at which there is another."""
        self.least(np.arange(self.document.size), self.document)
        is_best = self.table.take(self.document) == self.place
        best = np.flatnonzero(is_best)
        document = self.document.take(best)
        elsewhere = self.least(np.flatnonzero(~is_best), document)
        self.table[document] = self.team.take(best)
        rivals = self.least(np.flatnonzero(self.table.take(self.document) != self.team), document)
        rank, run = np.divmod(self.place.take(best), self.runs)
        return _Entrants(document, run, rank, elsewhere // self.runs, rivals // self.runs)

    def among(self, wanted: Indices, chosen: Documents) -> NDArray[np.bool_]:
        """Return which documents are among those chosen; some of these may be in no run."""
        self.table[wanted] = 0
        self.table[chosen[chosen < self.table.size]] = 1
        is_chosen: NDArray[np.bool_] = self.table.take(wanted) == 1
        return is_chosen


def plan_depths(
    topics: Sequence[Sequence[Documents]],
    teams: Sequence[int],
    limit: int,
    *,
    pooled: Sequence[Documents],
) -> DepthPlan:
    """Plan the pools of depth 1 to `limit`.

    `topics` has for each topic every run's document numbers, best first, empty for a run without the topic; `teams`
    the team of each run, from 0; `pooled` the pooled documents of each topic.
    """
    longest = max((ranked.size for rankings in topics for ranked in rankings), default=0)
    entries = _Entries(teams, limit, longest)
    size, inside = (np.zeros((len(topics), limit), np.int64) for _ in range(2))
    found: list[_Entrants] = []
    for topic, rankings in enumerate(topics):
        entries.load(rankings)
        new = entries.entrants()
        size[topic] = _growth(new.rank, limit)
        inside[topic] = _growth(new.rank[entries.among(new.document, pooled[topic])], limit)
        found.append(new)
    run, begin, elsewhere, rivals = (
        np.concatenate([NONE, *(getattr(new, name) for new in found)]).astype(np.intp)
        for name in ("run", "rank", "rank_elsewhere", "rank_of_rivals")
    )
    only_run = _sponsored(run, begin, elsewhere, len(teams), limit)
    only_team = _sponsored(entries.teams[run], begin, rivals, max(teams, default=-1) + 1, limit)
    return DepthPlan(size, inside, only_run, only_team)


def _growth(ranks: Documents, limit: int) -> Counts:
    """Count the documents in the pool at each depth."""
    return np.cumsum(np.bincount(ranks, minlength=limit + 1)[1:])


def _sponsored(sponsor: Indices, begin: Indices, end: Indices, sponsors: int, limit: int) -> Counts:
    """Count at each depth the documents that only one sponsor has, from the depth `begin` to before `end`."""
    columns = limit + 2
    gained, lost = (np.bincount(sponsor * columns + depth, minlength=sponsors * columns) for depth in (begin, end))
    counts: Counts = np.cumsum((gained - lost).reshape(sponsors, columns), axis=1)
    return counts[:, 1 : limit + 1]


def shares(total: int, sizes: Sequence[int]) -> list[int]:
    """Divide a total evenly over topics with `sizes` available documents.

    What a topic cannot use goes to the others; the remainder goes to the first topics that can use more. So the
    shares add up to the total, or to all documents, and differ by more than 1 only where a topic is exhausted.
    """
    # At each level, from 0: the number of documents when every topic gives up to that many.
    topics_at = np.cumsum(np.bincount(np.asarray(sizes, np.intp), minlength=1)[::-1])[::-1]
    levels = np.append(0, np.cumsum(topics_at[1:]))
    level = int(np.searchsorted(levels, total, side="right")) - 1
    given = [min(size, level) for size in sizes]
    left = total - int(levels[level])
    larger = [topic for topic, size in enumerate(sizes) if size > level]
    for topic in larger[:left]:
        given[topic] += 1
    return given


def take_by_topic(orders: Sequence[NDArray[np.int32]], per_topic: int) -> list[NDArray[np.int32]]:
    """Take the first `per_topic` documents of every topic's order."""
    return [order[:per_topic] for order in orders]


def take_in_total(orders: Sequence[NDArray[np.int32]], total: int) -> list[NDArray[np.int32]]:
    """Take `total` documents from the topics' orders, divided as `shares` does."""
    given = shares(total, [order.size for order in orders])
    return [order[:share] for order, share in zip(orders, given, strict=True)]
