"""The quantile binomial confidence bound of a target set (QBCB): a random sample that the review must find again.

A simple random sample of the candidates is judged first. The review then goes on as if it did not know the sample; when
it has come to enough of the sample's relevant documents, its recall is at least the target with the confidence chosen.
Lewis, Yang and Frieder, Certifying One-Phase Technology-Assisted Reviews, CIKM 2021.
"""

from functools import lru_cache
from math import exp, lgamma, log


@lru_cache(maxsize=4096)
def needed_positives(positives: int, target: float, alpha: float = 0.05) -> int | None:
    """Return how many of the sample's relevant documents must be found; None when no number of them certifies.

    It is the least j with P(X >= j) <= alpha for a binomial X of `positives` trials with probability `target`: were
    recall below the target, as many would be found with that probability at most.
    """
    tail = 0.0
    needed = None
    for j in range(positives, 0, -1):
        tail += _binomial(positives, j, target)
        if tail > alpha:
            break
        needed = j
    return needed


@lru_cache(maxsize=64)
def least_positives(target: float, alpha: float = 0.05) -> int:
    """Return the fewest relevant documents of a sample by which the target can be certified, all of them found."""
    positives = 1
    while needed_positives(positives, target, alpha) is None:
        positives += 1
    return positives


def _binomial(trials: int, successes: int, probability: float) -> float:
    log_coefficient = lgamma(trials + 1) - lgamma(successes + 1) - lgamma(trials - successes + 1)
    return exp(log_coefficient + successes * log(probability) + (trials - successes) * log(1 - probability))
