"""Hedge: trust in runs grows and falls with each judgement, and the document they most trust together comes next."""

import numpy as np

from annotator.evaluation.pooling.adaptive import Adaptive, Blocked
from annotator.evaluation.pooling.topic_runs import Ties, TopicRuns, Weights

BETA = 0.1
DECIMALS = 9  # of weights when they are compared: sums of the same terms in another order differ in the 16th


class Hedge(Adaptive):
    """Take the document for which the runs speak most, each with the trust that judgements gave it: Hedge.

    A run that has the document at rank r of c candidates speaks for it with ln(c / r) / 2; one that does not have it,
    with the mean over the ranks it did not use. The document with the greatest sum of trust times this comes next. A
    judgement multiplies every run's trust by 0.1 to the power of what the run said: negative if the document is
    relevant, positive if not. Sums that differ by no more than rounding are equal, so that the order of late documents
    does not hang on the last bit of a float. Aslam, Pavlu and Savell, "A unified model for metasearch, pooling, and
    system evaluation", CIKM 2003.
    """

    def __init__(
        self, runs: TopicRuns, *, ties: Ties = Ties.RRF, seed: int = 1, decimals: int | None = DECIMALS
    ) -> None:
        """Begin with equal trust in all runs; without `decimals` weights are compared to the last bit."""
        super().__init__(runs, ties=ties, seed=seed)
        self._decimals = decimals
        self._said = np.log(runs.candidates / np.arange(1, runs.candidates + 1)) / 2  # at each rank
        # What is left from each length on; after the last rank nothing is, and nobody asks for it.
        left = np.append(np.cumsum(self._said[::-1])[::-1], 0)[runs.lengths]
        self._absent = left / np.maximum(runs.candidates - runs.lengths, 1)
        entries = runs.entries
        self._present = self._said[entries.rank - 1] - self._absent[entries.row]
        # As logarithms, since a trust of 0.1^1000 is no number.
        self._trust = np.zeros(runs.given.size)
        self._weights: Weights | None = None

    def _learn(self, place: int, row: int | None, *, is_relevant: bool) -> None:  # noqa: ARG002  every run learns
        said = self._absent.copy()
        rows, ranks = self.runs.holders(place)
        said[rows] = self._said[ranks - 1]
        self._trust += (-said if is_relevant else said) * np.log(BETA)
        self._weights = None

    def _shares(self) -> Weights:
        """Each run's share of all trust."""
        trust: Weights = np.exp(self._trust - self._trust.max())
        return trust / float(trust.sum())

    def _next(self, blocked: Blocked) -> tuple[int, int, dict[str, float]]:
        shares = self._shares()
        if self._weights is None:
            absent = float((shares * self._absent).sum())
            self._weights = absent + self.runs.sums(shares[self.runs.entries.row] * self._present)
            if self._decimals is not None:
                self._weights = np.round(self._weights, self._decimals)
        free = np.where(blocked[:-1], -np.inf, self._weights)
        best = np.flatnonzero(free == free.max())
        place = int(best[np.argmin(self.preference[best])])
        rows, ranks = self.runs.holders(place)
        most = int(np.argmax(shares[rows] * self._said[ranks - 1]))
        reason = {
            "rank": int(ranks[most]),
            "weight": float(self._weights[place]),
            "trust": float(shares[rows[most]]),
        }
        return place, int(rows[most]), reason
