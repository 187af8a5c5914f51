"""Comparisons of many runs: each with a baseline, all pairs, Holm's correction, letters for those that differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from annotator.errors import NotFoundError
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.results import (
    ALPHA,
    REASONS,
    PairFigures,
    Reasons,
    SharedTopics,
    Undefined,
    figure_of,
    shared_topics,
)
from annotator.evaluation.significance.two_runs import FLIPS, PairedT, PairedTs, SignFlips, paired_t


def holm(p_values: Values) -> Values:
    """Correct p values by Holm's method; NaN is no test, stays NaN and does not count.

    The smallest p times the number of tests, the next times one less and so on, monotone and at most 1
    (Holm 1979).
    """
    raised = np.full(p_values.shape, np.nan)
    tests = np.flatnonzero(~np.isnan(p_values))
    order = tests[np.argsort(p_values[tests], kind="stable")]
    times = np.arange(order.size, 0, -1)
    raised[order] = np.minimum(np.maximum.accumulate(p_values[order] * times), 1)
    return raised


@dataclass(frozen=True, eq=False)
class PairedTests:
    """p of the paired t test of every two runs, and p corrected by Holm over all pairs."""

    topics: int  # topics on which all runs have a score
    left_out: int  # the other topics
    p: PairFigures
    holm: PairFigures


def paired_tests(scores: Values) -> PairedTests:
    """Test all pairs of runs; scores are (runs, topics), NaN where missing."""
    shared = shared_topics(scores)
    reason = shared.too_small
    if reason is not None:
        nothing = PairFigures.without_value(shared.runs, reason)
        return PairedTests(shared.topics, shared.left_out, nothing, nothing)
    above = np.triu_indices(shared.runs, 1)
    p_values, reasons = _of_pairs(shared)
    return PairedTests(
        shared.topics,
        shared.left_out,
        *(_both_ways(shared.runs, above, values, reasons) for values in (p_values, holm(p_values))),
    )


def _of_pairs(shared: SharedTopics) -> tuple[Values, Reasons]:
    """Test each run against those after it, run by run, since all differences together would fill the memory."""
    tests = [
        paired_t(shared.scores[run + 1 :] - shared.scores[run], shared.least_spread) for run in range(shared.runs - 1)
    ]
    return np.concatenate([test.p for test in tests]), np.concatenate([test.reasons for test in tests])


def _both_ways(runs: int, above: tuple[NDArray[np.intp], ...], values: Values, reasons: Reasons) -> PairFigures:
    matrix = PairFigures.of_matrix(np.zeros((runs, runs)))
    matrix.values[above], matrix.reasons[above] = values, reasons
    matrix.values.T[above], matrix.reasons.T[above] = values, reasons
    return matrix


@dataclass(frozen=True)
class AgainstBaseline:
    """A run against the baseline; `t.p` and `randomised` are uncorrected, the others corrected over all the runs."""

    run: str
    mean: Figure
    t: PairedT  # the difference is this run's score minus the baseline's
    t_holm: Figure
    randomised: Figure
    randomised_holm: Figure
    max_t: Figure  # also randomised, and usually smaller, since it uses the correlation of runs


@dataclass(frozen=True)
class BaselineComparison:
    """All runs but the baseline, in the order in which they were given."""

    baseline: str
    topics: int  # topics on which all runs have a score
    left_out: int  # the other topics
    flips: int
    is_exact: bool  # whether all possible flips were used
    seed: int
    runs: tuple[AgainstBaseline, ...]


def compare_with_baseline(
    runs: Sequence[str], scores: Values, baseline: str, *, seed: int, flips: int = FLIPS
) -> BaselineComparison:
    """Compare the scores, (runs, topics), NaN where there is none, on the topics that all runs have.

    Raises `NotFoundError` when the baseline is not among the runs.
    """
    if baseline not in runs:
        raise NotFoundError("The baseline “%(run)s” is not among the runs compared.", run=baseline)
    shared = shared_topics(scores)
    place = runs.index(baseline)
    others = [other for other in range(len(runs)) if other != place]
    differences = shared.scores[others] - shared.scores[place]
    differences[np.abs(differences) <= shared.least_spread] = 0
    tests = paired_t(differences, shared.least_spread)
    can_flip = np.array([REASONS[code] in (None, Undefined.SAME_DIFFERENCE) for code in tests.reasons], bool)
    drawn = SignFlips.of(_in_unit_length(differences[can_flip]), flips, seed)
    corrected = _corrected(tests, can_flip, drawn)
    means = shared.scores[others].mean(axis=1) if shared.topics else None
    names = [runs[other] for other in others]
    compared = tuple(
        AgainstBaseline(
            name,
            Figure(None, Undefined.NO_TOPIC) if means is None else Figure(float(means[number])),
            tests.of(number),
            *(of_one[number] for of_one in corrected),
        )
        for number, name in enumerate(names)
    )
    used = drawn.flips if can_flip.any() else 0
    return BaselineComparison(baseline, shared.topics, shared.left_out, used, drawn.is_exact, seed, compared)


def _in_unit_length(differences: Values) -> Values:
    """Bring all runs to one scale: the sum is then as t but for a growing function, the same for all runs and flips.

    Flips change the sum of the differences and not that of their squares, of which t is made.
    """
    lengths: Values = np.sqrt((differences**2).sum(axis=1, keepdims=True))
    return differences / lengths


def _corrected(tests: PairedTs, can_flip: NDArray[np.bool_], drawn: SignFlips) -> list[list[Figure]]:
    """By run: Holm's p of the t tests, the randomised p, Holm's of it, and MaxT's."""
    randomised, max_t = np.full((2, can_flip.size), np.nan)
    if can_flip.any():
        randomised[can_flip], max_t[can_flip] = _randomised(drawn)
    flip_reasons = np.where(can_flip, 0, tests.reasons)
    columns = [
        (holm(tests.p), tests.reasons),
        (randomised, flip_reasons),
        (holm(randomised), flip_reasons),
        (max_t, flip_reasons),
    ]
    return [
        [figure_of(value, code) for value, code in zip(values.tolist(), codes.tolist(), strict=True)]
        for values, codes in columns
    ]


def _randomised(drawn: SignFlips) -> tuple[Values, Values]:
    """Each run's own p, and MaxT's: how often the best of the runs that are no better than it does as well by chance.

    Stepping down from the best, none below the one before (Westfall and Young 1993; Boytsov, Belova and Westfall,
    SIGIR 2013).
    """
    observed, worst_first = drawn.observed, np.argsort(drawn.observed, kind="stable")
    least = observed - drawn.rounding
    alone, together = np.zeros((2, observed.size))
    for sums in drawn.sums():
        alone += np.count_nonzero(sums >= least, axis=0)
        best = np.maximum.accumulate(sums[:, worst_first], axis=1)
        together[worst_first] += np.count_nonzero(best >= least[worst_first], axis=0)
    best_first = worst_first[::-1]
    p_values = drawn.p_values(together)
    p_values[best_first] = np.maximum.accumulate(p_values[best_first])
    return drawn.p_values(alone), p_values


MOST_GROUPS = 500
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True)
class Letters:
    """Maximal groups of runs that do not differ pairwise; a run may be in several."""

    groups: tuple[tuple[int, ...], ...]  # indices of runs, best first; the group with the best run comes first
    of_runs: tuple[str, ...]  # the letters of each run, in the order of the runs
    reason: Undefined | None = None  # the reason when there are none


def letters(means: Values, p: PairFigures, alpha: float = ALPHA) -> Letters:
    """Group runs by their means, the greatest first, and the p values of every two runs.

    Two runs share a letter exactly when they do not differ: insert and absorb (Piepho 2004). Pairs without
    a p value do not differ.
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
    """Start with all runs in one group, and split groups so that each run is apart from those above that differ."""
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
