"""Every measure day by day, each variant with its interval."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from annotator.clicks.evaluation.comparison.measures import NO_DAY, ClickMeasure, Counted
from annotator.clicks.evaluation.comparison.ratios import WIDTH_95, ratios, sums_by_user

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class DayValue:
    """A measure of a variant on one day of UTC; what is told of users is of those who were first seen on it.

    The 95 % interval is None where there is one user only, where all have the same value, and for a mean in a log
    without users.
    """

    measure: ClickMeasure
    variant: str
    day: str  # such as 2026-11-22
    value: float
    low: float | None
    high: float | None
    entries: int  # pages, searches, ratings or users


def values_by_day(measure: ClickMeasure, counted: Counted, variants: tuple[str, ...]) -> list[DayValue]:
    """Take a measure apart by day, the variants one after the other; days without an entry are left out."""
    if (counted.day == NO_DAY).all():
        return []
    first_day = int(counted.day.min())
    days = int(counted.day.max()) - first_day + 1
    group, part, whole = sums_by_user(
        counted.variant * np.int64(days) + counted.day - first_day, counted.unit, counted.value
    )
    by_day = ratios(group, part, whole, days * len(variants))
    has_spread = counted.has_users or counted.is_share
    found = []
    for place in np.flatnonzero(by_day.whole):
        value, variance = float(by_day.value[place]), float(by_day.variance[place])
        half = WIDTH_95 * variance**0.5 if has_spread and variance > 0 else None
        low, high = _bounds(value, half, is_share=counted.is_share)
        name, day = variants[place // days], (EPOCH + timedelta(days=first_day + int(place) % days)).date()
        found.append(DayValue(measure, name, day.isoformat(), value, low, high, int(by_day.whole[place])))
    return found


def _bounds(value: float, half: float | None, *, is_share: bool) -> tuple[float | None, float | None]:
    if half is None:
        return None, None
    low = max(value - half, 0.0)  # nothing that is measured is below 0
    return low, min(value + half, 1.0) if is_share else value + half
