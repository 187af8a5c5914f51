"""Signing in and out, one's password, and the session between."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from build import NOW, PASSWORD, SECRET_KEY, SLUG
from flask import Flask
from sqlalchemy import func, select
from visiting import Visit, hidden, words

from annotator import passwords
from annotator.app import create_app, wsgi
from annotator.errors import InvalidValueError
from annotator.passwords import KNOWN_PASSWORD, hash_known_password
from annotator.settings import Settings
from annotator.storage import Assignment, AssignmentState, Database
from annotator.web.site.addresses import local_path
from annotator.web.site.context import SETTINGS
from annotator.web.site.sessions import marks
from annotator.workflows.people import accounts, tokens
from annotator.workflows.people.tokens import Scope, TokenRequest

pytestmark = pytest.mark.usefixtures("news")


def test_name_and_password_lead_to_the_collections(visit: Visit) -> None:
    browser = visit(None)
    answer = browser.post("/sign-in", name="jo", password=PASSWORD)
    assert (answer.status_code, answer.location) == (303, "/")
    page = browser.client.get("/", follow_redirects=True)
    assert "News search" in words(page)


@pytest.mark.parametrize(("name", "password"), [("jo", "wrong horse"), ("nobody", PASSWORD)])
def test_a_wrong_name_and_a_wrong_password_get_the_same_answer(visit: Visit, name: str, password: str) -> None:
    answer = visit(None).post("/sign-in", name=name, password=password)
    assert answer.status_code == 422
    assert "Wrong name or password." in words(answer)


def test_a_guest_comes_back_to_the_page_they_wanted(visit: Visit) -> None:
    guest = visit(None)
    sent_away = guest.get(f"/collections/{SLUG}/judge?x=1")
    assert sent_away.status_code == 303
    answer = guest.client.post(sent_away.location, data={"name": "jo", "password": PASSWORD})
    assert answer.location == f"/collections/{SLUG}/judge?x=1"


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "\\evil",
        "/\n/evil",
        "/\t/evil",
        "javascript:x",
    ],
)
def test_a_sign_in_never_leads_to_another_site(visit: Visit, address: str) -> None:
    assert local_path(address) is None
    answer = visit(None).client.post(
        "/sign-in", query_string={"next": address}, data={"name": "jo", "password": PASSWORD}
    )
    assert (answer.status_code, answer.location) == (303, "/")


def test_signing_out_ends_the_session_and_gives_back_what_was_held(visit: Visit, database: Database) -> None:
    jo = visit("jo")
    jo.get(f"/collections/{SLUG}/judge/topics/1")
    assert jo.post("/sign-out").status_code == 303
    assert jo.get("/collections").status_code == 303
    live = select(func.count()).select_from(Assignment).where(Assignment.state == AssignmentState.LIVE)
    with database.reading() as session:
        assert session.scalars(live).one() == 0


def test_a_new_password_ends_the_sessions_of_other_browsers_only(visit: Visit) -> None:
    here, elsewhere = visit("jo"), visit("jo")
    fields = {"old_password": PASSWORD, "new_password": "a better horse", "again": "a better horse"}
    answer = here.client.post("/account", data=fields, follow_redirects=True)
    assert "Your password has changed." in words(answer)
    assert here.get("/collections").status_code == 200
    assert elsewhere.get("/collections").status_code == 303
    assert visit(None).post("/sign-in", name="jo", password="a better horse").status_code == 303


def test_a_new_password_revokes_the_tokens_on_request(visit: Visit, database: Database) -> None:
    with database.transaction() as session:
        tokens.make_token(session, "jo", TokenRequest("a program", [Scope.READ]), at=NOW)
    here = visit("jo")
    assert "Otherwise programs can still use your tokens" in words(here.get("/account"))
    fields = {"old_password": PASSWORD, "new_password": "a better horse", "again": "a better horse", "end_tokens": "y"}
    answer = here.client.post("/account", data=fields, follow_redirects=True)
    assert "Your tokens are revoked." in words(answer)
    with database.reading() as session:
        assert [row.in_force for row in tokens.list_tokens(session, "jo", now=NOW)] == [False]


@pytest.mark.parametrize(
    ("old", "new", "again", "status", "sentence"),
    [
        ("wrong horse", "a better horse", "a better horse", 403, "That is not your present password."),
        (PASSWORD, "short", "short", 422, "A password has between 8 and 256 characters."),
        (PASSWORD, "a better horse", "another horse", 422, "The two new passwords differ."),
    ],
)
def test_a_password_that_cannot_be_changed_says_why(
    visit: Visit, old: str, new: str, again: str, status: int, sentence: str
) -> None:
    answer = visit("jo").post("/account", old_password=old, new_password=new, again=again)
    assert answer.status_code == status
    assert sentence in words(answer)


@pytest.mark.parametrize("identity", ["", "1", "x:y", "1:7", "99:0", "-1:0"])
def test_a_session_that_names_nobody_is_a_guests(app: Flask, identity: str) -> None:
    client = app.test_client()
    with client.session_transaction() as cookie:
        cookie["_user_id"] = identity
        cookie.update(marks(datetime.now(UTC)))
    assert client.get("/collections").status_code == 303


def test_a_form_without_its_token_is_refused_and_one_with_it_is_taken(app: Flask, visit: Visit) -> None:
    app.config["WTF_CSRF_ENABLED"] = True
    guest = visit(None)
    refused = guest.post("/language", language="ko")
    assert refused.status_code == 400
    assert "This form cannot be accepted" in words(refused)
    # Signing in without it is no sign-in, and is asked for again.
    again = guest.post("/sign-in", name="jo", password=PASSWORD)
    assert (again.status_code, again.headers["Location"]) == (303, "/sign-in")
    assert guest.get("/account").headers["Location"].startswith("/sign-in")
    token = hidden(guest.get("/sign-in"), "csrf_token")
    assert guest.post("/sign-in", name="jo", password=PASSWORD, csrf_token=token).status_code == 303


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(visit: Visit) -> None:
    cookie = visit(None).post("/sign-in", name="jo", password=PASSWORD).headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def test_there_is_no_server_without_a_secret_key(sqlite_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidValueError, match="ANNOTATOR_SECRET_KEY is missing"):
        create_app(Settings(), sqlite_database)
    monkeypatch.delenv("ANNOTATOR_SECRET_KEY", raising=False)
    with pytest.raises(InvalidValueError, match="ANNOTATOR_SECRET_KEY is missing"):
        wsgi()


def test_a_server_sets_the_application_up_from_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOTATOR_SECRET_KEY", SECRET_KEY)
    monkeypatch.setenv("ANNOTATOR_DATABASE_URL", "sqlite://")
    monkeypatch.setenv("ANNOTATOR_UPLOAD_LIMIT_MB", "3")
    monkeypatch.setenv("ANNOTATOR_SECURE_COOKIES", "1")
    app = wsgi()
    assert app.config["MAX_CONTENT_LENGTH"] == 3 << 20
    assert app.config["SESSION_COOKIE_SECURE"] is True
    assert "Secure" in app.test_client().get("/sign-in").headers["Set-Cookie"]


def test_the_password_of_the_demonstration_opens_nothing_else(app: Flask, database: Database, visit: Visit) -> None:
    with database.transaction() as session:
        accounts.set_password(session, "jo", hash_known_password(KNOWN_PASSWORD), at=NOW)
    refused = visit(None).post("/sign-in", name="jo", password=KNOWN_PASSWORD)
    assert refused.status_code == 403
    assert "This is the password of the demonstration" in words(refused)
    present = app.extensions[SETTINGS]
    app.extensions[SETTINGS] = replace(present, demonstration=True)
    assert visit(None).post("/sign-in", name="jo", password=KNOWN_PASSWORD).status_code == 303
    app.extensions[SETTINGS] = present


@pytest.mark.parametrize("name", ["jo", "nobody"])
def test_a_name_that_nobody_has_is_looked_into_as_long(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    looked: list[str] = []

    def check(password_hash: str, _password: str) -> bool:
        looked.append(password_hash)
        return False

    monkeypatch.setattr(passwords, "check_password_hash", check)
    assert visit(None).post("/sign-in", name=name, password="wrong horse").status_code == 422
    assert len(looked) == 1
