"""Measures that mind which documents nobody judged: Bpref and Judged."""

import numpy as np

from annotator.evaluation.metrics.setting import Setting, Values, count_each, share, sum_each
from annotator.evaluation.rankings import JudgedRankings


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


def judged_share(judged: JudgedRankings, setting: Setting) -> Values:
    """Judged at k: the share of the top k documents that have a judgement, relevant or not.

    A ranking shorter than k is measured by its own length, since documents it does not have await no judge. From 0 to
    1; 0 when nothing was retrieved or nothing is judged. The lower it is, the less the other measures can be trusted
    for this run. ir_measures: Judged.
    """
    inside = judged.ranking[judged.rank <= setting.depth]
    shown = np.minimum(judged.retrieved, setting.depth)
    return share(count_each(inside, judged.retrieved.size), shown)
