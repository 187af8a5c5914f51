"""How much runs and teams have in common: overlap of the top of runs, and relevant documents by team."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Documents = NDArray[np.int32]
Pair = tuple[int, int]  # topic, document


def overlap_matrix(
    lists: Sequence[Mapping[int, Documents]], depth: int, tasks: Sequence[object] = ()
) -> NDArray[np.float64]:
    """The share of the top `depth` that every two runs have in common, as a mean over topics; (runs, runs).

    `lists` are the ranked lists of each run by topic. A topic counts for two runs when either has documents for it; the
    shorter of two lists counts as if other documents filled it up to the length of the longer. NaN without any topic.
    `tasks` has that of each run, if there are tasks: for runs of different ones, a topic counts when both have
    documents.
    """
    total = np.zeros((len(lists), len(lists)))
    topics = np.zeros_like(total)
    places = [list(tasks).index(task) for task in tasks] or [0] * len(lists)
    in_one_task = np.equal.outer(places, places)
    for topic in sorted({topic for of_run in lists for topic in of_run}):
        tops = [of_run[topic][:depth] if topic in of_run else np.zeros(0, np.int32) for of_run in lists]
        sizes = np.array([top.size for top in tops])
        _, place = np.unique(np.concatenate(tops), return_inverse=True)
        holds = np.zeros((len(lists), int(place.max(initial=-1)) + 1), np.float32)
        holds[np.repeat(np.arange(len(lists)), sizes), place] = 1
        longer, shorter = (which(sizes[:, None], sizes[None, :]) for which in (np.maximum, np.minimum))
        total += np.divide(holds @ holds.T, longer, out=np.zeros_like(total), where=longer > 0)
        topics += np.where(in_one_task, longer, shorter) > 0
    return np.divide(total, topics, out=np.full_like(total, np.nan), where=topics > 0)


def in_similar_order(overlap: NDArray[np.float64], places: Sequence[int]) -> list[int]:
    """Order these runs so that runs with much in common are neighbours: each next one is most like the last."""
    if not places:
        return []
    overlap = overlap[np.ix_(places, places)]
    likeness = np.nan_to_num(overlap, nan=-1.0)
    np.fill_diagonal(likeness, -2.0)
    order = [int(likeness.max(axis=1).argmax())]
    left = np.ones(len(overlap), np.bool_)
    left[order[0]] = False
    while left.any():
        candidates = np.flatnonzero(left)
        order.append(int(candidates[likeness[order[-1], candidates].argmax()]))
        left[order[-1]] = False
    return [places[one] for one in order]


def shares_between(overlap: NDArray[np.float64], places: Sequence[int]) -> list[list[float | None]]:
    """The shares between these runs, one row a run; None without a common topic."""
    chosen = overlap[np.ix_(places, places)]
    return [[None if share != share else share for share in row] for row in chosen.tolist()]  # noqa: PLR0124 - NaN


def closest_runs(overlap: NDArray[np.float64]) -> tuple[int, int, float] | None:
    """The two runs with most in common, and their share; None without two runs of a common topic."""
    above = np.where(np.triu(np.ones_like(overlap, np.bool_), 1), np.nan_to_num(overlap, nan=-1.0), -1.0)
    first, second = (int(place) for place in np.unravel_index(int(above.argmax()), above.shape))
    share = float(above[first, second])
    return (first, second, share) if share >= 0 else None


@dataclass(frozen=True)
class TeamShare:
    """What a team's runs contributed to the pool, and what they found at any rank, pooled or not.

    `contributed` documents of the pool, of which `relevant_contributed` are relevant, and `relevant_alone` no other
    team contributed. `relevant_found` relevant documents are in the team's runs, and `found_alone` in no other team's.
    """

    team: str
    runs: int
    contributed: int
    relevant_contributed: int
    relevant_alone: int
    relevant_found: int
    found_alone: int


def team_shares(
    teams: Sequence[str],
    lists: Sequence[Mapping[int, Documents]],
    contributed: Mapping[str, set[Pair]],
    relevant: Mapping[int, Sequence[int]],
    chosen: Mapping[str, Mapping[int, Sequence[int]]] | None = None,
) -> list[TeamShare]:
    """Count relevant documents by team, most found first; `teams` and `lists` have one entry a run.

    `contributed` has each team's documents in the pool, of teams without a run now, too; `relevant` those of each
    topic. `chosen` has, for sources beside the teams, what they found and contributed by topic.
    """
    sources = chosen or {}
    contributed = {**contributed, **{name: _pairs(documents) for name, documents in sources.items()}}
    names = sorted({*teams, *contributed})
    row = {name: place for place, name in enumerate(names)}
    place_of = {pair: place for place, pair in enumerate((t, d) for t in relevant for d in relevant[t])}
    starts = np.cumsum([0, *(len(documents) for documents in relevant.values())])
    start = dict(zip(relevant, starts.tolist(), strict=False))
    found, gave = (np.zeros((len(names), len(place_of)), np.bool_) for _ in range(2))
    for team, of_run in zip(teams, lists, strict=True):
        for topic in of_run.keys() & relevant.keys():
            here = slice(start[topic], start[topic] + len(relevant[topic]))
            found[row[team], here] |= np.isin(relevant[topic], of_run[topic])
    for name, documents in sources.items():
        found[row[name], [place_of[pair] for pair in _pairs(documents) if pair in place_of]] = True
    for team, pairs in contributed.items():
        gave[row[team], [place_of[pair] for pair in pairs if pair in place_of]] = True
    counts = [
        (mask.sum(axis=1).tolist(), mask[:, mask.sum(axis=0) == 1].sum(axis=1).tolist()) for mask in (gave, found)
    ]
    shares = [
        TeamShare(
            name,
            sum(team == name for team in teams),
            len(contributed.get(name, ())),
            *(of_all[row[name]] for both in counts for of_all in both),
        )
        for name in names
    ]
    return sorted(shares, key=lambda one: (-one.relevant_found, one.team))


def _pairs(documents: Mapping[int, Sequence[int]]) -> set[Pair]:
    return {(topic, document) for topic, several in documents.items() for document in several}
