"""How alike two rankings of the same runs are: Kendall's tau, AP correlation and rank-biased overlap.

A ranking is given by one value per run, greatest first; equal values are tied. `similarities` compares many pairs at
once, the others one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Sentence

# Rank-biased overlap: the probability that a reader continues to the next run. With 0.9, the first ten have 86 % of the
# weight (Webber, Moffat and Zobel 2010).
PERSISTENCE = 0.9
NO_ORDER = Sentence(
    "There is no order to compare: there are fewer than two runs, or all of them are equal by one of the two."
)
MOST_CELLS = 1 << 22  # compared at a time, to bound memory

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Similarity:
    """How alike two rankings are; None where there is no order to compare."""

    tau: float | None
    tau_ap: float | None
    rbo: float | None

    @property
    def reasons(self) -> dict[str, Sentence | None]:
        """For each coefficient, why it is undefined; None when it is defined."""
        values = {"tau": self.tau, "tau_ap": self.tau_ap, "rbo": self.rbo}
        return {name: NO_ORDER if value is None else None for name, value in values.items()}


def kendall_tau_b(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Compute Kendall's tau-b of two lists of values of the same items; 1 is the same order, -1 the reverse.

    Pairs tied in one of the lists count in neither direction and shrink the divisor (Kendall 1945). None when
    there is no order to compare: fewer than two items, or all of them tied in one of the lists.
    """
    return _one(_taus(*_as_rows(first, second)))


def similarity_of(first: Sequence[float], second: Sequence[float]) -> Similarity:
    """Compute Kendall's tau, AP correlation and RBO of two lists."""
    return similarities(*_as_rows(first, second))[0]


def similarities(first: Values, second: Values) -> list[Similarity]:
    """Compute all three coefficients for many pairs of rankings, (pairs, runs)."""
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
    """Compare all pairs of runs, (rankings, runs, runs): 1 where the first is above the second, -1 if below."""
    above, below = values[:, :, None] > values[:, None, :], values[:, :, None] < values[:, None, :]
    return above.astype(np.int8) - below.astype(np.int8)


def _taus(first: Values, second: Values) -> Values:
    signs = [_signs(first), _signs(second)]
    both = (signs[0] * signs[1]).sum(axis=(1, 2), dtype=np.int64)
    differing = [np.count_nonzero(sign, axis=(1, 2)).astype(np.float64) for sign in signs]
    return _quotient(both, np.sqrt(differing[0] * differing[1]))


def _ap_correlations(first: Values, second: Values) -> Values:
    """Compute AP correlation, a top-weighted tau: the mean over runs of the share above them that belongs there.

    tau_AP (Yilmaz, Aslam and Robertson, SIGIR 2008), averaged over both directions, so that neither list is the
    reference. Ties follow tau_AP,b (Urbano and Marrero, ICTIR 2017): runs tied with a run are not above it, and runs
    tied at the top are left out of the mean.
    """
    above = [_signs(values) < 0 for values in (first, second)]  # for each run: which others are above it
    right = (above[0] & above[1]).sum(axis=2)
    one_way = []
    for others in above:
        count = others.sum(axis=2)
        asked = np.count_nonzero(count, axis=1)
        shares = np.divide(right, count, out=np.zeros(count.shape), where=count > 0).sum(axis=1)
        one_way.append(2 * _quotient(shares, asked) - 1)
    return (one_way[0] + one_way[1]) / 2


def _overlaps(first: Values, second: Values) -> Values:
    """Compute rank-biased overlap: the top-weighted average over depths of the overlap of both lists' tops.

    RBO, extrapolated (Webber, Moffat and Zobel, TOIS 2010); ties as in RBO^b (Corsi and Urbano, SIGIR 2024): a tied
    run is in the top to the extent that its group is, and a list always has 1 with itself.
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
    # At the last depth and beyond it, both lists contain all runs.
    overlaps: Values = (agreement * weights).sum(axis=1) + PERSISTENCE**runs
    overlaps[(np.ptp(first, axis=1) == 0) | (np.ptp(second, axis=1) == 0)] = np.nan
    return overlaps


def _shares_in_top(values: Values) -> Values:
    """Return how much of each run is within each depth, (rankings, runs, depths)."""
    signs = _signs(values)
    top = 1 + np.count_nonzero(signs < 0, axis=2)[:, :, None]
    bottom = values.shape[1] - np.count_nonzero(signs > 0, axis=2)[:, :, None]
    depth = np.arange(1, values.shape[1] + 1)
    shares: Values = np.clip((depth - top + 1) / (bottom - top + 1), 0, 1)
    return shares


def _quotient(dividend: NDArray[np.number], divisor: NDArray[np.number]) -> Values:
    """Divide; NaN where the divisor is 0."""
    quotients: Values = np.divide(dividend, divisor, out=np.full(len(divisor), np.nan), where=divisor > 0)
    return quotients


def places(values: Values) -> NDArray[np.intp]:
    """Return each run's place: one more than the number of better runs."""
    return 1 + np.searchsorted(np.sort(-values), -values)
