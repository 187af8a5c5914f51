"""Measures that use the grades themselves, not a line between relevant and not relevant: nDCG."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.setting import Setting, Values, share, sum_each
from annotator.evaluation.rankings import JudgedRankings


def ndcg(judged: JudgedRankings, setting: Setting) -> Values:
    """Normalised discounted cumulative gain: the ranking's gain divided by that of the best possible ranking.

    A document of grade g at rank i adds g / log2(i + 1); unjudged documents add 0. The best possible ranking has all
    judged documents of the topic, best grade first, cut off at the same rank. From 0 to 1; 0 when nothing was
    retrieved or no judged document has a grade above 0. trec_eval: ndcg, ndcg_cut. Järvelin and Kekäläinen, TOIS 2002.
    """
    rows = judged.at_least(1)
    gained = _discounted_gain(rows.ranking, rows.grade, rows.rank, judged.retrieved.size, setting)
    return share(gained, _best_possible(judged, setting)[judged.topic])


def _best_possible(judged: JudgedRankings, setting: Setting) -> Values:
    """Give the discounted gain of each topic's judged documents, best first."""
    sizes = np.diff(judged.topic_first)
    topic = np.repeat(np.arange(sizes.size), sizes)
    rank = np.arange(1, topic.size + 1) - judged.topic_first[topic]
    return _discounted_gain(topic, judged.topic_grade, rank.astype(np.int32), sizes.size, setting)


def _discounted_gain(
    group: NDArray[np.intp], grade: NDArray[np.int16], rank: NDArray[np.int32], groups: int, setting: Setting
) -> Values:
    inside = setting.within(rank)
    discount = _discounts(int(rank.max(initial=0)).bit_length())
    return sum_each(group[inside], grade[inside] / discount[rank[inside]], groups)


@lru_cache
def _discounts(bits: int) -> Values:
    """Tabulate log2(rank + 1) for every rank of so many bits.

    From math.log2, which is the C library's as in trec_eval; np.log2 differs in the last digit from rank 1620 on.
    """
    return np.array([math.log2(rank + 1) for rank in range(1 << bits)])
