"""The overview of a collection for organisers: what needs them now, the burn-down of judging, and the next step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from math import ceil
from typing import Any

from annotator.evaluation.leaderboard.leaderboard import ENOUGH_JUDGED
from annotator.web.site.context import now, the_place
from annotator.web.site.language import gettext
from annotator.workflows.collections.waiting import Waiting
from annotator.workflows.judging.judging_pace import JudgingPace
from annotator.workflows.pools.pool_holes import HolesReport
from annotator.workflows.pools.pools import TopicProgress

# Days of the burn-down that are drawn, before and after today.
MOST_DAYS_BACK = 180
MOST_DAYS_AHEAD = 90
# A deadline is announced so many days before, and counted down in hours at last.
DAYS_OF_COUNTDOWN = 30
HOURS_OF_COUNTDOWN = 48
NAMES_LISTED = 3
TOP = 10  # of a run, of which enough must be judged


@dataclass(frozen=True)
class Need:
    """Something that needs an organiser: a number, what it counts, and the page where to act."""

    number: int
    words: str
    endpoint: str
    values: dict[str, Any]
    more: str = ""


@dataclass(frozen=True)
class DayDrawn:
    """A day of the burn-down; `remaining` is None in the future, `projected` in the past."""

    day: date
    given: int | None
    remaining: int | None
    projected: int | None


@dataclass(frozen=True)
class Stage:
    """A stage of the pool's documents, with their number and its share of the pool."""

    name: str
    documents: int
    share: float


def needs(waits: Waiting, pace: JudgingPace) -> list[Need]:
    """What needs the organisers of this collection now, most urgent first."""
    found = (
        *_deadline(),
        Need(len(pace.late), gettext("Late judges"), "judges.show", {}, _listed([one.judge for one in pace.late])),
        Need(waits.questions, gettext("Questions without an answer"), "questions.show", {}),
        Need(waits.disputes, gettext("Undecided disagreements"), "disagreements.show", {"undecided": 1}),
        Need(waits.failed_jobs, gettext("Failed jobs"), "jobs.show_all", {}),
    )
    return [need for need in found if need.number]


def few_judged(holes: HolesReport) -> Need:
    """The runs with less than 95 % of their top 10 judged, over all accepted topics, as on the page of holes."""
    shares = [one.share.value for of_run in holes.runs for one in of_run]
    low = sum(share is not None and 1 - share < ENOUGH_JUDGED for share in shares)
    words = gettext("Runs with under 95 %% of the top %(top)s judged, over all topics", top=TOP)
    return Need(low, words, "pools.holes", {})


def _deadline() -> Iterator[Need]:
    until = the_place().collection.submissions_until
    if until is None or the_place().collection.closed:
        return
    hours = ceil((until - now()) / timedelta(hours=1))
    if 0 < hours <= HOURS_OF_COUNTDOWN:
        yield Need(hours, gettext("Hours until the submission deadline"), "submissions.show", {})
    elif 0 < hours <= DAYS_OF_COUNTDOWN * 24:
        yield Need(hours // 24, gettext("Days until the submission deadline"), "submissions.show", {})


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMES_LISTED]) + (", …" if len(names) > NAMES_LISTED else "")


def days_drawn(pace: JudgingPace) -> list[DayDrawn]:
    """The days of the burn-down, then those of the projection, which begins today."""
    today = now().astimezone(UTC).date()
    ahead = dict(pace.burn_down.ahead(today, MOST_DAYS_AHEAD))
    past = pace.burn_down.recent(MOST_DAYS_BACK)
    return [
        *(DayDrawn(one.day, one.given, one.remaining, ahead.pop(one.day, None)) for one in past),
        *(DayDrawn(day, None, None, count) for day, count in ahead.items()),
    ]


def stages(progress: Sequence[TopicProgress], waits: Waiting) -> list[Stage]:
    """The documents of the pool: all, judged, and judged without an undecided disagreement."""
    pooled = sum(topic.items for topic in progress)
    judged = sum(topic.judged for topic in progress)
    counts = (
        (gettext("Pooled"), pooled),
        (gettext("Judged"), judged),
        (gettext("Settled"), max(judged - waits.disputes, 0)),
    )
    return [Stage(name, count, count / pooled) for name, count in counts] if pooled else []
