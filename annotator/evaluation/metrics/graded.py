"""Measures of cumulated gain: CG, DCG and nDCG."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.setting import Setting, Values, share, sum_each


def ndcg(judged: JudgedRankings, setting: Setting) -> Values:
    """Normalised discounted cumulative gain: the ranking's gain divided by that of the best possible ranking.

    A document of grade g at rank i adds g / log2(i + 1), with gain=exp (2^g - 1) / log2(i + 1); unjudged documents
    add 0. The best possible ranking has all judged documents of the topic, most valuable first, cut off at the same
    rank. From 0 to 1; 0 when nothing was retrieved or no judged document is worth anything. trec_eval: ndcg,
    ndcg_cut; gdeval: ndcg is nDCG(gain=exp). Järvelin and Kekäläinen, TOIS 2002; Burges et al., ICML 2005.
    """
    topics = judged.topic_first.size - 1
    topic = np.repeat(np.arange(topics), np.diff(judged.topic_first))
    return share(dcg(judged, setting), best_possible(topic, judged.topic_grade, topics, setting)[judged.topic])


def dcg(judged: JudgedRankings, setting: Setting) -> Values:
    """Discounted cumulative gain: what the ranking's documents are worth, less the further down they stand.

    A document of grade g at rank i adds g / log2(i + 1), with gain=exp (2^g - 1) / log2(i + 1); unjudged documents
    add 0. From 0 without an upper end, so topics with many good documents weigh more in the mean; nDCG is made to
    avoid that. 0 when nothing was retrieved or no judged document is worth anything. Järvelin and Kekäläinen, TOIS
    2002, here with every rank discounted, as trec_eval does inside ndcg; gain=exp is that of Burges et al., ICML
    2005.
    """
    rows = judged.graded(setting.gain.least_grade)
    inside = looked_at(rows.rank, setting)
    gain = setting.gain.of(rows.grade[inside])
    return discounted_gain(rows.ranking[inside], gain, rows.rank[inside], judged.retrieved.size)


def cg(judged: JudgedRankings, setting: Setting) -> Values:
    """Cumulative gain: what the ranking's documents, or its top k, are worth together.

    A document of grade g adds g, with gain=exp 2^g - 1, wherever it stands; unjudged documents add 0. From 0 without
    an upper end; 0 when nothing was retrieved or no judged document is worth anything. Järvelin and Kekäläinen, TOIS
    2002.
    """
    rows = judged.graded(setting.gain.least_grade)
    inside = looked_at(rows.rank, setting)
    return sum_each(rows.ranking[inside], setting.gain.of(rows.grade[inside]), judged.retrieved.size)


def best_possible(topic: NDArray[np.intp], grade: NDArray[np.int16], topics: int, setting: Setting) -> Values:
    """Compute the discounted gain of each topic's documents in the ideal order.

    Documents are sorted by topic, best grade first; a custom gain may change their order.
    """
    if not setting.gain.rises:
        grade = grade[np.lexsort((-setting.gain.of(grade), topic))]
    counts = np.bincount(topic, minlength=topics)
    rank = (np.arange(1, topic.size + 1) - (np.cumsum(counts) - counts)[topic]).astype(np.int32)
    inside = looked_at(rank, setting)
    return discounted_gain(topic[inside], setting.gain.of(grade[inside]), rank[inside], topics)


def looked_at(rank: NDArray[np.int32], setting: Setting) -> slice | NDArray[np.intp]:
    """Return an index of the rows within the cutoff; without a cutoff it copies nothing."""
    return slice(None) if setting.cutoff is None else np.flatnonzero(setting.within(rank))


def discounted_gain(group: NDArray[np.intp], gain: Values, rank: NDArray[np.int32], groups: int) -> Values:
    """Sum each group's gains divided by log2(rank + 1), in order."""
    discount = _discounts(int(rank.max(initial=0)).bit_length())
    return sum_each(group, gain / discount[rank], groups)


@lru_cache
def _discounts(bits: int) -> Values:
    """Tabulate log2(rank + 1) for every rank of up to `bits` bits.

    By math.log2, the C library's as in trec_eval; np.log2 differs in the last digit from rank 1620 on.
    """
    return np.array([math.log2(rank + 1) for rank in range(1 << bits)])
