"""The result of a statistic: a value, or the reason why it is undefined."""

from dataclasses import dataclass
from enum import Enum

from annotator.errors import Sentence


class SentenceEnum(Enum):
    """An enumeration whose values are translatable sentences."""

    @property
    def sentence(self) -> Sentence:
        """The sentence for readers."""
        sentence: Sentence = self.value
        return sentence


# The heading of every difference of two runs or variants, in files and tables.
SECOND_MINUS_FIRST = "second_minus_first"


@dataclass(frozen=True)
class Figure:
    """A statistic. `value` is None exactly when `reason` is given."""

    value: float | None
    reason: SentenceEnum | None = None


@dataclass(frozen=True)
class Interval:
    """An interval; `bounds` is None exactly when `reason` is given."""

    bounds: tuple[float, float] | None
    reason: SentenceEnum | None = None
