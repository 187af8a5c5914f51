"""How many users would tell two variants apart, and how many more days that takes."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from annotator.clicks.evaluation.comparison.checks import Check, CheckKind, CheckState
from annotator.clicks.evaluation.comparison.measures import ClickMeasure, Counted
from annotator.clicks.evaluation.comparison.ratios import ratios, sums_by_user
from annotator.errors import Sentence

# 2 (1.96 + 0.84)² is 15.7: an error of 5 % and a power of 80 % (van Belle 2008, "Lehr's rule").
LEHR = 16
USUAL_SHARE = 0.05  # of the mean of both variants' values, where no wanted difference is given
MOST_DAYS = 36_500


@dataclass(frozen=True)
class UsersNeeded:
    """What it takes to find a difference by a measure; users are entries where a log does not name them."""

    measure: ClickMeasure
    wanted: float
    needed: int  # users of each variant
    have: int  # of the variant with fewer
    days: int | None  # how many more, at the rate of new users so far; None without times, and beyond a hundred years


def users_needed(
    measure: ClickMeasure, counted: Counted, wanted: float | None, observed_days: float | None
) -> UsersNeeded | None:
    """Count by 16 s² / d² users of each variant, s² being the spread of a user's share, the mean of both variants.

    That is 8 (p (1 - p) + q (1 - q)) / d² where every user has one page; which variant is the first does not matter.
    None where the log shows no spread or no difference is to be found. `observed_days` is how long the log is.
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
    """Say whether there are enough users for the wanted difference, and else how many more days it takes.

    Where the difference that was found is significant, there were enough, however small the log.
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
