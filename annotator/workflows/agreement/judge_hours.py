"""Hours and judgements of each judge by period, for payroll."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.spreadsheets import csv_text
from annotator.storage import Assignment, Judgement, PoolItem, Purpose, Topic, User, UserKind
from annotator.storage.collections.collection import find_collection
from annotator.storage.documents.documents import ROWS_AT_ONCE

HEADINGS = ("judge", "period", "judgements", "adjudications", "hours", "without_time")
SECONDS_AN_HOUR = 3600


class Period(StrEnum):
    """The unit of time by which hours are added up; weeks begin on Monday, all in UTC."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    ALL = "all"


@dataclass(frozen=True)
class HoursWanted:
    """The range of days, both inclusive, in UTC; None leaves it open."""

    first: date | None = None
    last: date | None = None
    by: Period = Period.MONTH


@dataclass
class JudgeHours:
    """A judge's work in a period, named 2027-03-01, 2027-W09 or 2027-03; a changed judgement counts again.

    `adjudications` are part of `judgements`; `without_time` are those without a known time, such as imported labels.
    Seconds are those in which the page was visible and in use.
    """

    judge: str
    period: str
    judgements: int = 0
    adjudications: int = 0
    seconds: float = 0.0
    without_time: int = 0

    @property
    def hours(self) -> float:
        """The seconds in hours."""
        return self.seconds / SECONDS_AN_HOUR


def judge_hours(session: Session, slug: str, wanted: HoursWanted) -> list[JudgeHours]:
    """The work of every person who judged, by name and period; raises `NotFoundError` for an unknown collection.

    Machines, training and judgements copied to documents with the same text are left out.
    """
    statement = (
        select(User.name, Judgement.judged_at, Judgement.seconds, Assignment.purpose)
        .join(User, User.id == Judgement.judge_id)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == find_collection(session, slug).id, User.kind == UserKind.PERSON)
        .where(Judgement.carried_from_id.is_(None))
        .execution_options(yield_per=ROWS_AT_ONCE)
    )
    if wanted.first is not None:
        statement = statement.where(Judgement.judged_at >= _beginning(wanted.first))
    if wanted.last is not None and wanted.last < date.max:
        statement = statement.where(Judgement.judged_at < _beginning(wanted.last + timedelta(days=1)))
    rows: dict[tuple[str, str], JudgeHours] = {}
    for judge, at, seconds, purpose in session.execute(statement):
        period = _named(at.astimezone(UTC).date(), wanted.by)
        row = rows.setdefault((judge, period), JudgeHours(judge, period))
        row.judgements += 1
        row.adjudications += purpose == Purpose.ADJUDICATION
        row.seconds += seconds or 0.0
        row.without_time += seconds is None
    return [rows[key] for key in sorted(rows)]


def hours_csv(rows: Sequence[JudgeHours]) -> str:
    """CSV with one line per judge and period."""
    return csv_text([HEADINGS, *(hours_cells(row) for row in rows)])


def hours_cells(row: JudgeHours) -> list[str | int | float]:
    """The cells of a row under `HEADINGS`; hours to two decimals."""
    return [row.judge, row.period, row.judgements, row.adjudications, round(row.hours, 2), row.without_time]


def _beginning(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _named(day: date, by: Period) -> str:
    match by:
        case Period.DAY:
            return day.isoformat()
        case Period.WEEK:
            year, week, _ = day.isocalendar()
            return f"{year}-W{week:02}"
        case Period.MONTH:
            return f"{day:%Y-%m}"
        case Period.ALL:
            return ""
