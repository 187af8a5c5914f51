"""Paired t tests of all pairs of runs, alone and with Holm's correction for their number."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.correction import holm
from annotator.evaluation.significance.results import PairFigures, Reasons
from annotator.evaluation.significance.shared_topics import SharedTopics, shared_topics
from annotator.evaluation.significance.t_tests import paired_t


@dataclass(frozen=True, eq=False)
class PairedTests:
    """Of every two runs p of the paired t test, and the same raised so that all pairs together err no more often."""

    topics: int  # on which all runs have a score
    left_out: int  # the others
    p: PairFigures
    holm: PairFigures


def paired_tests(scores: Values) -> PairedTests:
    """Test all pairs of runs, (runs, topics), NaN where there is no score."""
    shared = shared_topics(scores)
    reason = shared.too_small
    if reason is not None:
        nothing = PairFigures.without_value(shared.runs, reason)
        return PairedTests(shared.topics, shared.left_out, nothing, nothing)
    above = np.triu_indices(shared.runs, 1)
    p_values, reasons = _of_pairs(shared)
    return PairedTests(
        shared.topics,
        shared.left_out,
        *(_both_ways(shared.runs, above, values, reasons) for values in (p_values, holm(p_values))),
    )


def _of_pairs(shared: SharedTopics) -> tuple[Values, Reasons]:
    """Of each run and those after it; not of all at once, whose differences would fill the memory."""
    tests = [
        paired_t(shared.scores[run + 1 :] - shared.scores[run], shared.least_spread) for run in range(shared.runs - 1)
    ]
    return np.concatenate([test.p for test in tests]), np.concatenate([test.reasons for test in tests])


def _both_ways(runs: int, above: tuple[NDArray[np.intp], ...], values: Values, reasons: Reasons) -> PairFigures:
    matrix = PairFigures.of_matrix(np.zeros((runs, runs)))
    matrix.values[above], matrix.reasons[above] = values, reasons
    matrix.values.T[above], matrix.reasons.T[above] = values, reasons
    return matrix
