"""The pages of e-mail: an address of one's own, a forgotten password, an invitation that is sent."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from build import NOW, PASSWORD, SLUG
from flask import Flask
from mail_server import MailListener
from sqlalchemy import select
from visiting import Visit, words

from annotator.settings import Settings
from annotator.storage import Database, EmailAddress, Invitation, Mail, MailKind, SecondFactor
from annotator.storage.people.accounts import find_user
from annotator.storage.site.mail import DueMail
from annotator.storage.tables.mail import CHOSEN_BY_PEOPLE
from annotator.web.people.mail_texts import TEXTS, words_of
from annotator.web.site.context import SETTINGS
from annotator.worker.answering import Answering
from annotator.worker.mailing import Mailing

pytestmark = pytest.mark.usefixtures("news")

SITE = "https://pool.example.org"
NORA = "nora@example.org"
N = f"/collections/{SLUG}"
NEW_PASSWORD = "seventeen green umbrellas"
NEW = {"password": NEW_PASSWORD, "again": NEW_PASSWORD}
FORGOTTEN = "a link is on its way to it"


@pytest.fixture
def listener() -> Iterator[MailListener]:
    made = MailListener()
    yield made
    made.close()


@pytest.fixture
def on(app: Flask, listener: MailListener, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The site sends e-mail to the listener."""
    settings: Settings = replace(
        app.extensions[SETTINGS],
        site_address=SITE,
        mail_host="127.0.0.1",
        mail_port=listener.port,
        mail_tls="none",
        mail_from="pool@example.org",
    )
    monkeypatch.setitem(app.extensions, SETTINGS, settings)
    return settings


def deliver(database: Database, settings: Settings) -> None:
    """Send what waits, as the worker does, with its texts."""
    url = database.engine.url.render_as_string(hide_password=False)
    answering = Answering(replace(settings, database_url=url))
    mailing = Mailing(database, settings, answering.words_of)
    while mailing.step():
        pass
    answering.database.close()


def link_in(listener: MailListener) -> str:
    """The link of the newest e-mail, as a path."""
    lines = str(listener.messages[-1].get_content()).splitlines()
    (line,) = [line for line in lines if "?key=" in line]
    assert line.startswith(SITE)
    return line.removeprefix(SITE)


def with_address(database: Database, name: str = "jo", language: str = "en") -> None:
    with database.transaction() as session:
        user_id = find_user(session, name).id
        session.add(EmailAddress(user_id=user_id, address=NORA, language=language, unwanted=""))


def waiting(database: Database) -> list[tuple[str, str]]:
    with database.reading() as session:
        return [(one.kind, one.address) for one in session.scalars(select(Mail).order_by(Mail.id))]


def test_an_address_is_confirmed_through_the_link_in_the_email(
    visit: Visit, database: Database, on: Settings, listener: MailListener
) -> None:
    jo = visit("jo")
    assert "With an e-mail address you can choose a new password" in words(jo.get("/account"))
    sent = jo.post("/account/email", address=NORA, password=PASSWORD)
    assert sent.status_code == 303
    assert f"{NORA} waits for its confirmation" in words(jo.get("/account/email"))
    deliver(database, on)
    text = listener.messages[-1].get_content()
    # The owner of the address may not be the owner of the account.
    assert not [line for line in text.splitlines() if "jo" in line and "?key=" not in line]
    link = link_in(listener)
    assert "waits for its confirmation" in words(visit("jo").get("/account/email"))
    page = jo.get(link)
    assert "becomes that of your account, jo" in words(page)
    # Programs that look into e-mails open links and press no buttons.
    assert "Your e-mail address is" not in words(jo.get("/account/email"))
    key = link.partition("?key=")[2]
    assert visit("kim").post("/account/email/confirm", key=key).status_code == 422
    assert jo.post("/account/email/confirm", key=key).location == "/account/email"
    assert f"Your e-mail address is {NORA}." in words(jo.get("/account"))
    assert "was used already" in words(jo.post("/account/email/confirm", key=key))


def test_the_address_is_changed_only_with_the_password(visit: Visit, database: Database, on: Settings) -> None:
    assert on.sends_mail
    page = visit("jo").post("/account/email", address=NORA, password="not mine")
    assert page.status_code == 403
    page = visit("jo").post("/account/email", address="jo", password=PASSWORD)
    assert (page.status_code, "“jo” is no e-mail address" in words(page)) == (422, True)
    assert waiting(database) == []


def test_a_person_chooses_language_and_kinds_and_removes_the_address(
    visit: Visit, database: Database, on: Settings
) -> None:
    assert on.sends_mail
    with_address(database)
    jo = visit("jo")
    assert jo.post("/account/email/choice", language="ko", receipts="y").status_code == 303
    with database.reading() as session:
        email = session.scalars(select(EmailAddress)).one()
        assert (email.language, email.unwanted) == ("ko", "reminders jobs answers")
    assert jo.post("/account/email/choice", language="xx").status_code == 422
    assert jo.post("/account/email/remove").status_code == 303
    assert "You have no e-mail address here." in words(jo.get("/account/email"))


def test_who_forgot_the_password_chooses_another_by_the_link_and_is_still_asked_for_the_code(
    visit: Visit, database: Database, on: Settings, listener: MailListener
) -> None:
    with_address(database, language="ko")
    with database.transaction() as session:
        jo = find_user(session, "jo").id
        session.add(SecondFactor(user_id=jo, secret="GEZDGNBVGY3TQOJQ", last_step=0, added_at=NOW))
    before, guest = visit("jo"), visit(None)
    assert "Forgot your password?" in words(guest.get("/sign-in"))
    assert guest.get("/forgotten-password").status_code == 200
    answer = guest.post("/forgotten-password", name="jo")
    assert answer.location == "/sign-in"
    assert FORGOTTEN in words(guest.get("/sign-in"))
    deliver(database, on)
    assert listener.messages[-1]["Subject"] == "새 비밀번호"
    assert guest.get(link_in(listener)).location == "/join"
    assert guest.post("/join/password", **NEW).location.startswith("/sign-in/code")
    # As every new password does.
    assert before.get("/account").status_code == 303
    assert guest.get(link_in(listener), follow_redirects=True).status_code == 404


@pytest.mark.parametrize("written", ["jo", NORA, "kim", "nobody", "nobody@example.org"])
def test_the_answer_is_the_same_whether_or_not_there_is_such_an_account(
    visit: Visit, database: Database, on: Settings, written: str
) -> None:
    assert on.sends_mail
    with_address(database)
    guest = visit(None)
    answer = guest.post("/forgotten-password", name=written)
    page = guest.get("/sign-in")
    assert (answer.status_code, answer.location, FORGOTTEN in words(page)) == (303, "/sign-in", True)
    assert written not in words(page).replace("join", "")
    assert len(waiting(database)) == (written in {"jo", NORA})


def test_asking_for_links_again_and_again_is_stopped(visit: Visit, on: Settings) -> None:
    assert on.sends_mail
    guest = visit(None)
    statuses = [guest.post("/forgotten-password", name="nobody").status_code for _ in range(11)]
    assert statuses == [303] * 10 + [429]


def test_nothing_is_offered_where_email_is_off(visit: Visit, database: Database) -> None:
    guest, ola = visit(None), visit("ola")
    assert "Forgot your password?" not in words(guest.get("/sign-in"))
    assert "does not send this by e-mail" in words(guest.get("/forgotten-password"))
    assert "E-mail" not in words(ola.get("/account"))
    assert "Send it to this e-mail address" not in words(ola.get(f"{N}/invitations"))
    page = ola.post(f"{N}/invitations", role="judge", team="", note="", days=14, email=NORA, language="en")
    assert (page.status_code, "does not send this by e-mail" in words(page)) == (403, True)
    assert waiting(database) == []


def test_an_invitation_is_sent_and_its_link_is_shown_as_well(
    visit: Visit, database: Database, on: Settings, listener: MailListener
) -> None:
    ola = visit("ola")
    page = ola.post(f"{N}/invitations", role="judge", team="", note="Nora", days=14, email=NORA, language="en")
    assert "/join?key=" in page.text
    assert "the e-mail waits to be sent" in words(page)
    deliver(database, on)
    (message,) = listener.messages
    assert (message["To"], message["Subject"]) == (NORA, "Invitation to “News search”")
    text = message.get_content()
    assert "You are invited to “News search”. Your role: judge." in " ".join(text.split())
    assert "ola" not in text
    assert "sent by e-mail" in words(ola.get(f"{N}/invitations"))
    guest = visit(None)
    assert guest.get(link_in(listener)).location == "/join"
    assert guest.post("/join/account", name="nora", **NEW).status_code == 303


def test_an_invitation_that_is_withdrawn_first_is_not_sent(
    visit: Visit, database: Database, on: Settings, listener: MailListener
) -> None:
    ada = visit("ada")
    ada.post("/people/invitations", note="", days=14, email=NORA, language="ko")
    with database.reading() as session:
        number = session.scalars(select(Invitation.id)).one()
    ada.post("/people/invitations/withdraw", number=number)
    deliver(database, on)
    assert listener.messages == []
    assert "the e-mail was not sent: The link in it was used or withdrawn." in words(ada.get("/people/invitations"))


EVERY_CONTENT: dict[MailKind, dict[str, object]] = {
    MailKind.INVITATION: {"title": None, "role": None, "path": "/join?key=k", "until": NOW.isoformat()},
    MailKind.PASSWORD: {"name": "jo", "path": "/join?key=k", "until": "2027-03-02T08:30:00+09:00"},
    MailKind.CONFIRMATION: {"path": "/account/email/confirm?key=k", "until": NOW.isoformat()},
    MailKind.RECEIPT: {
        "title": "News",
        "slug": "news",
        "at": NOW.isoformat(),
        "runs": [{"tag": f"t{number}", "version": 1, "team": "red", "sha256": "0" * 64} for number in range(52)],
    },
    MailKind.REMINDER: {"title": "News %s", "slug": "news", "deadline": "2027-03-01 09:00 UTC"},
    MailKind.JOB: {"title": None, "slug": None, "job": 7, "is_done": False},
    MailKind.ANSWER: {"title": "News %s", "slug": "news", "about": "announcement", "number": 7, "subject": "50 %s"},
    MailKind.NOTICE: {"what": "password-changed", "name": "jo", "at": NOW.isoformat()},
}
EXPECTED = {
    MailKind.INVITATION: "You are invited to create an account.",
    MailKind.PASSWORD: "for the account “jo”. Choose it here; the link works once, until 2027-03-01 23:30 UTC:",
    MailKind.CONFIRMATION: f"{SITE}/account/email/confirm?key=k",
    MailKind.RECEIPT: "Number of runs: 52.",
    MailKind.REMINDER: "Runs for “News %s” can be sent until 2027-03-01 09:00 UTC.",
    MailKind.JOB: f"{SITE}/jobs/7",
    MailKind.ANSWER: f"“News %s” announce: 50 %s\n\nRead it here: {SITE}/collections/news/announcements",
    MailKind.NOTICE: "The account “jo” has a new password since 2026-03-01 09:00 UTC.",
}


@pytest.mark.parametrize("kind", list(MailKind))
def test_every_kind_has_its_text_in_both_languages(app: Flask, kind: MailKind) -> None:
    assert set(TEXTS) == set(MailKind)
    texts = []
    for language in ("en", "ko"):
        due = DueMail(1, 1, "id", kind, NORA, language, EVERY_CONTENT[kind], NOW)
        with app.app_context():
            texts.append(words_of(due, SITE))
    (subject, english), (other_subject, korean) = texts
    assert EXPECTED[kind] in english
    assert ("and 2 more" in english) == (kind is MailKind.RECEIPT)
    assert subject != other_subject
    assert english != korean
    # Only what a person can turn off says so.
    assert (f"{SITE}/account\n" in english) == (kind in CHOSEN_BY_PEOPLE)
