"""Differences with their signs flipped at random: what could have been, were the two runs the same system.

Fisher's randomisation test (1935), in retrieval after Smucker, Allan and Carterette (CIKM 2007): if the runs do not
differ, each topic's difference might as well have had the other sign.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annotator.evaluation.metrics.setting import Values

FLIPS = 100_000
MOST_CELLS = 1 << 20  # of flips and topics, or flips and pairs, at a time
ROUNDING = 1e-12  # sums that differ by so small a part of all that is added are equal


@dataclass(frozen=True, eq=False)
class SignFlips:
    """Ways to flip the signs of topics: all of them where they are no more than asked for, else a random choice."""

    differences: Values  # shape: pairs, topics; of the topics on which any pair differs
    flips: int
    seed: int
    is_exact: bool

    @classmethod
    def of(cls, differences: Values, flips: int, seed: int) -> "SignFlips":
        """Flip the differences, (pairs, topics); a topic on which no pair differs is the same either way."""
        differing = differences[:, differences.any(axis=0)]
        is_exact = differing.shape[1] < flips.bit_length()  # 2 ** topics <= flips
        return cls(differing, 1 << differing.shape[1] if is_exact else flips, seed, is_exact)

    @property
    def observed(self) -> Values:
        """Of each pair how far its differences add up, to which side whatever."""
        sums: Values = np.abs(self.differences.sum(axis=1))
        return sums

    @property
    def rounding(self) -> Values:
        """Of each pair by how much a sum may be off."""
        rounding: Values = ROUNDING * np.abs(self.differences).sum(axis=1)
        return rounding

    def sums(self) -> Iterator[Values]:
        """Of flip after flip how far each pair's differences add up, in pieces, (flips, pairs).

        When exact, one of every two opposite flips, which add up alike.
        """
        pairs, topics = self.differences.shape
        step = max(MOST_CELLS // max(pairs, topics, 1), 1)
        total = self.differences.sum(axis=1)
        for kept in self._all(step) if self.is_exact else self._some(step):
            yield np.abs(2 * (kept @ self.differences.T) - total)

    def p_values(self, at_least: Values) -> Values:
        """From how many of the sums are at least as far as those observed, p; a random choice counts what is as well.

        So p is never 0 (Davison and Hinkley 1997).
        """
        if self.is_exact:
            return at_least / max(self.flips // 2, 1)
        return (at_least + 1) / (self.flips + 1)

    def _all(self, step: int) -> Iterator[Values]:
        topics = self.differences.shape[1]
        rows = max(self.flips // 2, 1)
        for start in range(0, rows, step):
            number = np.arange(start, min(start + step, rows))
            yield (number[:, np.newaxis] >> np.arange(topics) & 1).astype(np.float64)

    def _some(self, step: int) -> Iterator[Values]:
        chance = np.random.default_rng(self.seed)
        topics = self.differences.shape[1]
        for start in range(0, self.flips, step):
            rows = min(step, self.flips - start)
            bits = chance.integers(0, 256, (rows, -(-topics // 8)), np.uint8)
            yield np.unpackbits(bits, axis=1, count=topics).astype(np.float64)


def count_at_least(flips: SignFlips) -> Values:
    """Count of each pair the flips that add up to at least as much as what was observed."""
    least, counts = flips.observed - flips.rounding, np.zeros(len(flips.differences))
    for sums in flips.sums():
        counts += np.count_nonzero(sums >= least, axis=0)
    return counts
