"""Links that were sent: from the organiser's page to the account, the role or the password of whoever opens them."""

import re
from html import unescape

import build
import pytest
from build import NOW, PASSWORD, SLUG, user
from csv_cells import unquoted
from flask import Flask
from sqlalchemy import select
from visiting import Visit, Visitor, file, words
from werkzeug.test import TestResponse

from annotator.storage import AuditEvent, Database, Role
from annotator.workflows.people import members
from annotator.workflows.people.accounts import list_users

pytestmark = pytest.mark.usefixtures("news")

N = f"/collections/{SLUG}"
NEW_PASSWORD = "seventeen green umbrellas"
NEW = {"name": "nora", "password": NEW_PASSWORD, "again": NEW_PASSWORD}


def link_on(page: TestResponse) -> str:
    match = re.search(r"http://localhost(/join\?key=[\w-]{43})", unescape(page.text))
    assert match is not None, words(page)
    return match[1]


def invited(visit: Visit, **fields: object) -> str:
    page = visit("ola").post(f"{N}/invitations", **{"role": "judge", "team": "", "note": "", "days": 14, **fields})
    assert page.status_code == 200
    return link_on(page)


def opened(visitor: Visitor, link: str) -> TestResponse:
    """The page of a link, after its secret has left the address."""
    answer = visitor.get(link)
    assert (answer.status_code, answer.location) == (303, "/join")
    return visitor.get("/join")


def roles(database: Database, name: str) -> set[Role]:
    with database.reading() as session:
        return {row.role for row in members.list_members(session, SLUG) if row.name == name}


def test_a_guest_makes_an_account_by_a_link_and_is_in(visit: Visit, database: Database, news: str) -> None:
    link = invited(visit, note="Nora of the library")
    guest = visit(None)
    assert "You are invited to “News search”. Your role: judge." in words(opened(guest, link))
    answer = guest.post("/join/account", **NEW)
    assert (answer.status_code, answer.location) == (303, news)
    assert "Your judging" in words(guest.get(news))
    assert roles(database, "nora") == {Role.JUDGE}
    # The link is shown once, and works once.
    listed = visit("ola").get(f"{N}/invitations")
    assert "key=" not in listed.text
    assert "Nora of the library" in words(listed)
    assert visit(None).get(link, follow_redirects=True).status_code == 404


def test_whoever_has_an_account_signs_in_on_the_way_and_takes_part_with_it(visit: Visit, database: Database) -> None:
    with database.transaction() as session:
        user(session, "nora")
    link = invited(visit, role="participant", team="green")
    guest = visit(None)
    page = opened(guest, link)
    assert "You are invited to join “News search” with the team green." in words(page)
    assert 'href="/sign-in?next=/join"' in page.text
    answer = guest.client.post("/sign-in?next=/join", data={"name": "nora", "password": PASSWORD})
    assert answer.location == "/join"
    assert "You are signed in as nora." in words(guest.get("/join"))
    assert guest.post("/join/accept").location == N
    assert roles(database, "nora") == {Role.PARTICIPANT}
    # What was taken is not offered again.
    assert guest.get("/join").status_code == 404


def test_pages_that_make_links_show_the_address_that_these_begin_with(visit: Visit) -> None:
    begins = "Links begin with http://localhost, the address of this page"
    ola, ada = visit("ola"), visit("ada")
    assert begins in words(ola.get(f"{N}/invitations"))
    assert begins in words(ada.get("/people/invitations"))
    assert begins in words(ada.post("/people/password-link", account="jo"))
    assert begins not in words(ola.get(f"{N}/members"))


def test_a_link_waits_while_somebody_only_looks(visit: Visit, database: Database) -> None:
    link = invited(visit)
    for name in (None, "pat", "ola"):
        assert opened(visit(name), link).status_code == 200
    assert roles(database, "pat") == {Role.PARTICIPANT}


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        ({"name": "jo"}, 409, "The name “jo” is taken."),
        ({"name": "two words"}, 422, "no blanks"),
        ({"password": "short", "again": "short"}, 422, "A password has between"),
        ({"again": "another umbrella altogether"}, 422, "The two passwords differ."),
        ({"name": ""}, 422, "This field is required."),
    ],
)
def test_what_cannot_be_an_account_says_why_and_leaves_the_link(
    visit: Visit, fields: dict[str, str], status: int, sentence: str
) -> None:
    guest = visit(None)
    opened(guest, invited(visit))
    refused = guest.post("/join/account", **NEW | fields)
    assert refused.status_code == status
    assert sentence in words(refused)
    assert guest.post("/join/account", **NEW).status_code == 303


def test_a_withdrawn_link_opens_nothing(visit: Visit) -> None:
    link = invited(visit)
    guest = visit(None)
    opened(guest, link)
    ola = visit("ola")
    number = re.search(r'name="number" value="(\d+)"', ola.get(f"{N}/invitations").text)
    assert number is not None
    assert ola.post(f"{N}/invitations/withdraw", number=number[1]).status_code == 303
    refused = guest.post("/join/account", **NEW)
    assert refused.status_code == 404
    assert "was used already, was withdrawn, or has expired" in words(refused)


def test_the_link_of_another_collection_is_not_withdrawn_here(visit: Visit, database: Database) -> None:
    with database.transaction() as session:
        build.news(session, "other")
        members.add_member(session, "other", "kim", Role.ORGANISER, added_at=NOW)
    invited(visit)
    kim = visit("kim")
    assert kim.post("/collections/other/invitations/withdraw", number=1).status_code == 422
    assert "not used yet" in words(visit("ola").get(f"{N}/invitations"))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"role": "participant"}, "A participant belongs to a team"),
        ({"role": "boss"}, "Not a valid choice"),
        ({"days": 0}, "Number must be between 1 and 90."),
        ({"days": 91}, "Number must be between 1 and 90."),
    ],
)
def test_an_invitation_that_cannot_be_says_why(visit: Visit, fields: dict[str, object], sentence: str) -> None:
    page = visit("ola").post(f"{N}/invitations", **{"role": "judge", "note": "", "days": 14, **fields})
    assert page.status_code == 422
    assert sentence in words(page)


def test_many_people_are_invited_by_a_file(visit: Visit, database: Database) -> None:
    ola = visit("ola")
    sent = "name,role,team\nnora,judge,\nomar,participant,green\njo,adjudicator,\n"
    answer = ola.post(f"{N}/invitations/many", file=file("people.csv", sent), days=7)
    assert (answer.status_code, answer.mimetype) == (200, "text/csv")
    lines = unquoted(answer.text).splitlines()
    assert lines[0] == "name,role,team,link"
    assert [line.split(",")[:3] for line in lines[1:]] == [
        ["nora", "judge", ""],
        ["omar", "participant", "green"],
        ["jo", "adjudicator", ""],
    ]
    assert lines[3].endswith(",")
    guest = visit(None)
    page = opened(guest, lines[1].split("http://localhost")[1])
    assert "Your account is “nora”." in words(page)
    answer = guest.post("/join/password", password=NEW_PASSWORD, again=NEW_PASSWORD)
    assert answer.location == N
    assert visit(None).post("/sign-in", name="nora", password=NEW_PASSWORD).status_code == 303
    assert roles(database, "omar") == {Role.PARTICIPANT}


def test_a_file_with_problems_is_refused_with_its_lines_and_nothing_is_made(visit: Visit, database: Database) -> None:
    sent = "name,role\nnora,judge\nomar,boss\n"
    page = visit("ola").post(f"{N}/invitations/many", file=file("people.csv", sent), days=7)
    assert page.status_code == 422
    assert "people.csv:3" in words(page)
    with database.reading() as session:
        assert "nora" not in {row.name for row in list_users(session)}


def test_an_organiser_gives_a_member_a_new_password_by_a_link(visit: Visit) -> None:
    visitor = visit(None)
    opened(visitor, invited(visit))
    visitor.post("/join/account", name="nora", password=PASSWORD, again=PASSWORD)
    link = link_on(visit("ola").post(f"{N}/members/password-link", name="nora"))
    guest = visit(None)
    opened(guest, link)
    assert guest.post("/join/password", password=NEW_PASSWORD, again=NEW_PASSWORD).status_code == 303
    assert "“nora” has a new password" in words(guest.get(N))
    assert visitor.get("/collections").status_code == 303
    assert visit(None).post("/sign-in", name="nora", password=PASSWORD).status_code == 422
    assert visit(None).post("/sign-in", name="nora", password=NEW_PASSWORD).status_code == 303


def test_an_organiser_does_not_take_over_an_account_that_they_add(visit: Visit, database: Database) -> None:
    with database.transaction() as session:
        user(session, "bob")
    ola = visit("ola")
    assert ola.post(f"{N}/members", name="bob", role="judge", team="").status_code == 303
    refused = ola.post(f"{N}/members/password-link", name="bob")
    assert refused.status_code == 403
    assert "“bob” did not join this collection by an invitation or a file of people" in words(refused)
    assert "key=" not in refused.text
    assert "/join?key=" in unescape(visit("ada").post("/people/password-link", account="bob").text)
    # Bob agrees: from then on Ola may help him.
    bob = visit("bob")
    opened(bob, invited(visit, role="adjudicator"))
    assert bob.post("/join/accept").status_code == 303
    assert link_on(ola.post(f"{N}/members/password-link", name="bob"))


def test_an_organiser_does_not_become_an_administrator_by_a_link(visit: Visit, database: Database) -> None:
    with database.transaction() as session:
        members.add_member(session, SLUG, "ada", Role.JUDGE, added_at=NOW)
    refused = visit("ola").post(f"{N}/members/password-link", name="ada")
    assert refused.status_code == 403
    assert "key=" not in refused.text
    assert "an administrator alone may give them a new password" in words(refused)
    assert "/join?key=" in unescape(visit("ada").post("/people/password-link", account="ola").text)


def test_an_administrator_invites_to_an_account_alone(visit: Visit) -> None:
    page = visit("ada").post("/people/invitations", note="the new colleague", days=3)
    guest = visit(None)
    assert "You are invited to create an account." in words(opened(guest, link_on(page)))
    assert guest.post("/join/account", **NEW).location == "/"
    assert guest.get(N).status_code == 404


def test_signing_out_everywhere_ends_every_browser(visit: Visit) -> None:
    here, elsewhere = visit("jo"), visit("jo")
    assert here.post("/account/sign-out-everywhere").location == "/sign-in"
    assert [browser.get("/collections").status_code for browser in (here, elsewhere)] == [303, 303]
    kim = visit("kim")
    assert visit("ada").post("/people/sign-out", account="kim").status_code == 303
    assert kim.get("/collections").status_code == 303
    assert visit("ada").post("/people/sign-out", account="nobody").status_code == 422


def test_the_secret_of_a_link_is_in_no_answer_but_the_first(visit: Visit, database: Database) -> None:
    link = invited(visit)
    secret = link.partition("=")[2]
    guest = visit(None)
    assert secret not in opened(guest, link).text
    assert secret not in guest.post("/join/account", **NEW | {"name": ""}).text
    assert guest.post("/join/account", **NEW).status_code == 303
    with database.reading() as session:
        noted = session.scalars(select(AuditEvent)).all()
    assert {one.action for one in noted} >= {"invitations.add", "invitations.accept"}
    assert secret not in "".join(str(vars(one)) for one in noted)
    assert next(one.subject for one in noted if one.action == "invitations.add") == "1"


def test_a_session_keeps_nothing_of_an_earlier_one_but_the_link(visit: Visit, app: Flask) -> None:
    link = invited(visit)
    browser = visit("pat")
    opened(browser, link)
    with browser.client.session_transaction() as cookie:
        cookie["left behind"] = "by pat"
        before = cookie.get("csrf_token")
    browser.post("/sign-out")
    opened(browser, link)
    browser.client.post("/sign-in", data={"name": "jo", "password": PASSWORD})
    with browser.client.session_transaction() as cookie:
        assert "left behind" not in cookie
        assert cookie["invitation"] == link.partition("=")[2]
        assert cookie.get("csrf_token") != before or before is None
    assert app.config["SESSION_COOKIE_HTTPONLY"]
