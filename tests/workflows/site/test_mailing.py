"""The worker sends e-mail to a real mail server of this machine, whatever that does, and loses none."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from build import NOW
from mail_server import CERTIFICATE, MailListener
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.mail_values import checked_mail_address
from annotator.settings import Settings
from annotator.storage import Database, Invitation, Mail, MailKind
from annotator.storage.site.epoch import begin_epoch
from annotator.storage.site.mail import (
    LINK_CLOSED,
    LONGEST_ATTEMPT,
    NOT_SENT,
    PAUSES,
    REMOVED,
    RESTORED,
    STALE,
    TOO_LATE,
    TRIED_FOR,
    DueMail,
    Letter,
    Recipient,
    forget_mail,
    has_due_mail,
    queue_mail,
    record_failure,
    record_sent,
    take_mail,
)
from annotator.worker import mailing
from annotator.worker.mailing import Mailing, server_of
from annotator.workflows.people import invitations
from annotator.workflows.people.invitations import InvitationRequest
from annotator.workflows.site.mail import count_undelivered, remove_mail, retry_mail
from annotator.workflows.site.mail_server import MailProblem, Post

ADDRESS = "nora@example.org"
KINDS = tuple(MailKind)


@pytest.fixture
def listener() -> Iterator[MailListener]:
    made = MailListener()
    yield made
    made.close()


def settings_for(port: int, **others: Any) -> Settings:  # noqa: ANN401 - values of settings
    return Settings(
        site_address="https://pool.example.org",
        mail_host="localhost",
        mail_port=port,
        mail_from="pool@example.org",
        **{"mail_tls": "none", **others},
    )


def words(due: DueMail) -> tuple[str, str]:
    return str(due.content["subject"]), "Grüße\n"


def sender(database: Database, settings: Settings) -> Mailing:
    return Mailing(database, settings, words)


def queue(database: Database, subject: str = "Hello", **others: Any) -> None:  # noqa: ANN401 - of a letter
    with database.transaction() as session:
        at = mailing._now()  # noqa: SLF001 - the clock of the worker
        queue_mail(session, Recipient(ADDRESS, "en"), Letter(MailKind.JOB, {"subject": subject}, **others), at=at)


def only(database: Database) -> Mail:
    with database.reading() as session:
        return session.scalars(select(Mail)).one()


def make_due(database: Database) -> None:
    """Let the pause after a failed attempt be over."""
    with database.transaction() as session:
        session.execute(update(Mail).where(Mail.next_at.is_not(None)).values(next_at=NOW))


def test_an_email_arrives_once_in_plain_text_with_its_headers(database: Database, listener: MailListener) -> None:
    queue(database, "Größe of “News”\r\nBcc: everybody@example.org")
    post = sender(database, settings_for(listener.port))
    assert post.step()
    assert not post.step()
    (message,) = listener.messages
    # What would have been another header is part of the subject.
    assert message["Subject"] == "Größe of “News” Bcc: everybody@example.org"
    assert message["Bcc"] is None
    assert (message["From"], message["To"]) == ("pool@example.org", ADDRESS)
    assert message["Auto-Submitted"] == "auto-generated"
    assert (message.get_content_type(), message.get_content().replace("\r\n", "\n")) == ("text/plain", "Grüße\n")
    assert listener.recipients == [ADDRESS]
    sent = only(database)
    assert sent.sent_at is not None
    assert (sent.content, sent.problem, sent.next_at) == ({}, "", None)


def test_nothing_is_sent_where_email_is_off(database: Database, listener: MailListener) -> None:
    queue(database)
    assert not sender(database, replace(settings_for(listener.port), mail_host="")).step()
    assert only(database).attempts == 0


def test_a_server_that_is_down_delays_email_and_loses_none(
    database: Database, listener: MailListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailing, "SECONDS_AFTER_TROUBLE", 0.0)
    queue(database)
    listener.close()
    post = sender(database, settings_for(listener.port))
    assert post.step()
    waiting = only(database)
    assert waiting.next_at is not None
    assert "refused" in waiting.problem
    again = MailListener()
    try:
        make_due(database)
        assert sender(database, settings_for(again.port)).step()
        assert [one["Subject"] for one in again.messages] == ["Hello"]
    finally:
        again.close()


def test_while_the_server_is_away_one_email_is_tried_and_the_others_wait(database: Database) -> None:
    for subject in ("one", "two", "three"):
        queue(database, subject)
    closed = MailListener()
    closed.close()
    post = sender(database, settings_for(closed.port))
    assert post.step()
    assert not post.step()
    with database.reading() as session:
        assert sorted(session.scalars(select(Mail.attempts))) == [0, 0, 1]


def test_a_server_that_drops_what_it_accepted_gets_it_again_under_the_same_id(
    database: Database, listener: MailListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailing, "SECONDS_AFTER_TROUBLE", 0.0)
    queue(database)
    listener.answers["END"] = [""]
    post = sender(database, settings_for(listener.port))
    assert post.step()
    assert only(database).sent_at is None
    make_due(database)
    assert post.step()
    first, second = listener.messages
    assert first["Message-ID"] == second["Message-ID"]
    assert first.as_bytes() == second.as_bytes()
    assert only(database).sent_at is not None


def test_a_refusal_for_now_is_tried_again(database: Database, listener: MailListener) -> None:
    queue(database)
    listener.answers["RCPT"] = ["450 mailbox busy"]
    post = sender(database, settings_for(listener.port))
    assert post.step()
    assert only(database).problem == "450 mailbox busy"
    make_due(database)
    # One recipient's mailbox is no reason to let others wait.
    assert post.step()
    assert len(listener.received) == 1


@pytest.mark.parametrize("command", ["RCPT", "DATA", "END"])
def test_a_refusal_for_good_is_given_up_at_once_with_the_sentence(
    database: Database, listener: MailListener, command: str
) -> None:
    queue(database)
    listener.answers[command] = ["550 no such mailbox\x07 here"]
    assert sender(database, settings_for(listener.port)).step()
    refused = only(database)
    assert (refused.next_at, refused.sent_at, refused.attempts) == (None, None, 1)
    assert refused.problem == "550 no such mailbox here"


@pytest.mark.parametrize("command", ["CONNECT", "EHLO", "MAIL"])
def test_a_server_that_lets_the_site_send_nothing_loses_no_email(
    database: Database, listener: MailListener, command: str
) -> None:
    queue(database)
    # After EHLO, HELO is tried.
    for one in (command, "HELO"):
        listener.answers[one] = ["554 not you"]
    assert sender(database, settings_for(listener.port)).step()
    waiting = only(database)
    assert waiting.next_at is not None
    assert "554 not you" in waiting.problem


def test_a_slow_server_is_cut_off(listener: MailListener) -> None:
    listener.seconds_a_line = 0.4
    server = replace(server_of(settings_for(listener.port)), seconds_in_all=0.6)
    with pytest.raises(MailProblem):
        server.send(Post(ADDRESS, "Hello", "slow", "id", NOW))


def test_a_silent_server_is_left(listener: MailListener) -> None:
    listener.seconds_a_line = 3.0
    server = replace(server_of(settings_for(listener.port)), seconds=0.1)
    with pytest.raises(MailProblem, match="timed out"):
        server.send(Post(ADDRESS, "Hello", "silent", "id", NOW))


@pytest.fixture
def _trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))


@pytest.mark.usefixtures("_trusted")
@pytest.mark.parametrize("tls", ["starttls", "tls"])
def test_it_signs_in_over_an_encrypted_connection(tls: str, tmp_path: Path) -> None:
    listener = MailListener(is_encrypted=tls == "tls", offers_starttls=tls == "starttls")
    password = tmp_path / "password"
    password.write_text("hush\n")
    settings = settings_for(listener.port, mail_tls=tls, mail_name="pool", mail_password=str(password))
    try:
        server_of(settings).check()
        server_of(settings).send(Post(ADDRESS, "Hello", "safe", "id", NOW))
        assert len(listener.received) == 1
        # "\0pool\0hush" in base 64
        assert "AUTH PLAIN AHBvb2wAaHVzaA==" in listener.commands
        password.unlink()
        with pytest.raises(MailProblem, match="cannot be read where ANNOTATOR_MAIL_PASSWORD says"):
            server_of(settings).check()
    finally:
        listener.close()


@pytest.mark.parametrize("tls", ["starttls", "tls"])
def test_a_certificate_of_nobody_known_is_refused(tls: str) -> None:
    listener = MailListener(is_encrypted=tls == "tls", offers_starttls=tls == "starttls")
    try:
        with pytest.raises(MailProblem, match="The certificate of localhost is not valid: self-signed certificate"):
            server_of(settings_for(listener.port, mail_tls=tls)).check()
        assert not listener.received
    finally:
        listener.close()


@pytest.mark.usefixtures("_trusted")
@pytest.mark.parametrize("tls", ["starttls", "tls"])
def test_a_certificate_for_another_name_is_refused(tls: str) -> None:
    listener = MailListener(is_encrypted=tls == "tls", offers_starttls=tls == "starttls")
    try:
        settings = settings_for(listener.port, mail_tls=tls)
        with pytest.raises(MailProblem, match=r"The certificate of 127\.0\.0\.1 is not valid: IP address mismatch"):
            server_of(replace(settings, mail_host="127.0.0.1")).check()
    finally:
        listener.close()


def test_without_encryption_where_it_is_wanted_nothing_is_sent(listener: MailListener) -> None:
    with pytest.raises(MailProblem, match="STARTTLS extension not supported"):
        server_of(settings_for(listener.port, mail_tls="starttls")).send(Post(ADDRESS, "Hello", "?", "id", NOW))
    assert not [one for one in listener.commands if one.startswith("MAIL")]


def test_two_workers_never_send_the_same_email(database: Database, listener: MailListener) -> None:
    for number in range(8):
        queue(database, str(number))
    settings = settings_for(listener.port)
    together = threading.Barrier(2)

    def send_all() -> None:
        post = sender(database, settings)
        together.wait()
        while post.step():
            pass

    workers = [threading.Thread(target=send_all) for _ in range(2)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert sorted(one["Subject"] for one in listener.messages) == [str(number) for number in range(8)]


def test_so_many_are_sent_in_an_hour_and_the_others_wait(database: Database, listener: MailListener) -> None:
    for number in range(3):
        queue(database, str(number))
    post = sender(database, settings_for(listener.port, mail_per_hour=2))
    while post.step():
        pass
    assert [one["Subject"] for one in listener.messages] == ["0", "1"]
    # A worker that waits for the hour to pass asks without taking a lock.
    with database.reading() as session:
        now = mailing._now()  # noqa: SLF001 - the worker's clock
        found = [has_due_mail(session, now=now, per_hour=most) for most in (1, 2, 3)]
    assert found == [False, False, True]
    with database.transaction() as session:
        session.execute(update(Mail).values(tried_at=NOW))
    assert post.step()
    assert len(listener.received) == 3


Change = Callable[[Session], None]


def restored(session: Session) -> None:
    begin_epoch(session)


def used(session: Session) -> None:
    session.execute(update(Invitation).values(used_at=NOW))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (restored, RESTORED),
        (used, LINK_CLOSED),
        (lambda session: session.execute(update(Mail).values(until=NOW)), TOO_LATE),
        (lambda session: session.execute(update(Mail).values(asked_at=NOW - TRIED_FOR)), TOO_LATE),
        (lambda session: session.execute(update(Mail).values(kind=MailKind.RECEIPT)), NOT_SENT),
    ],
    ids=["restored", "link used", "link expired", "too old", "kind off"],
)
def test_what_is_of_no_use_any_more_is_not_sent(
    database: Database, listener: MailListener, change: Change, problem: str
) -> None:
    with database.transaction() as session:
        link = invitations.invite(session, None, InvitationRequest(), made_by_id=None, at=NOW)
    queue(database, invitation_id=link.number)
    with database.transaction() as session:
        change(session)
    assert not sender(database, settings_for(listener.port, mail_kinds=("jobs",))).step()
    given_up = only(database)
    assert (given_up.next_at, given_up.problem) == (None, problem)
    assert not listener.commands


def test_pauses_grow_and_after_days_an_email_is_given_up(database: Database) -> None:
    queue(database)
    now = mailing._now()  # noqa: SLF001 - the clock of the worker
    began, waits = now, []
    while (mail := only(database)).next_at is not None:
        now = mail.next_at
        with database.transaction() as session:
            due = take_mail(session, now=now, kinds=KINDS, per_hour=9)
        assert due is not None
        # Nobody else takes it meanwhile.
        with database.transaction() as session:
            assert take_mail(session, now=now + LONGEST_ATTEMPT / 2, kinds=KINDS, per_hour=9) is None
        with database.transaction() as session:
            record_failure(session, due, "away", is_final=False, at=now)
        waits.append(now)
    pauses = [later - earlier for earlier, later in pairwise(waits)]
    assert pauses[: len(PAUSES)] == list(PAUSES)
    assert set(pauses[len(PAUSES) :]) == {PAUSES[-1]}
    assert TRIED_FOR - PAUSES[-1] < now - began <= TRIED_FOR
    assert only(database).problem == "away"


def test_what_another_worker_has_repeated_stays_as_that_one_left_it(database: Database) -> None:
    queue(database)
    now = mailing._now()  # noqa: SLF001 - the clock of the worker
    taken = []
    for at in (now, now + LONGEST_ATTEMPT):
        with database.transaction() as session:
            taken.append(take_mail(session, now=at, kinds=KINDS, per_hour=9))
    lost, mine = taken
    assert lost is not None
    assert mine is not None
    with database.transaction() as session:
        record_sent(session, mine, at=now)
    with database.transaction() as session:
        record_failure(session, lost, "late", is_final=True, at=now)
    assert (only(database).sent_at, only(database).problem) == (now, "")


def test_what_ended_long_ago_is_forgotten_and_what_waits_too_long_is_given_up(database: Database) -> None:
    queue(database)
    now = mailing._now()  # noqa: SLF001 - the clock of the worker
    with database.transaction() as session:
        forget_mail(session, now=now + TRIED_FOR + timedelta(hours=1))
    assert (only(database).next_at, only(database).problem) == (None, TOO_LATE)
    with database.transaction() as session:
        forget_mail(session, now=now + timedelta(days=31))
    with database.reading() as session:
        assert session.scalars(select(Mail)).all() == []


def test_what_is_sent_once_is_queued_once(database: Database) -> None:
    for _ in range(2):
        queue(database, once="reminder 1")
        queue(database, "another")
    with database.reading() as session:
        assert len(session.scalars(select(Mail)).all()) == 3


# RFC 2047: what programs that read a header decode to "bob@evil.example, ", to a line end, to “é”.
ENCODED = [
    "=?utf-8?q?bob=40evil.example,_?=@example.org",
    "=?utf-8?q?a=0D=0Ab?=@example.org",
    "=?utf-8?q?=C3=A9?=@example.org",
]


@pytest.mark.parametrize("text", [*ENCODED, ".ada@example.org", "ada.@example.org", "ada..l@example.org", "a@b..org"])
def test_what_programs_read_otherwise_is_no_address(text: str) -> None:
    with pytest.raises(InvalidValueError, match="is no e-mail address"):
        checked_mail_address(text)
    assert checked_mail_address("a.d=a?+1@example.org") == "a.d=a?+1@example.org"


@pytest.mark.parametrize("address", ENCODED)
def test_an_encoded_word_as_an_address_is_given_up_and_others_are_sent(
    database: Database, listener: MailListener, address: str
) -> None:
    queue(database)
    with database.transaction() as session:
        # As a version before stored it.
        session.execute(update(Mail).values(address=address))
    queue(database, "another")
    post = sender(database, settings_for(listener.port))
    while post.step():
        pass
    assert (listener.recipients, [one["Subject"] for one in listener.messages]) == ([ADDRESS], ["another"])
    with database.reading() as session:
        refused = session.scalars(select(Mail).where(Mail.address == address)).one()
        assert (refused.next_at, refused.problem) == (None, "The message could not be written: InvalidValueError")


def test_an_email_without_a_text_is_given_up_and_others_are_sent(database: Database, listener: MailListener) -> None:
    queue(database, "no words")
    queue(database, "another")

    def some(due: DueMail) -> tuple[str, str]:
        if due.content["subject"] == "no words":
            raise KeyError("title")
        return words(due)

    post = Mailing(database, settings_for(listener.port), some)
    while post.step():
        pass
    assert [one["Subject"] for one in listener.messages] == ["another"]
    with database.reading() as session:
        (refused,) = session.scalars(select(Mail).where(Mail.sent_at.is_(None)))
        assert (refused.next_at, refused.problem) == (None, "The message could not be written: KeyError")


def queue_kinds(database: Database, *kinds: MailKind) -> None:
    with database.transaction() as session:
        at = mailing._now()  # noqa: SLF001 - the clock of the worker
        for kind in kinds:
            queue_mail(session, Recipient(ADDRESS, "en"), Letter(kind, {"subject": kind}), at=at)


def test_links_that_people_asked_for_pass_others_and_a_fifth_beyond_the_limit(
    database: Database, listener: MailListener
) -> None:
    queue_kinds(database, *[MailKind.RECEIPT] * 6, MailKind.INVITATION, MailKind.PASSWORD, MailKind.CONFIRMATION)
    post = sender(database, settings_for(listener.port, mail_per_hour=5))
    while post.step():
        pass
    assert [one["Subject"] for one in listener.messages] == [
        "passwords", "confirmation", "invitations", "receipts", "receipts"
    ]  # fmt: skip
    queue_kinds(database, MailKind.INVITATION, MailKind.PASSWORD, MailKind.PASSWORD)
    while post.step():
        pass
    # One more than five; what is no link to a page of one's account waits, and so does the second of those.
    assert [one["Subject"] for one in listener.messages[5:]] == ["passwords"]


def test_what_was_removed_is_not_sent_and_not_queued_again(database: Database, listener: MailListener) -> None:
    queue(database, once="reminder 1")
    removed = only(database).id
    for _ in range(2):
        with database.transaction() as session:
            remove_mail(session, removed)
        queue(database, once="reminder 1")
    gone = only(database)
    assert (gone.id, gone.next_at, gone.content, gone.problem) == (removed, None, {}, REMOVED)
    assert not sender(database, settings_for(listener.port)).step()
    with database.transaction() as session, pytest.raises(ConflictError, match="An administrator removed it"):
        retry_mail(session, removed, at=NOW)
    with database.reading() as session:
        assert count_undelivered(session) == 0


def test_what_is_removed_during_an_attempt_is_not_tried_again(database: Database) -> None:
    queue(database)
    now = mailing._now()  # noqa: SLF001 - the clock of the worker
    with database.transaction() as session:
        due = take_mail(session, now=now, kinds=KINDS, per_hour=9)
    assert due is not None
    with database.transaction() as session:
        remove_mail(session, due.id)
    with database.transaction() as session:
        record_failure(session, due, "away", is_final=False, at=now)
    assert (only(database).next_at, only(database).problem) == (None, REMOVED)
    with database.transaction() as session:
        remove_mail(session, due.id)
    with database.reading() as session:
        assert session.scalars(select(Mail)).all() == []


def test_what_is_being_sent_is_not_sent_again_by_command(database: Database) -> None:
    queue(database)
    now = mailing._now()  # noqa: SLF001 - the clock of the worker
    with database.transaction() as session:
        due = take_mail(session, now=now, kinds=KINDS, per_hour=9)
    assert due is not None
    with database.transaction() as session, pytest.raises(ConflictError, match="is being sent at this moment"):
        retry_mail(session, due.id, at=now + timedelta(minutes=1))
    with database.transaction() as session:
        record_failure(session, due, "away", is_final=False, at=now)
    with database.transaction() as session:
        retry_mail(session, due.id, at=now)
    assert (only(database).attempts, only(database).next_at) == (0, now)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (used, LINK_CLOSED),
        (lambda session: session.execute(update(Invitation).values(withdrawn_at=NOW)), LINK_CLOSED),
        (lambda session: session.execute(update(Mail).values(until=NOW)), TOO_LATE),
    ],
    ids=["used", "withdrawn", "expired"],
)
def test_a_link_that_is_closed_is_not_sent_again_by_command(database: Database, change: Change, problem: str) -> None:
    with database.transaction() as session:
        link = invitations.invite(session, None, InvitationRequest(), made_by_id=None, at=NOW)
    queue(database, invitation_id=link.number)
    given_up = only(database).id
    with database.transaction() as session:
        session.execute(update(Mail).values(next_at=None, problem="550 no such mailbox"))
        change(session)
    with database.transaction() as session, pytest.raises(ConflictError, match=f"no use any more: {problem}"):
        retry_mail(session, given_up, at=NOW)


def test_only_what_was_refused_or_is_late_is_trouble(database: Database) -> None:
    queue(database)
    with database.transaction() as session:
        # An attempt failed before the kind was turned off: that is the reason now.
        session.execute(update(Mail).values(problem="450 mailbox busy"))
        assert take_mail(session, now=mailing._now(), kinds=(), per_hour=9) is None  # noqa: SLF001 - the worker's clock
    assert only(database).problem == NOT_SENT
    counts = []
    for problem in (RESTORED, NOT_SENT, LINK_CLOSED, TOO_LATE, "550 no such mailbox"):
        with database.transaction() as session:
            session.execute(update(Mail).values(problem=problem))
            counts.append(count_undelivered(session))
    assert counts == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("kind", [MailKind.JOB, MailKind.REMINDER])
def test_what_is_not_true_any_more_is_given_up_in_place_of_sending(
    database: Database, listener: MailListener, kind: MailKind
) -> None:
    with database.transaction() as session:
        at = mailing._now()  # noqa: SLF001 - the clock of the worker
        letter = Letter(kind, {"subject": "Hello", "slug": "deleted"}, once="1")
        queue_mail(session, Recipient(ADDRESS, "en"), letter, at=at)
    queue(database, "another")
    post = sender(database, settings_for(listener.port))
    while post.step():
        pass
    assert [one["Subject"] for one in listener.messages] == ["another"]
    with database.reading() as session:
        stale = session.scalars(select(Mail).where(Mail.once.is_not(None))).one()
        assert (stale.next_at, stale.problem, stale.content, stale.attempts) == (None, STALE, {}, 0)
        assert stale.tried_at is None
