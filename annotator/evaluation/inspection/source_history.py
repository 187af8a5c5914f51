"""The scores of the runs of one source in time, and an alarm when one leaves the interval of those before it."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.evaluation.inspection.scored_runs import ScoredRuns
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.significance.results import Undefined
from annotator.evaluation.significance.two_runs import compare_two_runs

FLIPS = 1  # the randomisation test is not looked at


@dataclass(frozen=True)
class HistoryScore:
    """The mean of a run over all topics with a grade.

    `reference` is the index of the run that it is compared with, None for the first. `low` and `high` are the interval
    around the mean of that run: plus and minus half of the 95 % interval of the paired t test of their difference; None
    where the test is not defined, as with one topic or without any difference.
    """

    mean: float
    reference: int | None = None
    low: float | None = None
    high: float | None = None
    is_better: bool = False

    @property
    def alarms(self) -> bool:
        """Whether the mean has left the interval: the difference is not 0 at the level of 5 %."""
        return self.low is not None and self.high is not None and not self.low <= self.mean <= self.high


def history_of(scored: ScoredRuns) -> Sequence[HistoryScore]:
    """The scores of runs that are in the order of time, by the first measure.

    The first run is the reference of those after it, until one leaves its interval: that is the reference from then on.
    So small steps in one direction add up to an alarm, and a change alarms once.
    """
    reference = 0
    history = [HistoryScore(float(scored.mean(0)))] if scored.tags else []
    for run in range(1, len(scored.tags)):
        score = _compared(scored, reference, run)
        history.append(score)
        if score.alarms:
            reference = run
    return history


def _compared(scored: ScoredRuns, reference: int, run: int) -> HistoryScore:
    mean, before = float(scored.mean(run)), float(scored.mean(reference))
    tests = compare_two_runs(scored.values[reference], scored.values[run], seed=0, flips=FLIPS)
    bounds = tests.t.interval.bounds
    is_better = mean < before if scored.better is Better.LESS else mean > before
    if bounds is None and tests.t.interval.reason is Undefined.SAME_DIFFERENCE:
        # All topics changed by the same amount: an interval of no width, which the mean has left.
        return HistoryScore(mean, reference, before, before, is_better)
    if bounds is None:
        return HistoryScore(mean, reference, is_better=is_better)
    half = (bounds[1] - bounds[0]) / 2
    return HistoryScore(mean, reference, before - half, before + half, is_better)
