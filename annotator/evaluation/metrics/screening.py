"""Measures of the order in which all documents of a topic are screened, as of technology-assisted review.

They are those of CLEF's eHealth task of 2017 (Kanoulas et al., CLEF 2017), whose script calls them last_rel, wss_95,
wss_100, norm_area, NCG@p, loss_e, loss_r and loss_er. N is how many documents of the topic are judged, R how many of
them are relevant.
"""

import numpy as np

from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.setting import Setting, Values, count_each, share, sum_each

# Documents that somebody can be expected to screen for nothing, in the loss of effort.
FREE = 100
DIGITS = 9


def last_relevant(judged: JudgedRankings, setting: Setting) -> Values:
    """The rank of the last relevant document: the number of documents to screen until all are found.

    Of the relevant documents that were retrieved; otherwise 0. Less is better; its mean over topics is reported.
    Unjudged documents count as not relevant. CLEF's script: last_rel. Kanoulas et al., CLEF 2017.
    """
    rows = judged.at_least(setting.relevant_from)
    values = np.zeros(rows.existing.size)
    np.maximum.at(values, rows.ranking, rows.rank.astype(np.float64))
    return values


def work_saved(judged: JudgedRankings, setting: Setting) -> Values:
    """Work saved over sampling at a recall: the share of documents not screened until it, above what chance would save.

    (N - k) / N - (1 - recall), where k is the rank of the relevant document with which the recall is reached: number
    recall times R, rounded, halves to even numbers. From minus 1 to 1; 0 when it is not reached or nothing is
    relevant, below 0 when the order is worse than chance. Unjudged documents count as not relevant. CLEF's script:
    wss_95 and wss_100. Cohen et al., JAMIA 2006.
    """
    rows = judged.at_least(setting.relevant_from)
    wanted = np.rint(setting.level * rows.existing).astype(np.intp)
    reached = (rows.nth == np.maximum(wanted, 1)[rows.ranking]) & (wanted > 0)[rows.ranking]
    documents = _length(judged)
    values = np.zeros(rows.existing.size)
    of = rows.ranking[reached]
    values[of] = (documents[of] - rows.rank[reached]) / documents[of] - (1 - setting.level)
    return values


def normalised_area(judged: JudgedRankings, setting: Setting) -> Values:
    """The area under the curve of relevant documents found against documents screened, divided by the best possible.

    The sum over the ranks to N of the relevant documents found so far, one half for one found at that rank, divided by
    R N - R squared / 2. From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Unjudged
    documents count as not relevant. CLEF's script: norm_area, which it rounds to three digits in each topic. Kanoulas
    et al., CLEF 2017.
    """
    rows = judged.at_least(setting.relevant_from)
    found_for = (_length(judged)[rows.ranking] - rows.rank + 0.5).astype(np.float64)
    return share(
        sum_each(rows.ranking, found_for, rows.existing.size),
        rows.existing * _documents(judged) - rows.existing**2 / 2,
    )


def cumulated_gain_at_share(judged: JudgedRankings, setting: Setting) -> Values:
    """Normalised cumulated gain at a share of the documents: the share of relevant documents found in it.

    As CLEF's script has it: it looks after each N / 10 documents, without decimals, and takes the last look before the
    share: where 10 divides N, NCG@0.2 is what is found in the first tenth. From 0 to 1; 0 when nothing was retrieved or
    nothing is relevant. Unjudged documents count as not relevant. Kanoulas et al., CLEF 2017.
    """
    rows = judged.at_least(setting.relevant_from)
    documents = _documents(judged)
    step = np.maximum(documents // 10, 1)
    # The last multiple of the step below the share. Its rounding leaves whole numbers, such as .3 of 970, whole.
    depth = step * np.ceil(np.round(documents * setting.level / step, DIGITS) - 1)
    inside = rows.rank <= depth[rows.ranking]
    return share(count_each(rows.ranking[inside], rows.existing.size), rows.existing)


def loss_of_effort(judged: JudgedRankings, setting: Setting) -> Values:
    """Loss of effort: the square of the documents screened, against 100 more than are relevant of all.

    (n / (R + 100) x 100 / N) squared, where n documents were retrieved: the order ends where screening stopped. From 0,
    which is best; 0 also when nothing is judged. CLEF's script: loss_e. Kanoulas et al., CLEF 2017.
    """
    rows = judged.at_least(setting.relevant_from)
    values: Values = share(judged.retrieved / (rows.existing + FREE) * FREE, _documents(judged)) ** 2
    return values


def loss_of_recall(judged: JudgedRankings, setting: Setting) -> Values:
    """Loss of recall: the square of the share of relevant documents that were not retrieved.

    From 0, the best, to 1; also 1 when nothing is relevant. CLEF's script: loss_r. Kanoulas et al., CLEF 2017.
    """
    rows = judged.at_least(setting.relevant_from)
    values: Values = (1 - share(rows.retrieved, rows.existing)) ** 2
    return values


def loss(judged: JudgedRankings, setting: Setting) -> Values:
    """Loss of an order that ends where screening stopped: loss of effort plus loss of recall.

    From 0, which is best. CLEF's script: loss_er. Cormack and Grossman, SIGIR 2016.
    """
    return loss_of_effort(judged, setting) + loss_of_recall(judged, setting)


def _length(judged: JudgedRankings) -> Values:
    """Of each ranking: N, or how many documents were retrieved, if that is more because some are not judged."""
    length: Values = np.maximum(_documents(judged), judged.retrieved)
    return length


def _documents(judged: JudgedRankings) -> Values:
    """Of each ranking: how many documents of its topic are judged."""
    counts: Values = np.diff(judged.topic_first)[judged.topic].astype(np.float64)
    return counts
