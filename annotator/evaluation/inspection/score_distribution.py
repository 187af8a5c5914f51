"""How the scores of a ranked list are distributed: a histogram of relevant, other and unjudged documents."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED
from annotator.evaluation.metrics.setting import Values

BINS = 20


@dataclass(frozen=True)
class ScoreDistribution:
    """Bars of equal width from the least score to the greatest; one bar without width when all scores are equal.

    A score on an edge counts above it, the greatest in the last bar. Without a score everything is empty and `reason`
    says why.
    """

    edges: tuple[float, ...]  # one more than there are bars
    relevant: tuple[int, ...]
    not_relevant: tuple[int, ...]
    unjudged: tuple[int, ...]
    quartiles: tuple[float, float, float] | None  # None exactly when `reason` says why
    reason: Missing | None = None

    @property
    def documents(self) -> tuple[int, ...]:
        """The height of each bar."""
        return tuple(map(sum, zip(self.relevant, self.not_relevant, self.unjudged, strict=True)))


def score_distribution(
    scores: Values, grades: NDArray[np.integer], relevant_from: int, *, bins: int = BINS
) -> ScoreDistribution:
    """Count the scores of documents, whose grades stand beside them, negative where there is none."""
    if not scores.size:
        return ScoreDistribution((), (), (), (), None, Missing.NOTHING_RETURNED)
    # Scores may be so far apart that their difference is no number any more; their shares of the greatest are not.
    greatest = float(np.abs(scores).max()) or 1.0
    shares = scores / greatest
    low, high = float(shares.min()), float(shares.max())
    count = bins if high > low else 1
    bar = np.zeros(scores.size, np.intp)
    if high > low:
        bar = np.minimum((shares - low) / (high - low) * bins, bins - 1).astype(np.intp)
    is_relevant = grades >= relevant_from
    kinds = (is_relevant, (grades > NOT_GRADED) & ~is_relevant, grades <= NOT_GRADED)
    relevant, others, unjudged = (tuple(np.bincount(bar[kind], minlength=count).tolist()) for kind in kinds)
    first, middle, third = (np.percentile(shares, (25, 50, 75)) * greatest).tolist()
    edges = tuple((np.linspace(low, high, count + 1) * greatest).tolist())
    return ScoreDistribution(edges, relevant, others, unjudged, (first, middle, third))
