"""Several ranked lists made into one by drafting teams: team-draft interleaving of two, multileaving of more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

NO_TEAM = -1


@dataclass(frozen=True)
class MixedList:
    """One list to show, best first; `teams` has for each document the place of the run whose pick it is, or none."""

    docnos: tuple[str, ...]
    teams: tuple[int, ...]


# Of each round who picks first, second and so on; shape: rounds, runs.
Orders = NDArray[np.intp]


def draw_orders(rounds: int, runs: int, chance: np.random.Generator) -> Orders:
    """Draw an order for each round, every order as likely."""
    return np.argsort(chance.random((rounds, runs)), axis=1, kind="stable")


def turned(orders: Orders, places: int) -> Orders:
    """Let each run have the turns of the run that is so many places after it: of two and by one, the other's.

    In as many lists as there are runs, turned by 0, 1 and so on, every run has every turn once. Where runs are the
    same their picks are then the same too, whatever was drawn.
    """
    return np.mod(orders + places, orders.shape[1])


def team_draft(rankings: Sequence[Sequence[str]], depth: int, orders: Orders) -> MixedList:
    """Let ranked lists pick in rounds, in the order of each, every one its best document that is left.

    It takes as many orders as documents at the most. Of two lists this is team-draft interleaving (Radlinski, Kurup and
    Joachims, CIKM 2008), of more team-draft multileaving (Schuth et al., CIKM 2014). Once a list has nothing left to
    pick, the round and what follows it are shown but are nobody's picks: the longer list would win by its places in
    the list alone, whatever stands in them.
    """
    picks: dict[str, int] = {}
    all_picked = True
    for order in orders.tolist():
        of_round = _round(rankings, picks, order)
        all_picked = all_picked and len(of_round) == len(rankings)
        picks |= of_round if all_picked else dict.fromkeys(of_round, NO_TEAM)
        if len(picks) >= depth or not of_round:
            break
    return MixedList(tuple(islice(picks, depth)), tuple(islice(picks.values(), depth)))


def _round(rankings: Sequence[Sequence[str]], before: Mapping[str, int], order: Sequence[int]) -> dict[str, int]:
    """Who picks what in one round; those that have nothing left pick nothing."""
    picks: dict[str, int] = {}
    for team in order:
        best = next((docno for docno in rankings[team] if docno not in before and docno not in picks), None)
        if best is not None:
            picks[best] = team
    return picks
