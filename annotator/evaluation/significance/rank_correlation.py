"""How alike two rankings of the same runs are: Kendall's tau, AP correlation and rank-biased overlap.

A ranking is given by values, one a run and the greatest first; equal values are tied. `similarities` compares many at
once, the others two.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence

# Of rank-biased overlap: how likely a reader is to go on to the next run. With 0.9, the first ten have 86 % of the
# weight (Webber, Moffat and Zobel 2010).
PERSISTENCE = 0.9
NO_ORDER = Sentence(
    "There is no order to compare: there are fewer than two runs, or all of them are equal by one of the two."
)
MOST_CELLS = 1 << 22  # compared at a time, so that many rankings of many runs do not fill the memory

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Similarity:
    """How alike two rankings are; None where there is no order to compare."""

    tau: float | None
    tau_ap: float | None
    rbo: float | None

    @property
    def reasons(self) -> dict[str, Sentence | None]:
        """Of each coefficient why there is none, None of one that there is."""
        values = {"tau": self.tau, "tau_ap": self.tau_ap, "rbo": self.rbo}
        return {name: NO_ORDER if value is None else None for name, value in values.items()}


def kendall_tau_b(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Compare two lists of values of the same things, entry by entry; 1 is the same order, -1 the opposite.

    Tau-b: pairs tied in one of the lists count in neither direction and shrink the divisor (Kendall 1945). None when
    there is no order to compare: fewer than two things, or all of them tied in one of the lists.
    """
    return _one(_taus(*_as_rows(first, second)))


def similarity_of(first: Sequence[float], second: Sequence[float]) -> Similarity:
    """Kendall's tau, AP correlation and RBO of two lists."""
    return similarities(*_as_rows(first, second))[0]


def similarities(first: Values, second: Values) -> list[Similarity]:
    """All three of many pairs of rankings, (pairs, runs)."""
    step = max(MOST_CELLS // max(first.shape[1] ** 2, 1), 1)
    return [
        Similarity(*(None if np.isnan(value) else value for value in row))
        for start in range(0, len(first), step)
        for row in zip(
            *(
                measure(first[start : start + step], second[start : start + step]).tolist()
                for measure in (_taus, _ap_correlations, _overlaps)
            ),
            strict=True,
        )
    ]


def _as_rows(first: Sequence[float], second: Sequence[float]) -> tuple[Values, Values]:
    return np.array([first], np.float64), np.array([second], np.float64)


def _one(values: Values) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])


def _signs(values: Values) -> NDArray[np.int8]:
    """Of every ranking and two runs, (rankings, runs, runs): 1 where the first is above the second, -1 if below."""
    above, below = values[:, :, None] > values[:, None, :], values[:, :, None] < values[:, None, :]
    return above.astype(np.int8) - below.astype(np.int8)


def _taus(first: Values, second: Values) -> Values:
    signs = [_signs(first), _signs(second)]
    both = (signs[0] * signs[1]).sum(axis=(1, 2), dtype=np.int64)
    differing = [np.count_nonzero(sign, axis=(1, 2)).astype(np.float64) for sign in signs]
    return _quotient(both, np.sqrt(differing[0] * differing[1]))


def _ap_correlations(first: Values, second: Values) -> Values:
    """Compare as tau does, but so that the top weighs most: the mean over runs of how many above them belong there.

    tau_AP (Yilmaz, Aslam and Robertson, SIGIR 2008), both ways and averaged, so that neither list is the true one. Of
    ties it is tau_AP,b (Urbano and Marrero, ICTIR 2017): those tied with a run are not above it, and those tied at
    the top are no runs to ask about.
    """
    above = [_signs(values) < 0 for values in (first, second)]  # of each run: which others are above it
    right = (above[0] & above[1]).sum(axis=2)
    one_way = []
    for others in above:
        count = others.sum(axis=2)
        asked = np.count_nonzero(count, axis=1)
        shares = np.divide(right, count, out=np.zeros(count.shape), where=count > 0).sum(axis=1)
        one_way.append(2 * _quotient(shares, asked) - 1)
    return (one_way[0] + one_way[1]) / 2


def _overlaps(first: Values, second: Values) -> Values:
    """Average the share of runs that the tops of both lists have in common, over all depths, the first weighing most.

    RBO, extrapolated (Webber, Moffat and Zobel, TOIS 2010); of ties RBO^b (Corsi and Urbano, SIGIR 2024): a run that
    is tied is in the top as far as its group is, and a list is always 1 with itself.
    """
    runs = first.shape[1]
    if not runs:
        return np.full(len(first), np.nan)
    shares = [_shares_in_top(values) for values in (first, second)]
    common = (shares[0] * shares[1]).sum(axis=1)
    lengths = [(share**2).sum(axis=1) for share in shares]
    agreement = common / np.sqrt(lengths[0] * lengths[1])
    depth = np.arange(1, runs + 1)
    weights = (1 - PERSISTENCE) / PERSISTENCE * PERSISTENCE**depth
    # At the last depth both have all runs, and so they have beyond it.
    overlaps: Values = (agreement * weights).sum(axis=1) + PERSISTENCE**runs
    overlaps[(np.ptp(first, axis=1) == 0) | (np.ptp(second, axis=1) == 0)] = np.nan
    return overlaps


def _shares_in_top(values: Values) -> Values:
    """Of every ranking, run and depth, (rankings, runs, depths): how much of the run is within the depth."""
    signs = _signs(values)
    top = 1 + np.count_nonzero(signs < 0, axis=2)[:, :, None]
    bottom = values.shape[1] - np.count_nonzero(signs > 0, axis=2)[:, :, None]
    depth = np.arange(1, values.shape[1] + 1)
    shares: Values = np.clip((depth - top + 1) / (bottom - top + 1), 0, 1)
    return shares


def _quotient(dividend: NDArray[np.number], divisor: NDArray[np.number]) -> Values:
    """Divide; NaN where there is nothing to divide by."""
    quotients: Values = np.divide(dividend, divisor, out=np.full(len(divisor), np.nan), where=divisor > 0)
    return quotients


def places(values: Values) -> NDArray[np.intp]:
    """Of each run, one more than the number of runs that are better."""
    return 1 + np.searchsorted(np.sort(-values), -values)
