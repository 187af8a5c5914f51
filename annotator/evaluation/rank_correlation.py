"""How far two rankings of the same runs agree: Kendall's tau."""

from collections.abc import Sequence

import numpy as np


def kendall_tau_b(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Compare two lists of values of the same things, entry by entry; 1 is the same order, -1 the opposite.

    Tau-b: pairs tied in one of the lists count in neither direction and shrink the divisor (Kendall 1945). None when
    there is no order to compare: fewer than two things, or all of them tied in one of the lists.
    """
    signs = [np.sign(np.subtract.outer(values, values)) for values in (np.asarray(first), np.asarray(second))]
    divisor = float(np.sqrt(np.prod([np.count_nonzero(sign) for sign in signs], dtype=np.float64)))
    return float((signs[0] * signs[1]).sum() / divisor) if divisor else None
