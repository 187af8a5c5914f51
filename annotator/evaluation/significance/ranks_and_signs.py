"""Two tests of two runs that look at ranks or signs of the differences alone; kept because readers ask for them.

Smucker, Allan and Carterette (CIKM 2007) advise against both: they overlook how large differences are.
"""

from dataclasses import dataclass

import numpy as np

from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.distributions import special
from annotator.evaluation.significance.results import Undefined


@dataclass(frozen=True)
class SignedRanks:
    """Wilcoxon's test: the ranks of the topics on which the second is better, added up, and the two-sided p."""

    statistic: Figure
    p: Figure
    topics: int  # on which the two differ; the others do not count


@dataclass(frozen=True)
class Signs:
    """The sign test: on how many topics the second is better, worse, or neither, and the two-sided p."""

    better: int
    worse: int
    tied: int
    p: Figure


def signed_ranks(differences: Values) -> SignedRanks:
    """Test differences, one a topic, as R's wilcox.test does with exact = FALSE.

    Zeros are left out, ties share their ranks; normal approximation, corrected for ties and by a half for continuity
    (Wilcoxon 1945; Hollander and Wolfe 1973).
    """
    differing = differences[differences != 0]
    if differences.size <= 1 or not differing.size:
        reason = _too_few(differences.size) or Undefined.NO_DIFFERENCE
        return SignedRanks(Figure(None, reason), Figure(None, reason), int(differing.size))
    size = differing.size
    _, place, times = np.unique(np.abs(differing), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - (times - 1) / 2)[place]
    statistic = float(ranks[differing > 0].sum())
    distance = statistic - size * (size + 1) / 4
    variance = size * (size + 1) * (2 * size + 1) / 24 - float((times.astype(float) ** 3 - times).sum()) / 48
    z = (abs(distance) - (0.5 if distance else 0)) / np.sqrt(variance)
    return SignedRanks(Figure(statistic), Figure(float(2 * special().ndtr(-z))), size)


def signs(differences: Values, largest_tie: float = 0.0) -> Signs:
    """Test differences, one a topic; those of at most `largest_tie` are ties and do not count.

    Exact, from the binomial distribution (Arbuthnot 1710; Conover 1999).
    """
    better = int(np.count_nonzero(differences > largest_tie))
    worse = int(np.count_nonzero(differences < -largest_tie))
    tied = int(differences.size) - better - worse
    reason = _too_few(differences.size)
    if reason is None and not better + worse:
        reason = Undefined.ALL_TIED if differences.any() else Undefined.NO_DIFFERENCE
    if reason is not None:
        return Signs(better, worse, tied, Figure(None, reason))
    p = min(1.0, 2 * float(special().bdtr(min(better, worse), better + worse, 0.5)))
    return Signs(better, worse, tied, Figure(p))


def _too_few(topics: int) -> Undefined | None:
    if topics > 1:
        return None
    return Undefined.ONE_TOPIC if topics else Undefined.NO_TOPIC
