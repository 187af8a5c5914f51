"""Measures of the unordered set of retrieved documents: counts, set precision, set recall, and combinations."""

import numpy as np

from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.setting import Setting, Values, share


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


def set_f(judged: JudgedRankings, setting: Setting) -> Values:
    """F: the weighted harmonic mean of set precision P and set recall R, 1 / (a/P + (1 - a)/R).

    The weight a is 1 / (beta^2 + 1): with beta=1 both weigh the same (F1), with beta=2 recall matters twice as much
    as precision, with beta=0.5 half as much. From 0 to 1; 0 when nothing relevant was retrieved. Unjudged documents
    count as not relevant. trec_eval: set_F, whose parameter x is beta^2 and is not squared: SetF(beta=2) is set_F_4.
    Van Rijsbergen, Information Retrieval, 1979.
    """
    precision = set_precision(judged, setting)
    recall = set_recall(judged, setting)
    weight = setting.beta * setting.beta
    # This fraction expanded, in trec_eval's order of operations.
    return share((weight + 1) * precision * recall, weight * precision + recall)


def set_average_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Set average precision: set precision times set recall.

    It is average precision with the set precision taken at every relevant document retrieved. From 0 to 1; 0 when
    nothing was retrieved or nothing is relevant. Unjudged documents count as not relevant. trec_eval: set_map.
    """
    rows = judged.at_least(setting.relevant_from)
    found = rows.retrieved.astype(np.float64)
    return share(found * found, judged.retrieved * rows.existing.astype(np.float64))


def set_relative_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Set relative precision: the relevant documents retrieved, divided by the most there could be.

    With n documents retrieved and R relevant, the most is min(n, R). From 0 to 1; 0 when nothing was retrieved or
    nothing is relevant. Unjudged documents count as not relevant. trec_eval: set_relative_P.
    """
    rows = judged.at_least(setting.relevant_from)
    return share(rows.retrieved, np.minimum(judged.retrieved, rows.existing))


def topic_count(judged: JudgedRankings, _: Setting) -> Values:
    """Number of topics: 1 for each topic of the qrels, also when nothing was retrieved for it.

    A whole number from 0; over several topics the sum, not the mean. trec_eval: num_q.
    """
    return np.ones(judged.retrieved.size)


def nonrelevant_retrieved_count(judged: JudgedRankings, setting: Setting) -> Values:
    """Number of documents retrieved that are judged not relevant, at any rank.

    Unjudged documents are not counted. A whole number from 0; over several topics the sum, not the mean. trec_eval:
    num_nonrel_judged_ret.
    """
    return (np.diff(judged.first_row) - judged.at_least(setting.relevant_from).retrieved).astype(np.float64)


def utility(judged: JudgedRankings, setting: Setting) -> Values:
    """Utility: the relevant documents retrieved minus the others retrieved.

    What was not retrieved counts neither way. A whole number from minus to plus the number of documents retrieved; 0
    when nothing was retrieved. Unjudged documents count as not relevant. trec_eval: utility, with its usual
    parameters 1,-1,0,0.
    """
    found = judged.at_least(setting.relevant_from).retrieved
    return (found - (judged.retrieved - found)).astype(np.float64)
