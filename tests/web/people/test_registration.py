"""Pages of registration, which an organiser opens and anyone who reaches the site uses, and of one's own team."""

import re
from datetime import timedelta
from html import unescape

import pytest
from build import SLUG
from sqlalchemy import select
from visiting import Visit, words

from annotator.storage import AuditEvent, Database
from annotator.web.people import throttle
from annotator.workflows.people.throttling import Limit

pytestmark = pytest.mark.usefixtures("news")

N, PUBLIC = f"/collections/{SLUG}", f"/tasks/{SLUG}/registration"
NEW_PASSWORD = "seventeen green umbrellas"
NEW = {"team": "Blue Team", "name": "nora", "password": NEW_PASSWORD, "again": NEW_PASSWORD}
RULES = {"until": "2099-05-01 23:59 AoE", "most_teams": 5}


def test_an_organiser_opens_and_ends_registration(visit: Visit) -> None:
    ola = visit("ola")
    assert "Teams cannot register by themselves" in words(ola.get(f"{N}/registration"))
    assert ola.post(f"{N}/registration", **RULES).status_code == 303
    page = ola.get(f"{N}/registration")
    assert "Teams can register until" in words(page)
    assert "Teams so far: 1 of 5." in words(page)
    assert f'value="http://localhost{PUBLIC}"' in page.text
    assert ola.post(f"{N}/registration/close").status_code == 303
    assert visit(None).get(PUBLIC).status_code == 404


@pytest.mark.parametrize(
    ("until", "complaint"), [("2099-05-01", "is a day"), ("soon", "“soon”"), ("2001-01-01 12:00", "which has passed")]
)
def test_a_moment_that_cannot_be_is_refused_in_place(visit: Visit, until: str, complaint: str) -> None:
    answer = visit("ola").post(f"{N}/registration", until=until, most_teams=5)
    assert (answer.status_code, complaint in words(answer)) == (422, True)
    assert visit(None).get(PUBLIC).status_code == 404


def test_a_guest_registers_a_team_and_is_in(visit: Visit, database: Database) -> None:
    visit("ola").post(f"{N}/registration", **RULES)
    guest = visit(None)
    assert "Take part in “News search” with a new team." in words(guest.get(PUBLIC))
    answer = guest.post(f"{PUBLIC}/account", **NEW)
    assert (answer.status_code, answer.location) == (303, N)
    assert "Your team Blue Team takes part. Welcome!" in words(guest.get(N))
    assert "Team Blue Team" in words(guest.get(f"{N}/team"))
    with database.reading() as session:
        noted = session.scalars(select(AuditEvent).where(AuditEvent.action == "registration.add")).one()
    assert (noted.subject, noted.details) == ("nora", {"team": "Blue Team"})


def test_a_person_with_an_account_signs_in_and_registers(visit: Visit) -> None:
    visit("ola").post(f"{N}/registration", **RULES)
    assert f"/sign-in?next={PUBLIC}" in unescape(visit(None).get(PUBLIC).text)
    assert visit(None).post(PUBLIC, team="green").location.startswith("/sign-in")
    ada = visit("ada")
    assert "You are signed in as ada." in words(ada.get(PUBLIC))
    assert ada.post(PUBLIC, team="green").status_code == 303
    assert visit("ada").post(PUBLIC, team="yellow").status_code == 409


def test_the_name_of_a_team_there_is_is_refused_and_nothing_is_made(visit: Visit) -> None:
    visit("ola").post(f"{N}/registration", **RULES)
    guest = visit(None)
    answer = guest.post(f"{PUBLIC}/account", **{**NEW, "team": "Red"})
    assert (answer.status_code, "There is a team “red” already." in words(answer)) == (409, True)
    assert 'value="nora"' in answer.text
    assert guest.post(f"{PUBLIC}/account", **{**NEW, "team": ""}).status_code == 422
    assert guest.post(f"{PUBLIC}/account", **NEW).status_code == 303


def test_an_address_registers_and_tries_only_so_often(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "OF_NEW_ACCOUNTS", Limit(3, timedelta(hours=1)))
    visit("ola").post(f"{N}/registration", **RULES)
    given = [{**NEW, "again": "x"}, NEW, {**NEW, "name": "nick", "team": "Green"}, {**NEW, "name": "rose"}]
    answers = [visit(None).post(f"{PUBLIC}/account", **one) for one in given]
    assert [answer.status_code for answer in answers] == [422, 303, 303, throttle.TOO_MANY]
    assert "Too many registrations from your network" in words(answers[-1])


def test_no_moment_is_no_end(visit: Visit) -> None:
    answer = visit("ola").post(f"{N}/registration", until="none", most_teams=5)
    assert (answer.status_code, "Until when? Give a moment" in words(answer)) == (422, True)


def test_a_member_of_a_team_invites_another_by_a_link(visit: Visit) -> None:
    pat = visit("pat")
    assert "Team red" in words(pat.get(f"{N}/team"))
    page = pat.post(f"{N}/team", note="Quin", days=3)
    match = re.search(r"http://localhost(/join\?key=[\w-]{43})", unescape(page.text))
    assert match is not None
    guest = visit(None)
    guest.get(match[1])
    assert "You are invited to join “News search” with the team red." in words(guest.get("/join"))
    guest.post("/join/account", **{**NEW, "team": ""})
    assert "nora pat" in words(pat.get(f"{N}/team"))
    assert pat.post(f"{N}/team/withdraw", number=99).status_code == 422
    pat.post(f"{N}/team", note="Rae", days=3)
    assert pat.post(f"{N}/team/withdraw", number=2).status_code == 303
    assert "withdrawn" in words(pat.get(f"{N}/team"))
    assert pat.post(f"{N}/team", note="Sam", days=0).status_code == 422
