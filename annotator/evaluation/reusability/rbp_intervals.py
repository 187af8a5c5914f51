"""Between which values every run's RBP lies, whatever the unjudged documents are, and which runs that leaves apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.evaluation.leaderboard.collection_figures import TOO_FEW_RUNS, Missing
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.setting import Setting, Values, means
from annotator.evaluation.metrics.user_models import rank_biased_precision, rank_biased_residual

PERSISTENCE = 0.8


@dataclass(frozen=True)
class RbpInterval:
    """A run's RBP over the topics: at least `low`, if everything unseen is not relevant, and at most `high`."""

    tag: str
    low: Figure
    high: Figure

    @property
    def residual(self) -> Figure:
        """How far apart they are."""
        if self.low.value is None or self.high.value is None:
            return Figure(None, self.low.reason)
        return Figure(self.high.value - self.low.value)


@dataclass(frozen=True, eq=False)
class RbpIntervals:
    """The intervals of all runs in their order, over topics and by topic."""

    persistence: float
    runs: tuple[RbpInterval, ...]
    low: Values  # shape: runs, topics
    high: Values

    @property
    def settled_pairs(self) -> Figure:
        """The share of pairs of runs whose intervals do not overlap: no judgement can turn these round.

        Others may be settled all the same, for the runs may have their unjudged documents in common.
        """
        known = [(run.low.value, run.high.value) for run in self.runs]
        bounds = np.array([pair for pair in known if None not in pair], np.float64).reshape(-1, 2)
        if len(known) in TOO_FEW_RUNS:
            return Figure(None, TOO_FEW_RUNS[len(known)])
        if not len(bounds):
            return Figure(None, Missing.NO_TOPIC)
        apart = np.count_nonzero(bounds[:, np.newaxis, 0] > bounds[np.newaxis, :, 1])
        return Figure(float(apart) / (len(bounds) * (len(bounds) - 1) / 2))


def rbp_intervals(
    judged: JudgedRankings, tags: Sequence[str], relevant_from: int, *, persistence: float = PERSISTENCE
) -> RbpIntervals:
    """Give the interval of each run; the batch has a ranking for each run and each topic, topics within runs.

    From RBP to RBP and its residual (Moffat and Zobel, TOIS 2008); a topic's interval ends at 1 even where rounding
    would take it further. A topic of which nothing is judged can be anything from 0 to 1.
    """
    setting = Setting(relevant_from=relevant_from, p=persistence)
    low = rank_biased_precision(judged, setting)
    high = np.minimum(low + rank_biased_residual(judged, setting), 1.0)
    low, high = (values.reshape(len(tags), -1) if tags else values.reshape(0, 0) for values in (low, high))
    figures = [_over_topics(values) for values in (low, high)]
    runs = tuple(RbpInterval(*row) for row in zip(tags, *figures, strict=True))
    return RbpIntervals(persistence, runs, low, high)


def _over_topics(values: Values) -> list[Figure]:
    if not values.shape[1]:
        return [Figure(None, Missing.NO_TOPIC)] * len(values)
    return [Figure(value) for value in means(values).tolist()]
