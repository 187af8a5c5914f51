"""Cumulated gain of a run at each rank beside the best possible (Järvelin and Kekäläinen, TOIS 2002)."""

from dataclasses import dataclass

import numpy as np

from annotator.evaluation.inspection.scored_runs import ScoredRuns
from annotator.evaluation.metrics.setting import Values

RANKS = 50


@dataclass(frozen=True)
class GainPoint:
    """Gain cumulated down to a rank, averaged over topics: the run's, and that of an ideal ranking."""

    rank: int
    gain: float
    ideal: float


def cumulated(grades: Values, ranks: int) -> Values:
    """Return the sums of grades down to ranks 1, 2 and so on; negative grades and missing ranks add nothing."""
    gains = np.zeros(ranks)
    top = np.maximum(grades[:ranks], 0)
    gains[: top.size] = top
    sums: Values = np.cumsum(gains)
    return sums


def gain_curve(scored: ScoredRuns, tag: str, ranks: int = RANKS) -> tuple[GainPoint, ...]:
    """Compute the curve of a run to a rank; unjudged documents have no gain. Raises `NotFoundError`."""
    run = scored.run(tag)
    gain, ideal = np.zeros(ranks), np.zeros(ranks)
    for place, id_ in enumerate(scored.topics):
        known = scored.qrels[id_]
        listed = scored.ranking(run, place)[:ranks].tolist()
        gain += cumulated(np.array([known.get(document, 0) for document in listed], float), ranks)
        ideal += cumulated(-np.sort(-np.array(list(known.values()), float)), ranks)
    topics = len(scored.topics)
    rows = zip((gain / topics).tolist(), (ideal / topics).tolist(), strict=True)
    return tuple(GainPoint(rank, *row) for rank, row in enumerate(rows, start=1))
