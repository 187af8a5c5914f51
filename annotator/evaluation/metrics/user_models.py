"""Measures that model a reader who stops somewhere: ERR, RBP, Compat and Q."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.judged_rankings import JudgedRankings, RelevantRows
from annotator.evaluation.metrics.setting import Setting, Values, occurrences, run_along, share, sum_each


def expected_reciprocal_rank(judged: JudgedRankings, setting: Setting) -> Values:
    """Expected reciprocal rank: the expected value of 1/rank, for the rank at which a reader going down the list stops.

    A reader who has come to a document of grade g stops there with probability (2^g - 1) / 2^max; a document at rank
    i adds that probability, times the probability to come so far, divided by i. max is the best grade of the scale:
    unless it is given, that of the collection or, from files alone, the best grade that the qrels have; either way the
    name of the column shows it, since values with another max do not compare. ERR(max=4)@20 is the ERR@20 of
    ir_measures and of gdeval, whose maximum is always 4. A grade above max is refused. From 0 to below 1; 0 when
    nothing was retrieved or nothing is relevant. Unjudged documents count as not relevant. Chapelle, Metzler, Zhang
    and Grinspan, CIKM 2009.
    """
    rows = judged.at_least(1)
    stop = _stop_probability(rows.grade, _best_grade(judged, setting))
    return _expected_reciprocal_rank(rows.ranking, rows.nth, rows.rank, stop, judged.retrieved.size, setting)


def normalised_expected_reciprocal_rank(judged: JudgedRankings, setting: Setting) -> Values:
    """Normalised expected reciprocal rank: ERR divided by that of the best possible ranking.

    ERR of the ranking divided by ERR of all the topic's judged documents, best grade first, cut off at the same rank.
    max is as for ERR. From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Unjudged documents count as
    not relevant. NTCIREVAL: nERR. Sakai and Song, SIGIR 2011.
    """
    rows = np.flatnonzero(judged.topic_grade >= 1)
    topic = np.searchsorted(judged.topic_first, rows, side="right") - 1
    nth = rows - judged.topic_first[topic] + 1
    stop = _stop_probability(judged.topic_grade[rows], _best_grade(judged, setting))
    topics = judged.topic_first.size - 1
    ideal = _expected_reciprocal_rank(topic, nth, nth.astype(np.int32), stop, topics, setting)
    return share(expected_reciprocal_rank(judged, setting), ideal[judged.topic])


def rank_biased_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Rank-biased precision: what a reader finds per document, who goes on from each to the next with probability p.

    A relevant document at rank i adds (1 - p) * p^(i - 1). With gain it is graded: a document adds that times its
    gain divided by the largest gain of the scale, whose best grade is max or, without max, the best grade that the
    qrels have; a grade above max is refused. From 0 to 1; 0 when nothing was retrieved or nothing is relevant. The
    sum of a short ranking stays small, whatever its documents are. Unjudged documents count as not relevant; what
    they could add is RBPResidual, with the same p. ir_measures: RBP. Moffat and Zobel, TOIS 2008.
    """
    rows = judged.at_least(setting.gain.least_grade if setting.is_graded else setting.relevant_from)
    inside = setting.within(rows.rank)
    rank = rows.rank[inside]
    weight = _powers(setting.p, rank)[rank - 1]
    if setting.is_graded:
        largest = setting.gain.largest(_best_grade(judged, setting))
        gain = setting.gain.of(rows.grade[inside])
        weight = weight * share(gain, np.full(gain.size, largest))
    return (1 - setting.p) * sum_each(rows.ranking[inside], weight, judged.retrieved.size)


def rank_biased_residual(judged: JudgedRankings, setting: Setting) -> Values:
    """Residual of rank-biased precision: how much RBP could still rise if everything unseen were relevant.

    p^d for what comes after the d documents looked at, and (1 - p) * p^(i - 1) for every unjudged document at rank i
    among them; d is the length of the ranking, or the cutoff where that is less. The true RBP lies between RBP and
    RBP + RBPResidual, taken with the same p and cutoff. From 0 to 1; 1 when nothing was retrieved or nothing is
    judged, for then RBP could be anything. Moffat and Zobel, TOIS 2008.
    """
    inside = setting.within(judged.rank)
    ranking, rank = judged.ranking[inside], judged.rank[inside]
    powers = _powers(setting.p, rank)
    below = powers[rank]
    above = np.where(np.diff(ranking, prepend=-1) > 0, 1.0, np.roll(below, 1))
    # The unjudged ranks from a + 1 to b - 1 weigh p^a - p^(b - 1) together, and all from a + 1 on, p^a. Added up so,
    # nothing cancels; 1 less the judged ranks would leave rounding errors where the residual is tiny.
    gaps = sum_each(ranking, above - powers[rank - 1], judged.retrieved.size)
    after = np.ones(judged.retrieved.size)
    after[ranking] = below  # of several rows the last one stays
    return gaps + after


def compatibility(judged: JudgedRankings, setting: Setting) -> Values:
    """Compatibility: rank-biased overlap of the ranking with the ideal ranking that is most like it.

    In the ideal ranking the relevant documents stand by grade, best first, those of one grade in the order of the
    ranking, and then those that were not retrieved. The overlap at depth i is how many documents the first i of both
    share, divided by i; it weighs p^(i - 1), down to the end of the longer one of both. The weighted mean is divided by
    that of the ideal ranking with itself, unless normalize=False. From 0 to 1; 0 when nothing was retrieved or nothing
    is relevant, which is grade 1 or more. Unjudged documents count as not relevant. Equal scores are ordered as by
    trec_eval; ir_measures orders them the other way round, and puts documents with a score below 0 after those that
    were not retrieved. ir_measures: Compat. Clarke, Vtyurina and Smucker, TOIS 2021.
    """
    rows = judged.at_least(1)
    depth = np.maximum(judged.retrieved, rows.existing)
    overlaps = _overlap_table(setting.p, int(depth.max(initial=0)).bit_length())
    # At which ideal rank a document stands: below those with a better grade, and those of its grade above it.
    grades = int(judged.topic_grade.max(initial=0)) + 1
    topic = np.repeat(np.arange(judged.topic_first.size - 1), np.diff(judged.topic_first))
    topic_of_row = judged.topic[rows.ranking]
    better = np.searchsorted(topic * grades - judged.topic_grade, topic_of_row * grades - rows.grade)
    ideal_rank = better - judged.topic_first[topic_of_row] + occurrences(rows.ranking * grades + rows.grade)
    shared_from = np.maximum(rows.rank, ideal_rank)
    shared = sum_each(rows.ranking, overlaps[depth[rows.ranking]] - overlaps[shared_from - 1], depth.size)
    if not setting.normalize:
        return share(shared, (1 - setting.p**depth) / (1 - setting.p))
    ranking = np.repeat(np.arange(depth.size), rows.existing)
    above = np.arange(ranking.size) - (np.cumsum(rows.existing) - rows.existing)[ranking]
    return share(shared, sum_each(ranking, overlaps[depth[ranking]] - overlaps[above], depth.size))


def q_measure(judged: JudgedRankings, setting: Setting) -> Values:
    """Q-measure: average precision with precision and gain blended at the rank of each relevant document.

    The n-th relevant document, at rank i, adds (n + beta * cg) / (i + beta * best), where cg is the gain of the
    relevant documents down to it, and best that of the i most valuable ones of the topic; the sum is divided by all
    relevant documents of the topic or, with a cutoff k, by the k of them that fit if there are more, min(R, k). The
    smaller beta, the nearer to AP. From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Unjudged
    documents count as not relevant. NTCIREVAL: Q-measure, Q@k. Sakai, IPSJ Transactions on Databases 2007; Sakai and
    Song, SIGIR 2011.
    """
    rows = judged.at_least(setting.relevant_from)
    inside = setting.within(rows.rank)
    ranking, rank, nth = rows.ranking[inside], rows.rank[inside], rows.nth[inside]
    gained = run_along(nth, setting.gain.of(rows.grade[inside]), np.add)
    # Beta may be so large that a gain times beta is no number any more.
    whole = max(setting.beta, 1.0)
    blended = (nth / whole + setting.beta / whole * gained) / (
        rank / whole + setting.beta / whole * _best_gained(judged, setting, rows, inside)
    )
    most = rows.existing if setting.cutoff is None else np.minimum(rows.existing, setting.cutoff)
    return share(sum_each(ranking, blended, judged.retrieved.size), most)


def _best_gained(judged: JudgedRankings, setting: Setting, rows: RelevantRows, inside: NDArray[np.bool_]) -> Values:
    """Sum, for each row inside, the gains of as many of its topic's most valuable documents as its rank says."""
    relevant = np.flatnonzero(judged.topic_grade >= setting.relevant_from)
    topic = np.searchsorted(judged.topic_first, relevant, side="right") - 1
    gain = setting.gain.of(judged.topic_grade[relevant])
    if not setting.gain.rises:
        gain = gain[np.lexsort((-gain, topic))]
    counts = np.bincount(topic, minlength=judged.topic_first.size - 1)
    first = np.cumsum(counts) - counts
    best = run_along(np.arange(1, topic.size + 1) - first[topic], gain, np.add)
    of_ranking = rows.ranking[inside]
    depth = np.minimum(rows.rank[inside], rows.existing[of_ranking])
    values: Values = best[first[judged.topic[of_ranking]] + depth - 1]
    return values


def _expected_reciprocal_rank(
    group: NDArray[np.intp],
    nth: NDArray[np.intp],
    rank: NDArray[np.int32],
    stop: Values,
    groups: int,
    setting: Setting,
) -> Values:
    inside = setting.within(rank)
    group, nth, stop = group[inside], nth[inside], stop[inside]
    # The probability to go on below each document; to come to one is that of the document above it.
    on = run_along(nth, 1 - stop, np.multiply)
    come = np.where(nth == 1, 1.0, np.roll(on, 1))
    return sum_each(group, stop * come / rank[inside], groups)


def _stop_probability(grade: NDArray[np.int16], best: int) -> Values:
    """Give (2^grade - 1) / 2^best exactly, also where neither is a float64."""
    probability: Values = np.ldexp(1.0, grade.astype(np.int32) - best) - np.ldexp(1.0, -best)
    return probability


def _best_grade(judged: JudgedRankings, setting: Setting) -> int:
    found = int(judged.topic_grade.max(initial=0))
    if setting.max_grade is None:
        return found
    if found > setting.max_grade:
        raise InvalidValueError(
            "The qrels have the grade %(grade)d, which is above the measure's max=%(most)d.",
            grade=found,
            most=setting.max_grade,
        )
    return setting.max_grade


def _powers(p: float, rank: NDArray[np.int32]) -> Values:
    """Tabulate p^i for every i from 0 to the last rank, and some beyond."""
    return _power_table(p, int(rank.max(initial=0)).bit_length())


@lru_cache
def _power_table(p: float, bits: int) -> Values:
    return np.array([p**exponent for exponent in range(1 << bits)])


@lru_cache
def _overlap_table(p: float, bits: int) -> Values:
    """Tabulate p^0 / 1 + p^1 / 2 + … + p^(i - 1) / i for every i of so many bits."""
    rank = np.arange(1, 1 << bits)
    return np.append(0.0, np.cumsum(p ** (rank - 1.0) / rank))
