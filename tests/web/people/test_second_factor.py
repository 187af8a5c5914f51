"""The pages of the second factor, and signing in with it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from build import PASSWORD, SLUG
from flask import Flask
from flask.testing import FlaskClient
from pyotp import TOTP
from sqlalchemy import select
from visiting import Visit, Visitor, hidden, with_database, words
from werkzeug.test import TestResponse

from annotator.storage import AuditEvent, Database
from annotator.storage.people.accounts import find_user
from annotator.web.site.context import SETTINGS
from annotator.workflows.people import accounts, invitations, second_factor, tokens
from annotator.workflows.people.throttling import Limit
from annotator.workflows.people.tokens import Scope, TokenRequest

pytestmark = pytest.mark.usefixtures("news")

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
PAGE = "/account/second-factor"
BROWSER = {"Accept": "text/html"}


@pytest.fixture
def ola(database: Database, news: str) -> int:  # noqa: ARG001 - has the account
    """The id of the organiser, who has turned on a second factor an hour ago."""
    return turned_on(database, "ola")


@pytest.fixture
def required(app: Flask) -> Iterator[None]:
    """A site that requires a second factor of organisers."""
    usual = app.extensions[SETTINGS]
    app.extensions[SETTINGS] = replace(usual, require_second_factor=True)
    yield
    app.extensions[SETTINGS] = usual


def turned_on(database: Database, name: str) -> int:
    at = datetime.now(UTC) - timedelta(hours=1)
    with database.transaction() as session:
        id_ = find_user(session, name).id
        second_factor.turn_on(session, id_, 0, SECRET, TOTP(SECRET).at(at), at=at)
    return id_


def now_code(secret: str = SECRET) -> str:
    return TOTP(secret).at(datetime.now(UTC))


def half(app: Flask, name: str = "ola", to: str = "/collections") -> tuple[FlaskClient, TestResponse]:
    """A browser in which the password was accepted, and the answer to it."""
    client = app.test_client()
    answer = client.post("/sign-in", query_string={"next": to}, data={"name": name, "password": PASSWORD})
    return client, answer


@pytest.mark.usefixtures("ola")
def test_signing_in_takes_password_and_code(app: Flask) -> None:
    client, answer = half(app, to=f"/collections/{SLUG}?x=1")
    assert answer.status_code == 303
    assert "Six digits from your app" in words(client.get(answer.location))
    done = client.post(answer.location, data={"code": now_code()})
    assert (done.status_code, done.location) == (303, f"/collections/{SLUG}?x=1")
    assert client.get(done.location).status_code == 200


@pytest.mark.usefixtures("ola")
def test_a_password_alone_opens_nothing(app: Flask) -> None:
    client, _ = half(app)
    for address in ("/collections", f"/collections/{SLUG}", "/account", PAGE, "/account/tokens", "/people"):
        answer = client.get(address)
        assert answer.status_code == 303
        assert answer.location.startswith("/sign-in?next="), address
    answer = client.post(f"{PAGE}/off", data={"password": PASSWORD, "code": now_code()})
    assert answer.location.startswith("/sign-in?next=")
    assert client.post("/account/tokens", data={"name": "x"}).location.startswith("/sign-in?next=")


@pytest.mark.usefixtures("ola")
def test_a_wrong_or_used_code_is_refused(app: Flask) -> None:
    client, _ = half(app)
    code = now_code()
    wrong = client.post("/sign-in/code", data={"code": "000000" if code != "000000" else "000001"})
    assert wrong.status_code == 422
    assert "This code is wrong, or it was used already" in words(wrong)
    assert "00000" not in wrong.text, "the field is empty for the next code"
    assert client.post("/sign-in/code", data={"code": ""}).status_code == 422
    assert client.post("/sign-in/code", data={"code": code}).status_code == 303
    other, _ = half(app)
    assert other.post("/sign-in/code", data={"code": code}).status_code == 422


@pytest.mark.usefixtures("ola")
def test_the_password_is_forgotten_after_five_minutes(app: Flask) -> None:
    client, _ = half(app)
    with client.session_transaction() as cookie:
        cookie["half_since"] -= 301
    for answer in (client.get("/sign-in/code?next=/files"), client.post("/sign-in/code?next=/files")):
        assert (answer.status_code, answer.location) == (303, "/sign-in?next=/files")
    assert "within five minutes" in words(client.get("/sign-in"))


@pytest.mark.usefixtures("ola")
def test_guessing_codes_ends_after_ten_whatever_else_is_sent(app: Flask) -> None:
    client, _ = half(app)
    statuses = [
        client.post("/sign-in/code", data={"code": "x", "name": f"guess{turn}"}).status_code for turn in range(11)
    ]
    assert statuses == [422] * 10 + [429]
    again, _ = half(app)
    assert again.post("/sign-in/code", data={"code": now_code()}).status_code == 429
    elsewhere, _ = half(app)
    right = elsewhere.post("/sign-in/code", data={"code": now_code()}, environ_base={"REMOTE_ADDR": "192.0.2.9"})
    assert right.status_code == 303


@pytest.mark.usefixtures("ola")
def test_a_crowd_of_addresses_guesses_fifty_codes_a_day(app: Flask) -> None:
    client, _ = half(app)

    def tries(turn: int) -> int:
        here = {"REMOTE_ADDR": f"192.0.2.{turn}"}
        return client.post("/sign-in/code", data={"code": "x"}, environ_base=here).status_code

    assert [tries(turn) for turn in range(51)] == [422] * 50 + [429]


@pytest.mark.parametrize("form", ["off", "codes"])
def test_the_limit_a_day_counts_codes_of_every_form(
    visit: Visit, app: Flask, database: Database, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr("annotator.web.people.throttle.OF_CODES", Limit(2, timedelta(days=1)))
    jo = visit("jo")
    signed, secret, _ = offer(jo)
    assert jo.post(PAGE, offer=signed, code=now_code(secret)).status_code == 200
    for _ in range(2):
        assert jo.post(f"{PAGE}/{form}", password=PASSWORD, code="x").status_code == 422
    assert jo.post(f"{PAGE}/{form}", password=PASSWORD, code="x").status_code == 429
    with database.transaction() as session:
        accounts.sign_out_everywhere(session, "jo", at=datetime.now(UTC))
    client, _ = half(app, "jo")
    assert client.post("/sign-in/code", data={"code": "x"}).status_code == 429


@pytest.mark.usefixtures("ola")
@pytest.mark.parametrize("how", ["reset", "sign-out"])
def test_a_password_step_that_has_lapsed_leads_to_the_sign_in_and_is_not_counted(
    app: Flask, database: Database, how: str
) -> None:
    client, _ = half(app)
    with database.transaction() as session:
        if how == "reset":
            second_factor.reset(session, "ola")
        else:
            accounts.sign_out_everywhere(session, "ola", at=datetime.now(UTC))
    for _ in range(11):
        answer = client.post("/sign-in/code?next=/files", data={"code": now_code()})
        assert (answer.status_code, answer.location) == (303, "/sign-in?next=/files")
    page = words(client.get("/sign-in"))
    assert "Sign in with name and password again: since you did, your second factor was turned off" in page
    assert "This code is wrong" not in page


def test_half_signed_in_does_not_shift_password_guesses_to_another_account(app: Flask, database: Database) -> None:
    turned_on(database, "ola")
    client, _ = half(app)
    statuses = [client.post("/sign-in", data={"name": "jo", "password": "wrong horse"}).status_code for _ in range(11)]
    assert statuses == [422] * 10 + [429]
    assert app.test_client().post("/sign-in", data={"name": "jo", "password": PASSWORD}).status_code == 429


def test_signing_in_as_somebody_with_a_second_factor_ends_the_session_of_before(
    visit: Visit, database: Database
) -> None:
    turned_on(database, "ola")
    jo = visit("jo")
    jo.post("/sign-in", name="ola", password=PASSWORD)
    assert jo.get("/collections").status_code == 303


@pytest.mark.usefixtures("ola")
def test_a_password_link_does_not_replace_the_code(app: Flask, database: Database) -> None:
    with database.transaction() as session:
        key = invitations.invite_to_password(session, None, "ola", made_by_id=None, at=datetime.now(UTC))
    client = app.test_client()
    client.get("/join", query_string={"key": key})
    new = "quaint teapots hum"
    answer = client.post("/join/password", data={"password": new, "again": new})
    assert answer.location == "/sign-in/code?next=/"
    assert client.get("/collections").status_code == 303
    assert client.post(answer.location, data={"code": now_code()}).location == "/"
    assert client.get("/collections").status_code == 200


def offer(visitor: Visitor) -> tuple[str, str, TestResponse]:
    """The signed offer, the secret and the page, after the password."""
    page = visitor.post(f"{PAGE}/begin", password=PASSWORD)
    found = re.search(r'<code translate="no">([A-Z2-7 ]+)</code>', page.text)
    assert found
    return hidden(page, "offer"), found[1].replace(" ", ""), page


def test_a_person_turns_it_on_and_off(visit: Visit, app: Flask, database: Database) -> None:
    jo, elsewhere = visit("jo"), visit("jo")
    assert "Off: your password alone" in words(jo.get("/account"))
    signed, secret, page = offer(jo)
    assert "<svg" in page.text
    assert page.headers["Cache-Control"] == "no-store"
    done = jo.post(PAGE, offer=signed, code=now_code(secret))
    assert done.status_code == 200
    codes = re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){5}", done.text)
    assert len(codes) == 10
    assert jo.get("/collections").status_code == 200
    assert elsewhere.get("/collections").status_code == 303
    assert not set(codes) & set(re.findall(r"[a-z2-7-]{29}", jo.get(PAGE).text))
    assert "On: signing in takes a code" in words(jo.get("/account"))
    client, _ = half(app, "jo")
    used = client.post("/sign-in/code", data={"code": codes[0]})
    assert used.status_code == 303
    assert "Recovery codes left: 9." in words(client.get("/account"))
    renewed = jo.post(f"{PAGE}/codes", password=PASSWORD, code=codes[1])
    new = re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){5}", renewed.text)
    assert len(new) == 10
    assert jo.post(f"{PAGE}/off", password=PASSWORD, code=codes[2]).status_code == 422
    assert jo.post(f"{PAGE}/off", password="wrong horse", code=new[0]).status_code == 403
    assert jo.post(f"{PAGE}/off", password=PASSWORD, code=new[0]).location == "/account"
    assert half(app, "jo")[1].location == "/collections"
    with database.reading() as session:
        lines = session.scalars(
            select(AuditEvent).where(AuditEvent.action.startswith("users.")).order_by(AuditEvent.id)
        ).all()
    assert [(line.action, line.subject) for line in lines] == [
        ("users.second-factor-on", "jo"),
        ("users.recovery-code", "jo"),
        ("users.recovery-codes", "jo"),
        ("users.second-factor-off", "jo"),
    ]
    told = repr([(line.subject, line.details) for line in lines])
    assert not [one for one in (secret, *codes, *new) if one in told]


def test_a_wrong_password_shows_no_secret(visit: Visit) -> None:
    answer = visit("jo").post(f"{PAGE}/begin", password="wrong horse")
    assert answer.status_code == 403
    assert "That is not your present password." in words(answer)
    assert "svg" not in answer.text.partition("<main")[2]


def test_a_wrong_first_code_keeps_the_qr_code(visit: Visit) -> None:
    jo = visit("jo")
    signed, secret, _ = offer(jo)
    wrong = jo.post(PAGE, offer=signed, code="12345")
    assert wrong.status_code == 422
    assert "This is not the code that the app shows now." in words(wrong)
    assert hidden(wrong, "offer") == signed
    assert jo.post(PAGE, offer=signed, code="").status_code == 422
    assert jo.post(PAGE, offer=signed, code=now_code(secret)).status_code == 200


def test_only_the_secret_that_this_person_was_shown_is_accepted(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    jo, kim = visit("jo"), visit("kim")
    signed, secret, _ = offer(jo)
    for forged in ("", signed[:-5] + ("A" if signed[-5] != "A" else "B") + signed[-4:], "é.x"):
        answer = jo.post(PAGE, offer=forged, code=now_code(secret))
        assert answer.status_code == 422
        assert "shown too long ago" in words(answer)
    assert kim.post(PAGE, offer=signed, code=now_code(secret)).status_code == 422
    monkeypatch.setattr("annotator.web.people.second_factor.MOST_SECONDS", -1)
    assert jo.post(PAGE, offer=signed, code=now_code(secret)).status_code == 422


def test_two_tabs_turn_on_one_second_factor(visit: Visit) -> None:
    jo = visit("jo")
    first, secret, _ = offer(jo)
    second, other, _ = offer(jo)
    assert jo.post(PAGE, offer=first, code=now_code(secret)).status_code == 200
    late = jo.post(PAGE, offer=second, code=now_code(other))
    assert late.status_code == 422  # shown to the session of before
    assert "On since" in words(late)
    assert jo.post(f"{PAGE}/begin", password=PASSWORD, code="x").status_code == 409


def test_nothing_is_turned_off_that_is_off(visit: Visit) -> None:
    jo = visit("jo")
    for form in ("off", "codes"):
        answer = jo.post(f"{PAGE}/{form}", password=PASSWORD, code="123456")
        assert answer.status_code == 409
        assert "Your second factor is off." in words(answer)


@pytest.mark.usefixtures("ola")
def test_an_administrator_resets_it(visit: Visit, app: Flask) -> None:
    admin = visit("ada")
    assert admin.post("/people/second-factor", account="ola").location == "/people"
    assert half(app)[1].location == "/collections"
    again = admin.post("/people/second-factor", account="ola")
    assert again.status_code == 409
    assert "“ola” has no second factor." in words(again)
    assert visit("jo").post("/people/second-factor", account="ola").status_code == 403


@pytest.mark.usefixtures("ola")
def test_tokens_of_programs_take_no_code(app: Flask, database: Database) -> None:
    with database.transaction() as session:
        token = tokens.make_token(session, "ola", TokenRequest("script", [Scope.READ]), at=datetime.now(UTC))
    headers = {"Authorization": f"Bearer {token}"}
    assert app.test_client().get(f"/api/v1/collections/{SLUG}", headers=headers).status_code == 200


@pytest.mark.usefixtures("required")
def test_a_required_second_factor_comes_first_for_organisers(visit: Visit) -> None:
    ola = visit("ola")
    answer = ola.get(f"/collections/{SLUG}/settings?x=1", headers=BROWSER)
    assert answer.status_code == 303
    assert answer.location == f"{PAGE}?next=/collections/{SLUG}/settings?x%3D1"
    assert "This site requires a second factor" in words(ola.get(answer.location))
    refused = ola.post(f"/collections/{SLUG}/close")
    assert refused.status_code == 403
    assert "Nothing was stored: this site requires a second factor" in words(refused)
    for address in ("/account", "/account/tokens", "/collections", f"/collections/{SLUG}"):
        assert ola.get(address, headers=BROWSER).status_code == 303, address
    signed, secret, _ = offer(ola)
    done = ola.post(f"{PAGE}?next=/collections/{SLUG}/settings", offer=signed, code=now_code(secret))
    assert f'href="/collections/{SLUG}/settings"' in done.text
    assert ola.get(f"/collections/{SLUG}/settings").status_code == 200


@pytest.mark.usefixtures("required")
def test_a_required_second_factor_leaves_judges_alone(visit: Visit, app: Flask, database: Database) -> None:
    assert visit("jo").get(f"/collections/{SLUG}/judge").status_code == 200
    assert visit(None).get("/sign-in").status_code == 200
    ola = visit("ola")
    assert ola.post("/sign-out").status_code == 303
    with database.transaction() as session:
        token = tokens.make_token(session, "ola", TokenRequest("script", [Scope.READ]), at=datetime.now(UTC))
    headers = {"Authorization": f"Bearer {token}"}
    assert app.test_client().get(f"/api/v1/collections/{SLUG}", headers=headers).status_code == 200


@pytest.mark.usefixtures("required")
def test_a_required_second_factor_leaves_programs_and_public_pages_alone(visit: Visit, database: Database) -> None:
    ola = visit("ola")
    with database.transaction() as session:
        token = tokens.make_token(session, "ola", TokenRequest("script", [Scope.READ]), at=datetime.now(UTC))
    headers = {"Authorization": f"Bearer {token}"}
    assert ola.client.get(f"/api/v1/collections/{SLUG}", headers=headers).status_code == 200
    assert ola.client.get(f"/api/v1/collections/{SLUG}", headers={**headers, **BROWSER}).status_code == 200
    for page in (f"/tasks/{SLUG}", f"/tasks/{SLUG}/leaderboard"):
        assert ola.get(page, headers=BROWSER).status_code == 404  # nothing is public
    for page in ("/health", "/ready"):
        assert ola.get(page, headers=BROWSER).status_code == 200


@pytest.mark.usefixtures("required")
def test_the_judging_screen_of_an_organiser_hears_that_it_is_signed_out(visit: Visit) -> None:
    answer = visit("ola").client.post(f"/collections/{SLUG}/judge/topics/1/acts", json={"acts": []})
    assert answer.status_code == 401
    assert answer.json is not None
    assert "second factor" in answer.json["sentence"]


def test_a_form_in_another_tab_stays_valid(visit: Visit, app: Flask, database: Database) -> None:
    with_database(app, database, csrf=True)
    jo = visit("jo")
    before = hidden(jo.get(PAGE), "csrf_token")
    page = jo.client.post(f"{PAGE}/begin", data={"csrf_token": before, "password": PASSWORD})
    found = re.search(r'<code translate="no">([A-Z2-7 ]+)</code>', page.text)
    assert found
    fields = {"csrf_token": before, "offer": hidden(page, "offer"), "code": now_code(found[1].replace(" ", ""))}
    assert jo.client.post(PAGE, data=fields).status_code == 200
    again = jo.client.post(f"{PAGE}/off", data={"csrf_token": before, "password": PASSWORD, "code": "1"})
    assert again.status_code == 422  # the code is wrong, the form is not stale
