"""Inspection of one run: topics compared with other runs, curves, scores, missed topics, unjudged documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.inspection.one_topic import rank_runs
from annotator.evaluation.inspection.scored_runs import ScoredRuns
from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, ranked_values
from annotator.evaluation.metrics.interpolated import (
    LEVELS,
    PrecisionRecallPoints,
    eleven_points,
    mean_eleven_points,
    precision_recall_points,
)
from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.scoring import Number
from annotator.evaluation.metrics.setting import Compat, Values


@dataclass(frozen=True)
class PrecisionRecall:
    """The curve of one ranking: a point for each relevant document retrieved, by rank, and eleven interpolated ones.

    All are shares from 0 to 1. A ranking that retrieved nothing relevant has no points, and 0 at every level.
    """

    recall: tuple[float, ...]
    precision: tuple[float, ...]
    interpolated: tuple[float, ...]  # at the same recalls: the maximum precision at that rank or below
    levels: tuple[float, ...] | None  # at recall 0, 0.1 and so on to 1; None exactly when `reason` is given
    reason: Missing | None = None


@dataclass(frozen=True)
class TopicBar:
    """A run's value for a topic, compared with those of all runs, including this one."""

    topic: str
    value: float
    median: float
    best: float | None  # None when the measure has no direction, as for `worst` and `place`
    worst: float | None
    place: int | None  # rank: one more than the number of better runs

    @property
    def difference(self) -> float:
        """The run's value minus the median."""
        return self.value - self.median


@dataclass(frozen=True)
class MissedTopics:
    """The topics without relevant retrieved documents, and those without relevant documents."""

    not_returned: tuple[str, ...]  # no list in the run
    nothing_found: tuple[str, ...]  # a list without a relevant document
    none_known: tuple[str, ...]  # no relevant document in the qrels; such a topic is not in the other two


def precision_recall(
    judged: JudgedRankings, relevant_from: int, *, compat: Compat = Compat.TREC_EVAL_10
) -> tuple[PrecisionRecall, ...]:
    """Compute the curve of each ranking of a batch, interpolated by trec_eval's rule.

    Without a relevant document, recall of the topic is undefined; trec_eval has 0.
    """
    points = precision_recall_points(judged, relevant_from)
    levels = eleven_points(judged, relevant_from, compat=compat).tolist()
    reasons = _reasons(judged, relevant_from)
    return tuple(
        _curve(points.of(ranking), of_ranking, reason)
        for ranking, (of_ranking, reason) in enumerate(zip(levels, reasons, strict=True))
    )


def topic_bars(topics: Sequence[str], values: Values, run: int, better: Better) -> tuple[TopicBar, ...]:
    """Compare one run's values with those of all, (runs, topics); topics keep their order."""
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
    """Return the topics one run missed; its batch has one ranking for each topic, in their order."""
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


BINS = 20


@dataclass(frozen=True)
class ScoreDistribution:
    """A histogram with bins of equal width from the lowest score to the greatest; one bin of width 0 if all are equal.

    A score on an edge is in the bin above it, the greatest in the last bin. Without scores everything is empty and
    `reason` is given.
    """

    edges: tuple[float, ...]  # one more than there are bins
    relevant: tuple[int, ...]
    not_relevant: tuple[int, ...]
    unjudged: tuple[int, ...]
    quartiles: tuple[float, float, float] | None  # None exactly when `reason` is given
    reason: Missing | None = None

    @property
    def documents(self) -> tuple[int, ...]:
        """The number of documents in each bin."""
        return tuple(map(sum, zip(self.relevant, self.not_relevant, self.unjudged, strict=True)))


def score_distribution(
    scores: Values, grades: NDArray[np.integer], relevant_from: int, *, bins: int = BINS
) -> ScoreDistribution:
    """The histogram of scores; `grades` is parallel to the scores, negative where a document is unjudged."""
    if not scores.size:
        return ScoreDistribution((), (), (), (), None, Missing.NOTHING_RETURNED)
    # The difference of extreme scores may overflow; their ratios to the greatest do not.
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


@dataclass(frozen=True)
class CurvePoint:
    """Interpolated precision at a level of recall, averaged over topics: this run's, and the median of all runs."""

    level: float
    precision: float
    median: float


@dataclass(frozen=True)
class UnjudgedDocument:
    """An unjudged document near the top of the run."""

    topic: str
    rank: int
    document: int


@dataclass(frozen=True)
class RunLook:
    """The inspection of one run; topics are in natural order."""

    tag: str
    mean: Number
    place: int | None  # rank among all runs; None when the measure has no direction
    judged_share: float  # mean share of the top ten
    bars: tuple[TopicBar, ...]
    curve: tuple[CurvePoint, ...]
    raw_topic: str
    raw: PrecisionRecall  # of that topic
    distribution: ScoreDistribution
    missed: MissedTopics
    unjudged: tuple[UnjudgedDocument, ...]
    unjudged_in: Mapping[str, int]  # number of them by topic


def look_at_run(
    scored: ScoredRuns, tag: str, scores: Mapping[int, Values], *, top: int, topic: str | None = None
) -> RunLook:
    """Inspect a run; `scores` are its documents' by topic id, in the order of its lists.

    `top` is the depth of the search for unjudged documents; `topic` is the one whose curve has points, by default
    the first with a relevant retrieved document. Raises `NotFoundError` for an unknown run or topic.
    """
    run = scored.run(tag)
    lists = [(id_, scored.ranking(run, place)) for place, id_ in enumerate(scored.topics)]
    judged = judge_rankings(lists, scored.qrels)
    relevant_from = scored.state.relevant_from
    curves = precision_recall(judged, relevant_from)
    raw_topic = _topic_of_curve(scored, curves) if topic is None else scored.topic(topic)
    bars = topic_bars(scored.numbers, scored.values, run, scored.better)
    unjudged = _unjudged(scored, run, top)
    return RunLook(
        tag=tag,
        mean=scored.mean(run),
        place=_place(scored, tag),
        judged_share=scored.judged_share(run),
        bars=tuple(sorted(bars, key=lambda bar: natural_order(bar.topic))),
        curve=_curve_points(scored, run),
        raw_topic=scored.numbers[raw_topic],
        raw=curves[raw_topic],
        distribution=_distribution(scored, run, scores),
        missed=missed_topics(judged, scored.numbers, relevant_from),
        unjudged=unjudged,
        unjudged_in={number: sum(one.topic == number for one in unjudged) for number in scored.numbers},
    )


def _place(scored: ScoredRuns, tag: str) -> int | None:
    ranked = rank_runs(scored.tags, scored.scores.means[:, 0], scored.better)
    return next(one.place for one in ranked if one.tag == tag)


def _topic_of_curve(scored: ScoredRuns, curves: Sequence[PrecisionRecall]) -> int:
    in_order = sorted(range(len(curves)), key=lambda place: natural_order(scored.numbers[place]))
    return next((place for place in in_order if curves[place].recall), in_order[0])


def _curve_points(scored: ScoredRuns, run: int) -> tuple[CurvePoint, ...]:
    points = mean_eleven_points(scored.scores.judged, len(scored.tags), scored.state.relevant_from)
    medians = np.median(points, axis=0).tolist()
    return tuple(CurvePoint(*row) for row in zip(LEVELS, points[run].tolist(), medians, strict=True))


def _distribution(scored: ScoredRuns, run: int, scores: Mapping[int, Values]) -> ScoreDistribution:
    grades = [_grades(scored, run, place) for place in range(len(scored.topics))]
    listed = [scores.get(id_, np.empty(0)) for id_ in scored.topics]
    return score_distribution(np.concatenate(listed), np.concatenate(grades), scored.state.relevant_from)


def _grades(scored: ScoredRuns, run: int, topic: int) -> NDArray[np.int16]:
    known, documents = scored.qrels[scored.topics[topic]], scored.ranking(run, topic)
    return np.fromiter((known.get(one, NOT_GRADED) for one in documents.tolist()), np.int16, documents.size)


def _unjudged(scored: ScoredRuns, run: int, top: int) -> tuple[UnjudgedDocument, ...]:
    places = sorted(range(len(scored.topics)), key=lambda place: natural_order(scored.numbers[place]))
    return tuple(
        UnjudgedDocument(scored.numbers[place], rank, document)
        for place in places
        for rank, document in enumerate(scored.ranking(run, place)[:top].tolist(), start=1)
        if document not in scored.qrels[scored.topics[place]]
    )
