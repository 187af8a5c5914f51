"""How much of the variance of scores lies in the topics, how much in the runs, and how much between them."""

from dataclasses import dataclass

from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.results import Undefined
from annotator.evaluation.significance.shared_topics import shared_topics
from annotator.evaluation.significance.two_way import TwoWay, two_way


@dataclass(frozen=True)
class Component:
    """One part: its variance, and its share of all from 0 to 1.

    An estimate below 0 counts as 0, and `reason` says so; where there is no value it says why.
    """

    variance: float | None
    share: float | None
    estimate: float | None  # as it came out
    reason: Undefined | None = None


@dataclass(frozen=True)
class VarianceShares:
    """The parts; the last is interaction of topics and runs and error, which one score of each cannot tell apart."""

    topics: int  # on which all runs have a score
    left_out: int  # the others
    of_topics: Component
    of_runs: Component
    of_interaction: Component


def variance_shares(scores: Values) -> VarianceShares:
    """Share out the variance of scores, (runs, topics), NaN where there is none.

    Components of the two-way model with random runs and topics, from the mean squares (Tague-Sutcliffe and Blustein,
    TREC-3; Bodoff and Li, SIGIR 2007).
    """
    shared = shared_topics(scores)
    reason = shared.too_small
    layout = None if reason else two_way(shared)
    estimates = _estimates(layout, shared.runs, shared.topics) if layout else []
    total = sum(max(estimate, 0) for estimate in estimates)
    if not total:
        nothing = Component(None, None, None, reason or Undefined.ALL_EQUAL)
        return VarianceShares(shared.topics, shared.left_out, nothing, nothing, nothing)
    return VarianceShares(shared.topics, shared.left_out, *(_component(estimate, total) for estimate in estimates))


def deviation_of_differences(scores: Values) -> Figure:
    """How far differences of two runs spread over topics, all pairs taken together: the root of their mean variance.

    It is the root of twice the mean square of what neither runs nor topics explain.
    """
    shared = shared_topics(scores)
    reason = shared.too_small
    return Figure(None, reason) if reason else Figure((2 * two_way(shared).of_rest) ** 0.5)


def _estimates(layout: TwoWay, runs: int, topics: int) -> list[float]:
    """Of topics, runs and the rest: what mean squares exceed that of the rest by, of one score."""
    return [(layout.of_topics - layout.of_rest) / runs, (layout.of_runs - layout.of_rest) / topics, layout.of_rest]


def _component(estimate: float, total: float) -> Component:
    variance = max(estimate, 0.0)
    return Component(variance, variance / total, estimate, Undefined.NEGATIVE_ESTIMATE if estimate < 0 else None)
