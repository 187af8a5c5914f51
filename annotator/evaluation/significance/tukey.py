"""Tukey's honestly significant difference of all pairs of runs, from a model of the scores or by permuting them.

All pairs together err no more often than one test would. The model pools the variance of all runs, so that two that
are much alike may differ by a paired test and not by this one; it is well to look at both.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.results import ALPHA, PairFigures, Undefined
from annotator.evaluation.significance.shared_topics import SharedTopics, shared_topics
from annotator.evaluation.significance.studentised_range import critical_range, studentised_range_p
from annotator.evaluation.significance.two_way import two_way

PERMUTATIONS = 20_000
FEWEST_PERMUTATIONS = 19  # with which p can be 5 %
MOST_CELLS = 1 << 21  # of permutations, topics and runs at a time


@dataclass(frozen=True, eq=False)
class TukeyTest:
    """Of every two runs p; runs whose means are further apart than the critical difference differ at 5 %."""

    topics: int  # on which all runs have a score
    left_out: int  # the others
    means: Values  # one a run, NaN without a topic
    critical_difference: Figure
    p: PairFigures


@dataclass(frozen=True, eq=False)
class ModelTukeyTest(TukeyTest):
    """The same from the two-way model of runs and topics."""

    mean_square: Figure  # of what neither explains
    degrees: int  # of freedom of that; 0 where there is none


@dataclass(frozen=True, eq=False)
class RandomisedTukeyTest(TukeyTest):
    """The same by permuting; `permutations` is 0 where there was nothing to permute."""

    permutations: int
    seed: int


def tukey_hsd(scores: Values) -> ModelTukeyTest:
    """Test all pairs of runs, (runs, topics), NaN where there is no score, by the studentised range.

    The two-way model of Carterette (TOIS 2012): the critical difference is the range's 95 % point times the root of
    the mean square of the rest over the number of topics.
    """
    shared = shared_topics(scores)
    reason = shared.too_small
    if reason is not None:
        return ModelTukeyTest(*_without_value(shared, reason), Figure(None, reason), 0)
    layout = two_way(shared)
    if not layout.of_rest:
        reason = Undefined.SAME_DIFFERENCE if layout.of_runs else Undefined.NO_DIFFERENCE
        return ModelTukeyTest(*_without_value(shared, reason), Figure(layout.of_rest), layout.degrees)
    error = (layout.of_rest / shared.topics) ** 0.5
    p = studentised_range_p(_differences(layout.run_means) / error, shared.runs, layout.degrees)
    critical = critical_range(ALPHA, shared.runs, layout.degrees) * error
    return ModelTukeyTest(
        *(shared.topics, shared.left_out, layout.run_means, Figure(critical), PairFigures.of_matrix(p)),
        mean_square=Figure(layout.of_rest),
        degrees=layout.degrees,
    )


def randomised_tukey_hsd(
    scores: Values, *, seed: int, permutations: int = PERMUTATIONS, advance: Callable[[], None] = lambda: None
) -> RandomisedTukeyTest:
    """Test all pairs of runs by permuting the scores within each topic, as if the runs were one and the same.

    p is the share of permutations in which the best and the worst run are at least as far apart, what was observed
    counted among them (Carterette, TOIS 2012; Sakai 2018). Calls `advance` as often as `steps_of_permuting` says.
    Raises `InvalidValueError` when the permutations are too few for any p to be 5 %.
    """
    if permutations < FEWEST_PERMUTATIONS:
        raise InvalidValueError("It takes at least %(fewest)d permutations.", fewest=FEWEST_PERMUTATIONS)
    shared = shared_topics(scores)
    reason = shared.too_small
    if reason is None and (np.ptp(shared.scores, axis=0) <= shared.least_spread).all():
        reason = Undefined.NO_DIFFERENCE
    if reason is not None:
        return RandomisedTukeyTest(*_without_value(shared, reason), 0, seed)
    ranges = _ranges(shared.scores, permutations, seed, advance)
    means = shared.scores.mean(axis=1)
    smaller = np.searchsorted(ranges, _differences(means) - shared.least_spread, "left")
    p = PairFigures.of_matrix((permutations - smaller + 1) / (permutations + 1))
    # So many ranges may reach a difference that p is just 5 %; it must exceed the next.
    allowed = int(ALPHA * (permutations + 1)) - 1
    critical = Figure(float(ranges[permutations - allowed - 1]))
    return RandomisedTukeyTest(shared.topics, shared.left_out, means, critical, p, permutations, seed)


def steps_of_permuting(scores: Values, permutations: int = PERMUTATIONS) -> int:
    """How often `randomised_tukey_hsd` calls `advance`, when there is anything to permute."""
    return -(-permutations // _permutations_at_a_time(shared_topics(scores).scores))


def _without_value(shared: SharedTopics, reason: Undefined) -> tuple[int, int, Values, Figure, PairFigures]:
    means = shared.scores.mean(axis=1) if shared.topics else np.full(shared.runs, np.nan)
    return shared.topics, shared.left_out, means, Figure(None, reason), PairFigures.without_value(shared.runs, reason)


def _differences(means: Values) -> Values:
    apart: Values = np.abs(means[:, None] - means)
    return apart


def _permutations_at_a_time(scores: Values) -> int:
    return max(MOST_CELLS // max(scores.size, 1), 1)


def _ranges(scores: Values, permutations: int, seed: int, advance: Callable[[], None]) -> Values:
    """How far apart the best and the worst mean are in each permutation, the smallest first."""
    chance = np.random.default_rng(seed)
    topics = scores.shape[1]
    step = min(_permutations_at_a_time(scores), permutations)
    block = np.repeat(scores.T[np.newaxis], step, axis=0)  # shape: permutations, topics, runs
    ranges = np.empty(permutations)
    for start in range(0, permutations, step):
        some = block[: permutations - start]
        chance.permuted(some, axis=2, out=some)  # what has been permuted may be permuted again
        ranges[start : start + len(some)] = np.ptp(some.sum(axis=1), axis=1) / topics
        advance()
    return np.sort(ranges)
