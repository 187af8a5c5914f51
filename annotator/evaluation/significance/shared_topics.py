"""The topics on which runs can be compared: those on which all of them have a score."""

from dataclasses import dataclass

import numpy as np

from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.results import Undefined

# Scores whose spread is a smaller part of the largest of them differ by rounding alone.
LEAST_SPREAD = 1e-12


@dataclass(frozen=True, eq=False)
class SharedTopics:
    """Scores without a gap, (runs, topics), and of how many topics there was none of some run."""

    scores: Values
    left_out: int

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.scores)

    @property
    def topics(self) -> int:
        """How many topics are left."""
        topics: int = self.scores.shape[1]
        return topics

    @property
    def least_spread(self) -> float:
        """What differs by no more is equal."""
        return LEAST_SPREAD * float(np.abs(self.scores).max(initial=0))

    @property
    def too_small(self) -> Undefined | None:
        """Why nothing can be compared: it takes two runs and two topics."""
        if self.runs <= 1:
            return Undefined.ONE_RUN if self.runs else Undefined.NO_RUN
        if self.topics <= 1:
            return Undefined.ONE_TOPIC if self.topics else Undefined.NO_TOPIC
        return None


def shared_topics(scores: Values) -> SharedTopics:
    """Leave out the topics on which a run has no score, NaN; `scores` has the shape (runs, topics)."""
    has_all = ~np.isnan(scores).any(axis=0)
    left = np.ascontiguousarray(scores[:, has_all], np.float64)
    return SharedTopics(left, int(has_all.size - np.count_nonzero(has_all)))
