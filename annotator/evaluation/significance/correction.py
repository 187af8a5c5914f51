"""Holm's correction: p values of several tests, raised so that all of them together err as seldom as one."""

import numpy as np

from annotator.evaluation.metrics.setting import Values


def holm(p_values: Values) -> Values:
    """Raise p values; NaN is no test, stays NaN and does not count.

    The smallest times their number, the next times one less and so on, none below the one before and none above 1
    (Holm 1979).
    """
    raised = np.full(p_values.shape, np.nan)
    tests = np.flatnonzero(~np.isnan(p_values))
    order = tests[np.argsort(p_values[tests], kind="stable")]
    times = np.arange(order.size, 0, -1)
    raised[order] = np.minimum(np.maximum.accumulate(p_values[order] * times), 1)
    return raised
