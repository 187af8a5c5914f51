"""Comparison of two variants of a click log: all measures, their values by day, and the conclusion."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.comparison.checks import (
    CHECK_TITLES,
    USUAL_EXPECTED,
    Check,
    CheckKind,
    CheckState,
    Expected,
    check_both_variants,
    check_bots,
    check_clicks,
    check_duplicates,
    check_enough,
    check_other_events,
    check_split,
    find_bots,
    users_by_variant,
    users_needed,
)
from annotator.clicks.evaluation.comparison.click_counts import (
    PositionClicks,
    QueryClicks,
    clicks_by_position,
    clicks_by_query,
)
from annotator.clicks.evaluation.comparison.differences import WIDTH_95, Resampling, ratios, sums_by_user
from annotator.clicks.evaluation.comparison.measure_rows import (
    MeasureRow,
    choose_variants,
    events_of,
    measure_rows,
    without_users,
)
from annotator.clicks.evaluation.comparison.measures import (
    NO_DAY,
    RETURN_DAYS,
    ClickMeasure,
    Counted,
    Source,
    Undefined,
    count_entries,
)
from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Dropped, Event
from annotator.clicks.evaluation.logs.page_views import Outside, PageViews, page_views
from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.metrics.figures import SentenceEnum

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class DayValue:
    """A measure of a variant on one UTC day; measures of users are of those first seen on that day.

    The 95 % interval is None with a single user, for zero variance, and for a mean in a log
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
    """Compute a measure by day, variant by variant; days without an entry are left out."""
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
    low = max(value - half, 0.0)  # no measure is below 0
    return low, min(value + half, 1.0) if is_share else value + half


Result = TypeVar("Result")


def plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON can say
    """Serialise a result into dictionaries, lists, texts, numbers, booleans and None."""
    if isinstance(value, SentenceEnum):
        return value.name  # the wording of its sentence may change between versions
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [plain(inner) for inner in value]
    return value


def rebuilt(kind: type[Result], value: Mapping[str, object]) -> Result:
    """Rebuild a result from the value of `plain`; raises `KeyError` or `ValueError` when it is malformed."""
    built: Result = _built(kind, value)
    return built


def _built(kind: Any, value: Any) -> Any:  # noqa: ANN401 - types and values are known at run time alone
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return None if value is None else _built(next(one for one in inner if one is not type(None)), value)
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(_built(one, part) for one, part in zip(kinds, value, strict=True))
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{field.name: _built(hints[field.name], value[field.name]) for field in fields(kind)})  # type: ignore[operator]  # a class
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind[value] if issubclass(kind, SentenceEnum) else kind(value)
    return value


MOST_RETURN_DAYS = 365
USUAL_SEED = 2026
MICROSECONDS_OF_DAY = 86_400_000_000


@dataclass(frozen=True)
class ComparisonWanted:
    """How a log is to be compared; `variants` is None for a log that has exactly two.

    `difference` is the difference in CTR@1 to detect, None for a twentieth of the mean of both. Rows of queries
    for which `is_wanted` are kept however rare they are.
    """

    variants: tuple[str, str] | None = None
    bootstraps: bool = False
    seed: int = USUAL_SEED
    return_days: int = RETURN_DAYS
    expected: Expected = USUAL_EXPECTED
    difference: float | None = None
    is_wanted: Callable[[str], bool] = lambda _query: False

    def check(self) -> None:
        """Raise `InvalidValueError` for numbers out of range."""
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
    """The counts of a variant; users and sessions are None when the log does not have them."""

    name: str
    users: int | None
    sessions: int | None
    events: int
    pages: int
    results: int  # results logged one by one
    clicks: int
    conversions: int


@dataclass(frozen=True)
class ClickComparison:
    """The comparison of two variants; differences are second minus first."""

    variants: tuple[VariantCounts, VariantCounts]
    has_users: bool  # whether units are users; else a unit is an entry, such as a page
    is_line_a_result: bool  # whether a page is a single result
    begins: str | None  # ISO 8601 in UTC
    ends: str | None
    lines: int
    other_events: int  # events of other variants, and without variant
    dropped: Mapping[str, int]  # excluded events, by reason
    return_days: int
    seed: int | None  # draws of the bootstrap; None without one
    checks: tuple[Check, ...]
    measures: tuple[MeasureRow, ...]
    days: tuple[DayValue, ...]  # ordered by measure, variant and day
    positions: tuple[PositionClicks, ...]
    queries: tuple[QueryClicks, ...]
    queries_left_out: int

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two variants."""
        return self.variants[0].name, self.variants[1].name

    def row(self, measure: ClickMeasure) -> MeasureRow:
        """The row of one measure."""
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
    """Serialise a comparison to a JSON value."""
    said: dict[str, object] = plain(comparison)
    return said


def from_json(said: Mapping[str, object]) -> ClickComparison:
    """Rebuild a comparison from the value of `to_json`."""
    return rebuilt(ClickComparison, said)


def _people(every: ClickLog, expected: Expected) -> tuple[ClickLog, PageViews, Check]:
    """Return the events that count and their pages, without those of bots if excluded, and the check for bots."""
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
    """Return the measure of the conclusion: CTR@1, or the CTR of the first page in a log without positions."""
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
    """Check the number of users by the measure of the conclusion, so that the two agree."""
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


# If one of these fails, users or clicks are missing, which may cause a difference.
DECISIVE = (CheckKind.SPLIT, CheckKind.CLICKS)


def conclusion(comparison: ClickComparison) -> Sentence:
    """Conclude whether the variants differ by CTR@1, or in a log without positions by the CTR of the first page."""
    alarming = next((one for one in comparison.checks if one.kind in DECISIVE and one.state is CheckState.ALARM), None)
    if alarming is not None:
        return Sentence(
            "No conclusion: see “%(check)s”. Users or clicks are missing, and a difference may come of that.",
            {"check": CHECK_TITLES[alarming.kind]},
        )
    row = comparison.row(main_measure(comparison.measures))
    if row.p_corrected is None or row.difference is None:
        return Sentence(
            "No conclusion: %(measure)s of the two variants was not tested.", {"measure": row.measure.value}
        )
    return _of_difference(comparison, row)


def _of_difference(comparison: ClickComparison, row: MeasureRow) -> Sentence:
    first, second = comparison.names
    values: dict[str, object] = {
        "first": first,
        "second": second,
        "measure": row.measure.value,
        "difference": f"{row.difference:+.4g}",
        "relative": "?" if row.relative is None else f"{100 * row.relative:+.1f}",
        "p": f"{row.p_corrected:.3g}",
    }
    if row.is_significant:
        return Sentence(
            "Significant: %(measure)s of %(second)s less that of %(first)s is %(difference)s, which is %(relative)s %% "
            "of the value of %(first)s (p by Holm %(p)s).",
            values,
        )
    if any(one.kind is CheckKind.ENOUGH and one.state is CheckState.NOTICE for one in comparison.checks):
        return Sentence(
            "Not decided: %(measure)s of %(second)s less that of %(first)s is %(difference)s, which is %(relative)s %% "
            "of the value of %(first)s and may be chance (p by Holm %(p)s). The log is too small to tell.",
            values,
        )
    return Sentence(
        "No significant difference: %(measure)s of %(second)s less that of %(first)s is %(difference)s, which is "
        "%(relative)s %% of the value of %(first)s and may be chance (p by Holm %(p)s).",
        values,
    )
