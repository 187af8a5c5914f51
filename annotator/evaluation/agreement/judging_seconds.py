"""Distribution of the seconds that a judge took for a document."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Bins double from half a second to about 17 minutes: times of judging spread over three orders of magnitude.
EDGES = tuple(0.5 * 2**power for power in range(12))


@dataclass(frozen=True)
class SecondsBin:
    """The number of documents that took at least `low` and less than `high` seconds; None is no bound."""

    low: float
    high: float | None
    documents: int


@dataclass(frozen=True)
class JudgingSeconds:
    """Percentiles of the seconds per document, and a histogram with doubling bins, without empty ones at its ends."""

    p5: float
    p25: float
    median: float
    p75: float
    p95: float
    bins: tuple[SecondsBin, ...]


def judging_seconds(seconds: Sequence[float]) -> JudgingSeconds | None:
    """Compute the distribution; None without any known seconds."""
    if not seconds:
        return None
    lows = (0.0, *EDGES)
    highs = (*EDGES, None)
    counts = np.bincount(np.searchsorted(np.array(EDGES), np.array(seconds), side="right"), minlength=len(lows))
    used = np.flatnonzero(counts)
    bins = [SecondsBin(lows[one], highs[one], int(counts[one])) for one in range(int(used[0]), int(used[-1]) + 1)]
    p5, p25, middle, p75, p95 = np.percentile(np.array(seconds), [5, 25, 50, 75, 95]).tolist()
    return JudgingSeconds(p5, p25, middle, p75, p95, tuple(bins))
