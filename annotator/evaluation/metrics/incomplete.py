"""Measures for incomplete judgements: Bpref, infAP, Judged and Unjudged."""

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.judged_rankings import JudgedRankings, RelevantRows
from annotator.evaluation.metrics.sample_eval import sampled_rankings
from annotator.evaluation.metrics.setting import Setting, Values, count_each, share, sum_each

SMOOTHING = 0.00001  # smoothing that infAP adds to relevant and not relevant documents


def bpref(judged: JudgedRankings, setting: Setting) -> Values:
    """Binary preference: how seldom documents judged not relevant stand above relevant ones.

    Each retrieved relevant document adds 1 - min(n, R) / min(N, R), where n is how many documents judged not relevant
    stand above it, N how many the topic has and R its relevant documents (just 1 when n is 0); the sum is divided by
    R. Unjudged documents are passed over. From 0 to 1; 0 when nothing was retrieved or nothing is relevant.
    trec_eval: bpref. Buckley and Voorhees, SIGIR 2004.
    """
    rows = judged.at_least(setting.relevant_from)
    nonrelevant = np.diff(judged.topic_first)[judged.topic] - rows.existing
    bound = np.minimum(nonrelevant, rows.existing)[rows.ranking]
    above = np.minimum(rows.nonrelevant_above, rows.existing[rows.ranking])
    return share(sum_each(rows.ranking, 1 - share(above, bound), rows.existing.size), rows.existing)


def geometric_bpref(judged: JudgedRankings, setting: Setting) -> Values:
    """Binary preference whose values over several topics are summarised by their geometric mean.

    A topic's value is Bpref. Over topics: the n-th root of the product of the n values, each at least 0.00001. From 0
    to 1; 0 when nothing was retrieved or nothing is relevant. Unjudged documents are passed over. trec_eval:
    gm_bpref, which it prints for all topics only.
    """
    return bpref(judged, setting)


def inferred_average_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Inferred average precision: average precision estimated from a pool of which only a random part was judged.

    Documents that were pooled but not judged are those with a negative grade in the qrels; documents that the qrels
    do not list count as not relevant. Each retrieved relevant document at rank k adds its expected precision: 1/k for
    itself, and (k - 1)/k times the pooled share of the documents above it times the relevant share of the judged ones
    among them; 0.00001 is added to the relevant ones counted and as much to the others, so that a document with no
    judged one above it takes one half. The sum is divided by all documents judged relevant. Where every pooled document
    is judged, it is AP but for that 0.00001. From 0 to 1; 0 when nothing was retrieved or nothing is relevant.
    trec_eval: infAP. Yilmaz and Aslam, CIKM 2006. With compat=sample_eval it is what NIST's script for stratified
    samples calls infAP: xinfAP by its own rules.
    """
    if setting.script is not None:
        rankings = sampled_rankings(judged, setting.relevant_from)
        return np.array([0.0 if one is None else one.average_precision for one in rankings])
    rows = judged.at_least(setting.relevant_from)
    relevant_above = rows.nth - 1
    judged_above = relevant_above + rows.nonrelevant_above
    above = rows.rank - 1
    pooled = share(judged_above + _unjudged_above(judged, rows), above)
    relevant = (relevant_above + SMOOTHING) / (judged_above + 2 * SMOOTHING)
    expected = 1 / rows.rank + above / rows.rank * pooled * relevant
    return share(sum_each(rows.ranking, expected, rows.existing.size), rows.existing)


def judged_share(judged: JudgedRankings, setting: Setting) -> Values:
    """Judged at k: the share of the top k documents that have a judgement, relevant or not.

    A ranking shorter than k is measured by its own length, since documents it does not have await no judge. From 0 to
    1; 0 when nothing was retrieved or nothing is judged. The lower it is, the less the other measures can be trusted
    for this run. ir_measures: Judged.
    """
    inside = judged.ranking[judged.rank <= setting.depth]
    shown = np.minimum(judged.retrieved, setting.depth)
    return share(count_each(inside, judged.retrieved.size), shown)


def unjudged_share(judged: JudgedRankings, setting: Setting) -> Values:
    """Unjudged at k: how many of the top k documents have no judgement, divided by k.

    Always divided by k, also when the ranking is shorter, so Judged and Unjudged need not add up to 1. From 0 to 1; 0
    when nothing was retrieved. The higher it is, the less the other measures can be trusted for this run. trec_eval:
    unj.
    """
    shown = np.minimum(judged.retrieved, setting.depth)
    inside = judged.ranking[judged.rank <= setting.depth]
    return (shown - count_each(inside, judged.retrieved.size)) / setting.depth


def _unjudged_above(judged: JudgedRankings, rows: RelevantRows) -> NDArray[np.intp]:
    """Count for each relevant row the documents of its ranking above it that were pooled but not judged."""
    unjudged = judged.unjudged
    # One search key: the ranking, then the rank.
    span = int(max(rows.rank.max(initial=0), unjudged.rank.max(initial=0))) + 1
    places = np.searchsorted(unjudged.ranking * span + unjudged.rank, rows.ranking * span + rows.rank)
    return places - np.searchsorted(unjudged.ranking, rows.ranking)
