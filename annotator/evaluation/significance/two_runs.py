"""Two runs on the same topics: how far apart they are, and whether that may be chance."""

from dataclasses import dataclass

import numpy as np

from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.ranks_and_signs import SignedRanks, Signs, signed_ranks, signs
from annotator.evaluation.significance.results import REASONS, Undefined
from annotator.evaluation.significance.shared_topics import shared_topics
from annotator.evaluation.significance.sign_flips import FLIPS, SignFlips, count_at_least
from annotator.evaluation.significance.t_tests import PairedT, paired_t


@dataclass(frozen=True)
class Randomisation:
    """The randomisation test: the two-sided p of the mean difference, and from how many flips of the signs."""

    p: Figure
    flips: int
    is_exact: bool  # whether these are all there are; else they are random, and p may be off a little
    seed: int


@dataclass(frozen=True)
class TwoRuns:
    """All that is to be said of two runs; differences are the second's score less the first's."""

    topics: int  # on which both have a score
    left_out: int  # the others
    first_mean: Figure
    second_mean: Figure
    t: PairedT
    randomisation: Randomisation
    signed_ranks: SignedRanks
    signs: Signs


def compare_two_runs(
    first: Values, second: Values, *, seed: int, flips: int = FLIPS, largest_tie: float = 0.0
) -> TwoRuns:
    """Compare scores of the same topics, one an entry, NaN where there is none.

    Of `flips` sign flips all are taken where there are no more, else so many at random. `largest_tie` is for the sign
    test: differences of at most so much count as none.
    """
    shared = shared_topics(np.stack([first, second]))
    differences = shared.scores[1] - shared.scores[0]
    # Scores that are equal but for rounding, as when they were added in another order.
    differences[np.abs(differences) <= shared.least_spread] = 0
    tests = paired_t(differences[np.newaxis], shared.least_spread)
    return TwoRuns(
        topics=shared.topics,
        left_out=shared.left_out,
        first_mean=_mean(shared.scores[0]),
        second_mean=_mean(shared.scores[1]),
        t=tests.of(0),
        randomisation=_randomisation(differences, REASONS[tests.reasons[0]], flips, seed),
        signed_ranks=signed_ranks(differences),
        signs=signs(differences, largest_tie),
    )


def _mean(scores: Values) -> Figure:
    return Figure(float(scores.mean())) if scores.size else Figure(None, Undefined.NO_TOPIC)


def _randomisation(differences: Values, reason: Undefined | None, flips: int, seed: int) -> Randomisation:
    drawn = SignFlips.of(differences[np.newaxis], flips, seed)
    # A difference that is the same on every topic can be tested: few of its flips add up to as much.
    if reason not in (None, Undefined.SAME_DIFFERENCE):
        return Randomisation(Figure(None, reason), 0, drawn.is_exact, seed)
    p = float(drawn.p_values(count_at_least(drawn))[0])
    return Randomisation(Figure(p), drawn.flips, drawn.is_exact, seed)
