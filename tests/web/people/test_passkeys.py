"""The pages of passkeys, and signing in with them."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from build import PASSWORD, SLUG
from flask import Flask
from flask.testing import FlaskClient
from passkey_device import Device
from sqlalchemy import select
from sqlalchemy.orm import Session
from visiting import Visit, Visitor, with_database, words
from werkzeug.test import TestResponse

from annotator.storage import AuditEvent, Database, Passkey
from annotator.web.people.passkey_session import Asked, take_asked
from annotator.web.site.context import SETTINGS
from annotator.workflows.people import accounts, erasure, passkeys
from annotator.workflows.people.throttling import Limit

pytestmark = pytest.mark.usefixtures("news")

PAGE = "/account/passkeys"


def local_device(*, counts: bool = True) -> Device:
    """A device that makes its passkey for the host of these tests."""
    return Device("http://localhost", "localhost", counts=counts)


@pytest.fixture
def site(app: Flask) -> Iterator[Callable[..., None]]:
    """A function that gives the site other settings for this test."""
    usual = app.extensions[SETTINGS]

    def change(**settings: object) -> None:
        app.extensions[SETTINGS] = replace(usual, **settings)

    yield change
    app.extensions[SETTINGS] = usual


@pytest.fixture
def device() -> Device:
    return local_device()


def offered(page: TestResponse) -> dict[str, Any]:
    """What the page lets the browser ask for."""
    found = re.search(r'data-options="([^"]*)"', page.text)
    assert found, words(page)
    options: dict[str, Any] = json.loads(unescape(found[1]))
    return options


def add(visitor: Visitor, device: Device, name: str = "laptop", **factor: str) -> TestResponse:
    page = visitor.post(f"{PAGE}/begin", name=name, password=PASSWORD, **factor)
    return visitor.post(PAGE, passkey=device.create(offered(page)))


def ask(client: FlaskClient, purpose: str) -> dict[str, Any]:
    answer = client.post("/sign-in/passkey/options", data={"purpose": purpose})
    assert answer.status_code == 200, answer.text
    assert answer.json is not None
    options: dict[str, Any] = answer.json
    return options


def half(app: Flask, name: str = "jo") -> FlaskClient:
    """A browser in which the password was accepted."""
    client = app.test_client()
    assert client.post("/sign-in", data={"name": name, "password": PASSWORD}).location.startswith("/sign-in/code")
    return client


def actions(database: Database) -> list[tuple[str, str]]:
    with database.reading() as session:
        lines = session.scalars(select(AuditEvent).where(AuditEvent.action.contains("passkey")).order_by(AuditEvent.id))
        return [(line.action, line.subject) for line in lines]


def test_a_person_adds_renames_and_removes_passkeys(visit: Visit, device: Device, database: Database) -> None:
    jo, elsewhere = visit("jo"), visit("jo")
    done = add(jo, device)
    codes = re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){5}", done.text)
    assert len(codes) == 10
    assert done.headers["Cache-Control"] == "no-store"
    assert elsewhere.get("/collections").status_code == 303
    assert jo.get("/collections").status_code == 200
    assert add(jo, local_device(), "phone", passkey=device.get(ask(jo.client, "factor"))).location == PAGE
    page = jo.get(PAGE)
    assert "laptop" in words(page)
    assert "phone" in words(page)
    assert "signs in without the password; for localhost" in words(page)
    assert not re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){5}", page.text)
    assert "takes a passkey or a recovery code" in words(jo.get("/account"))
    numbers = re.findall(r'name="number"[^>]*value="(\d+)"', page.text)
    assert jo.post(f"{PAGE}/rename", number=numbers[0], name="desk").location == PAGE
    assert "desk" in words(jo.get(PAGE))
    assert jo.post(f"{PAGE}/rename", number=999, name="desk").status_code == 422
    wrong = jo.post(f"{PAGE}/remove", number=numbers[0], password="wrong horse", code=codes[0])
    assert wrong.status_code == 403
    assert jo.post(f"{PAGE}/remove", number=numbers[0], password=PASSWORD).status_code == 422
    signed = device.get(ask(jo.client, "factor"))
    done = jo.post(f"{PAGE}/remove", number=numbers[0], password=PASSWORD, passkey=signed)
    assert (done.status_code, done.location) == (303, PAGE)
    assert jo.post(f"{PAGE}/remove", number=numbers[1], password=PASSWORD, code=codes[1]).location == PAGE
    assert "Off: your password alone" in words(jo.get("/account"))
    assert actions(database) == [
        ("users.passkey-add", "jo"),
        ("users.passkey-add", "jo"),
        ("users.passkey-rename", "jo"),
        ("users.passkey-remove", "jo"),
        ("users.passkey-remove", "jo"),
    ]


def test_another_passkey_or_app_takes_the_present_factor(visit: Visit, device: Device) -> None:
    jo = visit("jo")
    assert 'id="add-code"' not in jo.get(PAGE).text
    codes = re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){5}", add(jo, device).text)
    assert 'id="add-code"' in jo.get(PAGE).text
    for page, name in ((PAGE, {"name": "thief"}), ("/account/second-factor", {})):
        without = jo.post(f"{page}/begin", password=PASSWORD, **name)
        wrong = jo.post(f"{page}/begin", password=PASSWORD, code="123456", **name)
        assert (without.status_code, wrong.status_code) == (422, 422)
        assert "This code is wrong" in words(wrong)
        assert "data-options" not in without.text + wrong.text
        assert "otpauth" not in without.text + wrong.text
        right = jo.post(f"{page}/begin", password=PASSWORD, code=codes.pop(), **name)
        assert right.status_code == 200


def test_wrong_codes_for_another_factor_count_for_the_day(
    visit: Visit, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.web.people.throttle.OF_CODES", Limit(2, timedelta(days=1)))
    jo = visit("jo")
    add(jo, device)
    tries = (f"{PAGE}/begin", "/account/second-factor/begin", f"{PAGE}/begin")
    assert [jo.post(one, name="x", password=PASSWORD, code="1").status_code for one in tries] == [422, 422, 429]


@pytest.mark.parametrize("what", ["signed out", "erased"])
def test_a_session_that_ends_while_the_passkey_is_checked_stays_ended(
    visit: Visit, device: Device, database: Database, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    jo = visit("jo")
    options = offered(jo.post(f"{PAGE}/begin", name="laptop", password=PASSWORD))
    taken = take_asked

    def ends_meanwhile(purpose: str) -> Asked:
        with database.transaction() as session:
            if what == "erased":
                erasure.forget_user(session, "jo")
            else:
                accounts.sign_out_everywhere(session, "jo", at=datetime.now(UTC))
        return taken(purpose)

    monkeypatch.setattr("annotator.web.people.passkeys.take_asked", ends_meanwhile)
    assert jo.post(PAGE, passkey=device.create(options)).status_code == 409
    assert jo.get("/collections").status_code == 303
    with database.reading() as session:
        assert session.scalars(select(Passkey)).all() == []


def test_a_wrong_password_or_name_shows_no_button(visit: Visit) -> None:
    jo = visit("jo")
    refused = jo.post(f"{PAGE}/begin", name="laptop", password="wrong horse")
    assert refused.status_code == 403
    assert "data-options" not in refused.text
    assert jo.post(f"{PAGE}/begin", name="x" * 65, password=PASSWORD).status_code == 422
    assert jo.post(f"{PAGE}/begin", name="", password=PASSWORD).status_code == 422


def test_a_new_passkey_is_of_the_session_that_asked_and_asked_once(
    visit: Visit, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    jo, kim = visit("jo"), visit("kim")
    options = offered(jo.post(f"{PAGE}/begin", name="laptop", password=PASSWORD))
    response = device.create(options)
    assert [one.post(PAGE, passkey=response).status_code for one in (kim, jo, jo)] == [422, 200, 422]
    assert "asked for in another tab, or more than five minutes ago" in words(jo.post(PAGE, passkey="x"))
    monkeypatch.setattr("annotator.web.people.passkey_session.LONGEST", timedelta(seconds=-1))
    answer = add(kim, local_device())
    assert answer.status_code == 422
    assert "more than five minutes ago" in words(answer)


def test_the_same_passkey_is_refused_the_second_time(visit: Visit, device: Device) -> None:
    add(visit("jo"), device)
    again = add(visit("kim"), device)
    assert again.status_code == 409
    assert "This passkey was added already." in words(again)


def test_the_password_and_a_passkey_sign_in(app: Flask, visit: Visit, device: Device) -> None:
    add(visit("jo"), device)
    client = half(app)
    assert client.get("/collections").status_code == 303
    page = client.get("/sign-in/code")
    assert "Use a passkey" in words(page)
    done = client.post("/sign-in/code?next=/files", data={"passkey": device.get(ask(client, "factor"))})
    assert (done.status_code, done.location) == (303, "/files")
    assert client.get("/files").status_code == 200


def test_a_recovery_code_signs_in_without_the_passkey(app: Flask, visit: Visit, device: Device) -> None:
    codes = re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){5}", add(visit("jo"), device).text)
    client = half(app)
    assert client.post("/sign-in/code", data={"code": "123456"}).status_code == 422
    assert client.post("/sign-in/code", data={"code": codes[0]}).status_code == 303
    assert "Recovery codes left: 9." in words(client.get("/account"))


def test_a_passkey_alone_signs_in_and_ends_the_session_of_before(app: Flask, visit: Visit, device: Device) -> None:
    add(visit("jo"), device)
    client = app.test_client()
    assert "Sign in with a passkey" in words(client.get("/sign-in"))
    signed = device.get(ask(client, "alone"))
    done = client.post("/sign-in/passkey?next=/files", data={"passkey": signed})
    assert (done.status_code, done.location) == (303, "/files")
    assert "You are signed in as jo" in words(client.get("/account"))
    kim = visit("kim")
    copied = kim.client.get_cookie("annotator_session")
    done = kim.post("/sign-in/passkey", passkey=device.get(ask(kim.client, "alone")))
    assert done.status_code == 303
    assert "You are signed in as jo" in words(kim.get("/account"))
    assert copied is not None
    kim.client.set_cookie("annotator_session", copied.value)
    assert kim.get("/account").status_code == 303


def test_a_response_and_its_cookie_open_nothing_a_second_time(app: Flask, visit: Visit) -> None:
    device = local_device(counts=False)
    add(visit("jo"), device)
    client = app.test_client()
    signed = device.get(ask(client, "alone"))
    cookie = client.get_cookie("annotator_session")
    assert cookie is not None
    assert client.post("/sign-in/passkey", data={"passkey": signed}).status_code == 303
    thief = app.test_client()
    thief.set_cookie("annotator_session", cookie.value)
    again = thief.post("/sign-in/passkey", data={"passkey": signed})
    assert again.status_code == 422
    assert "was accepted already" in words(again)
    other = app.test_client()
    assert other.post("/sign-in/passkey", data={"passkey": signed}).status_code == 422, "another browser did not ask"


def test_what_was_asked_after_the_password_does_not_sign_in_alone(app: Flask, visit: Visit, device: Device) -> None:
    add(visit("jo"), device)
    client = half(app)
    signed = device.get(ask(client, "factor"))
    assert client.post("/sign-in/passkey", data={"passkey": signed}).status_code == 422
    signed = device.get(ask(client, "alone"))
    assert client.post("/sign-in/code", data={"passkey": signed}).status_code == 422


def test_a_copy_of_a_passkey_is_refused_and_noted(app: Flask, visit: Visit, device: Device, database: Database) -> None:
    add(visit("jo"), device)
    client = app.test_client()
    device.count = 5
    assert client.post("/sign-in/passkey", data={"passkey": device.get(ask(client, "alone"))}).status_code == 303
    device.count = 2
    other = app.test_client()
    refused = other.post("/sign-in/passkey", data={"passkey": device.get(ask(other, "alone"))})
    assert refused.status_code == 403
    assert "somebody may have a copy of it" in words(refused)
    password = half(app)
    refused = password.post("/sign-in/code", data={"passkey": device.get(ask(password, "factor"))})
    assert refused.status_code == 403
    assert actions(database)[1:] == [("users.passkey-refused", "jo")] * 2


def test_a_passkey_that_was_used_at_the_same_moment_is_asked_for_again_on_the_same_page(
    app: Flask, visit: Visit, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(visit("jo"), device)
    password, check = half(app), passkeys.check_signature

    def check_before_another_use(
        session: Session, request: passkeys.PasskeyRequest, given: str
    ) -> passkeys.CheckedPasskey:
        found = check(session, request, given)
        return replace(found, counted=found.counted + 1)

    with monkeypatch.context() as patched:
        patched.setattr(passkeys, "check_signature", check_before_another_use)
        refused = password.post("/sign-in/code", data={"passkey": device.get(ask(password, "factor"))})
    assert refused.status_code == 409
    assert "used for something else at the same moment: use it again" in words(refused)
    assert password.post("/sign-in/code", data={"passkey": device.get(ask(password, "factor"))}).status_code == 303


def test_too_many_refused_passkeys_of_an_address_wait(
    app: Flask, visit: Visit, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(visit("jo"), device)
    monkeypatch.setattr("annotator.web.people.throttle.FROM_HERE", Limit(2, timedelta(minutes=15)))
    client = app.test_client()
    statuses = [client.post("/sign-in/passkey", data={"passkey": "x"}).status_code for _ in range(3)]
    assert statuses == [422, 422, 429]
    assert "Too many passkeys were refused from your network." in words(client.post("/sign-in/passkey"))
    signed = device.get(ask(client, "alone"))
    elsewhere = {"REMOTE_ADDR": "192.0.2.9"}
    assert client.post("/sign-in/passkey", data={"passkey": signed}, environ_base=elsewhere).status_code == 303


def test_who_guesses_codes_does_not_lock_the_passkey_of_the_owner(
    app: Flask, visit: Visit, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.web.people.throttle.OF_CODES", Limit(2, timedelta(days=1)))
    jo = visit("jo")
    add(jo, device)
    thief = half(app)
    statuses = [thief.post("/sign-in/code", data={"code": "x"}).status_code for _ in range(3)]
    assert statuses == [422, 422, 429]
    owner = half(app)
    assert owner.post("/sign-in/code", data={"passkey": device.get(ask(owner, "factor"))}).status_code == 303
    number = re.findall(r'name="number"[^>]*value="(\d+)"', owner.get(PAGE).text)[0]
    signed = device.get(ask(owner, "factor"))
    done = owner.post(f"{PAGE}/remove", data={"number": number, "password": PASSWORD, "passkey": signed})
    assert done.status_code == 303


def test_a_passkey_field_does_not_help_to_guess_codes_or_passwords(app: Flask, visit: Visit, device: Device) -> None:
    jo = visit("jo")
    codes = re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){5}", add(jo, device).text)
    client = half(app)
    assert client.post("/sign-in/code", data={"passkey": "x", "code": codes[0]}).status_code == 422
    wrong = {"password": "wrong horse", "passkey": "x", "number": "1"}
    statuses = [jo.post(f"{PAGE}/remove", **wrong).status_code for _ in range(11)]
    assert statuses == [403] * 10 + [429]


def test_an_account_that_is_erased_is_not_opened(app: Flask, visit: Visit, device: Device, database: Database) -> None:
    add(visit("jo"), device)
    visit("ada").post("/people/forget", account="jo", confirmed="y")
    client = app.test_client()
    refused = client.post("/sign-in/passkey", data={"passkey": device.get(ask(client, "alone"))})
    assert refused.status_code == 403
    assert "This passkey opens no account here" in words(refused)
    with database.reading() as session:
        assert session.scalars(select(Passkey)).all() == []


def test_an_administrator_removes_passkeys(app: Flask, visit: Visit, device: Device, database: Database) -> None:
    jo = visit("jo")
    add(jo, device)
    assert visit("kim").post("/people/passkeys", account="jo").status_code == 403
    assert visit("ada").post("/people/passkeys", account="jo").location == "/people"
    assert jo.get("/collections").status_code == 303
    again = visit("ada").post("/people/passkeys", account="jo")
    assert again.status_code == 409
    assert "“jo” has no passkeys." in words(again)
    assert app.test_client().post("/sign-in", data={"name": "jo", "password": PASSWORD}).location == "/"
    assert actions(database)[-1] == ("users.passkey-remove", "jo")


def test_new_passwords_say_that_passkeys_still_open_the_account(visit: Visit, device: Device) -> None:
    jo, ada, new = visit("jo"), visit("ada"), "quaint teapots hum"
    ada.post("/people/password", account="jo", new_password=PASSWORD)
    assert "Passkeys still open" not in words(ada.get("/people"))
    jo = visit("jo")
    add(jo, device)
    jo.post("/account", old_password=PASSWORD, new_password=new, again=new)
    assert "Passkeys still open your account: 1." in words(jo.get("/account"))
    ada.post("/people/password", account="jo", new_password=PASSWORD)
    assert "Passkeys still open the account: 1." in words(ada.get("/people"))
    ada.post("/people/password", account="jo", new_password=PASSWORD, remove_passkeys="y")
    page = words(ada.get("/people"))
    assert "Passkeys removed: 1." in page
    assert "Passkeys still open" not in page


def test_new_recovery_codes_take_a_passkey(visit: Visit, device: Device) -> None:
    jo = visit("jo")
    add(jo, device)
    done = jo.post("/account/second-factor/codes", password=PASSWORD, passkey=device.get(ask(jo.client, "factor")))
    assert done.status_code == 200
    assert len(re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){5}", done.text)) == 10


def test_without_a_session_nothing_is_asked_of_an_account(app: Flask) -> None:
    answer = app.test_client().post("/sign-in/passkey/options", data={"purpose": "factor"})
    assert answer.status_code == 422
    assert answer.json is not None
    assert "Sign in with name and password first" in answer.json["sentence"]


def test_a_session_that_ends_meanwhile_cannot_add(visit: Visit, device: Device, database: Database) -> None:
    jo = visit("jo")
    options = offered(jo.post(f"{PAGE}/begin", name="laptop", password=PASSWORD))
    with database.transaction() as session:
        accounts.sign_out_everywhere(session, "jo", at=datetime.now(UTC))
    assert jo.post(PAGE, passkey=device.create(options)).location.startswith("/sign-in")


def test_at_another_address_the_pages_say_where_passkeys_work(
    app: Flask, visit: Visit, site: Callable[..., None]
) -> None:
    jo = visit("jo")
    site(site_address="https://pool.example.org/annotator")
    assert "Passkeys work only at the address https://pool.example.org" in words(jo.get(PAGE))
    assert jo.post(f"{PAGE}/begin", name="laptop", password=PASSWORD).status_code == 403
    assert "Sign in with a passkey" not in words(app.test_client().get("/sign-in"))
    answer = jo.client.post("/sign-in/passkey/options")
    assert answer.status_code == 403
    site(site_address="http://pool.example.org")
    assert "Browsers use passkeys only at an address with https" in words(jo.get(PAGE))
    site(site_address="")
    answer = app.test_client().post("/sign-in/passkey/options", base_url="http://127.0.0.1:8000")
    assert answer.json is not None
    assert "this site is at http://127.0.0.1:8000." in answer.json["sentence"]
    assert "Sign in with a passkey" in words(app.test_client().get("/sign-in"))


def test_the_address_of_the_site_is_that_of_its_passkeys(app: Flask, visit: Visit, site: Callable[..., None]) -> None:
    site(site_address="https://pool.example.org")
    base = {"base_url": "https://pool.example.org"}
    device, jo = Device(), visit("jo")
    cookie = jo.client.get_cookie("annotator_session")
    assert cookie is not None
    jo.client.set_cookie("annotator_session", cookie.value, domain="pool.example.org")
    page = jo.client.post(f"{PAGE}/begin", data={"name": "laptop", "password": PASSWORD}, **base)
    assert jo.client.post(PAGE, data={"passkey": device.create(offered(page))}, **base).status_code == 200
    site(site_address="")
    client = half(app)
    page = client.get("/sign-in/code")
    assert "Your passkeys work at another address of this site: pool.example.org." in words(page)
    answer = client.post("/sign-in/passkey/options", data={"purpose": "factor"})
    assert answer.status_code == 404
    assert answer.json is not None
    assert "no passkey for localhost" in answer.json["sentence"]


def test_a_passkey_is_enough_where_a_second_factor_is_required(visit: Visit, site: Callable[..., None]) -> None:
    site(require_second_factor=True)
    ola, device = visit("ola"), local_device()
    led = ola.get(f"/collections/{SLUG}/settings", headers={"Accept": "text/html"})
    assert led.location.startswith("/account/second-factor?next=")
    page = ola.post(f"{PAGE}/begin?next=/collections/{SLUG}/settings", name="laptop", password=PASSWORD)
    done = ola.post(f"{PAGE}?next=/collections/{SLUG}/settings", passkey=device.create(offered(page)))
    assert f'href="/collections/{SLUG}/settings"' in done.text
    assert ola.get(f"/collections/{SLUG}/settings").status_code == 200


def test_the_forms_need_their_token(app: Flask, database: Database, visit: Visit) -> None:
    with_database(app, database, csrf=True)
    for address in ("/sign-in/passkey", "/sign-in/passkey/options", PAGE, f"{PAGE}/begin", f"{PAGE}/remove"):
        assert visit("jo").client.post(address, data={"passkey": "x"}).status_code == 400, address
    asked = visit("jo").client.post("/sign-in/passkey/options", data={"purpose": "alone"})
    assert asked.json is not None
    assert "reload it and try again" in asked.json["sentence"]


@pytest.mark.parametrize(
    ("address", "page"),
    [
        (f"{PAGE}/begin?next=/files", f"{PAGE}?next=/files"),
        ("/account/second-factor/begin", "/account/second-factor"),
        ("/sign-in/passkey?next=/files", "/sign-in?next=/files"),
    ],
)
def test_an_address_of_a_form_leads_to_its_page(visit: Visit, address: str, page: str) -> None:
    answer = visit("jo").get(address)
    assert (answer.status_code, answer.location) == (303, page)


def test_who_lacks_a_required_second_factor_can_sign_in_as_somebody_else_by_passkey(
    visit: Visit, device: Device, site: Callable[..., None]
) -> None:
    add(visit("jo"), device)
    site(require_second_factor=True)
    ola = visit("ola")
    done = ola.post("/sign-in/passkey", passkey=device.get(ask(ola.client, "alone")))
    assert done.status_code == 303
    assert "You are signed in as jo" in words(ola.get("/account"))
