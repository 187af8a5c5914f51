"""How many topics would tell two runs apart by a paired t test."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.figures import SentenceEnum
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.distributions import special
from annotator.evaluation.significance.results import ALPHA, Undefined, shared_topics
from annotator.evaluation.significance.two_runs import paired_t

POWER = 0.8
MOST_TOPICS = 1_000_000
# SciPy has no noncentral t beyond these shifts; the chance to find the opposite of the truth is then below 1e-11, and
# that to find the truth is 1.
MOST_SHIFT_BELOW, MOST_SHIFT = 5.0, 1e6


@dataclass(frozen=True)
class TopicsNeeded:
    """The least number of topics on which a true difference would be found as often as `power` says.

    `topics` is None exactly when `reason` says why.
    """

    topics: int | None
    reason: SentenceEnum | None
    difference: float | None  # to be found, whichever run is better
    deviation: float | None  # standard deviation of the differences over topics
    power: float
    alpha: float


def topics_to_tell_apart(
    first: Values, second: Values, difference: float | None = None, *, power: float = POWER, alpha: float = ALPHA
) -> TopicsNeeded:
    """Count from two runs' scores of the same topics, NaN where there is none.

    The difference to be found is the wished one, else that of their means; differences are taken to spread as they do
    on these topics. Raises `InvalidValueError` as `topics_needed`.
    """
    shared = shared_topics(np.stack([first, second]))
    tests = paired_t(shared.scores[1:] - shared.scores[:1], shared.least_spread)
    test = tests.of(0)
    observed = None if test.difference.value is None else abs(test.difference.value)
    wanted = observed if difference is None else difference
    reason = test.p.reason
    if reason is None and wanted is not None and wanted <= shared.least_spread and difference is None:
        reason = Undefined.SAME_MEAN
    if reason is not None or wanted is None or test.deviation.value is None:
        return TopicsNeeded(None, reason, wanted, test.deviation.value, power, alpha)
    return topics_needed(wanted, test.deviation.value, power=power, alpha=alpha)


def topics_needed(difference: float, deviation: float, *, power: float = POWER, alpha: float = ALPHA) -> TopicsNeeded:
    """Count the topics for a difference and a standard deviation of differences, by the noncentral t distribution.

    Cohen 1988; in retrieval Sakai 2018. Raises `InvalidValueError` when one of the two is not above 0, or power or
    alpha not between 0 and 1.
    """
    if not (difference > 0 and deviation > 0):
        raise InvalidValueError("The difference to be found and the standard deviation must be above 0.")
    if not (0 < power < 1 and 0 < alpha < 1):
        raise InvalidValueError("Power and error must be between 0 and 1.")
    effect = difference / deviation
    counts = range(2, MOST_TOPICS + 1)
    place = bisect_left(counts, power, key=lambda topics: power_of_paired_t(effect, topics, alpha))
    reason = Undefined.TOO_MANY_TOPICS if place == len(counts) else None
    return TopicsNeeded(None if reason else counts[place], reason, difference, deviation, power, alpha)


def power_of_paired_t(effect: float, topics: int, alpha: float = ALPHA) -> float:
    """How often the two-sided test finds a true effect (d_z, above 0) on so many topics, at least 2."""
    degrees, shift = topics - 1, min(effect * topics**0.5, MOST_SHIFT)
    critical = float(special().stdtrit(degrees, 1 - alpha / 2))
    opposite = float(special().nctdtr(degrees, shift, -critical)) if shift < MOST_SHIFT_BELOW else 0.0
    return 1 - float(special().nctdtr(degrees, shift, critical)) + opposite
