"""How long a session lasts, and that a copy of its cookie ends with it."""

from datetime import UTC, datetime, timedelta

import pytest
from build import PASSWORD, SLUG
from flask import Flask
from sqlalchemy import func, select
from visiting import Visit, Visitor
from werkzeug.test import Client

from annotator.storage import Database, EndedSession
from annotator.web.site import sessions
from annotator.web.site.sessions import BEGUN, LONGEST, LONGEST_IDLE, SAID_AGAIN, SEEN

pytestmark = pytest.mark.usefixtures("news")

ACTS = f"/collections/{SLUG}/judge/topics/1/acts"


def cookie_of(client: Client) -> str:
    cookie = client.get_cookie("annotator_session")
    assert cookie is not None
    return cookie.value


def older(visitor: Visitor, **by: timedelta) -> None:
    """Let the session have begun, or been seen, so much earlier."""
    with visitor.client.session_transaction() as cookie:
        for name, time in by.items():
            cookie[name] -= int(time.total_seconds())


@pytest.mark.parametrize(
    ("by", "status"),
    [
        ({SEEN: LONGEST_IDLE - timedelta(minutes=1)}, 200),
        ({SEEN: LONGEST_IDLE + timedelta(minutes=1)}, 303),
        ({BEGUN: LONGEST - timedelta(minutes=1)}, 200),
        ({BEGUN: LONGEST + timedelta(minutes=1)}, 303),
    ],
)
def test_a_session_ends_by_itself(visit: Visit, by: dict[str, timedelta], status: int) -> None:
    jo = visit("jo")
    older(jo, **by)
    assert jo.get("/collections").status_code == status
    refused = jo.client.post(ACTS, json={"acts": []})
    assert (refused.status_code == 401) is (status == 303)


def test_a_browser_keeps_the_cookie_as_long_as_it_is_valid(visit: Visit) -> None:
    jo = visit("jo")
    answer = jo.post("/sign-in", name="jo", password=PASSWORD)
    cookie = jo.client.get_cookie("annotator_session")
    assert answer.status_code == 303
    assert cookie is not None
    assert cookie.expires is not None
    assert cookie.expires - datetime.now(UTC) > LONGEST_IDLE - timedelta(minutes=1)


def test_a_session_goes_on_while_its_reader_is_there(visit: Visit) -> None:
    jo = visit("jo")
    jo.get("/account/tokens")
    assert "Set-Cookie" not in jo.get("/account/tokens").headers
    older(jo, **{SEEN: SAID_AGAIN + timedelta(minutes=1)})
    jo.get("/account/tokens")
    with jo.client.session_transaction() as cookie:
        assert datetime.now(UTC).timestamp() - cookie[SEEN] < 60


def test_a_copy_of_the_cookie_ends_when_its_owner_signs_out(app: Flask, visit: Visit, database: Database) -> None:
    jo, elsewhere = visit(None), visit("jo")
    jo.post("/sign-in", name="jo", password=PASSWORD)
    stolen = app.test_client()
    stolen.set_cookie("annotator_session", cookie_of(jo.client))
    assert stolen.get("/collections").status_code == 200
    assert stolen.post(ACTS, json={"acts": []}).status_code == 200
    jo.post("/sign-out")
    assert stolen.get("/collections").status_code == 303
    assert stolen.post(ACTS, json={"acts": []}).status_code == 401
    # A session of the same account in another browser goes on.
    assert elsewhere.get("/collections").status_code == 200
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(EndedSession)) == 1


def test_signing_in_anew_ends_the_session_before(app: Flask, visit: Visit) -> None:
    jo = visit(None)
    jo.post("/sign-in", name="jo", password=PASSWORD)
    before = cookie_of(jo.client)
    jo.post("/sign-in", name="jo", password=PASSWORD)
    assert cookie_of(jo.client) != before
    copy = app.test_client()
    copy.set_cookie("annotator_session", before)
    assert copy.get("/collections").status_code == 303


def test_nothing_of_a_guests_session_stays_when_they_sign_in(visit: Visit) -> None:
    guest = visit(None)
    with guest.client.session_transaction() as cookie:
        cookie["planted"] = "by somebody else"
    guest.post("/sign-in", name="jo", password=PASSWORD)
    with guest.client.session_transaction() as cookie:
        assert "planted" not in cookie


def test_what_was_ended_is_forgotten_when_it_would_be_over_anyway(
    visit: Visit, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit("jo").post("/sign-out")
    later = datetime.now(UTC) + LONGEST + timedelta(days=1)
    kim = visit("kim")
    with kim.client.session_transaction() as cookie:
        cookie.update(sessions.marks(later))
    for module in ("annotator.web.site.sessions", "annotator.web.people.accounts"):
        monkeypatch.setattr(f"{module}.now", lambda: later)
    assert kim.post("/sign-out").status_code == 303
    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(EndedSession)) == 1


def test_cookies_that_travel_encrypted_belong_to_this_host_alone() -> None:
    assert sessions.cookie_name("annotator_session", secure=True) == "__Host-annotator_session"
    assert sessions.cookie_name("annotator_session", secure=False) == "annotator_session"
