"""One run: its curves of precision and recall, its values beside those of the others, and what it missed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.evaluation.leaderboard.rescoring import ranked_values
from annotator.evaluation.metrics.interpolated import PrecisionRecallPoints, eleven_points, precision_recall_points
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.setting import Compat, Values


@dataclass(frozen=True)
class PrecisionRecall:
    """One ranking's curve: a point for each relevant document retrieved, by rank, and eleven interpolated ones.

    All are shares from 0 to 1. A ranking that retrieved nothing relevant has no points, and 0 at every level.
    """

    recall: tuple[float, ...]
    precision: tuple[float, ...]
    interpolated: tuple[float, ...]  # at the same recalls: the best precision there or further down
    levels: tuple[float, ...] | None  # at the recalls 0, 0.1 and so on to 1; None exactly when `reason` says why
    reason: Missing | None = None


@dataclass(frozen=True)
class TopicBar:
    """A run's value for a topic, beside those of all runs, this one included."""

    topic: str
    value: float
    median: float
    best: float | None  # None when the measure says nothing of better and worse, as `worst` and `place`
    worst: float | None
    place: int | None  # one more than the number of runs that are better

    @property
    def difference(self) -> float:
        """How far the run is from the median."""
        return self.value - self.median


@dataclass(frozen=True)
class MissedTopics:
    """The topics for which a run has nothing to show, and those for which no run could."""

    not_returned: tuple[str, ...]  # the run has no list
    nothing_found: tuple[str, ...]  # it has one, without a relevant document
    none_known: tuple[str, ...]  # no document is judged relevant; such a topic is not counted in the other two


def precision_recall(
    judged: JudgedRankings, relevant_from: int, *, compat: Compat = Compat.TREC_EVAL_10
) -> tuple[PrecisionRecall, ...]:
    """Give the curve of each ranking of a batch, interpolated by trec_eval's rule.

    Without a relevant document of the topic recall is not defined, where trec_eval says 0.
    """
    points = precision_recall_points(judged, relevant_from)
    levels = eleven_points(judged, relevant_from, compat=compat).tolist()
    reasons = _reasons(judged, relevant_from)
    return tuple(
        _curve(points.of(ranking), of_ranking, reason)
        for ranking, (of_ranking, reason) in enumerate(zip(levels, reasons, strict=True))
    )


def topic_bars(topics: Sequence[str], values: Values, run: int, better: Better) -> tuple[TopicBar, ...]:
    """Set one run's values beside those of all, (runs, topics); topics keep their order."""
    sign = {Better.MORE: 1.0, Better.LESS: -1.0, Better.NEITHER: 0.0}[better]
    if not sign:
        medians = np.median(values, axis=0).tolist() if topics else []
        rows = zip(topics, values[run].tolist(), medians, strict=True)
        return tuple(TopicBar(topic, value, median, None, None, None) for topic, value, median in rows)
    if not topics:
        return ()
    ordered, ranked = sign * values, ranked_values(better, values)
    place = 1 + np.count_nonzero(ranked > ranked[run], axis=0)
    columns = (values[run], np.median(values, axis=0), sign * ordered.max(axis=0), sign * ordered.min(axis=0), place)
    return tuple(TopicBar(*row) for row in zip(topics, *(column.tolist() for column in columns), strict=True))


def missed_topics(judged: JudgedRankings, topics: Sequence[str], relevant_from: int) -> MissedTopics:
    """Name what one run missed; its batch has one ranking for each topic, in their order."""
    existing = judged.existing(relevant_from)[judged.topic] > 0
    returned = judged.retrieved > 0
    found = judged.at_least(relevant_from).retrieved > 0
    chosen = (existing & ~returned, existing & returned & ~found, ~existing)
    return MissedTopics(*(tuple(topics[place] for place in np.flatnonzero(which).tolist()) for which in chosen))


def _curve(points: PrecisionRecallPoints, levels: Sequence[float], reason: Missing | None) -> PrecisionRecall:
    return PrecisionRecall(
        tuple(points.recall.tolist()),
        tuple(points.precision.tolist()),
        tuple(points.interpolated.tolist()),
        None if reason else tuple(levels),
        reason,
    )


def _reasons(judged: JudgedRankings, relevant_from: int) -> list[Missing | None]:
    judged_documents = np.diff(judged.topic_first)[judged.topic].tolist()
    relevant = judged.existing(relevant_from)[judged.topic].tolist()
    return [
        None if some else Missing.NOTHING_RELEVANT if any_judged else Missing.NO_JUDGEMENT
        for some, any_judged in zip(relevant, judged_documents, strict=True)
    ]
