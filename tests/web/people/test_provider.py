"""Signing in at a real local provider by page, linking accounts, and what is refused there."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

import pytest
from build import PASSWORD, SLUG
from flask import Flask
from flask.testing import FlaskClient
from identity_server import CLIENT, SECRET, IdentityServer
from local_server import send
from pyotp import TOTP
from sqlalchemy import select
from sqlalchemy.orm import Session
from visiting import Visit, hidden, words
from werkzeug.test import TestResponse

from annotator.storage import AuditEvent, Database, Identity, Role, User
from annotator.storage.people.accounts import find_user
from annotator.web.site.context import SETTINGS
from annotator.workflows.people import accounts, erasure, identities, invitations, second_factor
from annotator.workflows.people.identities import ProvenIdentity
from annotator.workflows.people.invitations import InvitationRequest

pytestmark = pytest.mark.usefixtures("news")

START, RETURN, OWN = "/sign-in/provider", "/sign-in/provider/return", "/account/identities"
UNKNOWN = "/sign-in/provider/unknown"
NEW_PASSWORD = "seventeen green umbrellas"


@pytest.fixture(autouse=True)
def _provider(app: Flask, identity_server: IdentityServer) -> Iterator[None]:
    """A site at which people can sign in with Example University."""
    usual = app.extensions[SETTINGS]
    app.extensions[SETTINGS] = replace(
        usual,
        oidc_issuer=identity_server.site,
        oidc_client_id=CLIENT,
        oidc_client_secret=SECRET,
        oidc_name="Example University",
    )
    yield
    app.extensions[SETTINGS] = usual


@pytest.fixture
def linked(database: Database, identity_server: IdentityServer, news: str) -> int:  # noqa: ARG001 - has the account
    """The id of Ola, whom the provider knows as ola@uni.example."""
    with database.transaction() as session:
        id_ = find_user(session, "ola").id
        identities.link_identity(session, id_, proven(identity_server), at=datetime.now(UTC))
    return id_


def proven(server: IdentityServer) -> ProvenIdentity:
    return ProvenIdentity(server.site, server.claims["sub"], server.claims["email"])


def go(client: FlaskClient, server: IdentityServer, start: str = START, **query: str) -> TestResponse:
    """Go to the provider and come back, as a browser does that is led on."""
    begun = client.get(start, query_string=query)
    assert begun.status_code == 303, words(begun)
    return come_back(client, server, begun.location)


def come_back(client: FlaskClient, server: IdentityServer, address: str) -> TestResponse:
    back = urlsplit(server.back({name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}))
    assert back.path == RETURN
    return client.get(f"{back.path}?{back.query}")


def go_and_read(client: FlaskClient, server: IdentityServer, **query: str) -> TestResponse:
    """Go, and follow to the page for an identity that opens no account."""
    back = go(client, server, START, **query)
    assert (back.status_code, urlsplit(back.location).path) == (303, UNKNOWN), words(back)
    return client.get(back.location)


def stored(database: Database) -> tuple[int, int]:
    """How many accounts and identities there are."""
    with database.reading() as session:
        return len(session.scalars(select(User)).all()), len(session.scalars(select(Identity)).all())


def actions(database: Database) -> list[str]:
    with database.reading() as session:
        return [one.action for one in session.scalars(select(AuditEvent).order_by(AuditEvent.id))]


# Signing in


@pytest.mark.usefixtures("linked")
def test_a_linked_account_is_opened_and_the_wanted_page_comes(app: Flask, identity_server: IdentityServer) -> None:
    client = app.test_client()
    page = client.get(f"/sign-in?next=/collections/{SLUG}?x=1")
    assert "Sign in with Example University" in words(page)
    assert f'href="{START}?next=/collections/{SLUG}?x%3D1"' in page.text
    done = go(client, identity_server, next=f"/collections/{SLUG}?x=1")
    assert (done.status_code, done.location) == (303, f"/collections/{SLUG}?x=1")
    assert "ola" in words(client.get("/account"))
    asked = parse_qs(urlsplit(app.test_client().get(START).location).query)
    assert asked["redirect_uri"] == [f"http://localhost{RETURN}"]


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize(
    "to", ["https://elsewhere.example", "//elsewhere.example", "/\\elsewhere", "/" + "x" * 400, "/" + "가" * 100, ""]
)
def test_nobody_is_led_elsewhere(app: Flask, identity_server: IdentityServer, to: str) -> None:
    assert go(app.test_client(), identity_server, next=to).location == "/"


@pytest.mark.usefixtures("linked")
def test_a_link_signs_nobody_out_or_in_as_somebody_else(visit: Visit, identity_server: IdentityServer) -> None:
    jo = visit("jo")
    for query in ({"next": "/files"}, {"next": "/files", "again": "1"}):
        led = jo.client.get(START, query_string=query)
        assert (led.status_code, led.location) == (303, "/files")
    assert identity_server.asked == []
    assert "signed in as jo" in words(jo.get("/account"))


def come_back_signed_in(app: Flask, server: IdentityServer, name: str) -> tuple[FlaskClient, TestResponse]:
    """Begin at the provider, sign in with a password in another tab, and come back."""
    client = app.test_client()
    begun = client.get(START, query_string={"next": "/files"})
    kept = dict(items(client))["provider_requests"]
    assert client.post("/sign-in", data={"name": name, "password": PASSWORD}).status_code == 303
    with client.session_transaction() as cookie:
        cookie["provider_requests"] = kept
    return client, come_back(client, server, begun.location)


@pytest.mark.parametrize("factors", [1, 2])
def test_an_answer_keeps_the_session_of_another_account(
    app: Flask, database: Database, identity_server: IdentityServer, linked: int, factors: int
) -> None:
    if factors > 1:
        secret, at = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", datetime.now(UTC) - timedelta(hours=1)
        with database.transaction() as session:
            second_factor.turn_on(session, linked, 0, secret, TOTP(secret).at(at), at=at)
    client, page = come_back_signed_in(app, identity_server, "jo")
    assert page.status_code == 409
    assert "You are signed in as “jo” already, and still are." in words(page)
    assert "sign out first" in words(page)
    assert "signed in as jo" in words(client.get("/account"))


@pytest.mark.usefixtures("linked")
def test_an_answer_keeps_the_session_of_the_same_account(app: Flask, identity_server: IdentityServer) -> None:
    client, done = come_back_signed_in(app, identity_server, "ola")
    assert (done.status_code, done.location) == (303, "/files")
    assert "signed in as ola" in words(client.get("/account"))


def test_a_second_factor_is_still_asked_for(
    app: Flask, database: Database, identity_server: IdentityServer, linked: int
) -> None:
    secret, at = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", datetime.now(UTC) - timedelta(hours=1)
    with database.transaction() as session:
        second_factor.turn_on(session, linked, 0, secret, TOTP(secret).at(at), at=at)
    client = app.test_client()
    done = go(client, identity_server, next="/files")
    assert done.location == "/sign-in/code?next=/files"
    assert client.get("/account").status_code == 303
    code = TOTP(secret).at(datetime.now(UTC))
    assert client.post(done.location, data={"code": code}).location == "/files"
    assert client.get("/account").status_code == 200


def test_an_account_that_can_no_longer_sign_in_is_refused(
    app: Flask, database: Database, identity_server: IdentityServer, linked: int
) -> None:
    with database.transaction() as session:
        session.get_one(User, linked).password_hash = None
    refused = go(app.test_client(), identity_server)
    assert refused.status_code == 403
    assert "The account “ola” cannot sign in. Ask an administrator." in words(refused)


# Nobody's identity


def test_an_unknown_identity_gets_a_page_that_says_what_to_do_and_nothing_is_stored(
    app: Flask, database: Database, identity_server: IdentityServer
) -> None:
    before, client = stored(database), app.test_client()
    page = go_and_read(client, identity_server)
    assert page.status_code == 403
    assert "register" not in words(page).lower()
    # Switching the language loads it again.
    assert client.get(page.request.full_path).status_code == 403
    text = words(page)
    assert "Example University knows you as “ola@uni.example”. No account of this site is linked with that" in text
    assert "Sign in with name and password, and link it on the page of your account." in text
    assert "sends you a link" in text
    assert client.get("/account").status_code == 303
    assert stored(database) == before
    assert actions(database) == []
    again = client.get(START, query_string={"again": "1"})
    assert parse_qs(urlsplit(again.location).query)["prompt"] == ["login"]


@pytest.mark.usefixtures("linked")
def test_another_persons_address_opens_nothing(app: Flask, database: Database, identity_server: IdentityServer) -> None:
    identity_server.claims = {"sub": "of somebody else", "email": "ola@uni.example", "email_verified": True}
    before, client = stored(database), app.test_client()
    assert go_and_read(client, identity_server).status_code == 403
    assert client.get("/account").status_code == 303
    assert stored(database) == before


def test_no_address_is_no_obstacle_and_is_named(app: Flask, identity_server: IdentityServer) -> None:
    identity_server.claims["email"] = None
    page = go_and_read(app.test_client(), identity_server)
    assert page.status_code == 403
    assert "Example University gave no e-mail address; its number for you is “248289761001”." in words(page)


def test_what_the_provider_calls_somebody_is_no_html(app: Flask, identity_server: IdentityServer) -> None:
    identity_server.claims["email"] = "<script>alert(1)</script>"
    page = go_and_read(app.test_client(), identity_server)
    assert "<script>alert" not in page.text
    assert "“<script>alert(1)</script>”" in words(page).replace("&lt;", "<")


def test_whoever_wants_to_register_is_led_back_there(app: Flask, identity_server: IdentityServer) -> None:
    page = go_and_read(app.test_client(), identity_server, next=f"/tasks/{SLUG}/registration")
    assert "Register with a new account first. Then link it with Example University" in words(page)
    assert f'href="/tasks/{SLUG}/registration"' in page.text


def test_the_page_without_an_identity_leads_to_signing_in(app: Flask, visit: Visit) -> None:
    led = app.test_client().get(f"{UNKNOWN}?next=/files")
    assert (led.status_code, led.location) == (303, "/sign-in?next=/files")
    assert visit("jo").get(UNKNOWN).status_code == 303


# What is refused


def refused(response: TestResponse, status: int, sentence: str) -> None:
    """It is the page for signing in, with a sentence, from which one can begin again."""
    assert response.status_code == status, words(response)
    assert sentence in words(response)
    assert 'action="/sign-in' in response.text
    assert "Sign in with Example University" in words(response)


NOT_BEGUN = "This sign-in was not begun in this browser, was used already, or took longer than 15 minutes."


@pytest.mark.usefixtures("linked")
def test_an_answer_is_accepted_once_and_in_the_browser_that_asked(app: Flask, identity_server: IdentityServer) -> None:
    client, other = app.test_client(), app.test_client()
    begun = client.get(START)
    refused(come_back(other, identity_server, begun.location), 422, NOT_BEGUN)
    answer = come_back(client, identity_server, begun.location)
    assert answer.status_code == 303
    again = client.get(answer.request.full_path)
    refused(again, 422, NOT_BEGUN)
    refused(app.test_client().get(RETURN), 422, NOT_BEGUN)
    assert other.get("/account").status_code == 303


@pytest.mark.usefixtures("linked")
def test_a_sign_in_may_take_fifteen_minutes(app: Flask, identity_server: IdentityServer) -> None:
    client = app.test_client()
    begun = client.get(START)
    with client.session_transaction() as cookie:
        cookie["provider_requests"][0][-1] -= 901
        cookie.modified = True
    refused(come_back(client, identity_server, begun.location), 422, NOT_BEGUN)


@pytest.mark.usefixtures("linked")
def test_three_tabs_may_sign_in_at_once(app: Flask, identity_server: IdentityServer) -> None:
    client = app.test_client()
    begun = [client.get(START, query_string={"next": f"/files?tab={tab}"}).location for tab in range(4)]
    cookie = client.get_cookie(app.config["SESSION_COOKIE_NAME"])
    assert cookie is not None
    assert len(cookie.value) < 2_000
    assert come_back(client, identity_server, begun[1]).location == "/files?tab=1"
    # The first was forgotten, and signing in forgets the others.
    assert come_back(client, identity_server, begun[0]).status_code == 422
    assert come_back(client, identity_server, begun[2]).status_code == 422


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize(
    ("answers", "status", "sentence"),
    [
        ({"error": "access_denied", "code": ""}, 403, "was cancelled, or it does not let you in here (access_denied)."),
        ({"error": "server_error", "code": ""}, 502, "Example University refused the request of this site (server_er"),
        ({"code": ""}, 422, "Example University sent you back without a code. Begin again."),
        ({"code": "of another"}, 502, "did not accept the code, or this site as a client (invalid_grant)."),
        ({"state": "of another"}, 422, NOT_BEGUN),
        ({"iss": "https://elsewhere.example"}, 502, "The answer is of another provider than Example University."),
    ],
)
def test_an_answer_without_a_valid_code_is_refused_on_the_page(
    app: Flask,
    database: Database,
    identity_server: IdentityServer,
    answers: dict[str, str],
    status: int,
    sentence: str,
) -> None:
    identity_server.answers = answers
    before, client = stored(database), app.test_client()
    refused(go(client, identity_server, next="/files"), status, sentence)
    assert client.get("/account").status_code == 303
    assert stored(database) == before


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        ({"nonce": "another"}, "its nonce is wrong or missing."),
        ({"exp": 1}, "has expired"),
        ({"sub": None}, "names nobody"),
        ({"iss": "https://elsewhere.example"}, "of another issuer"),
    ],
)
def test_an_id_token_that_is_not_valid_is_refused_on_the_page(
    app: Flask, identity_server: IdentityServer, claims: dict[str, object], sentence: str
) -> None:
    identity_server.claims |= claims
    client = app.test_client()
    refused(go(client, identity_server), 502, sentence)
    assert client.get("/account").status_code == 303


def html(request: BaseHTTPRequestHandler) -> None:
    send(request, b"<!doctype html><title>Maintenance</title>")


def test_a_provider_that_is_out_of_order_leaves_passwords_to_sign_in_with(
    app: Flask, identity_server: IdentityServer
) -> None:
    identity_server.behaviours["/.well-known/openid-configuration"] = html
    client = app.test_client()
    page = client.get(START, query_string={"next": "/files"})
    refused(page, 502, "The provider sent HTML or XML, not JSON.")
    assert 'action="/sign-in?next=/files"' in page.text
    done = client.post("/sign-in?next=/files", data={"name": "ola", "password": PASSWORD})
    assert (done.status_code, done.location) == (303, "/files")


def test_an_address_that_is_refused_a_hundred_times_has_to_wait(app: Flask, identity_server: IdentityServer) -> None:
    client = app.test_client()
    identity_server.answers = {"error": "access_denied", "code": ""}
    pages = [go(client, identity_server) for _ in range(101)]
    assert [page.status_code for page in pages] == [403] * 100 + [429]
    assert "Too many sign-ins at the provider were refused from your network. Wait 15 minutes" in words(pages[-1])


def test_failures_of_the_provider_and_answers_of_other_browsers_count_for_nothing(
    app: Flask, identity_server: IdentityServer
) -> None:
    client = app.test_client()
    assert {client.get(RETURN, query_string={"state": "x"}).status_code for _ in range(101)} == {422}
    identity_server.answers = {"error": "server_error", "code": ""}
    assert {go(client, identity_server).status_code for _ in range(101)} == {502}


def test_without_the_setting_there_is_no_such_page(app: Flask) -> None:
    app.extensions[SETTINGS] = replace(app.extensions[SETTINGS], oidc_issuer="")
    client = app.test_client()
    assert "/sign-in/provider" not in client.get("/sign-in").text
    for address in (START, RETURN):
        page = client.get(address)
        assert page.status_code == 404
        assert "People sign in to this site by name and password alone." in words(page)


def test_the_host_is_its_name_where_the_site_gives_none(app: Flask) -> None:
    app.extensions[SETTINGS] = replace(app.extensions[SETTINGS], oidc_name="")
    assert "Sign in with 127.0.0.1" in words(app.test_client().get("/sign-in"))


# Linking and unlinking


def test_a_person_links_and_unlinks_their_account(
    app: Flask, visit: Visit, database: Database, identity_server: IdentityServer
) -> None:
    jo = visit("jo")
    assert "once it is linked with your account" in words(jo.get("/account"))
    assert "Link with Example University" in words(jo.get(OWN))
    back = go(jo.client, identity_server, f"{OWN}/begin")
    assert (back.status_code, back.location) == (303, f"{OWN}/link")
    page = words(jo.get(f"{OWN}/link"))
    assert "Example University knows you as “ola@uni.example”." in page
    assert "opens your account “jo” here" in page
    assert stored(database)[1] == 0
    assert jo.post(f"{OWN}/link", password="wrong horse").status_code == 403
    assert jo.post(f"{OWN}/link", password="").status_code == 422
    assert stored(database)[1] == 0
    done = jo.post(f"{OWN}/link", password=PASSWORD)
    assert (done.status_code, done.location) == (303, OWN)
    shown = words(jo.get(OWN))
    assert "“ola@uni.example” opens your account now." in shown
    assert "ola@uni.example" in words(jo.get("/account"))
    assert actions(database) == ["users.identity-link"]
    assert "ola@uni.example" not in str(audited(database))
    assert go(app.test_client(), identity_server).status_code == 303
    number = database.read(lambda session: session.scalars(select(Identity.id)).one())
    assert jo.post(f"{OWN}/unlink", password="wrong horse", number=number).status_code == 403
    assert jo.post(f"{OWN}/unlink", password=PASSWORD, number=number + 1).status_code == 422
    assert jo.post(f"{OWN}/unlink", password=PASSWORD, number=number).location == OWN
    assert stored(database)[1] == 0
    assert actions(database) == ["users.identity-link", "users.identity-unlink"]
    assert go_and_read(app.test_client(), identity_server).status_code == 403


def audited(database: Database) -> list[object]:
    with database.reading() as session:
        return [(one.subject, one.details) for one in session.scalars(select(AuditEvent))]


def test_the_identity_that_is_linked_is_the_one_that_was_shown_and_only_for_a_while(
    visit: Visit, database: Database, identity_server: IdentityServer
) -> None:
    jo = visit("jo")
    assert jo.get(f"{OWN}/link").location == OWN
    assert jo.post(f"{OWN}/link", password=PASSWORD).status_code == 422
    go(jo.client, identity_server, f"{OWN}/begin")
    with jo.client.session_transaction() as cookie:
        cookie["proven_identity"][-1] -= 901
        cookie.modified = True
    late = jo.post(f"{OWN}/link", password=PASSWORD)
    assert late.status_code == 422
    assert "You signed in there too long ago. Nothing was linked: begin again." in words(late)
    assert stored(database)[1] == 0


@pytest.mark.usefixtures("linked")
def test_an_identity_of_another_account_is_not_linked(
    visit: Visit, database: Database, identity_server: IdentityServer
) -> None:
    jo = visit("jo")
    go(jo.client, identity_server, f"{OWN}/begin")
    taken = jo.post(f"{OWN}/link", password=PASSWORD)
    assert taken.status_code == 409
    assert "“ola@uni.example” is linked with another account of this site: unlink it there" in words(taken)
    assert stored(database)[1] == 1


def test_whoever_signs_out_on_the_way_links_nothing(
    app: Flask, visit: Visit, database: Database, identity_server: IdentityServer
) -> None:
    jo = visit("jo")
    begun = jo.get(f"{OWN}/begin").location
    kept = dict(items(jo.client))
    jo.post("/sign-in", name="ola", password=PASSWORD)
    with jo.client.session_transaction() as cookie:
        cookie["provider_requests"] = kept["provider_requests"]
    other = come_back(jo.client, identity_server, begun)
    assert other.status_code == 422
    assert "You have signed out meanwhile. Nothing was linked" in words(other)
    guest = app.test_client()
    with guest.session_transaction() as cookie:
        cookie["provider_requests"] = kept["provider_requests"]
    refused(come_back(guest, identity_server, begun), 422, "You have signed out meanwhile. Nothing was linked")
    assert stored(database)[1] == 0


def items(client: FlaskClient) -> list[tuple[str, object]]:
    with client.session_transaction() as cookie:
        return list(cookie.items())


def test_what_the_provider_refuses_while_linking_is_shown_on_that_page(
    visit: Visit, identity_server: IdentityServer
) -> None:
    jo = visit("jo")
    identity_server.answers = {"error": "access_denied", "code": ""}
    page = go(jo.client, identity_server, f"{OWN}/begin")
    assert page.status_code == 403
    assert "was cancelled" in words(page)
    assert "Link with Example University" in words(page)
    identity_server.behaviours["/.well-known/openid-configuration"] = html


def test_a_provider_that_is_out_of_order_links_nothing(visit: Visit, identity_server: IdentityServer) -> None:
    identity_server.behaviours["/.well-known/openid-configuration"] = html
    page = visit("jo").get(f"{OWN}/begin")
    assert page.status_code == 502
    assert "The provider sent HTML or XML, not JSON." in words(page)


def test_a_password_that_changes_while_it_is_checked_links_nothing(
    visit: Visit, database: Database, identity_server: IdentityServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    jo, check = visit("jo"), accounts.check_password

    def check_slowly(session: Session, user_id: int, password: str) -> None:
        check(session, user_id, password)
        with database.transaction() as other:
            erasure.forget_user(other, "jo")

    go(jo.client, identity_server, f"{OWN}/begin")
    monkeypatch.setattr(accounts, "check_password", check_slowly)
    late = jo.post(f"{OWN}/link", password=PASSWORD)
    assert late.status_code == 409
    assert stored(database)[1] == 0


def test_guessing_the_password_while_linking_ends_after_ten(visit: Visit, identity_server: IdentityServer) -> None:
    jo = visit("jo")
    go(jo.client, identity_server, f"{OWN}/begin")
    statuses = [jo.post(f"{OWN}/link", password=f"guess {turn}").status_code for turn in range(11)]
    assert statuses == [403] * 10 + [429]


@pytest.mark.usefixtures("linked")
def test_identities_are_unlinked_also_where_the_provider_is_gone(app: Flask, visit: Visit, database: Database) -> None:
    app.extensions[SETTINGS] = replace(app.extensions[SETTINGS], oidc_issuer="")
    ola = visit("ola")
    assert "ola@uni.example" in words(ola.get("/account"))
    page = ola.get(OWN)
    assert "by name and password alone" in words(page)
    number = database.read(lambda session: session.scalars(select(Identity.id)).one())
    assert ola.post(f"{OWN}/unlink", password=PASSWORD, number=number).status_code == 303
    assert stored(database)[1] == 0


# Administrators


@pytest.mark.usefixtures("linked")
def test_an_administrator_sees_and_unlinks_identities(
    app: Flask, visit: Visit, database: Database, identity_server: IdentityServer
) -> None:
    ada = visit("ada")
    assert "ola@uni.example" in words(ada.get("/people"))
    assert ada.post("/people/identities", account="ola").location == "/people"
    assert "“ola” signs in by name and password alone now." in words(ada.get("/people"))
    assert audited(database) == [("ola", {"identities": 1})]
    assert go_and_read(app.test_client(), identity_server).status_code == 403
    nobody = ada.post("/people/identities", account="ola")
    assert nobody.status_code == 409
    assert "“ola” is linked with no identity at a provider." in words(nobody)


# Invitations


@pytest.fixture
def invitation(database: Database) -> str:
    """The address of an invitation to judge."""
    with database.transaction() as session:
        wanted = InvitationRequest(Role.JUDGE)
        made = invitations.invite(session, SLUG, wanted, made_by_id=None, at=datetime.now(UTC))
    return f"/join?key={made.secret}"


def test_an_invitation_is_accepted_by_signing_in_at_the_provider(
    app: Flask, database: Database, identity_server: IdentityServer, invitation: str
) -> None:
    client = app.test_client()
    page = client.get(invitation, follow_redirects=True)
    assert "Go on with Example University" in words(page)
    back = go(client, identity_server, next="/join")
    assert (back.status_code, back.location) == (303, "/join")
    page = client.get("/join")
    assert "You signed in with Example University as “ola@uni.example”, which opens no account" in words(page)
    assert stored(database)[1] == 0
    new = {"name": "nora", "password": NEW_PASSWORD, "again": NEW_PASSWORD, "link": "y"}
    assert client.post("/join/account", data={**new, "again": "another"}).status_code == 422
    assert client.post("/join/account", data=new).status_code == 303
    assert actions(database) == ["invitations.accept", "users.identity-link"]
    again = app.test_client()
    assert go(again, identity_server).status_code == 303
    assert "signed in as nora" in words(again.get("/account"))


def test_an_invited_person_may_leave_the_identity_out(
    app: Flask, database: Database, identity_server: IdentityServer, invitation: str
) -> None:
    client = app.test_client()
    client.get(invitation)
    go(client, identity_server)
    client.post("/join/account", data={"name": "nora", "password": NEW_PASSWORD, "again": NEW_PASSWORD})
    assert stored(database)[1] == 0
    assert actions(database) == ["invitations.accept"]


def test_an_identity_that_was_proven_too_long_ago_makes_no_account_without_it(
    app: Flask, database: Database, identity_server: IdentityServer, invitation: str
) -> None:
    client = app.test_client()
    client.get(invitation)
    go(client, identity_server)
    with client.session_transaction() as cookie:
        cookie["proven_identity"][-1] -= 901
        cookie.modified = True
    before = stored(database)
    new = {"name": "nora", "password": NEW_PASSWORD, "again": NEW_PASSWORD}
    page = client.post("/join/account", data={**new, "link": "y"})
    assert page.status_code == 422
    assert "You signed in there more than 15 minutes ago. No account was created" in words(page)
    assert (stored(database), actions(database)) == (before, [])
    assert client.post("/join/account", data=new).status_code == 303


def test_an_invitation_that_is_withdrawn_hides_no_help(
    app: Flask, database: Database, identity_server: IdentityServer, invitation: str
) -> None:
    client = app.test_client()
    client.get(invitation)
    with database.transaction() as session:
        invitations.withdraw_invitation(session, SLUG, 1, at=datetime.now(UTC))
    assert "No account of this site is linked with that" in words(go_and_read(client, identity_server))


@pytest.mark.usefixtures("linked")
def test_whoever_has_an_account_joins_with_it(app: Flask, identity_server: IdentityServer, invitation: str) -> None:
    client = app.test_client()
    client.get(invitation)
    assert go(client, identity_server, next="/join").location == "/join"
    assert "You are signed in as ola." in words(client.get("/join"))
    assert client.post("/join/accept").status_code == 303


def test_forms_of_these_pages_need_their_token(app: Flask, visit: Visit, identity_server: IdentityServer) -> None:
    jo = visit("jo")
    go(jo.client, identity_server, f"{OWN}/begin")
    app.config["WTF_CSRF_ENABLED"] = True
    assert hidden(jo.get(f"{OWN}/link"), "csrf_token")
    assert jo.post(f"{OWN}/link", password=PASSWORD).status_code == 400
