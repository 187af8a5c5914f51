"""Measures of the ranks of relevant documents: AP, P, R, Success, RR, Rprec, and their relatives."""

import numpy as np

from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.setting import Setting, Values, count_each, share, sum_each


def average_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Average precision: the precision at the rank of each relevant document, averaged over all relevant documents.

    A relevant document that was not retrieved, or stands below the cutoff k, adds 0. The sum is divided by R, all
    relevant documents of the topic, also with a cutoff; with norm=min by min(R, k), so that the best possible top k
    has 1. From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Unjudged documents count as not relevant.
    Its mean over topics is MAP. trec_eval: map, map_cut. Buckley and Voorhees, SIGIR 2000.
    """
    rows = judged.at_least(setting.relevant_from)
    inside = setting.within(rows.rank)
    most = np.minimum(rows.existing, setting.depth) if setting.norm == "min" else rows.existing
    return share(sum_each(rows.ranking[inside], rows.precision[inside], rows.existing.size), most)


def geometric_average_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Average precision whose values over several topics are summarised by their geometric mean, GMAP.

    A topic's value is AP. Over topics: the n-th root of the product of the n values, each at least 0.00001, so that
    doing better on poor topics counts for more than doing better on good ones. From 0 to 1; 0 when nothing was
    retrieved or nothing is relevant. Unjudged documents count as not relevant. trec_eval: gm_map, which it prints
    for all topics only. Robertson, CIKM 2006.
    """
    return average_precision(judged, setting)


def precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Precision at k: the share of the top k documents that are relevant.

    Always divided by k: a ranking shorter than k is filled up with documents that are not relevant. From 0 to 1; 0
    when nothing was retrieved or nothing is relevant. Unjudged documents count as not relevant. trec_eval: P.
    """
    return _relevant_in_top(judged, setting) / setting.depth


def relative_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Relative precision at k: the relevant documents among the top k, divided by the most there could be, min(k, R).

    R is how many relevant documents the topic has. From 0 to 1; 0 when nothing was retrieved or nothing is relevant.
    Unjudged documents count as not relevant. trec_eval: relative_P.
    """
    most = np.minimum(judged.at_least(setting.relevant_from).existing, setting.depth)
    return share(_relevant_in_top(judged, setting), most)


def recall(judged: JudgedRankings, setting: Setting) -> Values:
    """Recall at k: the share of the topic's relevant documents that are among the top k.

    From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Unjudged documents count as not relevant.
    trec_eval: recall.
    """
    return share(_relevant_in_top(judged, setting), judged.at_least(setting.relevant_from).existing)


def success(judged: JudgedRankings, setting: Setting) -> Values:
    """Success at k: 1 when at least one of the top k documents is relevant, otherwise 0.

    0 when nothing was retrieved or nothing is relevant. Unjudged documents count as not relevant. trec_eval: success.
    """
    return (_relevant_in_top(judged, setting) > 0).astype(np.float64)


def reciprocal_rank(judged: JudgedRankings, setting: Setting) -> Values:
    """Reciprocal rank: 1 divided by the rank of the first relevant document; its mean over topics is MRR.

    From 0 to 1; 0 when no relevant document was retrieved, or none within the cutoff. Unjudged documents count as not
    relevant. trec_eval: recip_rank. Kantor and Voorhees, TREC-5 (1996).
    """
    rows = judged.at_least(setting.relevant_from)
    first = (rows.nth == 1) & setting.within(rows.rank)
    values = np.zeros(rows.existing.size)
    values[rows.ranking[first]] = 1 / rows.rank[first]
    return values


def r_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """R-precision: precision at rank R, where R is how many relevant documents the topic has.

    Precision and recall are equal there. From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Unjudged
    documents count as not relevant. trec_eval: Rprec.
    """
    rows = judged.at_least(setting.relevant_from)
    inside = rows.ranking[rows.rank <= rows.existing[rows.ranking]]
    return share(count_each(inside, rows.existing.size), rows.existing)


def r_precision_at_multiple(judged: JudgedRankings, setting: Setting) -> Values:
    """R-precision at a multiple: precision at rank x times R, where R is how many relevant documents the topic has.

    The rank is x R + 0.9 without its decimals. A ranking that is shorter is filled up with documents that are not
    relevant. Small multiples show how precise the top is, large ones how complete the ranking is. From 0 to 1; 0 when
    nothing was retrieved, nothing is relevant, or the rank is 0. Unjudged documents count as not relevant.
    trec_eval: Rprec_mult.
    """
    rows = judged.at_least(setting.relevant_from)
    cutoff = (setting.level * rows.existing + 0.9).astype(np.intp)
    inside = rows.ranking[rows.rank <= cutoff[rows.ranking]]
    return share(count_each(inside, rows.existing.size), cutoff)


def _relevant_in_top(judged: JudgedRankings, setting: Setting) -> Values:
    rows = judged.at_least(setting.relevant_from)
    return count_each(rows.ranking[rows.rank <= setting.depth], rows.existing.size)
