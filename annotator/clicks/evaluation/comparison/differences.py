"""The difference of two variants by one measure and its significance: delta method or bootstrap over users."""

from dataclasses import dataclass, replace
from enum import StrEnum
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.comparison.measures import Counted, Undefined
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.distributions import special

WIDTH_95 = 1.959963984540054  # 97.5 % normal quantile, for intervals of 95 %


@dataclass(frozen=True, eq=False)
class Ratios:
    """Ratio estimates by group of users, arrays of shape (groups,)."""

    value: Values  # NaN for an empty group
    variance: Values  # of the ratio; NaN for fewer than two users
    users: NDArray[np.int64]
    whole: Values  # sum of the denominator


def ratios(group: NDArray[np.intp], part: Values, whole: Values, groups: int) -> Ratios:
    """Divide the sums of `part` by those of `whole`, group by group; each entry is one user of group `group`.

    The variance is that of the delta method, [s_c² + R² s_v² - 2 R s_cv] / (m v̄²) with m users (Deng, Knoblich and Lu
    2018): that of the mean of c - R v over v̄².
    """
    users = np.bincount(group, minlength=groups)
    total = np.bincount(group, whole, minlength=groups).astype(np.float64)
    value = np.divide(np.bincount(group, part, minlength=groups), total, out=np.full(groups, np.nan), where=total > 0)
    # c - R v has mean 0 in each group, so its sum of squares gives the variance.
    squares = np.bincount(group, (part - value[group] * whole) ** 2, minlength=groups)
    spread = np.divide(squares * users, users - 1, out=np.full(groups, np.nan), where=(users > 1) & (total > 0))
    return Ratios(value, np.divide(spread, total**2, out=np.full(groups, np.nan), where=total > 0), users, total)


def sums_by_user(
    group: NDArray[np.int64], unit: NDArray[np.int64], value: Values
) -> tuple[NDArray[np.intp], Values, Values]:
    """Sum the values by user and group: the group of each user, the sum, and the number of values."""
    order = np.lexsort((unit, group))
    is_first = np.ones(order.size, np.bool_)
    is_first[1:] = (unit[order][1:] != unit[order][:-1]) | (group[order][1:] != group[order][:-1])
    place = np.cumsum(is_first) - 1
    count = np.bincount(place)
    total = np.bincount(place, value[order]).astype(np.float64)
    return group[order][is_first].astype(np.intp), total, count.astype(np.float64)


DRAWS = 1_000
CHUNK = 4_000_000  # random numbers drawn at a time, which bounds memory


@dataclass(frozen=True)
class Resampling:
    """What the random draws depend on: the seed and the names of the two variants."""

    seed: int
    names: tuple[str, str]
    draws: int = DRAWS


@dataclass(frozen=True, eq=False)
class Drawn:
    """Differences of the resamples, shape (draws,): the second variant's ratio minus the first's."""

    differences: Values

    @property
    def low(self) -> float:
        """The lower bound of the 95 % percentile interval."""
        return float(np.percentile(self.differences, 2.5))

    @property
    def high(self) -> float:
        """The upper bound of the 95 % percentile interval."""
        return float(np.percentile(self.differences, 97.5))

    @property
    def p(self) -> float:
        """The two-sided p: the share of resamples beyond 0, with the observed value as one more, so never 0."""
        below, above = (self.differences <= 0).sum(), (self.differences >= 0).sum()
        return min(1.0, 2 * (int(min(below, above)) + 1) / (self.differences.size + 1))


def resample_difference(first: tuple[Values, Values], second: tuple[Values, Values], resampling: Resampling) -> Drawn:
    """Resample users with replacement; each variant is given as the sums of each user, numerator and denominator.

    The draws do not depend on the order of the users or of the two variants.
    """
    one, other = (
        _drawn_ratios(*arm, np.random.default_rng([resampling.seed, crc32(name.encode())]), resampling.draws)
        for arm, name in zip((first, second), resampling.names, strict=True)
    )
    return Drawn(other - one)


def _drawn_ratios(part: Values, whole: Values, random: np.random.Generator, draws: int) -> Values:
    """Resample as many users as there are; users with equal sums form one kind. Shape: (draws,)."""
    kinds, counts = np.unique(part + 1j * whole, return_counts=True)  # complex pairs, which NumPy sorts fastest
    step = max(1, CHUNK // counts.size)
    found = []
    for begin in range(0, draws, step):
        drawn = random.multinomial(part.size, counts / part.size, size=min(step, draws - begin))
        found.append((drawn @ kinds.real) / (drawn @ kinds.imag))
    return np.concatenate(found)


LEAST_SPREAD = 1e-12  # a smaller standard error is rounding error


class Method(StrEnum):
    """The test of a difference."""

    PROPORTIONS = "two-proportion z"
    DELTA = "delta method by user"
    BOOTSTRAP = "bootstrap by user"


@dataclass(frozen=True)
class Tested:
    """The interval and the test of a difference; `reason` says why when both are missing."""

    low: float | None = None  # of the 95 % interval of the difference
    high: float | None = None
    z: float | None = None  # None for a bootstrap
    p: float | None = None  # two-sided
    method: Method | None = None
    reason: Undefined | None = None


@dataclass(frozen=True)
class Counts:
    """The sample size of a measure: users, or entries in a log without users; and the number of values averaged."""

    first_units: int
    second_units: int
    first_entries: int  # pages, searches, ratings or users
    second_entries: int


@dataclass(frozen=True)
class Difference:
    """Second variant minus first; a value is None when undefined, and `tested.reason` then says why."""

    first: float | None
    second: float | None
    difference: float | None
    counts: Counts
    tested: Tested


def difference_of(counted: Counted, resampling: Resampling | None = None) -> Difference:
    """Compare the variants with codes 0 and 1; with `resampling`, by bootstrap if users are known.

    If every user has one entry with value 0 or 1, this is the z test of two proportions, otherwise the delta method.
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
    """Convert a difference of shares into that of their complements (1 - share), with the same test and draws."""
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
    """Test two shares by the pooled z test; the interval is Wald's, which is not pooled."""
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
