"""Tests of two runs on the same topics: paired t, randomisation by sign flips, Wilcoxon's signed ranks, signs.

The randomisation test is Fisher's (1935), in retrieval after Smucker, Allan and Carterette (CIKM 2007): if the runs do
not differ, each topic's difference might as well have had the other sign. The same authors advise against the tests of
ranks and of signs, which overlook how large differences are.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annotator.evaluation.metrics.figures import Figure, Interval
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.distributions import special
from annotator.evaluation.significance.results import (
    ALPHA,
    REASONS,
    Reasons,
    Undefined,
    code_of,
    figure_of,
    shared_topics,
)


@dataclass(frozen=True)
class PairedT:
    """Two runs on the same topics: the mean difference, and its paired t test."""

    difference: Figure  # mean over topics of second minus first
    deviation: Figure  # standard deviation of the differences
    interval: Interval  # 95 % interval of the mean difference
    statistic: Figure  # t, with one degree of freedom less than there are topics
    p: Figure  # two-sided
    effect_size: Figure  # d_z: the mean difference divided by the standard deviation of the differences (Cohen 1988)


@dataclass(frozen=True, eq=False)
class PairedTs:
    """Paired t tests of many pairs, an entry each; `reasons` (indices into `REASONS`) say why there is no test."""

    topics: int
    difference: Values
    deviation: Values
    statistic: Values
    p: Values
    reasons: Reasons

    def of(self, pair: int) -> PairedT:
        """Return one pair."""
        code, mean, deviation = int(self.reasons[pair]), float(self.difference[pair]), float(self.deviation[pair])
        few = Undefined.NO_TOPIC if not self.topics else Undefined.ONE_TOPIC
        half = 0.0 if code else float(special().stdtrit(self.topics - 1, 1 - ALPHA / 2)) * deviation / self.topics**0.5
        return PairedT(
            difference=Figure(mean) if self.topics else Figure(None, few),
            deviation=Figure(deviation) if self.topics > 1 else Figure(None, few),
            interval=Interval(None, REASONS[code]) if code else Interval((mean - half, mean + half)),
            statistic=figure_of(self.statistic[pair], code),
            p=figure_of(self.p[pair], code),
            effect_size=figure_of(np.nan if code else mean / deviation, code),
        )


def paired_t(differences: Values, least_spread: float) -> PairedTs:
    """Test differences, (pairs, topics); a spread of `least_spread` or less is none, and neither is such a mean.

    Student 1908: the mean difference over its standard error, against Student's distribution, two-sided.
    """
    pairs, topics = differences.shape
    nothing = np.full(pairs, np.nan)
    if topics <= 1:
        few = np.full(pairs, code_of(Undefined.ONE_TOPIC if topics else Undefined.NO_TOPIC), np.int8)
        return PairedTs(topics, differences.sum(axis=1), nothing, nothing, nothing, few)
    mean = differences.mean(axis=1)
    deviation = differences.std(axis=1, ddof=1)
    reasons = _why_there_is_no_test(differences, mean, least_spread)
    error = deviation / np.sqrt(topics)
    statistic = np.divide(mean, error, out=nothing, where=reasons == 0)
    p = 2 * special().stdtr(topics - 1, -np.abs(statistic))
    return PairedTs(topics, mean, np.where(reasons == 0, deviation, 0.0), statistic, p, reasons)


def _why_there_is_no_test(differences: Values, mean: Values, least_spread: float) -> Reasons:
    none, same = code_of(Undefined.NO_DIFFERENCE), code_of(Undefined.SAME_DIFFERENCE)
    without_spread = np.where(np.abs(mean) <= least_spread, none, same)
    return np.where(np.ptp(differences, axis=1) <= least_spread, without_spread, 0).astype(np.int8)


@dataclass(frozen=True)
class SignedRanks:
    """Wilcoxon's test: the ranks of the topics on which the second is better, added up, and the two-sided p."""

    statistic: Figure
    p: Figure
    topics: int  # on which the two differ; the others do not count


@dataclass(frozen=True)
class Signs:
    """The sign test: on how many topics the second is better, worse, or neither, and the two-sided p."""

    better: int
    worse: int
    tied: int
    p: Figure


def signed_ranks(differences: Values) -> SignedRanks:
    """Test differences, one a topic, as R's wilcox.test does with exact = FALSE.

    Zeros are left out, ties share their ranks; normal approximation, corrected for ties and by a half for continuity
    (Wilcoxon 1945; Hollander and Wolfe 1973).
    """
    differing = differences[differences != 0]
    if differences.size <= 1 or not differing.size:
        reason = _too_few(differences.size) or Undefined.NO_DIFFERENCE
        return SignedRanks(Figure(None, reason), Figure(None, reason), int(differing.size))
    size = differing.size
    _, place, times = np.unique(np.abs(differing), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - (times - 1) / 2)[place]
    statistic = float(ranks[differing > 0].sum())
    distance = statistic - size * (size + 1) / 4
    variance = size * (size + 1) * (2 * size + 1) / 24 - float((times.astype(float) ** 3 - times).sum()) / 48
    z = (abs(distance) - (0.5 if distance else 0)) / np.sqrt(variance)
    return SignedRanks(Figure(statistic), Figure(float(2 * special().ndtr(-z))), size)


def signs(differences: Values, largest_tie: float = 0.0) -> Signs:
    """Test differences, one a topic; those of at most `largest_tie` are ties and do not count.

    Exact, from the binomial distribution (Arbuthnot 1710; Conover 1999).
    """
    better = int(np.count_nonzero(differences > largest_tie))
    worse = int(np.count_nonzero(differences < -largest_tie))
    tied = int(differences.size) - better - worse
    reason = _too_few(differences.size)
    if reason is None and not better + worse:
        reason = Undefined.ALL_TIED if differences.any() else Undefined.NO_DIFFERENCE
    if reason is not None:
        return Signs(better, worse, tied, Figure(None, reason))
    p = min(1.0, 2 * float(special().bdtr(min(better, worse), better + worse, 0.5)))
    return Signs(better, worse, tied, Figure(p))


def _too_few(topics: int) -> Undefined | None:
    if topics > 1:
        return None
    return Undefined.ONE_TOPIC if topics else Undefined.NO_TOPIC


FLIPS = 100_000
MOST_CELLS = 1 << 20  # flips by topics, or flips by pairs, at a time
ROUNDING = 1e-12  # sums equal within this relative tolerance are ties


@dataclass(frozen=True, eq=False)
class SignFlips:
    """Ways to flip the signs of topics: all of them where they are no more than asked for, else a random choice."""

    differences: Values  # shape: pairs, topics; only topics on which some pair differs
    flips: int
    seed: int
    is_exact: bool

    @classmethod
    def of(cls, differences: Values, flips: int, seed: int) -> "SignFlips":
        """Flip the signs of differences, (pairs, topics); topics without any difference are left out."""
        differing = differences[:, differences.any(axis=0)]
        is_exact = differing.shape[1] < flips.bit_length()  # 2 ** topics <= flips
        return cls(differing, 1 << differing.shape[1] if is_exact else flips, seed, is_exact)

    @property
    def observed(self) -> Values:
        """The absolute observed sum of each pair."""
        sums: Values = np.abs(self.differences.sum(axis=1))
        return sums

    @property
    def rounding(self) -> Values:
        """The rounding tolerance of each pair's sum."""
        rounding: Values = ROUNDING * np.abs(self.differences).sum(axis=1)
        return rounding

    def sums(self) -> Iterator[Values]:
        """Yield the absolute sums of each pair under the flips, in chunks, (flips, pairs).

        When exact, only one of every two opposite flips, whose sums are equal.
        """
        pairs, topics = self.differences.shape
        step = max(MOST_CELLS // max(pairs, topics, 1), 1)
        total = self.differences.sum(axis=1)
        for kept in self._all(step) if self.is_exact else self._some(step):
            yield np.abs(2 * (kept @ self.differences.T) - total)

    def p_values(self, at_least: Values) -> Values:
        """From how many of the sums are at least as far as those observed, p; a random choice counts what is as well.

        So p is never 0 (Davison and Hinkley 1997).
        """
        if self.is_exact:
            return at_least / max(self.flips // 2, 1)
        return (at_least + 1) / (self.flips + 1)

    def _all(self, step: int) -> Iterator[Values]:
        topics = self.differences.shape[1]
        rows = max(self.flips // 2, 1)
        for start in range(0, rows, step):
            number = np.arange(start, min(start + step, rows))
            yield (number[:, np.newaxis] >> np.arange(topics) & 1).astype(np.float64)

    def _some(self, step: int) -> Iterator[Values]:
        chance = np.random.default_rng(self.seed)
        topics = self.differences.shape[1]
        for start in range(0, self.flips, step):
            rows = min(step, self.flips - start)
            bits = chance.integers(0, 256, (rows, -(-topics // 8)), np.uint8)
            yield np.unpackbits(bits, axis=1, count=topics).astype(np.float64)


def count_at_least(flips: SignFlips) -> Values:
    """Count for each pair the flips with at least the observed sum."""
    least, counts = flips.observed - flips.rounding, np.zeros(len(flips.differences))
    for sums in flips.sums():
        counts += np.count_nonzero(sums >= least, axis=0)
    return counts


@dataclass(frozen=True)
class Randomisation:
    """The randomisation test: the two-sided p of the mean difference, and the number of flips."""

    p: Figure
    flips: int
    is_exact: bool  # whether all possible flips were used; random flips make p approximate
    seed: int


@dataclass(frozen=True)
class TwoRuns:
    """All tests of two runs; differences are second minus first."""

    topics: int  # topics on which both have a score
    left_out: int  # the other topics
    first_mean: Figure
    second_mean: Figure
    t: PairedT
    randomisation: Randomisation
    signed_ranks: SignedRanks
    signs: Signs


def compare_two_runs(
    first: Values, second: Values, *, seed: int, flips: int = FLIPS, largest_tie: float = 0.0
) -> TwoRuns:
    """Compare scores of the same topics, one a topic, NaN where missing.

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
