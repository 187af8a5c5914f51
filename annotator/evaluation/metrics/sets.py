"""Measures that ignore the order of a ranking: counts, set precision and set recall."""

import numpy as np

from annotator.evaluation.metrics.setting import Setting, Values, share
from annotator.evaluation.rankings import JudgedRankings


def retrieved_count(judged: JudgedRankings, _: Setting) -> Values:
    """Number retrieved: how many documents the ranking has, judged or not.

    A whole number from 0; over several topics the sum, not the mean. trec_eval: num_ret.
    """
    return judged.retrieved.astype(np.float64)


def relevant_count(judged: JudgedRankings, setting: Setting) -> Values:
    """Number relevant: how many relevant documents the topic has, retrieved or not.

    A whole number from 0; over several topics the sum, not the mean. trec_eval: num_rel.
    """
    return judged.at_least(setting.relevant_from).existing.astype(np.float64)


def relevant_retrieved_count(judged: JudgedRankings, setting: Setting) -> Values:
    """Number of relevant documents retrieved, at any rank.

    A whole number from 0; over several topics the sum, not the mean. trec_eval: num_rel_ret.
    """
    return judged.at_least(setting.relevant_from).retrieved.astype(np.float64)


def set_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Set precision: the share of all retrieved documents that are relevant.

    From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Unjudged documents count as not relevant.
    trec_eval: set_P.
    """
    return share(judged.at_least(setting.relevant_from).retrieved, judged.retrieved)


def set_recall(judged: JudgedRankings, setting: Setting) -> Values:
    """Set recall: the share of the topic's relevant documents that were retrieved at any rank.

    From 0 to 1; 0 when nothing was retrieved or nothing is relevant. trec_eval: set_recall.
    """
    rows = judged.at_least(setting.relevant_from)
    return share(rows.retrieved, rows.existing)
