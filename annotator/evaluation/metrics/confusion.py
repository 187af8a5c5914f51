"""Confusion matrix of retrieved and relevant documents: TP, FP, FN, TN and Accuracy."""

import numpy as np

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.setting import Setting, Values


def true_positives(judged: JudgedRankings, setting: Setting) -> Values:
    """True positives: how many relevant documents were retrieved, at any rank.

    A whole number from 0; over several topics the sum, not the mean. The same as NumRelRet. trec_eval: num_rel_ret.
    """
    return judged.at_least(setting.relevant_from).retrieved.astype(np.float64)


def false_positives(judged: JudgedRankings, setting: Setting) -> Values:
    """False positives: how many documents were retrieved that are not relevant, at any rank.

    Unjudged documents count as not relevant. A whole number from 0; over several topics the sum, not the mean.
    Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008.
    """
    return judged.retrieved - true_positives(judged, setting)


def false_negatives(judged: JudgedRankings, setting: Setting) -> Values:
    """False negatives: how many relevant documents were not retrieved.

    A whole number from 0; over several topics the sum, not the mean. Manning, Raghavan and Schütze, Introduction to
    Information Retrieval, 2008.
    """
    return judged.at_least(setting.relevant_from).existing - true_positives(judged, setting)


def true_negatives(judged: JudgedRankings, setting: Setting) -> Values:
    """True negatives: how many documents of the corpus were not retrieved and are not relevant.

    docs says how many documents the corpus has. Unjudged documents count as not relevant. A whole number from 0; over
    several topics the sum, not the mean. Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008.
    """
    return _corpus(judged, setting) - judged.retrieved - false_negatives(judged, setting)


def accuracy(judged: JudgedRankings, setting: Setting) -> Values:
    """Accuracy: the share of all documents of the corpus that were rightly retrieved or rightly left out.

    docs says how many documents the corpus has; the sum of true positives and true negatives is divided by it. From 0
    to 1; when nothing was retrieved, the share of documents that are not relevant, which is why a run that retrieves
    nothing looks good by it. Unjudged documents count as not relevant. The Accuracy of ir_measures is another measure:
    how likely a relevant document of the ranking stands above one that is not. Manning, Raghavan and Schütze,
    Introduction to Information Retrieval, 2008.
    """
    right = true_positives(judged, setting) + true_negatives(judged, setting)
    return right / _corpus(judged, setting)


def _corpus(judged: JudgedRankings, setting: Setting) -> int:
    """Return the size of the corpus, which must be at least the documents of a topic's ranking and qrels together."""
    if setting.docs is None:
        raise ValueError("this measure needs the number of documents")
    pooled = np.bincount(judged.strata.topic, judged.strata.pooled, minlength=judged.topic_first.size - 1)
    in_both = np.diff(judged.first_row) + np.bincount(judged.unjudged.ranking, minlength=judged.retrieved.size)
    listed = int((judged.retrieved + pooled[judged.topic] - in_both).max(initial=0))
    if setting.docs < listed:
        raise InvalidValueError(
            "docs=%(docs)d is too few: for one topic, the run and the qrels together list %(listed)d documents.",
            docs=setting.docs,
            listed=listed,
        )
    return setting.docs
