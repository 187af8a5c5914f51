"""The paired t test of many pairs of runs at once, with the interval of the difference and its effect size."""

from dataclasses import dataclass

import numpy as np

from annotator.evaluation.metrics.figures import Figure, Interval
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.distributions import special
from annotator.evaluation.significance.results import ALPHA, REASONS, Reasons, Undefined, code_of, figure_of


@dataclass(frozen=True)
class PairedT:
    """Two runs on the same topics: the mean difference, and whether it may be chance."""

    difference: Figure  # the mean over topics of the second's score less the first's
    deviation: Figure  # standard deviation of the differences
    interval: Interval  # of the mean difference, 95 %
    statistic: Figure  # t, of as many degrees of freedom as there are topics but one
    p: Figure  # two-sided
    effect_size: Figure  # d_z: the mean difference in standard deviations of the differences (Cohen 1988)


@dataclass(frozen=True, eq=False)
class PairedTs:
    """The same of many pairs, an entry each; `reasons` (places in `REASONS`) say where there is no test."""

    topics: int
    difference: Values
    deviation: Values
    statistic: Values
    p: Values
    reasons: Reasons

    def of(self, pair: int) -> PairedT:
        """Take one pair out."""
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
