"""MaxMean: runs as arms of a bandit, of which the one with the best mean is pulled."""

from enum import Enum

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.pooling.adaptive import Adaptive, Blocked
from annotator.evaluation.pooling.topic_runs import Places, Ties, TopicRuns


class Update(Enum):
    """Which runs learn from a judgement."""

    ALL = "all"  # every run that has the document
    PULLED = "pulled"  # only the run from which it was chosen; all, when a judgement does not say one


class MaxMean(Adaptive):
    """Take the next document of the run of which most judged documents are relevant: MaxMean.

    Each run is an arm of a bandit: of its judged documents, r are relevant and n are not, and its mean is
    alpha / (alpha + beta) with alpha = 1 + r and beta = 1 + n. The best-ranked document without a judgement of the run
    with the greatest mean comes next. A judgement counts for every run that has the document, or with update=pulled
    only for the run it was chosen from. Losada, Parapar and Barreiro, SAC 2016 and Information Processing and
    Management 53(5), 2017.
    """

    RATE = 1.0

    def __init__(self, runs: TopicRuns, *, ties: Ties = Ties.RRF, seed: int = 1, update: Update = Update.ALL) -> None:
        """Begin with all runs at a mean of one half."""
        super().__init__(runs, ties=ties, seed=seed)
        self._update = update
        self._relevant = np.zeros(runs.given.size)
        self._judged = np.zeros(runs.given.size)
        self._heads = np.zeros(runs.given.size, np.intp)
        self._rows = np.arange(runs.given.size)

    def _learn(self, place: int, row: int | None, *, is_relevant: bool) -> None:
        pulled_only = self._update is Update.PULLED and row is not None
        rows = row if pulled_only else self.runs.holders(place)[0]
        self._relevant[rows] = self.RATE * self._relevant[rows] + is_relevant
        self._judged[rows] = self.RATE * self._judged[rows] + 1

    def _next(self, blocked: Blocked) -> tuple[int, int, dict[str, float]]:
        # Judged documents stay judged, so that they need not be passed again.
        self._heads, _ = self._passed(self._known)
        heads, at_head = self._passed(blocked)
        alpha, beta = 1 + self._relevant, 1 + self._judged - self._relevant
        means = np.where(at_head < self.runs.candidates, alpha / (alpha + beta), -1)
        best = np.flatnonzero(means == means.max())
        row = int(best[self._preferred(best, at_head[best], blocked)])
        reason = {"rank": int(heads[row]) + 1, "alpha": float(alpha[row]), "beta": float(beta[row])}
        return int(at_head[row]), row, reason

    def _passed(self, blocked: Blocked) -> tuple[NDArray[np.intp], Places]:
        """Move every run past its blocked documents: the heads, and the places there."""
        heads = self._heads.copy()
        while True:
            at_head = self.runs.lists[self._rows, heads]
            stuck = blocked[at_head]
            if not stuck.any():
                return heads, at_head
            heads += stuck


class LastMaxMean(MaxMean):
    """Take the next document of the run whose last judged document is relevant: non-stationary MaxMean.

    As MaxMean, but r and n are multiplied by a rate before a judgement is added, and the rate is 0: only the last one
    counts, so that a run that stops finding relevant documents is left at once. Means then have three values, and ties
    decide much; they are drawn at random unless another rule is chosen. Losada, Parapar and Barreiro, Information
    Processing and Management 53(5), 2017.
    """

    RATE = 0.0
