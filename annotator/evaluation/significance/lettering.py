"""Which runs differ, in letters and stars: runs that share a letter do not differ."""

from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.results import ALPHA, PairFigures, Undefined

MOST_GROUPS = 500
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True)
class Letters:
    """Maximal groups of runs that do not differ pairwise; a run may be in several."""

    groups: tuple[tuple[int, ...], ...]  # places of runs, best first; the group with the best run comes first
    of_runs: tuple[str, ...]  # the letters of each run, in the order of the runs
    reason: Undefined | None = None  # why there are none


def letters(means: Values, p: PairFigures, alpha: float = ALPHA) -> Letters:
    """Group runs by their means, the greatest first, and the p values of every two of them.

    Two runs share a letter exactly when they do not differ: insert and absorb (Piepho 2004). Those of which there is
    no p value do not.
    """
    best_first = np.argsort(-means, kind="stable")
    groups = None if p.reason else _groups(p.at_most(alpha)[np.ix_(best_first, best_first)])
    if groups is None:
        return Letters((), ("",) * len(means), p.reason or Undefined.TOO_MANY_GROUPS)
    of_runs = [""] * len(means)
    named = [tuple(best_first[list(group)].tolist()) for group in groups]
    for number, group in enumerate(named):
        for run in group:
            of_runs[run] += letter(number)
    return Letters(tuple(named), tuple(of_runs))


def letter(number: int) -> str:
    """Name a group: a to z, then a1 to z1 and so on, so that several can be written together."""
    again, place = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[place] + (str(again) if again else "")


def stars(p: Figure) -> str:
    """One star for a p value of at most 0.05, two for 0.01, three for 0.001; none when there is no value."""
    if p.value is None:
        return ""
    return next((mark for most, mark in STARS if p.value <= most), "")


def _groups(differing: NDArray[np.bool_]) -> list[tuple[int, ...]] | None:
    """Begin with all in one group; for every run take it apart from those above it from which it differs."""
    runs = len(differing)
    groups = {(1 << runs) - 1}  # bits are runs
    for run in range(runs):
        bit = 1 << run
        apart = sum(1 << other for other in np.flatnonzero(differing[run, :run]).tolist())
        split = {group for group in groups if group & bit and group & apart}
        groups -= split
        _absorb(groups, {half for group in split for half in (group & ~bit, group & ~apart)})
        if len(groups) > MOST_GROUPS:
            return None
    return sorted(tuple(run for run in range(runs) if group >> run & 1) for group in groups)


def _absorb(groups: set[int], halves: set[int]) -> None:
    """Add the halves that lie within no other, the largest first; none of the groups can lie within a half."""
    for half in sorted(halves, key=int.bit_count, reverse=True):
        if not any(group & half == half for group in groups):
            groups.add(half)
