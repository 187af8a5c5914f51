"""The two compared variants and a row for each measure: both values, their difference and its test."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.comparison.differences import (
    Difference,
    Method,
    Resampling,
    complement_of,
    difference_of,
)
from annotator.clicks.evaluation.comparison.measures import ClickMeasure, Counted, Undefined
from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog
from annotator.errors import InvalidValueError, NotFoundError, Sentence
from annotator.evaluation.significance.comparisons import holm

ALPHA = 0.05
# Without any click these have the same value in both variants, for the same reason.
OF_CLICKS = frozenset(
    {
        ClickMeasure.TOP_CTR,
        ClickMeasure.FIRST_PAGE_CTR,
        ClickMeasure.ABANDONMENT,
        ClickMeasure.CLICKS_A_PAGE,
        ClickMeasure.RECIPROCAL_RANK,
        ClickMeasure.SATISFIED,
    }
)

MEASURE_TITLES: Mapping[ClickMeasure, Sentence] = {
    ClickMeasure.TOP_CTR: Sentence("CTR@1: first pages with a click on the top result"),
    ClickMeasure.FIRST_PAGE_CTR: Sentence("First pages with a click"),
    ClickMeasure.ABANDONMENT: Sentence("Abandonment: first pages without a click"),
    ClickMeasure.CLICKS_A_PAGE: Sentence("Clicks a page"),
    ClickMeasure.RECIPROCAL_RANK: Sentence("Mean reciprocal rank of the first click"),
    ClickMeasure.SATISFIED: Sentence("Pages with a satisfied click: 30 seconds on the document, or the session's last"),
    ClickMeasure.SECONDS_TO_CLICK: Sentence("Seconds to the first click, of pages with one"),
    ClickMeasure.REFORMULATION: Sentence("Searches followed by another query in the session"),
    ClickMeasure.RETURN: Sentence("Users who search again on a later visit within the days asked for"),
    ClickMeasure.BUYERS: Sentence("Users with a conversion, of those who searched"),
    ClickMeasure.RATING: Sentence("Mean rating"),
}


@dataclass(frozen=True)
class MeasureRow:
    """A measure of both variants; a number is None when undefined, and `reason` then says why."""

    measure: ClickMeasure
    first: float | None = None
    second: float | None = None
    difference: float | None = None  # second minus first
    low: float | None = None  # of the 95 % interval of the difference
    high: float | None = None
    z: float | None = None  # None for a bootstrap
    p: float | None = None  # two-sided
    p_corrected: float | None = None  # corrected for the number of measures by Holm's method
    method: Method | None = None
    first_units: int = 0  # users, or entries in a log without users
    second_units: int = 0
    first_entries: int = 0  # the values averaged: pages, searches, ratings or users
    second_entries: int = 0
    reason: Undefined | None = None

    @property
    def relative(self) -> float | None:
        """The difference relative to the first's value; None where that is 0 or missing."""
        return self.difference / self.first if self.difference is not None and self.first else None

    @property
    def is_significant(self) -> bool:
        """Whether the variants differ at the 5 % level, corrected for the number of measures."""
        return self.p_corrected is not None and self.p_corrected < ALPHA


def measure_rows(
    counted: Mapping[ClickMeasure, Counted | Undefined], resampling: Resampling | None, *, has_clicks: bool
) -> tuple[MeasureRow, ...]:
    """Compare the variants 0 and 1 by every measure, with Holm's correction for their number.

    Abandonment is 1 - CTR of the first page: the two share one test, which is counted once.
    """
    found = {
        measure: difference_of(one, resampling) if isinstance(one, Counted) else one for measure, one in counted.items()
    }
    first_page = found[ClickMeasure.FIRST_PAGE_CTR]
    if isinstance(first_page, Difference):
        found[ClickMeasure.ABANDONMENT] = complement_of(first_page)
    tested = [measure for measure in found if measure is not ClickMeasure.ABANDONMENT]
    corrected = dict(zip(tested, holm(np.array([_p(found[measure]) for measure in tested])).tolist(), strict=True))
    corrected[ClickMeasure.ABANDONMENT] = corrected[ClickMeasure.FIRST_PAGE_CTR]
    return tuple(_row(measure, one, corrected[measure], has_clicks=has_clicks) for measure, one in found.items())


def _p(found: Difference | Undefined) -> float:
    return np.nan if isinstance(found, Undefined) or found.tested.p is None else found.tested.p


def _row(measure: ClickMeasure, found: Difference | Undefined, corrected: float, *, has_clicks: bool) -> MeasureRow:
    if isinstance(found, Undefined):
        return MeasureRow(measure, reason=found)
    tested, counts, reason = found.tested, found.counts, found.tested.reason
    if reason is Undefined.ALWAYS_THE_SAME and not has_clicks and measure in OF_CLICKS:
        reason = Undefined.NO_CLICK
    return MeasureRow(
        measure=measure,
        first=found.first,
        second=found.second,
        difference=found.difference,
        low=tested.low,
        high=tested.high,
        z=tested.z,
        p=tested.p,
        p_corrected=None if tested.p is None else corrected,
        method=tested.method,
        first_units=counts.first_units,
        second_units=counts.second_units,
        first_entries=counts.first_entries,
        second_entries=counts.second_entries,
        reason=reason,
    )


PAIR = 2


def choose_variants(log: ClickLog, wanted: tuple[str, str] | None) -> tuple[str, str]:
    """Return the requested two variants, or the only two of the log in order of their names.

    Raises `InvalidValueError` for a log with fewer than two variants, for a variant compared with itself, and if the
    log has more than two and none is requested; `NotFoundError` for a variant that the log does not have.
    """
    known = variants_of(log)
    if len(known) < PAIR:
        raise InvalidValueError(
            "The log has one variant only, “%(variant)s”, so there is none to compare it with.", variant=known[0]
        )
    if wanted is None:
        if len(known) > PAIR:
            raise InvalidValueError(
                "The log has %(count)d variants; name the two to compare: %(variants)s.",
                count=len(known),
                variants=", ".join(known),
            )
        return known[0], known[1]
    _check(wanted, known)
    return wanted


def variants_of(log: ClickLog) -> list[str]:
    """Return the names of the variants in order; raises `InvalidValueError` when the log names none."""
    if not log.variants:
        raise InvalidValueError("The log does not say which variant an event is of.")
    return sorted(log.variants)


def _check(wanted: tuple[str, str], known: list[str]) -> None:
    for name in wanted:
        if name not in known:
            raise NotFoundError(
                "The log has no variant “%(variant)s”; it has %(variants)s.", variant=name, variants=", ".join(known)
            )
    if wanted[0] == wanted[1]:
        raise InvalidValueError("The variant “%(variant)s” cannot be compared with itself.", variant=wanted[0])


def events_of(log: ClickLog, variants: tuple[str, ...]) -> ClickLog:
    """Select the events of some variants, recoded from 0 in this order."""
    codes = np.full(len(log.variants) + 1, NOT_SAID, np.int32)  # the last entry is for events without variant
    for code, name in enumerate(variants):
        codes[log.variants.index(name)] = code
    variant = codes[log.variant]
    return _kept(replace(log, variants=variants, variant=variant), variant != NOT_SAID)


def without_users(log: ClickLog, users: NDArray[np.int32]) -> ClickLog:
    """Return the log without the events of these users; the other codes do not change."""
    return _kept(log, ~np.isin(log.user, users))


def _kept(log: ClickLog, keep: NDArray[np.bool_]) -> ClickLog:
    if keep.all():
        return log  # avoid a copy, which would double the memory of a large log
    return replace(
        log,
        times=log.times[keep] if log.has_times else log.times,
        user=log.user[keep],
        session=log.session[keep],
        query=log.query[keep],
        variant=log.variant[keep],
        page=log.page[keep],
        position=log.position[keep],
        docno=log.docno[keep],
        event=log.event[keep],
        value=log.value[keep],
    )
