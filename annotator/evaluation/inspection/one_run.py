"""One run in detail: its topics beside the other runs, its curves, its scores, what it missed, what is unjudged."""

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
        """The number of documents in each bin."""
        return tuple(map(sum, zip(self.relevant, self.not_relevant, self.unjudged, strict=True)))


def score_distribution(
    scores: Values, grades: NDArray[np.integer], relevant_from: int, *, bins: int = BINS
) -> ScoreDistribution:
    """The histogram of scores; `grades` is parallel to the scores, negative where a document is unjudged."""
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


@dataclass(frozen=True)
class CurvePoint:
    """Interpolated precision at a level of recall, averaged over topics: this run's, and the median of all runs'."""

    level: float
    precision: float
    median: float


@dataclass(frozen=True)
class UnjudgedDocument:
    """A document near the top that nobody has graded."""

    topic: str
    rank: int
    document: int


@dataclass(frozen=True)
class RunLook:
    """The inspection of one run; topics are in natural order."""

    tag: str
    mean: Number
    place: int | None  # among all runs; None when neither more nor less is better
    judged_share: float  # of its top ten, on average
    bars: tuple[TopicBar, ...]
    curve: tuple[CurvePoint, ...]
    raw_topic: str
    raw: PrecisionRecall  # of that topic
    distribution: ScoreDistribution
    missed: MissedTopics
    unjudged: tuple[UnjudgedDocument, ...]
    unjudged_in: Mapping[str, int]  # how many of them each topic has


def look_at_run(
    scored: ScoredRuns, tag: str, scores: Mapping[int, Values], *, top: int, topic: str | None = None
) -> RunLook:
    """Look at a run; `scores` are its documents' by topic id, in the order of its lists.

    `top` is how far unjudged documents are looked for; `topic` the one whose curve is drawn point by point, the first
    with a relevant document that the run found unless it is given. Raises `NotFoundError` for an unknown run or topic.
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
