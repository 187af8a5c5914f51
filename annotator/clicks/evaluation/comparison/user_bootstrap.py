"""The difference of two ratios when users are drawn anew, variant by variant, a thousand times."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from annotator.evaluation.metrics.setting import Values

DRAWS = 1_000
CHUNK = 4_000_000  # numbers drawn at a time, so that no memory is taken for all


@dataclass(frozen=True)
class Resampling:
    """What is drawn by: the seed, and the names of the two variants, so that each has draws of its own."""

    seed: int
    names: tuple[str, str]
    draws: int = DRAWS


@dataclass(frozen=True, eq=False)
class Drawn:
    """Differences of the resamples, shape (draws,); the second variant's ratio less the first's."""

    differences: Values

    @property
    def low(self) -> float:
        """Where the 95 % of the percentiles begin."""
        return float(np.percentile(self.differences, 2.5))

    @property
    def high(self) -> float:
        """Where they end."""
        return float(np.percentile(self.differences, 97.5))

    @property
    def p(self) -> float:
        """How often, two-sided, a resample is on the other side of 0; with the observed as one more, so never 0."""
        below, above = (self.differences <= 0).sum(), (self.differences >= 0).sum()
        return min(1.0, 2 * (int(min(below, above)) + 1) / (self.differences.size + 1))


def resample_difference(first: tuple[Values, Values], second: tuple[Values, Values], resampling: Resampling) -> Drawn:
    """Draw users with replacement; of either variant the sums of each user, above and below the line.

    The same users in another order, and the same variants the other way round, give the same draws.
    """
    one, other = (
        _drawn_ratios(*arm, np.random.default_rng([resampling.seed, crc32(name.encode())]), resampling.draws)
        for arm, name in zip((first, second), resampling.names, strict=True)
    )
    return Drawn(other - one)


def _drawn_ratios(part: Values, whole: Values, random: np.random.Generator, draws: int) -> Values:
    """Draw as many users as there are, of whom those with the same sums are one kind; shape (draws,)."""
    kinds, counts = np.unique(part + 1j * whole, return_counts=True)  # pairs, as NumPy sorts them fastest
    step = max(1, CHUNK // counts.size)
    found = []
    for begin in range(0, draws, step):
        drawn = random.multinomial(part.size, counts / part.size, size=min(step, draws - begin))
        found.append((drawn @ kinds.real) / (drawn @ kinds.imag))
    return np.concatenate(found)
