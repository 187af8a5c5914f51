"""Hours and judgements of each judge by period."""

from datetime import UTC, date, datetime

import pytest
from build import SLUG, labels, member, pooled_news
from csv_cells import unquoted
from kept import Kept
from sqlalchemy import select, update

from annotator.storage import Database, Judgement, User, UserKind
from annotator.workflows.agreement.judge_hours import HoursWanted, Period, hours_csv, judge_hours


@pytest.fixture
def judged(database: Database, kept: Kept) -> Database:
    """Jo judges a on Sunday, 28 February 2027, and b and c on Monday, half an hour each; kim's labels have no time."""
    kept.fill(database, fill)
    return database


def fill(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session, judgements_wanted=3)
        member(session, "jo")
        labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 c 0\n")
        labels(session, "kim", "1 0 a 2\n")
        labels(session, "gpt", "1 0 a 2\n")
        session.execute(update(User).where(User.name == "gpt").values(kind=UserKind.MACHINE))
        jo = select(User.id).where(User.name == "jo").scalar_subquery()
        by_jo = session.scalars(select(Judgement).where(Judgement.judge_id == jo).order_by(Judgement.id)).all()
        days = ("2027-02-28T23:59Z", "2027-03-01T00:00Z", "2027-03-01T09:00Z")
        for judgement, day in zip(by_jo, days, strict=True):
            judgement.judged_at, judgement.seconds = datetime.fromisoformat(day), 1800.0
        kim = select(User.id).where(User.name == "kim").scalar_subquery()
        at = datetime(2027, 3, 2, tzinfo=UTC)
        session.execute(update(Judgement).where(Judgement.judge_id == kim).values(judged_at=at))


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        (HoursWanted(), [("jo", "2027-02", 1, 0.5), ("jo", "2027-03", 2, 1.0), ("kim", "2027-03", 1, 0.0)]),
        (HoursWanted(by=Period.ALL), [("jo", "", 3, 1.5), ("kim", "", 1, 0.0)]),
        # ISO 8601: the Sunday is the last day of week 8, the Monday the first of week 9.
        (
            HoursWanted(by=Period.WEEK),
            [("jo", "2027-W08", 1, 0.5), ("jo", "2027-W09", 2, 1.0), ("kim", "2027-W09", 1, 0.0)],
        ),
        (HoursWanted(last=date(2027, 2, 28)), [("jo", "2027-02", 1, 0.5)]),
        (HoursWanted(date(2027, 3, 1), date(2027, 3, 1), Period.DAY), [("jo", "2027-03-01", 2, 1.0)]),
        (HoursWanted(first=date(2027, 3, 2), last=date.max), [("kim", "2027-03", 1, 0.0)]),
        (HoursWanted(first=date(2028, 1, 1)), []),
    ],
)
def test_hours_are_added_up_by_judge_and_period(
    judged: Database, wanted: HoursWanted, rows: list[tuple[str, str, int, float]]
) -> None:
    with judged.reading() as session:
        found = judge_hours(session, SLUG, wanted)
    assert [(row.judge, row.period, row.judgements, row.hours) for row in found] == rows


def test_the_csv_says_what_has_no_time(judged: Database) -> None:
    with judged.reading() as session:
        lines = unquoted(hours_csv(judge_hours(session, SLUG, HoursWanted(by=Period.ALL)))).splitlines()
    assert lines == [
        "judge,period,judgements,adjudications,hours,without_time",
        "jo,,3,0,1.5,0",
        "kim,,1,0,0.0,1",
    ]
