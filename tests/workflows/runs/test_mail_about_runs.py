"""E-mails about runs and jobs: receipts, reminders of a deadline, jobs that took long."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from build import NOW, SLUG, checked_run, member, news, run, topic_file
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from annotator.storage import (
    Collection,
    CollectionState,
    EmailAddress,
    Job,
    JobState,
    Mail,
    MailKind,
    Membership,
    Role,
    Round,
    Run,
    User,
)
from annotator.storage.runs.runs import RunDetails
from annotator.storage.site.mail import STALE, DueMail
from annotator.workflows.runs import run_upload
from annotator.workflows.runs.mail_taking import take_true_mail
from annotator.workflows.runs.reminders import BEFORE, due_reminders, is_reminder_needed, queue_reminders
from annotator.workflows.site import jobs
from annotator.workflows.site.jobs import LONG_WAIT, Outcome

LISTS = {"1": ["a", "b"]}


def with_address(session: Session, user_id: int, unwanted: str = "") -> None:
    address = f"{user_id}@example.org"
    session.add(EmailAddress(user_id=user_id, address=address, language="en", unwanted=unwanted))
    session.flush()


def mails(session: Session, kind: MailKind) -> list[Mail]:
    session.flush()
    return list(session.scalars(select(Mail).where(Mail.kind == kind).order_by(Mail.id)))


@pytest.fixture
def pat(session: Session) -> int:
    """A participant of team red with an address; the deadline is in two days."""
    news(session)
    topic_file(session)
    found = member(session, "pat", Role.PARTICIPANT, team="red")
    with_address(session, found)
    session.execute(update(Collection).values(submissions_until=NOW + timedelta(days=2)))
    return found


def reminded(session: Session) -> list[int]:
    due = due_reminders(session, now=NOW)
    queue_reminders(session, due, at=NOW)
    return [one.user_id for one in due]


def test_the_sender_of_a_run_gets_a_receipt(session: Session, pat: int) -> None:
    checked = checked_run(session, "alpha", LISTS, team="red")
    run_upload.store_runs(session, SLUG, checked, details=RunDetails("red"), uploaded_by_id=pat, uploaded_at=NOW)
    (receipt,) = mails(session, MailKind.RECEIPT)
    assert (receipt.user_id, receipt.content["slug"]) == (pat, SLUG)
    (listed,) = receipt.content["runs"]
    assert (listed["tag"], listed["version"], len(listed["sha256"])) == ("alpha", 1, 64)


def taken(session: Session) -> DueMail | None:
    session.flush()
    return take_true_mail(session, now=NOW, kinds=[MailKind.RECEIPT], per_hour=10)


def test_what_waits_goes_where_the_account_has_its_e_mail_by_now(session: Session, pat: int) -> None:
    checked = checked_run(session, "alpha", LISTS, team="red")
    run_upload.store_runs(session, SLUG, checked, details=RunDetails("red"), uploaded_by_id=pat, uploaded_at=NOW)
    session.execute(update(EmailAddress).values(address="pat@new.example.org", language="ko"))
    due = taken(session)
    assert due is not None
    assert (due.kind, due.address, due.language) == (MailKind.RECEIPT, "pat@new.example.org", "ko")
    session.expire_all()
    (listed,) = mails(session, MailKind.RECEIPT)
    assert (listed.address, listed.language) == ("pat@new.example.org", "ko")


def test_what_waits_for_an_address_that_is_not_confirmed_any_more_is_given_up(session: Session, pat: int) -> None:
    checked = checked_run(session, "alpha", LISTS, team="red")
    run_upload.store_runs(session, SLUG, checked, details=RunDetails("red"), uploaded_by_id=pat, uploaded_at=NOW)
    session.execute(update(EmailAddress).values(address=None))
    assert taken(session) is None
    (receipt,) = mails(session, MailKind.RECEIPT)
    session.refresh(receipt)
    assert (receipt.next_at, receipt.problem) == (None, STALE)


def test_members_of_teams_without_a_run_are_reminded_once_of_each_deadline(session: Session, pat: int) -> None:
    member(session, "ann", Role.PARTICIPANT, team="blue")  # has no address
    with_address(session, member(session, "bob", Role.PARTICIPANT, team="blue"), unwanted="reminders")
    with_address(session, member(session, "jo", Role.JUDGE))
    assert reminded(session) == [pat]
    assert reminded(session) == []
    (sent,) = mails(session, MailKind.REMINDER)
    assert (sent.content["slug"], sent.until) == (SLUG, NOW + timedelta(days=2))
    session.execute(update(Collection).values(submissions_until=NOW + timedelta(days=3)))
    session.expire_all()
    assert reminded(session) == [pat]


@pytest.mark.parametrize("away", [timedelta(0), -timedelta(days=1), BEFORE + timedelta(minutes=1)])
def test_nobody_is_reminded_of_a_deadline_that_is_over_or_far(session: Session, pat: int, away: timedelta) -> None:
    session.execute(update(Collection).values(submissions_until=NOW + away))
    assert reminded(session) == []
    assert pat


def test_whose_team_has_sent_a_run_in_this_round_is_not_reminded(session: Session, pat: int) -> None:
    run(session, "alpha", LISTS, team="red")
    assert reminded(session) == []
    collection_id = session.scalars(select(Collection.id)).one()
    first = Round(collection_id=collection_id, number=1, name="", opened_at=NOW, closed_at=NOW)
    session.add_all([first, Round(collection_id=collection_id, number=2, name="", opened_at=NOW)])
    session.flush()
    session.execute(update(Run).values(round_id=first.id))
    assert reminded(session) == [pat]


def finished(session: Session, by: int, *, after: timedelta, state: JobState, slug: str | None) -> None:
    jobs.ask_job(session, slug, kind="report", parameters={}, by_id=by, at=NOW)
    taken = jobs.take_job(session, now=NOW)
    assert taken is not None
    jobs.finish_job(session, taken, Outcome(state), now=NOW + after)


@pytest.mark.parametrize("state", [JobState.DONE, JobState.FAILED])
@pytest.mark.parametrize("slug", [SLUG, None])
def test_who_waited_long_for_a_job_gets_an_email(session: Session, pat: int, state: JobState, slug: str | None) -> None:
    finished(session, pat, after=LONG_WAIT, state=state, slug=slug)
    (sent,) = mails(session, MailKind.JOB)
    job = session.scalars(select(Job)).one()
    title = "News search" if slug else None
    expected = {"title": title, "slug": slug, "job": job.id, "is_done": state is JobState.DONE}
    assert (sent.user_id, sent.content) == (pat, expected)


def test_a_short_or_a_cancelled_job_is_no_reason_for_an_email(session: Session, pat: int) -> None:
    finished(session, pat, after=LONG_WAIT - timedelta(seconds=1), state=JobState.DONE, slug=SLUG)
    id_ = jobs.ask_job(session, SLUG, kind="report", parameters={}, by_id=pat, at=NOW)
    jobs.cancel_job(session, SLUG, id_, at=NOW + 2 * LONG_WAIT)
    assert mails(session, MailKind.JOB) == []


def closed(session: Session) -> None:
    session.execute(update(Collection).values(state=CollectionState.CLOSED))


def deleted(session: Session) -> None:
    session.execute(update(Collection).values(deleted_at=NOW))


def later(session: Session) -> None:
    session.execute(update(Collection).values(submissions_until=NOW + timedelta(days=3)))


def removed(session: Session) -> None:
    session.execute(delete(Membership))


def has_sent(session: Session) -> None:
    run(session, "alpha", LISTS, team="red")


@pytest.mark.parametrize("change", [closed, deleted, later, removed, has_sent])
def test_a_reminder_that_is_not_true_any_more_is_not_needed(
    session: Session, pat: int, change: Callable[[Session], None]
) -> None:
    assert reminded(session) == [pat]
    (queued,) = mails(session, MailKind.REMINDER)
    assert is_reminder_needed(session, pat, queued.once, now=NOW)
    change(session)
    session.expire_all()
    assert not is_reminder_needed(session, pat, queued.once, now=NOW)


def test_who_cannot_open_a_job_any_more_gets_no_email_about_it(session: Session, pat: int) -> None:
    assert jobs.can_open_result(session, pat, SLUG)
    removed(session)
    assert not jobs.can_open_result(session, pat, SLUG)
    session.execute(update(User).values(administrator=True))
    assert jobs.can_open_result(session, pat, SLUG)
    deleted(session)
    assert not jobs.can_open_result(session, pat, SLUG)
    assert jobs.can_open_result(session, pat, None)
