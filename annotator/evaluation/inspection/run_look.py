"""One run, looked at from all sides: its topics beside the other runs, its curves, its scores, what is unjudged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.natural_order import natural_order
from annotator.evaluation.inspection.one_run import (
    MissedTopics,
    PrecisionRecall,
    TopicBar,
    missed_topics,
    precision_recall,
    topic_bars,
)
from annotator.evaluation.inspection.one_topic import rank_runs
from annotator.evaluation.inspection.score_distribution import ScoreDistribution, score_distribution
from annotator.evaluation.inspection.scored_runs import ScoredRuns
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED
from annotator.evaluation.metrics.interpolated import LEVELS, mean_eleven_points
from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.metrics.scoring import Number
from annotator.evaluation.metrics.setting import Values


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
    """All that is to be said of one run; topics stand in natural order."""

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
        curve=_curve(scored, run),
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


def _curve(scored: ScoredRuns, run: int) -> tuple[CurvePoint, ...]:
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
