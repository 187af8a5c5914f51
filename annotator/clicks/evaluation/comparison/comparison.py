"""Two variants of a click log compared: everything that a page or a table says of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.comparison.checks import (
    USUAL_EXPECTED,
    Check,
    Expected,
    check_both_variants,
    check_bots,
    check_clicks,
    check_duplicates,
    check_other_events,
    check_split,
    find_bots,
    users_by_variant,
)
from annotator.clicks.evaluation.comparison.measure_rows import MeasureRow, measure_rows
from annotator.clicks.evaluation.comparison.measures import ClickMeasure, Counted, Source, count_entries
from annotator.clicks.evaluation.comparison.over_time import EPOCH, DayValue, values_by_day
from annotator.clicks.evaluation.comparison.position_bias import PositionClicks, clicks_by_position
from annotator.clicks.evaluation.comparison.query_clicks import QueryClicks, clicks_by_query
from annotator.clicks.evaluation.comparison.returning import RETURN_DAYS
from annotator.clicks.evaluation.comparison.two_variants import choose_variants, events_of, without_users
from annotator.clicks.evaluation.comparison.undefined import Undefined
from annotator.clicks.evaluation.comparison.user_bootstrap import Resampling
from annotator.clicks.evaluation.comparison.users_needed import check_enough, users_needed
from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Dropped, Event
from annotator.clicks.evaluation.logs.page_views import Outside, PageViews, page_views
from annotator.clicks.evaluation.logs.plain_values import plain, rebuilt
from annotator.errors import InvalidValueError

MOST_RETURN_DAYS = 365
USUAL_SEED = 2026
MICROSECONDS_OF_DAY = 86_400_000_000


@dataclass(frozen=True)
class ComparisonWanted:
    """How a log is to be compared; `variants` None are the two there are.

    `difference` is what would be worth finding in CTR@1, None for a twentieth of the mean of both. Rows of queries
    for which `is_wanted` are kept however seldom they were asked.
    """

    variants: tuple[str, str] | None = None
    bootstraps: bool = False
    seed: int = USUAL_SEED
    return_days: int = RETURN_DAYS
    expected: Expected = USUAL_EXPECTED
    difference: float | None = None
    is_wanted: Callable[[str], bool] = lambda _query: False

    def check(self) -> None:
        """Raise `InvalidValueError` for numbers that do not fit."""
        if not 1 <= self.return_days <= MOST_RETURN_DAYS:
            raise InvalidValueError("Users may take 1 to %(most)d days to come back.", most=MOST_RETURN_DAYS)
        if not 0 < self.expected.first_share < 1:
            raise InvalidValueError("The share of the first variant is above 0 and below 1.")
        if self.expected.pages_an_hour < 1:
            raise InvalidValueError("The most pages within an hour are 1 or more.")
        if self.difference is not None and not self.difference > 0:
            raise InvalidValueError("The difference to be found must be above 0.")


USUAL_WANTED = ComparisonWanted()


@dataclass(frozen=True)
class VariantCounts:
    """How much there is of a variant; users and sessions are None when the log does not say."""

    name: str
    users: int | None
    sessions: int | None
    events: int
    pages: int
    results: int  # shown one by one
    clicks: int
    conversions: int


@dataclass(frozen=True)
class ClickComparison:
    """The second variant against the first; differences are its value less the first's."""

    variants: tuple[VariantCounts, VariantCounts]
    has_users: bool  # else a unit is an entry, such as a page
    is_line_a_result: bool  # then a page is one result
    begins: str | None  # ISO 8601 in UTC
    ends: str | None
    lines: int
    other_events: int  # of other variants, and of none
    dropped: Mapping[str, int]  # events that do not count, by reason
    return_days: int
    seed: int | None  # of the bootstrap; None without one
    checks: tuple[Check, ...]
    measures: tuple[MeasureRow, ...]
    days: tuple[DayValue, ...]  # by measure, variant and day
    positions: tuple[PositionClicks, ...]
    queries: tuple[QueryClicks, ...]
    queries_left_out: int

    @property
    def names(self) -> tuple[str, str]:
        """What the two variants are called."""
        return self.variants[0].name, self.variants[1].name

    def row(self, measure: ClickMeasure) -> MeasureRow:
        """What was found by one measure."""
        return next(row for row in self.measures if row.measure is measure)


def compare_clicks(log: ClickLog, wanted: ComparisonWanted = USUAL_WANTED) -> ClickComparison:
    """Compare two variants of a log by every measure, after the checks.

    Raises `InvalidValueError` and `NotFoundError` as `choose_variants` does, and for numbers that do not fit.
    """
    wanted.check()
    names = choose_variants(log, wanted.variants)
    every = events_of(log, names)
    own, views, bots = _people(every, wanted.expected)
    if not views.variant.size:
        raise InvalidValueError("Nobody was shown a result in either variant, so there is nothing to compare.")
    counted = {measure: count_entries(measure, Source(own, views, wanted.return_days)) for measure in ClickMeasure}
    resampling = Resampling(wanted.seed, names) if wanted.bootstraps else None
    rows = measure_rows(counted, resampling, has_clicks=bool(views.clicks.any()))
    enough = _enough(own, counted, rows, wanted.difference, has_users=_has_users(views))
    queries = clicks_by_query(own, views, wanted.is_wanted)
    begins, ends = _span(own)
    return ClickComparison(
        variants=(_counts(own, views, 0), _counts(own, views, 1)),
        has_users=_has_users(views),
        is_line_a_result=log.is_line_a_result,
        begins=begins,
        ends=ends,
        lines=log.lines,
        other_events=log.event.size - every.event.size,
        dropped=_by_reason(log.dropped) | _by_reason(views.outside),
        return_days=wanted.return_days,
        seed=wanted.seed if wanted.bootstraps else None,
        checks=(*_checks(own, views, wanted.expected), bots, enough),
        measures=rows,
        days=_days(counted, names),
        positions=clicks_by_position(views, names),
        queries=queries.rows,
        queries_left_out=queries.left_out,
    )


def to_json(comparison: ClickComparison) -> dict[str, object]:
    """Say a comparison in what JSON has."""
    said: dict[str, object] = plain(comparison)
    return said


def from_json(said: Mapping[str, object]) -> ClickComparison:
    """Build a comparison from what `to_json` made of it."""
    return rebuilt(ClickComparison, said)


def _people(every: ClickLog, expected: Expected) -> tuple[ClickLog, PageViews, Check]:
    """The events that count and their pages, without those of bots where these are to be left out; and who is one."""
    views = page_views(every)
    bots = find_bots(every, views, expected.pages_an_hour)
    check = check_bots(every, views, bots, expected)
    if not (expected.leaves_bots_out and bots.size):
        return every, views, check
    own = without_users(every, bots)
    return own, page_views(own), check


def _days(counted: Mapping[ClickMeasure, Counted | Undefined], names: tuple[str, str]) -> tuple[DayValue, ...]:
    found = [(measure, one) for measure, one in counted.items() if isinstance(one, Counted)]
    return tuple(value for measure, one in found for value in values_by_day(measure, one, names))


def _checks(log: ClickLog, views: PageViews, expected: Expected) -> tuple[Check, ...]:
    has_users = _has_users(views)
    first, second = (own.size for own in users_by_variant(views))
    if not has_users:
        first, second = (int((views.variant == code).sum()) for code in (0, 1))
    return (
        check_split((first, second), expected, has_users=has_users),
        check_clicks(log, views),
        check_both_variants(log, views),
        check_duplicates(log),
        check_other_events(log, views),
    )


def main_measure(rows: Sequence[MeasureRow]) -> ClickMeasure:
    """What the conclusion is drawn by: CTR@1, or where the log has no positions the CTR of the first page."""
    top = next(row for row in rows if row.measure is ClickMeasure.TOP_CTR)
    return ClickMeasure.FIRST_PAGE_CTR if top.first is None and top.second is None else ClickMeasure.TOP_CTR


def _enough(
    log: ClickLog,
    counted: Mapping[ClickMeasure, Counted | Undefined],
    rows: Sequence[MeasureRow],
    wanted: float | None,
    *,
    has_users: bool,
) -> Check:
    """By the measure of the conclusion, which this check must not contradict."""
    days = float(np.ptp(log.times)) / MICROSECONDS_OF_DAY if log.has_times else None
    measure = main_measure(rows)
    one = counted[measure]
    is_significant = next(row for row in rows if row.measure is measure).is_significant
    found = users_needed(measure, one, wanted, days) if isinstance(one, Counted) else None
    return check_enough(found, has_users=has_users, is_significant=is_significant)


def _counts(log: ClickLog, views: PageViews, code: int) -> VariantCounts:
    own, seen = log.variant == code, views.variant == code
    return VariantCounts(
        log.variants[code],
        _distinct(views.user[seen]) if log.users else None,
        _distinct(views.session[seen]) if log.sessions else None,
        int(own.sum()),
        int(seen.sum()),
        int(views.results[seen].sum()),
        int(views.clicks[seen].sum()),
        int((log.event[own] == Event.CONVERSION).sum()),
    )


def _by_reason(counts: Mapping[Dropped, int] | Mapping[Outside, int]) -> dict[str, int]:
    return {reason.value: count for reason, count in counts.items()}


def _distinct(codes: NDArray[np.int32]) -> int:
    return int(np.count_nonzero(np.bincount(codes[codes != NOT_SAID])))


def _has_users(views: PageViews) -> bool:
    return bool((views.user != NOT_SAID).any())


def _span(log: ClickLog) -> tuple[str | None, str | None]:
    if not log.has_times:
        return None, None
    begins, ends = (EPOCH + timedelta(microseconds=int(time)) for time in (log.times[0], log.times[-1]))
    return begins.isoformat(timespec="seconds"), ends.isoformat(timespec="seconds")
