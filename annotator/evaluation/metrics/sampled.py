"""Measures estimated from a stratified sample of judgements: xinfAP and infNDCG."""

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.graded import best_possible, discounted_gain
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.sample_eval import sampled_rankings
from annotator.evaluation.metrics.setting import Setting, Values, count_each, share, sum_each

EPSILON = 0.00001  # trec_eval's for infAP
HALF = 0.5 + 1e-9  # tolerance so that estimates of a half, up to rounding error, are rounded up


def stratified_average_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Extended inferred average precision: AP estimated from a sample that was drawn at different rates by stratum.

    From the five-column qrels: each document's stratum, and a negative grade for those not drawn into the sample. A
    relevant document at rank k adds (1 + expected) / k, times the number of documents it stands for: N/n, those of its
    stratum divided by the judged ones among them. For each stratum, expected has its documents above the rank, times
    the share of relevant ones among those judged above the rank, (r + e) / (n + 2e) with e = 0.00001. The sum is
    divided by the estimated number of relevant documents, N/n for each judged one. Documents outside the pool count as
    not relevant. With one stratum it is infAP; with everything judged it is AP but for at most e a stratum.

    Where nothing of a stratum is judged above a rank, that share is one half, too much for most strata, and values
    come out a little high (by 0.004 to 0.009 in simulations). With prior=stratum it is then the share of relevant
    documents in the whole stratum, and half of the excess or more is gone; this is not the published measure, so say
    so where you report it. From 0 to 1; 0 when nothing relevant was retrieved or nothing is judged relevant. NIST's
    sample_eval.pl calls it infAP and has 3e below, so that the half is a third. Yilmaz, Kanoulas and Aslam, SIGIR
    2008.
    """
    rows = np.flatnonzero(judged.grade >= setting.relevant_from)
    precision = (1 + _expected_above(judged, rows, setting)) / judged.rank[rows]
    weight = _weights(judged)
    total = sum_each(
        judged.strata.topic, weight * _judged_by_stratum(judged, setting.relevant_from), judged.topic_first.size - 1
    )
    found = sum_each(judged.ranking[rows], weight[judged.strata.of_row[rows]] * precision, judged.retrieved.size)
    return share(found, total[judged.topic])


def stratified_ndcg(judged: JudgedRankings, setting: Setting) -> Values:
    """Inferred nDCG: nDCG estimated from a sample that was drawn at different rates by stratum.

    From the five-column qrels: each document's stratum, and a negative grade for those not drawn into the sample. A
    judged document of grade g at rank i adds g / log2(i + 1), or (2^g - 1) / log2(i + 1) with gain=exp, as often as
    its stratum has documents for each judged one, N/n. The best possible ranking has the estimated number of
    documents of each grade, rounded, most valuable first, cut off at the same rank. With everything judged it is
    nDCG.

    From 0; an estimate above 1 is possible, when the documents drawn happen to stand high. 0 when nothing was
    retrieved or no judged document is worth anything. Documents outside the pool count as not relevant. NIST's
    sample_eval.pl does not round, and takes N and n of what the ranking has of a stratum, not of the whole stratum.
    With compat=sample_eval it is what the script prints. Yilmaz, Kanoulas and Aslam, SIGIR 2008.
    """
    if setting.script is not None:
        rankings = sampled_rankings(judged, setting.gain.least_grade)
        return np.array([0.0 if one is None else one.ndcg(setting.gain) for one in rankings])
    rows = np.flatnonzero((judged.grade >= setting.gain.least_grade) & setting.within(judged.rank))
    gain = _weights(judged)[judged.strata.of_row[rows]] * setting.gain.of(judged.grade[rows])
    gained = discounted_gain(judged.ranking[rows], gain, judged.rank[rows], judged.retrieved.size)
    return share(gained, _best_estimated(judged, setting)[judged.topic])


def _judged_by_stratum(judged: JudgedRankings, grade: int) -> Values:
    """Count the judged documents of each stratum, retrieved or not, with this grade or a better one."""
    good_enough = judged.strata.of_grade[judged.topic_grade >= grade]
    return count_each(good_enough, judged.strata.topic.size)


def _weights(judged: JudgedRankings) -> Values:
    """Return for each stratum N/n, its documents divided by the judged ones."""
    return share(judged.strata.pooled, _judged_by_stratum(judged, 0))


def _expected_above(judged: JudgedRankings, rows: NDArray[np.intp], setting: Setting) -> Values:
    """Estimate the number of relevant pool documents ranked above each of some judged rows."""
    strata, topics = judged.strata, judged.topic_first.size - 1
    of_topic = np.bincount(strata.topic, minlength=topics)
    first = np.cumsum(of_topic) - of_topic
    prior = share(_judged_by_stratum(judged, setting.relevant_from), _judged_by_stratum(judged, 0))
    stratum_of = first[judged.topic[judged.ranking[rows]]]
    # The index of each row among judged and unjudged rows, and of its ranking's first.
    begin = judged.first_row[judged.ranking[rows]]
    unjudged_at, unjudged_begin = _among_unjudged(judged, rows)
    expected = np.zeros(rows.size)
    for number in range(int(of_topic.max(initial=0))):
        here = strata.of_row == (first + number)[judged.topic[judged.ranking]]
        seen = _count_between(here, begin, rows)
        relevant = _count_between(here & (judged.grade >= setting.relevant_from), begin, rows)
        unseen = strata.of_unjudged == (first + number)[judged.topic[judged.unjudged.ranking]]
        pooled = seen + _count_between(unseen, unjudged_begin, unjudged_at)
        rate = (relevant + EPSILON) / (seen + 2 * EPSILON)
        if setting.prior is not None:
            # A topic with fewer strata has no documents of this number, and the rate does not matter.
            rate = np.where(seen > 0, rate, prior[np.minimum(stratum_of + number, prior.size - 1)])
        expected += pooled * rate
    return expected


def _among_unjudged(judged: JudgedRankings, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Count the unjudged rows of the batch before each of some judged rows, and before its ranking."""
    longest = int(judged.retrieved.max(initial=0)) + 1
    unjudged = judged.unjudged.ranking * longest + judged.unjudged.rank
    begin = judged.ranking[rows] * longest
    return np.searchsorted(unjudged, begin + judged.rank[rows]), np.searchsorted(unjudged, begin)


def _count_between(mask: NDArray[np.bool_], begin: NDArray[np.intp], end: NDArray[np.intp]) -> NDArray[np.intp]:
    """Count the marked entries from each begin up to each end, exclusive."""
    marked = np.concatenate(([0], np.cumsum(mask)))
    counts: NDArray[np.intp] = marked[end] - marked[begin]
    return counts


def _best_estimated(judged: JudgedRankings, setting: Setting) -> Values:
    """Compute the discounted gain of each topic's ideal list, with the estimated number of documents of each grade."""
    topics = judged.topic_first.size - 1
    documents = np.flatnonzero(judged.topic_grade >= setting.gain.least_grade)
    topic = np.searchsorted(judged.topic_first, documents, side="right") - 1
    grade = judged.topic_grade[documents]
    is_new = (np.diff(topic, prepend=-1) != 0) | (np.diff(grade, prepend=np.int16(-1)) != 0)
    kind = np.cumsum(is_new) - 1  # one key for each grade of each topic, in the order of the documents
    estimated = sum_each(kind, _weights(judged)[judged.strata.of_grade[documents]], int(is_new.sum()))
    copies = np.floor(estimated + HALF).astype(np.intp)
    listed = np.repeat(np.flatnonzero(is_new), copies)
    return best_possible(topic[listed], grade[listed], topics, setting)
