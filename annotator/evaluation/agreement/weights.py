"""How much two different grades disagree: not at all by degree, by their distance, or by its square."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Weights:
    """How much each pair of grades disagrees, (grades, grades) in the order of the scale, 0 on the diagonal.

    `greatest` is what counts as full disagreement. Disagreement is kept and not agreement, because it comes in whole
    numbers: sums of them are exact, so that agreement equal to chance gives exactly 0.
    """

    disagreement: NDArray[np.float64]
    greatest: float

    @property
    def agreement(self) -> NDArray[np.float64]:
        """How much each pair of grades agrees, from 0 to 1."""
        agreement: NDArray[np.float64] = 1 - self.disagreement / self.greatest
        return agreement


class Weighting(StrEnum):
    """Whether grades that differ count as differing by degrees."""

    NONE = "none"
    LINEAR = "linear"
    QUADRATIC = "quadratic"

    def of(self, size: int) -> Weights:
        """The weights for a scale of so many grades; what counts is the place of a grade in it, not its value."""
        distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
        furthest = float(max(size - 1, 1))
        if self is Weighting.NONE:
            return Weights(np.minimum(distance, 1), 1)
        power = 1 if self is Weighting.LINEAR else 2
        return Weights(distance**power, furthest**power)


def weights_of_agreement(agreement: NDArray[np.float64]) -> Weights:
    """Take weights as the literature prints them: from 0 to 1, 1 on the diagonal."""
    return Weights(1 - agreement, 1)
