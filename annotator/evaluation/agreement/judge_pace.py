"""How fast a judge works, and where they were faster than anybody reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

SECONDS_AN_HOUR = 3600
# Nobody reads faster than about 600 words a minute, which is scanning for a single word (Carver, "Reading rate",
# Journal of Reading 36, 1992; silent reading is near 240, Brysbaert, Journal of Memory and Language 109, 2019): of six
# characters each, 60 characters a second. A glance at a title may be enough to judge, so that no more than so many
# characters are asked for: at most two seconds.
CHARACTERS_A_SECOND = 60
CHARACTERS_TO_SEE = 120


@dataclass(frozen=True)
class Pace:
    """How long this judge took for a document, by those whose seconds are known: a half took the median or less."""

    documents: int
    median_seconds: float
    documents_an_hour: float


@dataclass(frozen=True)
class Streak:
    """Documents judged one after the other, each very fast: those from `start`, which counts from 0, before `stop`."""

    start: int
    stop: int
    median_seconds: float

    @property
    def length(self) -> int:
        """How many documents."""
        return self.stop - self.start


def pace(seconds: Sequence[float]) -> Pace | None:
    """Measure the pace; None when no seconds are known.

    The median says how long a document takes, and the total how many come in an hour: a few long ones count there.
    """
    if not seconds or not (total := sum(seconds)):
        return None
    return Pace(len(seconds), median(seconds), len(seconds) * SECONDS_AN_HOUR / total)


def fast_below(own: float, others: Sequence[float], fraction: float) -> float:
    """How many seconds are very few for a judge with this median: a fraction of their own or the crowd's, the greater.

    The crowd's is the median of the other judges' medians. Without it a judge who rushes through everything would
    never be fast for themselves.
    """
    return fraction * max(own, median(others) if others else 0.0)


def least_seconds(characters: int) -> float:
    """How many seconds a document of this length takes at the very least, whoever judges it."""
    return min(characters, CHARACTERS_TO_SEE) / CHARACTERS_A_SECOND


def fast_streaks(seconds: Sequence[float | None], below: Sequence[float], least_length: int) -> list[Streak]:
    """Find the runs of so many documents or more that took less than `below` seconds, each its own, in the order given.

    A document whose seconds are not known ends a run.
    """
    streaks = []
    flags = enumerate(one is not None and one < few for one, few in zip(seconds, below, strict=True))
    for is_fast, run in groupby(flags, key=lambda flag: flag[1]):
        places = [place for place, _ in run]
        if is_fast and len(places) >= least_length:
            start, stop = places[0], places[-1] + 1
            streaks.append(Streak(start, stop, median(one for one in seconds[start:stop] if one is not None)))
    return streaks
