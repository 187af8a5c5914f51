"""A ratio of two sums over users, and how far chance may have moved it: the delta method."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.setting import Values

WIDTH_95 = 1.959963984540054  # standard errors to either side that hold 95 %


@dataclass(frozen=True, eq=False)
class Ratios:
    """Ratios of groups of users, arrays of shape (groups,)."""

    value: Values  # NaN of a group without anything
    variance: Values  # of the value; NaN where there are not two users
    users: NDArray[np.int64]
    whole: Values  # the sum below the line


def ratios(group: NDArray[np.intp], part: Values, whole: Values, groups: int) -> Ratios:
    """Divide the sums of `part` by those of `whole`, group by group; an entry is a user, of the group it names.

    The variance is that of the delta method, [s_c² + R² s_v² - 2 R s_cv] / (m v̄²) with m users (Deng, Knoblich and Lu
    2018): that of the mean of c - R v over v̄².
    """
    users = np.bincount(group, minlength=groups)
    total = np.bincount(group, whole, minlength=groups).astype(np.float64)
    value = np.divide(np.bincount(group, part, minlength=groups), total, out=np.full(groups, np.nan), where=total > 0)
    # The mean of c - R v is 0 in each group, so that its squares add up to its spread.
    squares = np.bincount(group, (part - value[group] * whole) ** 2, minlength=groups)
    spread = np.divide(squares * users, users - 1, out=np.full(groups, np.nan), where=(users > 1) & (total > 0))
    return Ratios(value, np.divide(spread, total**2, out=np.full(groups, np.nan), where=total > 0), users, total)


def sums_by_user(
    group: NDArray[np.int64], unit: NDArray[np.int64], value: Values
) -> tuple[NDArray[np.intp], Values, Values]:
    """Add the values of each user up, apart in each group: the group of each, the sum, and how many there were."""
    order = np.lexsort((unit, group))
    is_first = np.ones(order.size, np.bool_)
    is_first[1:] = (unit[order][1:] != unit[order][:-1]) | (group[order][1:] != group[order][:-1])
    place = np.cumsum(is_first) - 1
    count = np.bincount(place)
    total = np.bincount(place, value[order]).astype(np.float64)
    return group[order][is_first].astype(np.intp), total, count.astype(np.float64)
