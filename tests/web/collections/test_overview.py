"""The overview for organisers: what needs them now, the burn-down, and the checklist that folds."""

from datetime import UTC, datetime, timedelta

import pytest
from build import SLUG, labels, member
from build import news as build_news
from sqlalchemy import update
from visiting import Visit, words

from annotator.storage import Collection, Database, Job, JobState, Judgement, Role
from annotator.storage.collections.collection import find_collection


def submissions_until(database: Database, left: timedelta) -> None:
    with database.transaction() as session:
        session.execute(update(Collection).values(submissions_until=datetime.now(UTC) + left))


@pytest.mark.parametrize(
    ("left", "line"),
    [
        (timedelta(hours=-1), None),
        (timedelta(hours=1, minutes=30), "2 Hours until the submission deadline"),
        (timedelta(hours=47, minutes=30), "48 Hours until the submission deadline"),
        (timedelta(days=5, minutes=30), "5 Days until the submission deadline"),
        (timedelta(days=31), None),
    ],
)
def test_a_deadline_is_counted_down(
    visit: Visit, news: str, database: Database, left: timedelta, line: str | None
) -> None:
    submissions_until(database, left)
    page = words(visit("ola").get(news))
    assert line in page if line else "until the submission deadline" not in page


def test_late_judges_and_disagreements_are_listed(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n")
        labels(session, "crowd", "1 0 a 0\n", name="crowd.txt")
    page = visit("ola").get(news)
    assert "Late judges jo, kim" in words(page)
    assert "1 Undecided disagreements" in words(page)
    assert f'<a href="{news}/disagreements?undecided=1">' in page.text


def test_nothing_needs_the_organiser_of_a_new_collection(visit: Visit, database: Database) -> None:
    with database.transaction() as session:
        build_news(session)
        member(session, "ola", Role.ORGANISER)
    assert "Needs you now" not in words(visit("ola").get(f"/collections/{SLUG}"))


def test_failed_jobs_lead_to_the_jobs(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        id_ = find_collection(session, SLUG).id
        now = datetime.now(UTC)
        session.add(Job(kind="x", collection_id=id_, asked_at=now, parameters={}, result={}, state=JobState.FAILED))
    page = visit("ola").get(news)
    assert "1 Failed jobs" in words(page)
    assert f'<a href="{news}/jobs">' in page.text


def test_the_burn_down_says_why_there_is_no_projection(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n")
    page = words(visit("ola").get(news))
    assert "11 judgements are left. A projected end needs judgements on three days or more." in page


def test_the_burn_down_has_every_day_and_a_projected_end(visit: Visit, news: str, database: Database) -> None:
    now = datetime.now(UTC)
    with database.transaction() as session:
        for number, docno in enumerate("abc"):
            labels(session, "nist", f"1 0 {docno} 1\n", name=docno)
            days = update(Judgement).where(Judgement.client_id.like("file-%"))
            session.execute(days.values(judged_at=now - timedelta(days=number + 1), client_id=f"screen-{docno}"))
    page = words(visit("ola").get(news))
    end = (now + timedelta(days=9)).date()
    assert f"9 judgements are left. At 1.0 a day, the rate of the last 7 active days, judging ends on {end}." in page
    assert f"{(now - timedelta(days=3)).date()} 11 \N{EN DASH} 1" in page
    assert f"{now.date()} 9 9 0" in page
    assert f"{end} \N{EN DASH} 0 \N{EN DASH}" in page


def test_participants_and_judges_do_not_see_it(visit: Visit, news: str) -> None:
    assert "Judgements left" not in words(visit("jo").get(news))


def test_runs_with_few_judged_documents_are_counted_later(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    assert f'data-more="{news}/few-judged"' in ola.get(news).text
    line = ola.get(f"{news}/few-judged")
    assert "2 Runs with under 95 % of the top 10 judged, over all topics" in words(line)
    assert f'<a href="{news}/pool/holes">' in line.text
    with database.transaction() as session:
        for topic, docnos in (("1", "abcdefgh"), ("2", "abcdefgh")):
            for docno in docnos:
                labels(session, "nist", f"{topic} 0 {docno} 1\n", name=topic + docno, add_to_pool=True)
    assert "Runs with under" not in ola.get(f"{news}/few-judged").text
