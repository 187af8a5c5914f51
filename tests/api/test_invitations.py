"""Members by program: roles are removed, people are invited by links, one by one or all of a file."""

import csv

import pytest
from calling import NEWS, Caller
from sqlalchemy import select

from annotator.storage import AuditEvent, Database

pytestmark = pytest.mark.usefixtures("news")
INVITATIONS = f"{NEWS}/invitations"


def test_a_person_is_invited_by_a_link_that_is_shown_once_and_withdrawn(program: Caller, database: Database) -> None:
    ola = program("ola")
    made = ola.post(INVITATIONS, {"role": "participant", "team": "blue", "note": "Lee"})
    assert made.status_code == 201, made.text
    assert "/join?key=" in made.json["link"]
    [listed] = ola.get(INVITATIONS).json
    assert {**listed, "link": made.json["link"]} == made.json
    withdrawn = ola.call("DELETE", f"{INVITATIONS}/{made.json['number']}")
    assert withdrawn.json["state"] == "withdrawn"
    assert ola.post(INVITATIONS, {"role": "participant"}).status_code == 422
    with database.reading() as session:
        events = list(session.scalars(select(AuditEvent).where(AuditEvent.action == "invitations.add")))
    assert [event.details for event in events] == [{"role": "participant", "team": "blue"}]


def test_people_of_a_file_are_invited_all_or_none(program: Caller) -> None:
    ola = program("ola")
    sent = ola.send(f"{INVITATIONS}/many", "name,role,team\nlee,judge,\njo,adjudicator,\n", name="people.csv")
    assert (sent.status_code, sent.mimetype) == (200, "text/csv")
    [_, lee, jo] = csv.reader(sent.text.splitlines())
    assert (lee[:3], lee[3].startswith("http")) == (["lee", "judge", ""], True)
    assert jo == ["jo", "adjudicator", "", ""]
    refused = ola.send(f"{INVITATIONS}/many", "name,role,team\nmax,judge,\nsue,king,\n")
    assert [one["line"] for one in refused.json["problems"]] == [3]
    assert "max" not in {one["name"] for one in ola.get(f"{NEWS}/members").json}


def test_a_role_is_removed(program: Caller) -> None:
    ola = program("ola")
    removed = ola.call("DELETE", f"{NEWS}/members/jo", query_string={"role": "judge"})
    assert removed.json == {"name": "jo", "role": "judge", "returned": 0, "judgements": 0, "owned": 0}
    assert ola.call("DELETE", f"{NEWS}/members/jo", query_string={"role": "judge"}).status_code == 404
    assert ola.call("DELETE", f"{NEWS}/members/ola", query_string={"role": "organiser"}).status_code == 409


def test_registration_is_opened_and_closed(program: Caller) -> None:
    ola, path = program("ola"), f"{NEWS}/registration"
    assert ola.get(path).json == {"is_open": False, "until": None, "most_teams": 100, "teams": 1}
    opened = ola.call("PUT", path, json={"until": "2099-05-01 23:59 AoE", "most_teams": 60})
    assert opened.json == {"is_open": True, "until": "2099-05-02T11:59:00+00:00", "most_teams": 60, "teams": 1}
    assert ola.call("PUT", path, json={"until": "2001-05-01 23:59"}).status_code == 422
    assert ola.call("DELETE", path).json == {"is_open": False, "until": None, "most_teams": 60, "teams": 1}
