"""Measures of where the relevant documents stand: AP, P, R, Success, RR and Rprec."""

import numpy as np

from annotator.evaluation.metrics.setting import Setting, Values, count_each, share, sum_each
from annotator.evaluation.rankings import JudgedRankings


def average_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Average precision: the precision at the rank of each relevant document, averaged over all relevant documents.

    A relevant document that was not retrieved, or stands below the cutoff, adds 0; the sum is divided by all relevant
    documents of the topic, with or without a cutoff. From 0 to 1; 0 when nothing was retrieved or nothing is
    relevant. Unjudged documents count as not relevant. trec_eval: map, map_cut. Buckley and Voorhees, SIGIR 2000.
    """
    rows = judged.at_least(setting.relevant_from)
    inside = setting.within(rows.rank)
    precision = rows.nth[inside] / rows.rank[inside]
    return share(sum_each(rows.ranking[inside], precision, rows.existing.size), rows.existing)


def precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Precision at k: the share of the top k documents that are relevant.

    Always divided by k: a ranking shorter than k is filled up with documents that are not relevant. From 0 to 1; 0
    when nothing was retrieved or nothing is relevant. Unjudged documents count as not relevant. trec_eval: P.
    """
    return _relevant_in_top(judged, setting) / setting.depth


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


def _relevant_in_top(judged: JudgedRankings, setting: Setting) -> Values:
    rows = judged.at_least(setting.relevant_from)
    return count_each(rows.ranking[rows.rank <= setting.depth], rows.existing.size)
