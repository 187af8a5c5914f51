"""Checks of the data of a test of two variants, and the number of users it needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

import numpy as np
from numpy.typing import NDArray

from annotator.clicks.evaluation.comparison.differences import ratios, sums_by_user
from annotator.clicks.evaluation.comparison.measures import ClickMeasure, Counted
from annotator.clicks.evaluation.logs.click_log import NOT_SAID, ClickLog, Dropped
from annotator.clicks.evaluation.logs.page_views import PageViews
from annotator.errors import Sentence
from annotator.evaluation.significance.distributions import special

ALARM_BELOW = 0.001  # p of the test of the split below which the check fails (Fabijan et al. 2019)
ALARMING_SHARE = 0.01  # shares of users in both variants, of duplicates, of pages of bots
PAGES_AN_HOUR = 100  # pages in an hour, more than a person reads
MICROSECONDS_OF_HOUR = 3_600_000_000


class CheckKind(StrEnum):
    """The kinds of checks, in their order."""

    SPLIT = "split"
    CLICKS = "clicks"
    BOTH_VARIANTS = "users in both variants"
    DUPLICATES = "duplicate events"
    OTHER_EVENTS = "events that do not count"
    BOTS = "bots"
    ENOUGH = "enough users"


class CheckState(StrEnum):
    """The result of a check."""

    FINE = "fine"
    NOTICE = "notice"
    ALARM = "alarm"
    UNKNOWN = "not available"


CHECK_TITLES: Mapping[CheckKind, Sentence] = {
    CheckKind.SPLIT: Sentence("Split of the users"),
    CheckKind.CLICKS: Sentence("Clicks at all"),
    CheckKind.BOTH_VARIANTS: Sentence("Users in both variants"),
    CheckKind.DUPLICATES: Sentence("Duplicate events"),
    CheckKind.OTHER_EVENTS: Sentence("Events that do not count"),
    CheckKind.BOTS: Sentence("Programs among the users"),
    CheckKind.ENOUGH: Sentence("Number of users"),
}


@dataclass(frozen=True)
class Check:
    """One check and its result."""

    kind: CheckKind
    state: CheckState
    sentence: Sentence


@dataclass(frozen=True)
class Expected:
    """The values that checks compare the log with."""

    first_share: float = 0.5  # expected share of users in the first variant
    pages_an_hour: int = PAGES_AN_HOUR
    leaves_bots_out: bool = False


USUAL_EXPECTED = Expected()


def split_p(first: int, second: int, first_share: float = 0.5) -> float:
    """Test whether users are split as expected, by chi-square with one degree of freedom; returns p.

    `first_share` is between 0 and 1, exclusive; there must be at least one user.
    """
    users = first + second
    expected = users * first_share
    return float(special().chdtrc(1, (first - expected) ** 2 / expected + (first - expected) ** 2 / (users - expected)))


def check_split(users: tuple[int, int], expected: Expected, *, has_users: bool) -> Check:
    """Check the split of users, or in a log without users of pages, against the expected one."""
    first, second = users
    p = split_p(first, second, expected.first_share)
    share, wanted = _percent(first / (first + second)), _percent(expected.first_share)
    values = {"first": first, "second": second, "share": share, "wanted": wanted, "p": f"{p:.3g}"}
    state = CheckState.ALARM if p < ALARM_BELOW else CheckState.FINE
    match state, has_users:
        case CheckState.ALARM, True:
            sentence = Sentence(
                "%(first)s users and %(second)s: the first variant has %(share)s %% of them where %(wanted)s %% "
                "were expected, which chance does not do (chi-square, p = %(p)s). Some were lost or sent astray; find "
                "out why before reading on.",
                values,
            )
        case CheckState.ALARM, _:
            sentence = Sentence(
                "%(first)s impressions and %(second)s: the first variant has %(share)s %% of them where %(wanted)s %% "
                "were expected, which chance does not do (chi-square, p = %(p)s). Some were lost or sent astray; find "
                "out why before reading on.",
                values,
            )
        case _, True:
            sentence = Sentence(
                "%(first)s users and %(second)s: the first variant has %(share)s %% of them where %(wanted)s %% "
                "were expected, as chance may do (chi-square, p = %(p)s).",
                values,
            )
        case _:
            sentence = Sentence(
                "%(first)s impressions and %(second)s: the first variant has %(share)s %% of them where %(wanted)s %% "
                "were expected, as chance may do (chi-square, p = %(p)s).",
                values,
            )
    return Check(CheckKind.SPLIT, state, sentence)


def check_clicks(log: ClickLog, views: PageViews) -> Check:
    """Check that each variant has clicks."""
    has_clicks = [bool((views.clicks[views.variant == code] > 0).any()) for code in (0, 1)]
    if all(has_clicks):
        return Check(CheckKind.CLICKS, CheckState.FINE, Sentence("There are clicks in both variants."))
    if not any(has_clicks):
        sentence = Sentence("Nobody clicked on anything in either variant; perhaps clicks are not in this log.")
        return Check(CheckKind.CLICKS, CheckState.ALARM, sentence)
    sentence = Sentence(
        "Nobody clicked on anything in the variant “%(variant)s”; perhaps its clicks are not in this log.",
        {"variant": log.variants[has_clicks.index(False)]},
    )
    return Check(CheckKind.CLICKS, CheckState.ALARM, sentence)


def check_both_variants(log: ClickLog, views: PageViews) -> Check:
    """Check for users who were shown pages of both variants; both count them."""
    kind = CheckKind.BOTH_VARIANTS
    if not log.users:
        return Check(kind, CheckState.UNKNOWN, Sentence("Not available: the log does not name users."))
    first, second = users_by_variant(views)
    both, users = int(np.intersect1d(first, second).size), int(np.union1d(first, second).size)
    if not both:
        return Check(kind, CheckState.FINE, Sentence("No user was shown both variants."))
    values = {"both": both, "users": users, "share": _percent(both / users)}
    sentence = Sentence(
        "%(both)s of %(users)s users (%(share)s %%) were shown both variants and count in both, so that the variants "
        "are less apart than they would be.",
        values,
    )
    return Check(kind, CheckState.ALARM if both / users > ALARMING_SHARE else CheckState.NOTICE, sentence)


def check_duplicates(log: ClickLog) -> Check:
    """Check for duplicate events; duplicates count once."""
    duplicates, kind = log.dropped.get(Dropped.DUPLICATE, 0), CheckKind.DUPLICATES
    if not duplicates:
        return Check(kind, CheckState.FINE, Sentence("No event stands in the log twice."))
    values = {"count": duplicates, "share": _percent(duplicates / max(log.lines, 1))}
    state = CheckState.ALARM if duplicates / max(log.lines, 1) > ALARMING_SHARE else CheckState.NOTICE
    sentence = Sentence(
        "%(count)s events stand in the log more than once (%(share)s %% of its lines); each counts once.", values
    )
    return Check(kind, state, sentence)


def check_other_events(log: ClickLog, views: PageViews) -> Check:
    """Check for other events that are not counted, such as a click on a result that was never shown."""
    dropped = {str(reason): count for reason, count in log.dropped.items() if reason is not Dropped.DUPLICATE}
    outside = {str(reason): count for reason, count in views.outside.items()}
    count = sum(dropped.values()) + sum(outside.values())
    if not count:
        return Check(CheckKind.OTHER_EVENTS, CheckState.FINE, Sentence("All events count."))
    state = CheckState.ALARM if count / max(log.lines, 1) > ALARMING_SHARE else CheckState.NOTICE
    sentence = Sentence(
        "%(count)s events do not count (%(share)s %% of the lines): what was done with a result that was not shown, or "
        "lines that cannot be read. They are counted by reason.",
        {"count": count, "share": _percent(count / max(log.lines, 1))},
    )
    return Check(CheckKind.OTHER_EVENTS, state, sentence)


def check_bots(log: ClickLog, views: PageViews, bots: NDArray[np.int32], expected: Expected) -> Check:
    """Check for users who see pages faster than people do; `bots` are their codes, and `views` includes their pages."""
    kind = CheckKind.BOTS
    if not (log.users and log.has_times):
        sentence = Sentence("Not available: the log does not name users, or does not say when things happened.")
        return Check(kind, CheckState.UNKNOWN, sentence)
    values: dict[str, object] = {"rate": expected.pages_an_hour}
    if not bots.size:
        sentence = Sentence("No user was shown more than %(rate)s pages within an hour.", values)
        return Check(kind, CheckState.FINE, sentence)
    share = float(np.isin(views.user, bots).mean())
    values |= {"count": int(bots.size), "share": _percent(share)}
    if expected.leaves_bots_out:
        sentence = Sentence(
            "%(count)s users were shown more than %(rate)s pages within an hour, which people do not read; they, with "
            "%(share)s %% of all pages, are left out.",
            values,
        )
        return Check(kind, CheckState.NOTICE, sentence)
    sentence = Sentence(
        "%(count)s users were shown more than %(rate)s pages within an hour, which people do not read. They have "
        "%(share)s %% of all pages; leave them out, or find out who they are.",
        values,
    )
    return Check(kind, CheckState.ALARM if share > ALARMING_SHARE else CheckState.NOTICE, sentence)


def users_by_variant(views: PageViews) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the sorted codes of the users who were shown pages of variant 0, and of variant 1."""
    known = views.user != NOT_SAID
    first, second = (np.flatnonzero(np.bincount(views.user[known & (views.variant == code)])) for code in (0, 1))
    return first, second


def find_bots(log: ClickLog, views: PageViews, pages_an_hour: int = PAGES_AN_HOUR) -> NDArray[np.int32]:
    """Return the codes of users who were shown more than `pages_an_hour` pages within one hour of the clock."""
    if not log.has_times:
        return np.zeros(0, np.int32)
    known = np.flatnonzero(views.user != NOT_SAID)
    user = views.user[known]
    hour = views.time[known] // MICROSECONDS_OF_HOUR
    cells, pages = np.unique(hour * max(log.users, 1) + user, return_counts=True)
    bots: NDArray[np.int32] = np.unique(cells[pages > pages_an_hour] % max(log.users, 1)).astype(np.int32)
    return bots


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


# 2 (1.96 + 0.84)² is 15.7: an error of 5 % and a power of 80 % (van Belle 2008, "Lehr's rule").
LEHR = 16
USUAL_SHARE = 0.05  # of the mean of both variants' values, the difference to detect when none is given
MOST_DAYS = 36_500


@dataclass(frozen=True)
class UsersNeeded:
    """The users needed to detect a difference by a measure; entries in a log without users."""

    measure: ClickMeasure
    wanted: float
    needed: int  # users of each variant
    have: int  # of the variant with fewer
    days: int | None  # at the rate of new users so far; None without times, and beyond a hundred years


def users_needed(
    measure: ClickMeasure, counted: Counted, wanted: float | None, observed_days: float | None
) -> UsersNeeded | None:
    """Compute n = 16 s² / d² users of each variant; s² is the variance of a user's share, averaged over both variants.

    That is 8 (p (1 - p) + q (1 - q)) / d² where every user has one page, whichever variant is first.
    None for zero variance or zero difference. `observed_days` is the length of the log.
    """
    both = ratios(*sums_by_user(counted.variant.astype(np.int64), counted.unit, counted.value), 2)
    spread = float((both.variance * both.users).mean())
    goal = float(USUAL_SHARE * both.value.mean()) if wanted is None else wanted
    if not (spread > 0 and goal > 0):
        return None
    needed, have = ceil(LEHR * spread / goal**2), int(both.users.min())
    days = None
    if observed_days and have:
        more = (needed - have) * observed_days / have
        days = ceil(max(more, 0.0)) if more <= MOST_DAYS else None
    return UsersNeeded(measure, goal, needed, have, days)


def check_enough(found: UsersNeeded | None, *, has_users: bool, is_significant: bool = False) -> Check:
    """Check whether there are enough users for the wanted difference; if not, give the additional days needed.

    A significant observed difference passes the check for any size of log.
    """
    kind = CheckKind.ENOUGH
    if is_significant:
        return Check(kind, CheckState.FINE, Sentence("Enough: the difference that was found is significant."))
    if found is None:
        sentence = Sentence("Not available: from these clicks no spread can be estimated.")
        return Check(kind, CheckState.UNKNOWN, sentence)
    values: dict[str, object] = {
        "measure": found.measure.value,
        "wanted": f"{found.wanted:.4g}",
        "needed": found.needed,
        "have": found.have,
        "days": found.days,
    }
    if found.have >= found.needed:
        return Check(kind, CheckState.FINE, _enough(values, has_users=has_users))
    return Check(kind, CheckState.NOTICE, _too_few(values, has_users=has_users))


def _enough(values: dict[str, object], *, has_users: bool) -> Sentence:
    if has_users:
        return Sentence(
            "Enough users: a difference of %(wanted)s in %(measure)s takes %(needed)s of each variant, and there are "
            "%(have)s or more.",
            values,
        )
    return Sentence(
        "Enough impressions: a difference of %(wanted)s in %(measure)s takes %(needed)s of each variant, and there are "
        "%(have)s or more.",
        values,
    )


def _too_few(values: dict[str, object], *, has_users: bool) -> Sentence:
    if has_users and values["days"] is not None:
        return Sentence(
            "Too few users: a difference of %(wanted)s in %(measure)s takes %(needed)s of each variant, and one "
            "has %(have)s. At this rate it takes %(days)s more days.",
            values,
        )
    if has_users:
        return Sentence(
            "Too few users: a difference of %(wanted)s in %(measure)s takes %(needed)s of each variant, and one has "
            "%(have)s.",
            values,
        )
    if values["days"] is not None:
        return Sentence(
            "Too few impressions: a difference of %(wanted)s in %(measure)s takes %(needed)s of each variant, and one "
            "has %(have)s. At this rate it takes %(days)s more days.",
            values,
        )
    return Sentence(
        "Too few impressions: a difference of %(wanted)s in %(measure)s takes %(needed)s of each variant, and one has "
        "%(have)s.",
        values,
    )
