"""Burn-down of judging: the judgements that remained after each day, and when the last one is to be expected."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil, sqrt

import numpy as np

from annotator.errors import Sentence
from annotator.evaluation.metrics.figures import SentenceEnum
from annotator.evaluation.significance.distributions import special

# The pace is that of the last days on which anybody judged.
ACTIVE_DAYS = 7
FEWEST_ACTIVE_DAYS = 3
# After more days without a judgement, the pace of before says nothing about the days to come.
LONGEST_PAUSE = 14
MOST_DAYS_AHEAD = 3650
ONE_DAY = timedelta(days=1)


class NoProjection(SentenceEnum):
    """Why no end can be projected."""

    NOTHING_LEFT = Sentence("All judgements wanted have been given.")
    FEW_DAYS = Sentence("A projected end needs judgements on three days or more.")
    PAUSED = Sentence("Nobody has judged for more than 14 days, so no end is projected.")
    TOO_FAR = Sentence("At the present pace, judging would take more than ten years.")


@dataclass(frozen=True)
class DayLeft:
    """A day with the number of judgements given on it, and of those that remained at its end."""

    day: date
    given: int
    remaining: int


@dataclass(frozen=True)
class Projection:
    """When judging ends at the present pace of `rate` judgements a calendar day.

    `earliest` and `latest` bound the end by the 95 % interval of the rate; `latest` is None where the interval contains
    a standstill.
    """

    rate: float
    end: date
    earliest: date
    latest: date | None


@dataclass(frozen=True)
class BurnDown:
    """The days from the first judgement until today, without gaps; `reason` says why there is no projection."""

    days: tuple[DayLeft, ...]
    remaining: int
    projection: Projection | None
    reason: NoProjection | None

    def recent(self, most: int) -> tuple[DayLeft, ...]:
        """The last days, at most so many."""
        return self.days[-most:]

    def ahead(self, today: date, most: int) -> tuple[tuple[date, int], ...]:
        """Today and the days until the projected end, at most so many, each with the judgements that then remain."""
        if self.projection is None:
            return ()
        days = min((self.projection.end - today).days, most)
        return tuple(
            (today + ONE_DAY * place, max(round(self.remaining - self.projection.rate * place), 0))
            for place in range(days + 1)
        )


def burn_down(given: Mapping[date, int], remaining: int, today: date) -> BurnDown:
    """Compute the burn-down from the judgements given on each day and the number that remain now.

    Earlier numbers are reckoned back from now, so that a pool that has grown since counts as if it had been there from
    the beginning. The projection divides what remains by the rate of the last seven days on which anybody judged. This
    rate counts the days in between and since as well, so that weekends and pauses make it lower.
    """
    given = {day: count for day, count in given.items() if count > 0 and day <= today}
    days: list[DayLeft] = []
    left = remaining
    day = today
    while given and day >= min(given):
        days.append(DayLeft(day, given.get(day, 0), left))
        left += given.get(day, 0)
        day -= ONE_DAY
    found = _projection(given, remaining, today)
    projection, reason = (found, None) if isinstance(found, Projection) else (None, found)
    return BurnDown(tuple(reversed(days)), remaining, projection, reason)


def _projection(given: Mapping[date, int], remaining: int, today: date) -> Projection | NoProjection:
    active = sorted(given)[-ACTIVE_DAYS:]
    if remaining <= 0:
        return NoProjection.NOTHING_LEFT
    if len(active) < FEWEST_ACTIVE_DAYS:
        return NoProjection.FEW_DAYS
    if (today - active[-1]).days > LONGEST_PAUSE:
        return NoProjection.PAUSED
    # Today counts only once somebody has judged.
    last = today if active[-1] == today else today - ONE_DAY
    span = (last - active[0]).days + 1
    counts = np.array([given.get(active[0] + ONE_DAY * place, 0) for place in range(span)], np.float64)
    rate = float(counts.mean())
    margin = float(special().stdtrit(span - 1, 0.975)) * float(counts.std(ddof=1)) / sqrt(span)
    if remaining / rate > MOST_DAYS_AHEAD:
        return NoProjection.TOO_FAR
    return Projection(
        rate,
        _end(today, remaining, rate),
        _end(today, remaining, rate + margin),
        _end(today, remaining, rate - margin) if remaining <= MOST_DAYS_AHEAD * (rate - margin) else None,
    )


def _end(today: date, remaining: int, rate: float) -> date:
    return today + ONE_DAY * ceil(remaining / rate)
