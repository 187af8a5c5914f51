"""The texts of e-mails, made from what the workflows really queue."""

from datetime import timedelta

import pytest
from build import NOW, PASSWORD, SLUG, checked_run, member, news, topic_file, user
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.mail_values import MAIL_KINDS
from annotator.passwords import hash_known_password
from annotator.storage import Collection, Database, EmailAddress, JobState, Mail, MailKind, Role
from annotator.storage.runs.runs import RunDetails
from annotator.storage.site.mail import DueMail, take_mail
from annotator.storage.tables.mail import Notice
from annotator.web.people.mail_texts import words_of
from annotator.workflows.people import accounts, email_addresses, forgotten_password, invitations
from annotator.workflows.people.invitations import InvitationRequest
from annotator.workflows.runs import run_upload
from annotator.workflows.runs.reminders import due_reminders, queue_reminders
from annotator.workflows.site import jobs
from annotator.workflows.site.jobs import LONG_WAIT, Outcome

SITE = "https://pool.example.org"
# What a text must have, by kind, and by what a notice says.
EXPECTED: dict[str, list[str]] = {
    MailKind.INVITATION: ["You are invited to “News search”. Your role: participant.", f"{SITE}/join?key="],
    MailKind.PASSWORD: ["a new password for the account “pat”", f"{SITE}/join?key="],
    MailKind.CONFIRMATION: [f"{SITE}/account/email/confirm?key="],
    MailKind.RECEIPT: [
        "Received for “News search” at ",
        "alpha, version 1, SHA-256 ",
        f"{SITE}/collections/{SLUG}/runs",
    ],
    MailKind.REMINDER: ["Runs for “News search” can be sent until ", f"{SITE}/collections/{SLUG}/runs"],
    MailKind.JOB: ["Collection: “News search”", f"{SITE}/collections/{SLUG}/jobs/1"],
    Notice.ADDRESS_CHANGED: ["The account “pat” has another e-mail address since ", f"an administrator of {SITE}"],
    Notice.ADDRESS_REMOVED: ["was removed from the account “pat” at "],
    Notice.PASSWORD_CHANGED: ["The account “pat” has a new password since "],
    Notice.PASSWORD_BY_OTHERS: ["The account “kim” has a new password since ", "set by an administrator"],
}


def confirm(session: Session, user_id: int, address: str, language: str) -> None:
    email_addresses.ask_to_confirm(session, user_id, address, language=language, at=NOW)
    waiting = select(Mail).where(Mail.user_id == user_id, Mail.kind == MailKind.CONFIRMATION).order_by(Mail.id.desc())
    secret = str(session.scalars(waiting).all()[0].content["path"]).partition("?key=")[2]
    email_addresses.confirm(session, user_id, secret, at=NOW)


def queue_everything(session: Session, language: str) -> None:
    """Have the workflows queue an e-mail of every kind, and every notice."""
    news(session)
    topic_file(session)
    pat, kim = member(session, "pat", Role.PARTICIPANT, team="red"), user(session, "kim")
    session.execute(update(Collection).values(submissions_until=NOW + timedelta(days=2)))
    confirm(session, pat, "pat@example.org", language)
    confirm(session, kim, "kim@example.org", language)
    queue_reminders(session, due_reminders(session, now=NOW), at=NOW)
    checked = checked_run(session, "alpha", {"1": ["a", "b"]}, team="red")
    run_upload.store_runs(session, SLUG, checked, details=RunDetails("red"), uploaded_by_id=pat, uploaded_at=NOW)
    jobs.ask_job(session, SLUG, kind="report", parameters={}, by_id=pat, at=NOW)
    taken = jobs.take_job(session, now=NOW)
    assert taken is not None
    jobs.finish_job(session, taken, Outcome(JobState.DONE), now=NOW + LONG_WAIT)
    wanted = InvitationRequest(Role.PARTICIPANT, team="blue", email="nora@example.org", language=language)
    invitations.invite(session, SLUG, wanted, made_by_id=None, at=NOW)
    accounts.change_password(session, pat, PASSWORD, hash_known_password("another one"), at=NOW)
    accounts.set_password(session, "kim", hash_known_password("another one"), at=NOW)
    confirm(session, pat, "pat@other.example", language)
    forgotten_password.send_password_links(session, "pat", at=NOW)
    email_addresses.ask_to_confirm(session, pat, "pat@third.example", language=language, at=NOW)


def due_mail(session: Session) -> list[DueMail]:
    found = []
    while (due := take_mail(session, now=NOW + LONG_WAIT, kinds=MAIL_KINDS, per_hour=500)) is not None:
        found.append(due)
    return found


def texts(app: Flask, database: Database, language: str) -> dict[str, tuple[str, str]]:
    """Kind, or what a notice says → subject and text."""
    with database.transaction() as session:
        queue_everything(session, language)
    with database.transaction() as session:
        due = due_mail(session)
        session.execute(update(Mail).values(next_at=None))
    with database.transaction() as session:
        pat = session.scalars(select(EmailAddress.user_id)).one()
        email_addresses.remove_email(session, pat, at=NOW)
    with database.transaction() as session:
        due += due_mail(session)
    with app.app_context():
        return {str(one.content.get("what", one.kind)): words_of(one, SITE) for one in due}


def test_every_kind_is_written_from_what_is_queued(app: Flask, database: Database) -> None:
    found = texts(app, database, "en")
    assert set(found) == {str(kind) for kind in EXPECTED}
    for kind, expected in EXPECTED.items():
        subject, text = found[kind]
        assert subject
        assert [one for one in expected if one not in text] == [], (kind, text)
        assert "None" not in text


@pytest.mark.usefixtures("app")
def test_every_kind_is_written_in_korean(app: Flask, database: Database) -> None:
    found = texts(app, database, "ko")
    assert set(found) == {str(kind) for kind in EXPECTED}
    english = {kind: expected[0] for kind, expected in EXPECTED.items() if not expected[0].startswith(SITE)}
    assert [kind for kind, sentence in english.items() if sentence in found[kind][1]] == []
    assert [kind for kind, (subject, _) in found.items() if subject.isascii()] == []
