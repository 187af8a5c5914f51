"""Depth-k pools: their documents, their cost for every k, and the division of a budget among topics."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Documents = NDArray[np.int32]  # numbers of documents, or one whole number for each
Indices = NDArray[np.intp]
Counts = NDArray[np.int64]

NONE: Documents = np.empty(0, np.int32)
NOWHERE = np.iinfo(np.int32).max  # behind all places in lists


@dataclass(frozen=True, eq=False)
class JoinedLists:
    """The lists of one topic, one after the other, by the runs that have one."""

    runs: Indices  # indices among all runs
    sizes: Indices  # of each list
    documents: Documents

    @classmethod
    def of(cls, rankings: Sequence[Documents]) -> "JoinedLists":
        """Join the lists of all runs, best first; empty for a run without the topic."""
        sizes = np.fromiter(map(len, rankings), np.intp, len(rankings))
        return cls(np.arange(len(rankings)), sizes, np.concatenate([NONE, *rankings]))


@dataclass(frozen=True, eq=False)
class DepthPlan:
    """Pools of depth 1 to a limit; the last axis is the depth, depth 1 at index 0."""

    size: Counts  # topics x depths: documents in the pool
    pooled: Counts  # topics x depths: of these, already pooled
    only_run: Counts  # runs x depths: documents, over all topics, that only this run contributes
    only_team: Counts  # teams x depths: documents, over all topics, that only this team contributes
    longest: int  # the size of the longest list


@dataclass(frozen=True, eq=False)
class _Entrants:
    """The distinct documents of a topic, with the depths at which they join and get a second contributor."""

    document: Indices
    run: Documents  # index of the run with the best rank
    rank: Documents  # the best rank
    rank_elsewhere: Documents  # the best rank in another run, above all others if there is none
    rank_of_rivals: Documents  # the same for the runs of other teams


class _Entries:
    """The lists of a topic as one column of places; a place is rank * runs + run, rank from 1.

    The least place of a document is its best rank. It is found without sorting, in a table by document number that is
    reused for every topic and has `NOWHERE` between uses.
    """

    def __init__(self, teams: Sequence[int], whole: AbstractSet[int]) -> None:
        self.runs = len(teams)
        self.teams = np.array(teams, np.int32)
        self.is_own_team = np.unique(self.teams).size == self.runs
        self.is_whole = np.isin(np.arange(self.runs), list(whole))
        self.table = NONE
        self.document, self.place, self.team = NONE.astype(np.intp), NONE, NONE
        self.alike: tuple[bytes, bytes] | None = None

    def load(self, lists: JoinedLists) -> None:
        """Load the lists of a topic; of those of the topic before, places are kept if runs and sizes are the same."""
        self.document = lists.documents.astype(np.intp)
        alike = lists.runs.tobytes(), lists.sizes.tobytes()
        if alike != self.alike:
            self.alike = alike
            begins = np.cumsum(lists.sizes) - lists.sizes
            rank = np.arange(1, self.document.size + 1) - np.repeat(begins, lists.sizes)
            rank[np.repeat(self.is_whole[lists.runs], lists.sizes)] = 1
            self.place = (rank * self.runs + np.repeat(lists.runs, lists.sizes)).astype(np.int32)
            self.team = np.repeat(self.teams[lists.runs], lists.sizes)
        if self.document.max(initial=-1) >= self.table.size:
            self.table = np.full(int(self.document.max()) + 1, NOWHERE, np.int32)

    def entrants(self) -> _Entrants:
        """Find the first contributor of each document, and the rank at which there is another."""
        np.minimum.at(self.table, self.document, self.place)
        best = np.flatnonzero(self.table.take(self.document) == self.place)
        document = self.document.take(best)
        others = self.place.copy()
        others[best] = NOWHERE
        self.table[document] = NOWHERE
        elsewhere = rivals = self._least(others, document)
        if not self.is_own_team:
            self.table[document] = self.team.take(best)
            others[self.table.take(self.document) == self.team] = NOWHERE
            self.table[document] = NOWHERE
            rivals = self._least(others, document)
        rank, run = np.divmod(self.place.take(best), self.runs)
        return _Entrants(document, run, rank, elsewhere // self.runs, rivals // self.runs)

    def _least(self, places: Documents, wanted: Indices) -> Documents:
        """Find the least of these places, one an entry, for each document."""
        np.minimum.at(self.table, self.document, places)
        least = self.table.take(wanted)
        self.table[wanted] = NOWHERE
        return least

    def among(self, wanted: Indices, chosen: Documents) -> NDArray[np.bool_]:
        """Return which documents are among those chosen; some of these may be in no run."""
        chosen = chosen[chosen < self.table.size]
        self.table[chosen] = 0
        is_chosen: NDArray[np.bool_] = self.table.take(wanted) == 0
        self.table[chosen] = NOWHERE
        return is_chosen


def plan_depths(
    topics: Iterable[tuple[JoinedLists, Documents]],
    teams: Sequence[int],
    limit: int,
    *,
    whole: AbstractSet[int] = frozenset(),
) -> DepthPlan:
    """Plan the pools of depth 1 to `limit`, the greatest rank in the lists of all runs but those in `whole`.

    `topics` has the lists of each topic, by document number, with the documents that are pooled already; `teams` the
    team of each run, from 0. Lists of the runs in `whole` are in the pool of every depth.
    """
    entries = _Entries(teams, whole)
    size, inside, found, longest = [], [], [], 0
    for lists, pooled in topics:
        longest = max(longest, int(lists.sizes.max(initial=0)))
        entries.load(lists)
        new = entries.entrants()
        size.append(_growth(new.rank, limit))
        inside.append(_growth(new.rank[entries.among(new.document, pooled)], limit))
        found.append(new)
    run, begin, elsewhere, rivals = (
        np.concatenate([NONE, *(getattr(new, name) for new in found)]).astype(np.intp)
        for name in ("run", "rank", "rank_elsewhere", "rank_of_rivals")
    )
    only_run = _sponsored(run, begin, np.minimum(elsewhere, limit + 1), len(teams), limit)
    of_teams = max(teams, default=-1) + 1
    team = entries.teams.astype(np.intp)[run]
    only_team = _sponsored(team, begin, np.minimum(rivals, limit + 1), of_teams, limit)
    sizes, among = (np.array(of_topics, np.int64).reshape(-1, limit) for of_topics in (size, inside))
    return DepthPlan(sizes, among, only_run, only_team, longest)


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
