"""Precision at levels of recall: IPrec and 11ptAvg, and the points of precision-recall curves."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.setting import Compat, Setting, Values, means

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, eq=False)
class PrecisionRecallPoints:
    """Points of precision-recall curves: one for each relevant document retrieved, by ranking, then by rank."""

    ranking: NDArray[np.intp]
    recall: Values  # ascending within a ranking
    precision: Values  # at the document's rank
    interpolated: Values  # the maximum precision at this recall or above

    def of(self, ranking: int) -> "PrecisionRecallPoints":
        """Select one ranking's points."""
        begin, end = np.searchsorted(self.ranking, [ranking, ranking + 1]).tolist()
        return PrecisionRecallPoints(
            self.ranking[begin:end], self.recall[begin:end], self.precision[begin:end], self.interpolated[begin:end]
        )


def interpolated_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Interpolated precision at recall x: the best precision at any rank at which recall is x or more.

    The rank is looked for from the document on which is the x R-th relevant one, R being how many relevant documents
    the topic has and x R rounded to a whole number (trec_eval 9 adds 0.9 and drops the decimals); at recall 0 it is
    the best precision at any rank. From 0 to 1; 0 when so many relevant documents were not retrieved, when nothing was
    retrieved, or nothing is relevant. Unjudged documents count as not relevant. trec_eval: iprec_at_recall. Manning,
    Raghavan and Schütze, Introduction to Information Retrieval, 2008.
    """
    rows = judged.at_least(setting.relevant_from)
    wanted = np.maximum(_needed(rows.existing, setting), 1)
    reached = np.flatnonzero(wanted <= rows.retrieved)
    ends = np.cumsum(rows.retrieved)[reached]
    begins = ends - rows.retrieved[reached] + wanted[reached] - 1
    values = np.zeros(rows.existing.size)
    # Every second segment lies between two requested ranks.
    stretches = np.stack([begins, ends], axis=-1).ravel()
    values[reached] = np.maximum.reduceat(np.append(rows.precision, 0.0), stretches)[::2]
    return values


def eleven_point_average(judged: JudgedRankings, setting: Setting) -> Values:
    """Eleven-point average: interpolated precision averaged over the recalls 0, 0.1, 0.2 and so on to 1.

    From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Unjudged documents count as not relevant.
    trec_eval: 11pt_avg. Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008.
    """
    # trec_eval sums from recall 1 down.
    return means(_eleven_points(judged, setting)[:, ::-1])


def precision_recall_points(judged: JudgedRankings, relevant_from: int) -> PrecisionRecallPoints:
    """Compute recall and precision at each relevant document that a batch retrieved.

    Relevant documents that were not retrieved have no point, so a curve may end before recall 1.
    """
    rows = judged.at_least(relevant_from)
    # Complex numbers compare by their real part first: a maximum never extends into another ranking.
    upwards = np.empty(rows.rank.size, np.complex128)
    upwards.real, upwards.imag = -rows.ranking[::-1], rows.precision[::-1]
    interpolated = np.maximum.accumulate(upwards).imag[::-1]
    return PrecisionRecallPoints(rows.ranking, rows.nth / rows.existing[rows.ranking], rows.precision, interpolated)


def eleven_points(judged: JudgedRankings, relevant_from: int, *, compat: Compat = Compat.TREC_EVAL_10) -> Values:
    """Compute the interpolated precision of each ranking at each of the `LEVELS` of recall. Shape: rankings, levels."""
    return _eleven_points(judged, Setting(relevant_from=relevant_from, compat=compat))


def mean_eleven_points(
    judged: JudgedRankings, runs: int, relevant_from: int, *, compat: Compat = Compat.TREC_EVAL_10
) -> Values:
    """Average the interpolated precision of each run over its topics, at each of the `LEVELS`. Shape: runs, levels.

    The batch has a ranking for each run and topic, topics within runs, in the byte order of their
    numbers. Raises `InvalidValueError` when there is no topic.
    """
    points = eleven_points(judged, relevant_from, compat=compat)
    topics = judged.retrieved.size // runs
    return means(points.reshape(runs, topics, len(LEVELS)).transpose(0, 2, 1))


def _eleven_points(judged: JudgedRankings, setting: Setting) -> Values:
    return np.stack([interpolated_precision(judged, replace(setting, level=level)) for level in LEVELS], axis=-1)


def _needed(existing: NDArray[np.intp], setting: Setting) -> NDArray[np.intp]:
    """Return the number of relevant documents at the level of recall, rounded as the chosen trec_eval does."""
    exactly = setting.level * existing
    if setting.compat is Compat.TREC_EVAL_9:
        return (exactly + 0.9).astype(np.intp)
    # Half away from zero, like the C library's lround; np.round would round half to even.
    whole = np.floor(exactly)
    rounded: NDArray[np.intp] = (whole + (2 * (exactly - whole) >= 1)).astype(np.intp)
    return rounded
