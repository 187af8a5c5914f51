"""What a statistic comes to: a value, or the reason why there is none."""

from dataclasses import dataclass
from enum import Enum

from annotator.errors import Sentence


class SentenceEnum(Enum):
    """A choice whose values are sentences, ready to be translated."""

    @property
    def sentence(self) -> Sentence:
        """The sentence for readers."""
        sentence: Sentence = self.value
        return sentence


# The heading of every difference of two runs or variants, in files and tables: one convention for all of them.
SECOND_MINUS_FIRST = "second_minus_first"


@dataclass(frozen=True)
class Figure:
    """A statistic. `value` is None exactly when `reason` says why."""

    value: float | None
    reason: SentenceEnum | None = None


@dataclass(frozen=True)
class Interval:
    """From where to where; `bounds` is None exactly when `reason` says why."""

    bounds: tuple[float, float] | None
    reason: SentenceEnum | None = None
