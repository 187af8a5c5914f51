"""The strategy `lara`: people judge the documents of whose relevance a machine judge is least certain."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.pooling.adaptive import Adaptive, Blocked
from annotator.evaluation.pooling.topic_runs import Ties, TopicRuns, Weights
from annotator.evaluation.qrels.machine_labels import PackedLabels

# Chances of 0 and 1 have no finite logarithm of odds, and no machine is that certain.
LEAST, MOST = 0.01, 0.99
STEPS = 50  # of Newton's method; a handful is enough
ENOUGH = 1e-9
PRIOR = np.array([1.0, 0.0])  # the machine's own value


class LeastCertain(Adaptive):
    """Take the document of whose relevance a machine judge is least certain, given the judgements so far: LARA.

    The machine's chance that a document is relevant is its probability or confidence, or else follows from its grade.
    Logistic regression on the judgements of the topic calibrates it after each of them, beginning with the machine's
    own value; the document with a calibrated chance closest to one half comes next. Documents that the machine has not
    graded come last, by reciprocal rank fusion. Takehi, Voorhees, Sakai and Soboroff, "LLM-Assisted Relevance
    Assessments: When Should We Ask LLMs for Help?", SIGIR 2025.
    """

    def __init__(
        self, runs: TopicRuns, *, ties: Ties = Ties.RRF, seed: int = 1, chances: Mapping[int, float] | None = None
    ) -> None:
        """Begin with the machine's chances of relevance, by document."""
        super().__init__(runs, ties=ties, seed=seed)
        known = chances or {}
        given = np.array([known.get(document, np.nan) for document in runs.documents.tolist()], np.float64)
        given = np.clip(given, LEAST, MOST)
        self._odds: Weights = np.log(given / (1 - given))
        self._learnt: list[tuple[float, bool]] = []
        self._calibrated: Weights | None = None

    def _learn(self, place: int, row: int | None, *, is_relevant: bool) -> None:  # noqa: ARG002  runs do not matter
        if not np.isnan(self._odds[place]):
            self._learnt.append((float(self._odds[place]), is_relevant))
            self._calibrated = None

    def _next(self, blocked: Blocked) -> tuple[int, int, dict[str, float]]:
        if self._calibrated is None:
            slope, offset = calibration(self._learnt)
            self._calibrated = 1 / (1 + np.exp(-(slope * self._odds + offset)))
        # Rounded, as sums of the same terms in another order differ in the last digits.
        margin = np.round(np.abs(self._calibrated - 0.5), 9)
        free = np.where(blocked[:-1], np.inf, np.where(np.isnan(margin), 1.0, margin))
        best = np.flatnonzero(free == free.min())
        place = int(best[np.argmin(self.preference[best])])
        rows, ranks = self.runs.holders(place)
        reason = {"rank": float(ranks[0])}
        if not np.isnan(margin[place]):
            reason["chance"] = round(float(self._calibrated[place]), 6)
        return place, int(rows[0]), reason


def calibration(judged: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """Slope and offset of the odds' logarithm, fitted to whether documents with these were relevant.

    Both have a normal prior with variance 1, around the machine's own value: slope 1 and offset 0.
    """
    odds = np.array([one for one, _ in judged])
    relevant = np.array([is_relevant for _, is_relevant in judged], np.float64)
    inputs = np.stack([odds, np.ones_like(odds)], axis=1)
    prior = PRIOR
    fitted, loss = prior.copy(), _loss(prior, inputs, relevant)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-inputs @ fitted))
        slope = inputs.T @ (relevant - chance) - (fitted - prior)
        curvature = (inputs * (chance * (1 - chance))[:, None]).T @ inputs + np.eye(2)
        step = np.linalg.solve(curvature, slope)
        # A whole step may lead too far, where chances are close to 0 and 1.
        while (further := _loss(fitted + step, inputs, relevant)) > loss and float(np.abs(step).max()) >= ENOUGH:
            step /= 2
        fitted, loss = fitted + step, further
        if float(np.abs(step).max()) < ENOUGH:
            break
    return float(fitted[0]), float(fitted[1])


def _loss(fitted: Weights, inputs: Weights, relevant: Weights) -> float:
    """What is minimised: minus the logarithm of the likelihood and of the prior."""
    logits = inputs @ fitted
    return float((np.logaddexp(0, logits) - relevant * logits).sum() + ((fitted - PRIOR) ** 2).sum() / 2)


def chances_of_relevance(labels: PackedLabels, scale: Sequence[int], relevant_from: int) -> dict[int, float]:
    """Document → the machine's chance that it is relevant; `scale` has the grades, ascending.

    The probabilities of the relevant grades; or the confidence in the grade; or else, of a scale with n grades,
    (i + 1/2) / n for the grade in place i from 0, so that higher grades have greater chances.
    """
    values = np.array(scale)
    is_relevant: NDArray[np.bool_] = labels.grades >= relevant_from
    chances = (np.searchsorted(values, labels.grades) + 0.5) / max(values.size, 1)
    if labels.confidences is not None:
        given = np.where(is_relevant, labels.confidences, 1 - labels.confidences)
        chances = np.where(np.isnan(given), chances, given)
    if labels.probabilities is not None and labels.probabilities.shape[1] == values.size:
        of_relevant = labels.probabilities[:, values >= relevant_from].sum(axis=1)
        of_all = labels.probabilities.sum(axis=1)
        chances = np.where(np.isnan(of_all) | (of_all <= 0), chances, of_relevant / np.where(of_all > 0, of_all, 1))
    return dict(zip(labels.document_ids.tolist(), np.round(chances, 6).tolist(), strict=True))
