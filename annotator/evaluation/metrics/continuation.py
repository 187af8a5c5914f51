"""Measures of the C/W/L framework: how likely a reader goes on from each rank says how much every rank weighs.

All are the mean gain of a document that the reader looks at. With C(i), the probability to go on from rank i, rank i
weighs W(i) = C(1) * … * C(i - 1), divided by the sum of these over all ranks; the value is the sum of W(i) times the
gain of the document at rank i. As in cwl_eval, ranks after 1000 are not looked at. Moffat, Bailey, Scholer and
Thomas, TOIS 2017; Azzopardi, Thomas and Moffat, SIGIR 2019.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.setting import Setting, Values

DEPTH = 1000  # cwl_eval's
ROWS_AT_ONCE = 512  # rankings; an array of them takes 4 MB

# From the gains (shape: rankings, ranks) and the ranks from 1 to the probabilities to go on (that shape, or ranks).
Continuation = Callable[[Values, Values], Values]


def bejeweled_player_model(judged: JudgedRankings, setting: Setting) -> Values:
    """Bejeweled player model: mean gain of the documents down to where the reader has found T or is at rank k.

    The gain of a document of grade g is (g - min_rel) / (max - min_rel), at least 0 and at most 1; T is the sum of
    gains with which the reader is content. From 0 to 1; 0 when nothing was retrieved or nothing has a gain. Unjudged
    documents have no gain. This is the static model of cwl_eval and ir_measures: BPM. Zhang, Liu, Li, Zhang, Xu and
    Ma, SIGIR 2017.
    """
    return _expected_gain(
        judged,
        setting,
        lambda gain, rank: np.where((gain.cumsum(axis=1) < setting.wanted) & (rank < setting.depth), 1.0, 0.0),
    )


def scaled_dcg(judged: JudgedRankings, setting: Setting) -> Values:
    """Scaled discounted cumulative gain: DCG divided by that of k documents of the best grade.

    The gain of a document of grade g is (g - min_rel) / (max - min_rel), at least 0 and at most 1; at rank i it is
    divided by log2(i + 1). From 0 to 1, and 1 only when k documents have the best grade; 0 when nothing was retrieved
    or nothing has a gain. Unjudged documents have no gain. ir_measures: SDCG; cwl_eval: NDCG-k. Järvelin and
    Kekäläinen, TOIS 2002, scaled as in Moffat, Bailey, Scholer and Thomas, TOIS 2017.
    """
    return _expected_gain(
        judged, setting, lambda _, rank: np.where(rank < setting.depth, np.log(rank + 1) / np.log(rank + 2), 0.0)
    )


def nearly_err_cut_off(judged: JudgedRankings, setting: Setting) -> Values:
    """Nearly expected reciprocal rank, equation 8: the reader goes on with probability 1 - gain, and never past rank k.

    The gain of a document of grade g is (g - min_rel) / (max - min_rel), at least 0 and at most 1; the value is the
    mean gain of the documents looked at. From 0 to 1; 0 when nothing was retrieved or nothing has a gain. Unjudged
    documents have no gain. ir_measures: NERR8. Azzopardi, Mackenzie and Moffat, ICTIR 2021.
    """
    return _expected_gain(judged, setting, lambda gain, rank: (1 - gain) * (rank < setting.depth))


def nearly_err_discounted(judged: JudgedRankings, setting: Setting) -> Values:
    """Nearly expected reciprocal rank, equation 9: as equation 8, and rank i is left with i / (i + 1) at most.

    The reader goes on from rank i with probability (1 - gain) * i / (i + 1), and never past rank k. The gain of a
    document of grade g is (g - min_rel) / (max - min_rel), at least 0 and at most 1. From 0 to 1; 0 when nothing was
    retrieved or nothing has a gain. Unjudged documents have no gain. ir_measures: NERR9. Azzopardi, Mackenzie and
    Moffat, ICTIR 2021.
    """
    return _expected_gain(judged, setting, lambda gain, rank: rank / (rank + 1) * (1 - gain) * (rank < setting.depth))


def nearly_err_patient(judged: JudgedRankings, setting: Setting) -> Values:
    """Nearly expected reciprocal rank, equation 10: the reader goes on with probability p * (1 - gain).

    The gain of a document of grade g is (g - min_rel) / (max - min_rel), at least 0 and at most 1; the value is the
    mean gain of the documents looked at. From 0 to 1; 0 when nothing was retrieved or nothing has a gain. Unjudged
    documents have no gain. ir_measures: NERR10. Azzopardi, Mackenzie and Moffat, ICTIR 2021.
    """
    return _expected_gain(judged, setting, lambda gain, _: setting.p * (1 - gain))


def nearly_err_wanting(judged: JudgedRankings, setting: Setting) -> Values:
    """Nearly expected reciprocal rank, equation 11: as INSQ, and the reader stops at a gain with that probability.

    From rank i the reader goes on with probability ((i + 2T - 1) / (i + 2T))^2 * (1 - gain). The gain of a document
    of grade g is (g - min_rel) / (max - min_rel), at least 0 and at most 1. From 0 to 1; 0 when nothing was retrieved
    or nothing has a gain. Unjudged documents have no gain. ir_measures: NERR11. Azzopardi, Mackenzie and Moffat,
    ICTIR 2021.
    """
    return _expected_gain(judged, setting, lambda gain, rank: _inverse_squares(rank + 2 * setting.wanted) * (1 - gain))


def inst(judged: JudgedRankings, setting: Setting) -> Values:
    """INST: the reader expects a gain of T, and the more of it is found, the sooner stops.

    From rank i the reader goes on with probability ((i + T + t - 1) / (i + T + t))^2, where t is T less the gains
    down to rank i. The gain of a document of grade g is (g - min_rel) / (max - min_rel), at least 0 and at most 1;
    the value is the mean gain of the documents looked at. T is 0.25 or more: with less, these are no probabilities.
    From 0 to 1; 0 when nothing was retrieved or nothing has a gain. Unjudged documents have no gain. ir_measures:
    INST. Bailey, Moffat, Scholer and Thomas, SIGIR 2015.
    """
    return _expected_gain(
        judged, setting, lambda gain, rank: _inverse_squares(rank + 2 * setting.wanted - gain.cumsum(axis=1))
    )


def insq(judged: JudgedRankings, setting: Setting) -> Values:
    """INSQ: the reader expects a gain of T, and grows more patient from rank to rank, whatever is found.

    From rank i the reader goes on with probability ((i + 2T - 1) / (i + 2T))^2. The gain of a document of grade g is
    (g - min_rel) / (max - min_rel), at least 0 and at most 1; the value is the mean gain of the documents looked at.
    From 0 to 1; 0 when nothing was retrieved or nothing has a gain. Unjudged documents have no gain. ir_measures:
    INSQ. Moffat, Scholer and Thomas, ADCS 2012.
    """
    return _expected_gain(judged, setting, lambda _, rank: _inverse_squares(rank + 2 * setting.wanted))


def _inverse_squares(ranks: Values) -> Values:
    """Probabilities to go on by which the ranks weigh as 1 / rank^2."""
    probabilities: Values = ((ranks - 1) / ranks) ** 2
    return probabilities


def _expected_gain(judged: JudgedRankings, setting: Setting, goes_on: Continuation) -> Values:
    """Compute each ranking's mean gain over the ranks, weighted by how likely the reader comes there."""
    width = DEPTH if setting.cutoff is None else min(setting.cutoff, DEPTH)
    gain = _gains(judged.grade, setting, int(judged.topic_grade.max(initial=0)))
    rows = np.flatnonzero((gain > 0) & (judged.rank <= width))
    values = np.zeros(judged.retrieved.size)
    with_gain, place = np.unique(judged.ranking[rows], return_inverse=True)
    rank = np.arange(1.0, width + 1)
    for begin in range(0, with_gain.size, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, with_gain.size)
        of_these = slice(*np.searchsorted(place, [begin, end]))
        gains = np.zeros((end - begin, width))
        gains[place[of_these] - begin, judged.rank[rows[of_these]] - 1] = gain[rows[of_these]]
        weights = np.ones_like(gains)
        np.cumprod(np.broadcast_to(goes_on(gains, rank), gains.shape)[:, :-1], axis=1, out=weights[:, 1:])
        values[with_gain[begin:end]] = (weights * gains).sum(axis=1) / weights.sum(axis=1)
    return values


def _gains(grade: NDArray[np.int16], setting: Setting, best: int) -> Values:
    """Scale grades to gains from 0 to 1; grades above the greatest count as it."""
    most = best if setting.max_grade is None else setting.max_grade
    if not most:
        return np.zeros(grade.size)
    if most <= setting.min_grade:
        raise InvalidValueError(
            "The best grade must be above min_rel, and %(most)d is not above %(least)d.",
            most=most,
            least=setting.min_grade,
        )
    return (np.clip(grade, setting.min_grade, most) - setting.min_grade) / (most - setting.min_grade)
