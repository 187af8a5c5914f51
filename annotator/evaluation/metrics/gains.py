"""Gains: the value of a document of some grade."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError

LARGEST_EXPONENT = 1000  # 2^1000 is a float64, and so are sums of many


@dataclass(frozen=True)
class Gain:
    """Turns grades into gains: the grade itself, 2^grade - 1, or values given for single grades (the others linear)."""

    is_exponential: bool = False
    custom: tuple[tuple[int, float], ...] = ()  # grade and gain, by grade

    def __str__(self) -> str:
        """Format it as `parse_measure` reads it."""
        if self.is_exponential:
            return "exp"
        if self.custom:
            return "{" + ",".join(f"{grade}:{repr(gain).removesuffix('.0')}" for grade, gain in self.custom) + "}"
        return "linear"

    def of(self, grades: NDArray[np.int16]) -> NDArray[np.float64]:
        """Look up the gain of each grade; grades are 0 or more.

        Raises `InvalidValueError` for an exponential gain of a grade above 1000.
        """
        if not self.is_exponential and not self.custom:
            return grades.astype(np.float64)
        return self._table(int(grades.max(initial=0)))[grades]

    def largest(self, best: int) -> float:
        """Return the largest gain of the grades from 0 to `best`. Raises as `of` does."""
        return float(self._table(best).max())

    @property
    def least_grade(self) -> int:
        """The least grade that can have a gain above 0: 0 only for a custom gain."""
        return 0 if self._custom.get(0) else 1

    @property
    def rises(self) -> bool:
        """Whether the gain always rises with the grade."""
        return not self.custom

    @cached_property
    def _custom(self) -> Mapping[int, float]:
        return dict(self.custom)

    def _table(self, best: int) -> NDArray[np.float64]:
        if self.is_exponential:
            if best > LARGEST_EXPONENT:
                raise InvalidValueError(
                    "An exponential gain is possible for grades up to %(most)d; the qrels have the grade %(grade)d.",
                    most=LARGEST_EXPONENT,
                    grade=best,
                )
            return np.ldexp(1.0, np.arange(best + 1)) - 1
        table = np.arange(best + 1, dtype=np.float64)
        for grade, gain in self.custom:
            if grade <= best:
                table[grade] = gain
        return table


LINEAR = Gain()
EXPONENTIAL = Gain(is_exponential=True)
