"""Two variants by one measure: how far apart they are, and whether that may be chance."""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.comparison.measures import Counted
from annotator.clicks.evaluation.comparison.ratios import WIDTH_95, Ratios, ratios, sums_by_user
from annotator.clicks.evaluation.comparison.undefined import Undefined
from annotator.clicks.evaluation.comparison.user_bootstrap import Resampling, resample_difference
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.distributions import special

LEAST_SPREAD = 1e-12  # of a standard error; what is less comes of rounding


class Method(StrEnum):
    """How a difference was tested."""

    PROPORTIONS = "two-proportion z"
    DELTA = "delta method by user"
    BOOTSTRAP = "bootstrap by user"


@dataclass(frozen=True)
class Tested:
    """The interval of a difference and its test; `reason` says why when there is neither."""

    low: float | None = None  # of the 95 % interval of the difference
    high: float | None = None
    z: float | None = None  # which a bootstrap has not
    p: float | None = None  # two-sided
    method: Method | None = None
    reason: Undefined | None = None


@dataclass(frozen=True)
class Counts:
    """Of how much a measure was taken: users, or where a log does not name them entries; and what it is a mean of."""

    first_units: int
    second_units: int
    first_entries: int  # pages, searches, ratings or users
    second_entries: int


@dataclass(frozen=True)
class Difference:
    """The second variant less the first; a value is None where there is none, and `tested.reason` then says why."""

    first: float | None
    second: float | None
    difference: float | None
    counts: Counts
    tested: Tested


def difference_of(counted: Counted, resampling: Resampling | None = None) -> Difference:
    """Compare the variants with the codes 0 and 1; with a `resampling`, by bootstrap where users are known.

    Where every user has one entry that is in or out, this is the z test of two proportions; else the delta method.
    """
    variant, part, whole = sums_by_user(counted.variant.astype(np.int64), counted.unit, counted.value)
    both = ratios(variant, part, whole, 2)
    first, second = (None if np.isnan(value) else float(value) for value in both.value)
    difference = None if first is None or second is None else second - first
    if difference is None:
        tested = Tested(reason=Undefined.NO_ENTRY_OF_ONE)
    elif counted.has_users and resampling is not None:
        tested = _by_bootstrap(variant, part, whole, resampling)
    elif counted.is_share and whole.max() == 1:
        tested = two_proportions(*_hits_and_entries(both))
    elif counted.has_users:
        tested = _by_delta(both)
    else:
        tested = Tested(reason=Undefined.MEAN_WITHOUT_USERS)
    first_units, second_units = both.users.tolist()
    first_entries, second_entries = both.whole.astype(np.int64).tolist()
    counts = Counts(first_units, second_units, first_entries, second_entries)
    return Difference(first, second, difference, counts, tested)


def complement_of(found: Difference) -> Difference:
    """Turn a difference of shares into that of what is left of 1, by the same test and the same draws."""
    first, second, difference = found.first, found.second, found.difference
    tested = found.tested
    return Difference(
        None if first is None else 1 - first,
        None if second is None else 1 - second,
        None if difference is None else 0 - difference,
        found.counts,
        replace(
            tested,
            low=None if tested.high is None else 0 - tested.high,
            high=None if tested.low is None else 0 - tested.low,
            z=None if tested.z is None else -tested.z,
        ),
    )


def two_proportions(first_hits: int, first_entries: int, second_hits: int, second_entries: int) -> Tested:
    """Test whether two shares differ by the pooled z test, with the interval of Wald, which is not pooled."""
    first, second = first_hits / first_entries, second_hits / second_entries
    pooled = (first_hits + second_hits) / (first_entries + second_entries)
    error = (pooled * (1 - pooled) * (1 / first_entries + 1 / second_entries)) ** 0.5
    if not error:
        return Tested(reason=Undefined.ALWAYS_THE_SAME)
    z = (second - first) / error
    half = WIDTH_95 * (first * (1 - first) / first_entries + second * (1 - second) / second_entries) ** 0.5
    return Tested(second - first - half, second - first + half, z, _two_sided(z), Method.PROPORTIONS)


def _hits_and_entries(both: Ratios) -> tuple[int, int, int, int]:
    entries = both.whole.astype(np.int64)
    hits = np.rint(both.value * both.whole).astype(np.int64)
    return int(hits[0]), int(entries[0]), int(hits[1]), int(entries[1])


def _by_delta(both: Ratios) -> Tested:
    if both.users.min() < 2:  # noqa: PLR2004 - a spread takes two
        return Tested(reason=Undefined.ONE_USER)
    difference, error = float(both.value[1] - both.value[0]), float(both.variance.sum() ** 0.5)
    if error <= LEAST_SPREAD:
        is_same = abs(difference) <= LEAST_SPREAD
        return Tested(reason=Undefined.ALWAYS_THE_SAME if is_same else Undefined.NO_SPREAD)
    z, half = difference / error, WIDTH_95 * error
    return Tested(difference - half, difference + half, z, _two_sided(z), Method.DELTA)


def _by_bootstrap(variant: NDArray[np.intp], part: Values, whole: Values, resampling: Resampling) -> Tested:
    first, second = ((part[variant == arm], whole[variant == arm]) for arm in (0, 1))
    if min(first[0].size, second[0].size) < 2:  # noqa: PLR2004 - a spread takes two
        return Tested(reason=Undefined.ONE_USER)
    drawn = resample_difference(first, second, resampling)
    if np.ptp(drawn.differences) <= LEAST_SPREAD:
        is_same = abs(float(drawn.differences[0])) <= LEAST_SPREAD
        return Tested(reason=Undefined.ALWAYS_THE_SAME if is_same else Undefined.NO_SPREAD)
    return Tested(drawn.low, drawn.high, None, drawn.p, Method.BOOTSTRAP)


def _two_sided(z: float) -> float:
    return float(2 * special().ndtr(-abs(z)))
