"""`annotator mail`: what waits is listed, sent again, removed; and the mail server is tried."""

import json
from collections.abc import Iterator

import pytest
from build import NOW
from cli.command_line import CommandLine
from mail_server import MailListener
from sqlalchemy import update

from annotator.storage import Database, Mail, MailKind
from annotator.storage.site.mail import LINK_CLOSED, Letter, Recipient, queue_mail

LISTED = ("mail", "list", "--format", "json")


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[MailListener]:
    """A mail server that the settings name."""
    made = MailListener()
    for name, value in {
        "SITE_ADDRESS": "https://pool.example.org/",
        "MAIL_HOST": "127.0.0.1",
        "MAIL_PORT": str(made.port),
        "MAIL_TLS": "none",
        "MAIL_FROM": "pool@example.org",
    }.items():
        monkeypatch.setenv(f"ANNOTATOR_{name}", value)
    yield made
    made.close()


def sentence(lines: list[str]) -> str:
    (line,) = lines
    return line


@pytest.mark.usefixtures("listener")
def test_an_invitation_by_email_waits_is_sent_again_and_removed(pooled: CommandLine, sqlite_database: Database) -> None:
    by_role = ("invitations", "add", "news", "--role", "judge", "--email", "nora@example.org")
    assert "/join?key=" in pooled.done(*by_role)
    account = ("users", "invitations", "add", "--email", "kim@example.org", "--email-language", "ko")
    pooled.done(*account)
    listed = json.loads(pooled.done(*LISTED))
    assert [(one["number"], one["kind"], one["to"], one["state"]) for one in listed] == [
        (2, "invitations", "kim@example.org", "waiting"),
        (1, "invitations", "nora@example.org", "waiting"),
    ]
    with sqlite_database.transaction() as session:
        session.execute(update(Mail).where(Mail.id == 1).values(next_at=None, problem="550 no such mailbox"))
    (given_up,) = json.loads(pooled.done(*LISTED, "--state", "given-up"))
    assert (given_up["number"], given_up["problem"]) == (1, "550 no such mailbox")
    assert pooled.talk("mail", "retry", "1") == "The e-mail 1 waits for a worker.\n"
    assert json.loads(pooled.done(*LISTED, "--state", "given-up")) == []
    assert pooled.talk("mail", "remove", "2") == "Removed the e-mail 2.\n"
    (removed,) = json.loads(pooled.done(*LISTED, "--state", "given-up"))
    assert (removed["number"], removed["problem"]) == (2, "An administrator removed it.")
    assert pooled.talk("mail", "remove", "2") == "Removed the e-mail 2.\n"
    with sqlite_database.transaction() as session:
        session.execute(update(Mail).values(sent_at=NOW, next_at=None))
    assert "The e-mail 1 was sent already." in sentence(pooled.refused("mail", "retry", "1"))


def test_the_mail_server_is_tried_at_once(pooled: CommandLine, listener: MailListener) -> None:
    said = pooled.talk("mail", "test", "ada@example.org")
    assert said == "The mail server accepted a message for ada@example.org.\n"
    assert [one["To"] for one in listener.messages] == ["ada@example.org"]
    listener.answers["RCPT"] = ["550 not here"]
    assert "did not accept the message: 550 not here" in sentence(pooled.refused("mail", "test", "ada@example.org"))
    assert "“ada” is no e-mail address" in sentence(pooled.refused("mail", "test", "ada"))


def test_where_email_is_off_nothing_is_sent(pooled: CommandLine) -> None:
    assert "This site sends no e-mail: set ANNOTATOR_MAIL_HOST." in sentence(
        pooled.refused("mail", "test", "ada@example.org")
    )
    refused = sentence(pooled.refused("users", "invitations", "add", "--email", "nora@example.org"))
    assert "does not send this by e-mail" in refused


def test_doctor_names_what_is_missing_and_asks_the_mail_server(
    pooled: CommandLine, listener: MailListener, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> dict[str, tuple[str, str]]:
        lines = json.loads(pooled("doctor", "--format", "json").stdout)
        return {one["examined"]: (one["state"], one["found"]) for one in lines}

    at = f"127.0.0.1:{listener.port}"
    assert found()["mail server"] == ("ok", f"{at} lets the site in")
    assert found()["outbox"] == ("ok", "waiting: 0, given up: 0")
    listener.answers["CONNECT"] = ["554 not you"]
    assert found()["mail server"] == ("error", f"{at}: 554 not you")
    with sqlite_database.transaction() as session:
        for address in ("ada@example.org", "bob@example.org"):
            queue_mail(session, Recipient(address, "en"), Letter(MailKind.JOB, {}), at=NOW)
        session.execute(update(Mail).values(next_at=None, problem="550 no such mailbox"))
        session.execute(update(Mail).where(Mail.address == "bob@example.org").values(problem=LINK_CLOSED))
    assert found()["outbox"] == ("warning", "waiting: 0, given up: 2, refused or too late: 1")
    with sqlite_database.transaction() as session:
        session.execute(update(Mail).values(problem=LINK_CLOSED))
    assert found()["outbox"] == ("ok", "waiting: 0, given up: 2")
    monkeypatch.delenv("ANNOTATOR_MAIL_FROM")
    # No worker works on with half of the settings, as no server does.
    assert "ANNOTATOR_MAIL_FROM is missing" in sentence(pooled.refused("worker", "--once"))
    state, words = found()["e-mail"]
    assert (state, "ANNOTATOR_MAIL_FROM is missing" in words) == ("error", True)
    monkeypatch.delenv("ANNOTATOR_MAIL_HOST")
    assert found()["e-mail"] == ("ok", "off")
