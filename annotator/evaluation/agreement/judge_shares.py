"""Shares of documents and how they differ between judges, with intervals that hold for few documents."""

from dataclasses import dataclass
from math import hypot, sqrt

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.significance.distributions import special

NORMAL_QUANTILE = 1.959963984540054  # 97.5 %, for an interval of 95 %

Interval = tuple[float, float]


@dataclass(frozen=True)
class Share:
    """So many of so many, `of` being 1 or more; the interval is Wilson's, of 95 %."""

    count: int
    of: int

    @property
    def value(self) -> float:
        """From 0 to 1."""
        return self.count / self.of

    @property
    def interval(self) -> Interval:
        """Where the true share may well lie."""
        return wilson_interval(self.count, self.of)


@dataclass(frozen=True)
class Change:
    """A difference of shares; `margin` is half an interval of 95 %, None when nothing shows how far it may be off."""

    value: float
    margin: float | None

    @property
    def interval(self) -> Interval | None:
        """Where the true difference may well lie, kept within -1 and 1."""
        if self.margin is None:
            return None
        low, high = self.value - self.margin, self.value + self.margin
        return (max(low, min(-1.0, self.value)), min(high, max(1.0, self.value)))

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.margin is not None and abs(self.value) > self.margin


@dataclass(frozen=True)
class Lenience:
    """The share that a judge finds relevant, and that of the others on the same topics, weighted by topic alike."""

    documents: int  # of this judge, of topics that others worked on, too
    own: float
    others: float
    difference: Change  # own less others': above 0 this judge is the more lenient


def wilson_interval(count: int, of: int) -> Interval:
    """Wilson's score interval of 95 % for a share (JASA 1927): it holds for few, for none and for all, too."""
    share, z2 = count / of, NORMAL_QUANTILE**2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    margin = NORMAL_QUANTILE * sqrt(share * (1 - share) / of + z2 / (4 * of**2)) / (1 + z2 / of)
    # Of none and of all the formula ends at 0 and 1, but for rounding.
    return (0.0 if count == 0 else middle - margin, 1.0 if count == of else middle + margin)


def share_of(count: int, of: int) -> Share | None:
    """The share, None of nothing."""
    return Share(count, of) if of else None


def difference_by_topic(
    own: NDArray[np.int64], own_of: NDArray[np.int64], others: NDArray[np.int64], others_of: NDArray[np.int64]
) -> Lenience | None:
    """Compare two shares topic by topic: so many relevant of so many graded, an entry a topic; None without a topic.

    Mantel and Haenszel's difference of shares with the variance of Sato (Biometrics 1989), which holds for few topics
    with many documents and for many with few. The grades are taken as independent; where both looked at the same
    documents, the interval is too wide rather than too narrow. Without any spread it has none.
    """
    both = (own_of > 0) & (others_of > 0)
    a, n, b, m = (column[both].astype(np.float64) for column in (own, own_of, others, others_of))
    if not n.size:
        return None
    total = n + m
    weight = n * m / total
    of_own, of_others = (float((weight * x / size).sum() / weight.sum()) for x, size in ((a, n), (b, m)))
    difference = of_own - of_others
    p = ((n**2 * b - m**2 * a + n * m * (m - n) / 2) / total**2).sum()
    q = ((a * (m - b) + b * (n - a)) / (2 * total)).sum()
    variance = float((difference * p + q) / weight.sum() ** 2)
    return Lenience(
        int(n.sum()), of_own, of_others, Change(difference, NORMAL_QUANTILE * sqrt(variance) if variance > 0 else None)
    )


def change_of_means(first: NDArray[np.float64], second: NDArray[np.float64]) -> Change | None:
    """The mean of the second values less that of the first, with Welch's interval; None when either has no value."""
    if not first.size or not second.size:
        return None
    difference = float(second.mean() - first.mean())
    if first.size == 1 or second.size == 1:
        return Change(difference, None)
    errors = np.array([one.var(ddof=1) / one.size for one in (first, second)])
    if not errors.any():
        return Change(difference, None)
    degrees = errors.sum() ** 2 / (errors[0] ** 2 / (first.size - 1) + errors[1] ** 2 / (second.size - 1))
    return Change(difference, float(special().stdtrit(degrees, 0.975) * sqrt(errors.sum())))


def change_of_lenience(first: Lenience | None, second: Lenience | None) -> Change | None:
    """How much more lenient the second is than the first, on other documents; None without either.

    Both were compared with the same others, which makes the interval too wide rather than too narrow.
    """
    if first is None or second is None:
        return None
    value = second.difference.value - first.difference.value
    one, other = first.difference.margin, second.difference.margin
    return Change(value, None if one is None or other is None else hypot(one, other))
