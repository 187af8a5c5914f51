"""What is said of scored run files beyond their means: intervals, two runs compared, all against a baseline."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.evaluation.inspection.side_by_side import Conclusion, conclude
from annotator.evaluation.inspection.two_runs import pair_by_measure
from annotator.evaluation.metrics.figures import Interval
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.scoring import Scores
from annotator.evaluation.metrics.setting import means as arithmetic_means
from annotator.evaluation.significance.comparisons import BaselineComparison, compare_with_baseline
from annotator.evaluation.significance.means import IntervalMethod, mean_intervals


@dataclass(frozen=True)
class FilesCompared:
    """Runs compared by the first measure."""

    measure: str
    better: Better
    intervals: tuple[Interval | None, ...]  # 95 % interval of each run; None when the measure is no mean
    conclusion: Conclusion | None  # of exactly two runs
    baseline: BaselineComparison | None


def compare_scored(names: Sequence[str], scores: Scores, baseline: str | None, *, seed: int) -> FilesCompared:
    """Compare the runs by the first measure; raises `NotFoundError` when the baseline is not among the names."""
    measure = scores.measures[0]
    values = scores.values[:, :, 0]
    intervals: Sequence[Interval | None] = [None] * len(names)
    if measure.definition.over_topics is arithmetic_means:
        intervals = mean_intervals(values, IntervalMethod.T, bounds=measure.definition.bounds)
    order = (0, 1) if baseline is None or names[0] == baseline else (1, 0)
    conclusion = None
    if len(names) == len(order):
        pair = pair_by_measure(scores, *order, 0, seed=seed)
        conclusion = conclude(names[order[0]], names[order[1]], pair)
    against = None if baseline is None else compare_with_baseline(names, values, baseline, seed=seed)
    return FilesCompared(str(measure), measure.definition.better, tuple(intervals), conclusion, against)
