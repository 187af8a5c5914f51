"""Results of significance tests, values or the reasons why there are none; and the topics shared by runs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence
from annotator.evaluation.metrics.figures import Figure, SentenceEnum
from annotator.evaluation.metrics.setting import Values

ALPHA = 0.05  # significance level; intervals have 95 %


class Undefined(SentenceEnum):
    """Why there is no value, or why it is not the one that was estimated."""

    NO_TOPIC = Sentence("There is no topic on which all of these runs have a score.")
    ONE_TOPIC = Sentence("There is only one topic, so the variance cannot be estimated; it takes two.")
    NO_RUN = Sentence("There is no run.")
    ONE_RUN = Sentence("There is one run only, so there is none to compare it with.")
    NO_DIFFERENCE = Sentence("Not defined: no difference. The runs have the same score on every topic.")
    SAME_DIFFERENCE = Sentence(
        "Not defined: the runs differ by the same amount on every topic, so there is no spread to compare it with."
    )
    SAME_MEAN = Sentence("The two runs have the same mean, so no number of topics can separate them.")
    ALL_TIED = Sentence("Not defined: no topic has a difference large enough to count.")
    NO_SPREAD = Sentence("There is no interval: the score is the same on every topic.")
    ALL_EQUAL = Sentence("Not defined: all scores are equal, so there is no variance to share out.")
    NEGATIVE_ESTIMATE = Sentence(
        "The estimate was below 0, as it can be where there is little variance or there are few scores; it counts as 0."
    )
    SAMPLE_OF_ONE = Sentence(
        "There is no interval: of some topic a single document was drawn, from which no variance can be estimated."
    )
    TOO_MANY_TOPICS = Sentence("It would take more than a million topics.")
    TOO_MANY_GROUPS = Sentence("The runs fall into so many overlapping groups that letters would say nothing.")


# Arrays of values have arrays of reasons of the same shape, as indices into this tuple; index 0 is no reason.
REASONS = (
    None,
    Undefined.NO_TOPIC,
    Undefined.ONE_TOPIC,
    Undefined.NO_RUN,
    Undefined.ONE_RUN,
    Undefined.NO_DIFFERENCE,
    Undefined.SAME_DIFFERENCE,
    Undefined.SAMPLE_OF_ONE,
)
Reasons = NDArray[np.int8]


def code_of(reason: Undefined | None) -> int:
    """Return a reason's index in `REASONS`."""
    return REASONS.index(reason)


def figure_of(value: float, code: int) -> Figure:
    """Combine an array's entry with its reason."""
    return Figure(None, REASONS[code]) if code else Figure(float(value))


@dataclass(frozen=True, eq=False)
class PairFigures:
    """A figure of every pair of runs; symmetric."""

    values: Values  # shape: runs, runs; NaN where there is none, as between a run and itself
    reasons: Reasons  # of the same shape

    def of(self, first: int, second: int) -> Figure:
        """Return the figure of two runs by their indices; a run has none with itself: no difference."""
        return figure_of(self.values[first, second], int(self.reasons[first, second]))

    @property
    def reason(self) -> Undefined | None:
        """Why no pair has a value; None when some pair has one."""
        runs = len(self.values)
        if runs <= 1:
            return Undefined.ONE_RUN if runs else Undefined.NO_RUN
        return REASONS[self.reasons[0, 1]] if np.isnan(self.values).all() else None

    def at_most(self, alpha: float = ALPHA) -> NDArray[np.bool_]:
        """Return for every pair whether its value is at most `alpha`: for p values, whether the runs differ.

        Shape: runs, runs.
        """
        return self.values <= alpha  # never true of NaN

    @classmethod
    def without_value(cls, runs: int, reason: Undefined) -> "PairFigures":
        """Return figures without any value, all for the same reason."""
        reasons = np.full((runs, runs), code_of(reason), np.int8)
        np.fill_diagonal(reasons, code_of(Undefined.NO_DIFFERENCE))
        return cls(np.full((runs, runs), np.nan), reasons)

    @classmethod
    def of_matrix(cls, values: Values) -> "PairFigures":
        """Build from a matrix, (runs, runs), in which every pair of different runs has a value."""
        values, reasons = values.copy(), np.zeros(values.shape, np.int8)
        np.fill_diagonal(values, np.nan)
        np.fill_diagonal(reasons, code_of(Undefined.NO_DIFFERENCE))
        return cls(values, reasons)


# Scores whose spread, relative to the largest of them, is smaller differ by rounding alone.
LEAST_SPREAD = 1e-12


@dataclass(frozen=True, eq=False)
class SharedTopics:
    """Complete scores, (runs, topics), and the number of topics left out because a run had no score."""

    scores: Values
    left_out: int

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.scores)

    @property
    def topics(self) -> int:
        """The number of shared topics."""
        topics: int = self.scores.shape[1]
        return topics

    @property
    def least_spread(self) -> float:
        """The difference up to which scores count as equal."""
        return LEAST_SPREAD * float(np.abs(self.scores).max(initial=0))

    @property
    def too_small(self) -> Undefined | None:
        """Why nothing can be compared, with fewer than two runs or two topics; else None."""
        if self.runs <= 1:
            return Undefined.ONE_RUN if self.runs else Undefined.NO_RUN
        if self.topics <= 1:
            return Undefined.ONE_TOPIC if self.topics else Undefined.NO_TOPIC
        return None


def shared_topics(scores: Values) -> SharedTopics:
    """Remove the topics on which a run has no score, NaN; `scores` has the shape (runs, topics)."""
    has_all = ~np.isnan(scores).any(axis=0)
    left = np.ascontiguousarray(scores[:, has_all], np.float64)
    return SharedTopics(left, int(has_all.size - np.count_nonzero(has_all)))
