"""Density of relevant documents in the pool, its growth with depth, and extrapolation (Zobel 1998)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence
from annotator.evaluation.leaderboard.collection_figures import Missing, share_of
from annotator.evaluation.leaderboard.contributions import Grades
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, RegradedRuns
from annotator.evaluation.metrics.figures import Figure, SentenceEnum
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.qrels.topic_flags import (
    LEAST_JUDGED,
    TOO_RELEVANT_PERCENT,
    TOO_RELEVANT_SHARE,
    Fault,
    JudgedTopic,
    fault_of,
)

FEWEST_DEPTHS = 3  # two determine the curve and leave no residual to assess the fit
DRAWS = 1_000
MOST_CELLS = 1 << 20  # extrapolated at a time, to bound memory with many draws and great depths

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Extrapolation:
    """The expected number of new relevant documents of a deeper pool, over all topics."""

    depth: int
    new: Figure
    interval: tuple[float, float] | None  # 95 %, bootstrap over topics; None exactly when `interval_reason` is set
    interval_reason: Missing | None = None


@dataclass(frozen=True)
class DepthGrowth:
    """New relevant documents at each depth of the judged pool, from 1, and n = scale * depth ** exponent - 1."""

    new: tuple[int, ...]
    scale: Figure
    exponent: Figure
    fitted: tuple[float, ...] | None  # at each depth; None when there is no curve
    extrapolations: tuple[Extrapolation, ...]

    @property
    def found(self) -> tuple[int, ...]:
        """The number of relevant documents in a pool of each depth."""
        return tuple(np.cumsum(self.new).tolist())


def judged_depth(runs: RegradedRuns, grades: Grades, fed: Sequence[bool]) -> int:
    """Return the depth down to which the contributing runs are completely judged, 0 when there is none.

    A fully judged ranking that ends earlier does not reduce it.
    """
    judged = np.flatnonzero(grades[runs.entry] > NOT_GRADED)
    topics = len(runs.topics)
    ranking = runs.run[judged] * topics + runs.row_topic[judged]
    counts = np.bincount(ranking, minlength=runs.retrieved.size)
    nth = np.arange(1, judged.size + 1) - (np.cumsum(counts) - counts)[ranking]
    # Without an unjudged document above it, the n-th judged document is at rank n.
    unbroken = np.bincount(ranking[nth == runs.rank[judged]], minlength=runs.retrieved.size)
    unbroken = unbroken.reshape(runs.retrieved.shape)[np.array(fed, np.bool_)]
    retrieved = runs.retrieved[np.array(fed, np.bool_)]
    broken = unbroken < retrieved
    return int(unbroken[broken].min()) if broken.any() else int(retrieved.max(initial=0))


def new_by_depth(runs: RegradedRuns, grades: Grades, fed: Sequence[bool], relevant_from: int, depth: int) -> Counts:
    """Count the relevant documents by their best rank in any contributing run, from 1 to `depth`.

    Shape: topics, depths.
    """
    inside = np.array(fed, np.bool_)[runs.run] & (grades[runs.entry] >= relevant_from) & (runs.rank <= depth)
    best = np.full(grades.size, depth + 1, np.int64)
    np.minimum.at(best, runs.entry[inside], runs.rank[inside])
    reached = np.flatnonzero(best <= depth)
    cells = runs.entry_topic[reached] * depth + best[reached] - 1
    return np.bincount(cells, minlength=len(runs.topics) * depth).reshape(len(runs.topics), depth)


def depth_growth(new: Counts, depths: Sequence[int], *, seed: int, draws: int = DRAWS) -> DepthGrowth:
    """Fit Zobel's curve to new relevant documents, (topics, depths from 1), and extrapolate to deeper pools.

    The model of the number n of new relevant documents at depth p, over all topics, is C * p^s - 1, fitted by least
    squares to log(n + 1) against log p; negative values of the curve count as 0 (Zobel, SIGIR 1998). It is valid only
    for a pool that is judged completely down to its depth. The interval is from the 2.5th to the 97.5th percentile of
    fits to topics drawn with replacement. A depth within the pool adds 0.
    """
    totals = new.sum(axis=0)
    reason = Missing.FEW_DEPTHS if totals.size < FEWEST_DEPTHS else None if totals.any() else Missing.NOTHING_RELEVANT
    if reason is not None:
        nothing = Figure(None, reason)
        empty = tuple(Extrapolation(depth, nothing, None, reason) for depth in depths)
        return DepthGrowth(tuple(totals.tolist()), nothing, nothing, None, empty)
    level, slope = _fit(totals[np.newaxis])
    fitted = np.exp(level + slope * np.log(np.arange(1, totals.size + 1))) - 1
    drawn = _fit(_drawn(new, seed, draws))
    return DepthGrowth(
        tuple(totals.tolist()),
        Figure(float(np.exp(level[0]))),
        Figure(float(slope[0])),
        tuple(fitted.tolist()),
        tuple(_extend(totals.size, depth, (level, slope), drawn, len(new)) for depth in depths),
    )


def _drawn(new: Counts, seed: int, draws: int) -> Counts:
    """Sum bootstrap samples of the topics. Shape: draws, depths."""
    topics = len(new)
    times = np.random.default_rng(seed).multinomial(topics, np.full(topics, 1 / topics), size=draws)
    return times @ new


def _fit(totals: Counts) -> tuple[Values, Values]:
    """Fit a line to the logarithms of each row: intercept (at depth 1) and slope."""
    x = np.log(np.arange(1, totals.shape[1] + 1))
    y = np.log(totals + 1.0)
    slope = (y - y.mean(axis=1, keepdims=True)) @ (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    return y.mean(axis=1) - slope * x.mean(), slope


def _extend(
    judged: int, depth: int, line: tuple[Values, Values], drawn: tuple[Values, Values], topics: int
) -> Extrapolation:
    new = Figure(float(_beyond(*line, judged, depth)[0]))
    if topics == 1:
        return Extrapolation(depth, new, None, Missing.ONE_TOPIC)
    values = _beyond(*drawn, judged, depth)
    if np.ptp(values) == 0:
        return Extrapolation(depth, new, None, Missing.NO_SPREAD)
    low, high = np.percentile(values, (2.5, 97.5)).tolist()
    return Extrapolation(depth, new, (low, high))


def _beyond(level: Values, slope: Values, judged: int, depth: int) -> Values:
    """Sum the positive part of each curve from just below the judged depth to `depth`."""
    total = np.zeros(level.size)
    step = max(MOST_CELLS // level.size, 1)
    for begin in range(judged + 1, depth + 1, step):
        p = np.log(np.arange(begin, min(begin + step, depth + 1)))
        total += np.maximum(np.exp(level[:, np.newaxis] + slope[:, np.newaxis] * p) - 1, 0).sum(axis=1)
    return total


CAREFUL_SHARE = 0.17  # relevant share of the judged documents from which reuse needs care


class Density(SentenceEnum):
    """What the relevant share of the judged documents means for systems that did not feed the pool."""

    HEALTHY = Sentence(
        "Healthy: less than 17 %% of the judged documents are relevant; in the classic TREC pools it was about 6 %%."
    )
    CAREFUL = Sentence(
        "Careful: 17 %% or more of the judged documents are relevant, as in collections known to favour the systems "
        "that contributed to the pool (17 to 23 %%)."
    )
    TOO_MANY = Sentence(
        "Too many: %(percent)d %% or more of the judged documents are relevant, so that many more will be unjudged; "
        "TREC's Deep Learning tracks dropped topics from 40 to 60 %% on.",
        {"percent": TOO_RELEVANT_PERCENT},
    )


@dataclass(frozen=True)
class TopicDensity:
    """A topic and the relevant share of its judged documents."""

    topic: JudgedTopic
    share: Figure
    density: Density | None  # None while too few documents are judged

    @property
    def is_flagged(self) -> bool:
        """Whether too many judged documents are relevant."""
        return fault_of(self.topic) is Fault.MANY

    @property
    def has_too_few(self) -> bool:
        """Whether fewer are relevant than a topic needs, and unjudged pooled documents cannot change that."""
        return fault_of(self.topic) is Fault.FEW


@dataclass(frozen=True)
class PoolDensity:
    """The density of the whole pool and of each topic, in the given order."""

    topics: tuple[TopicDensity, ...]
    share: Figure  # of all topics together
    density: Density | None
    median_share: Figure  # over topics with a judged document

    @property
    def flagged(self) -> tuple[str, ...]:
        """The topics with too many relevant documents."""
        return tuple(one.topic.number for one in self.topics if one.is_flagged)

    @property
    def too_few(self) -> tuple[str, ...]:
        """The topics with too few relevant documents."""
        return tuple(one.topic.number for one in self.topics if one.has_too_few)


def pool_density(topics: Sequence[JudgedTopic]) -> PoolDensity:
    """Compute the relevant share of the judged documents, per topic and overall, and classify it.

    A topic with few judgements so far and unjudged documents left has a share but no class yet.
    """
    judged = sum(topic.judged for topic in topics)
    share = share_of(sum(topic.relevant for topic in topics), judged, Missing.NO_JUDGEMENT)
    of_topics = tuple(_of_topic(topic) for topic in topics)
    known = [one.share.value for one in of_topics if one.share.value is not None]
    middle = Figure(float(np.median(known))) if known else Figure(None, Missing.NO_JUDGEMENT)
    waiting = sum(topic.waiting for topic in topics)
    return PoolDensity(of_topics, share, _density(share, judged, waiting), middle)


def _of_topic(topic: JudgedTopic) -> TopicDensity:
    share = share_of(topic.relevant, topic.judged, Missing.NO_JUDGEMENT)
    return TopicDensity(topic, share, _density(share, topic.judged, topic.waiting))


def _density(share: Figure, judged: int, waiting: int) -> Density | None:
    if share.value is None or (waiting and judged < LEAST_JUDGED):
        return None
    if share.value >= TOO_RELEVANT_SHARE:
        return Density.TOO_MANY
    return Density.CAREFUL if share.value >= CAREFUL_SHARE else Density.HEALTHY
