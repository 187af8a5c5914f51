"""Collections by program: created, set, copied, closed; rounds, the release of scores, guidelines."""

import pytest
from build import labels
from calling import API, NEWS, Caller
from sqlalchemy import select
from worker.at_work import work

from annotator.storage import AuditEvent, Database

pytestmark = pytest.mark.usefixtures("news")
SCALE = [{"value": 1, "name": "Relevant"}, {"value": 0, "name": "Not relevant", "description": "Nothing of it"}]
NEXT = {"slug": "next", "title": "News 2027", "scale": SCALE}


def test_an_administrator_creates_a_collection_and_organises_it(program: Caller, database: Database) -> None:
    ada = program("ada")
    made = ada.post(f"{API}/collections", NEXT)
    assert made.status_code == 201, made.text
    assert [one["value"] for one in made.json["scale"]] == [0, 1]
    assert ada.post(f"{API}/collections", NEXT).status_code == 409
    assert program("ola").post(f"{API}/collections", {}).status_code == 403
    [mine] = [one for one in ada.get(f"{API}/collections").json if one["slug"] == "next"]
    assert mine["roles"] == ["organiser"]
    with database.reading() as session:
        actions = list(session.scalars(select(AuditEvent.action).where(AuditEvent.action.startswith("collections."))))
    assert actions == ["collections.add"]


@pytest.mark.parametrize(
    "scale", [[], SCALE[:1], [*SCALE, SCALE[0]], [{"value": 0, "name": "a|b"}, {"value": 1, "name": "c"}]]
)
def test_a_wrong_scale_is_refused(program: Caller, scale: list[object]) -> None:
    assert program("ada").post(f"{API}/collections", {**NEXT, "scale": scale}).status_code == 422


def test_settings_are_changed_and_what_is_left_out_stays(program: Caller) -> None:
    ola = program("ola")
    before = ola.get(f"{NEWS}/settings").json
    asked = {
        "overlap_share": 10,
        "submissions_until": "2027-05-01 23:59 AoE",
        "terms": "Cite us.",
        "judging_mode": "owned",
        "corpus": "Ask the archive.",
        "shares_docnos": True,
    }
    after = ola.call("PATCH", f"{NEWS}/settings", json=asked).json
    assert (after["submissions_until"], after["terms"]) == ("2027-05-02T11:59:00+00:00", "Cite us.")
    assert (after["corpus"], after["shares_docnos"], after["shares_qrels"]) == ("Ask the archive.", True, False)
    changed = {name for name in before if before[name] != after[name]}
    assert changed <= {*asked, "submissions_until_written", "consensus_policy"}
    assert ola.call("PATCH", f"{NEWS}/settings", json={"submissions_until": None}).json["submissions_until"] is None
    for wrong in ({}, {"title": ""}, {"overlap_share": 101}, {"consensus_policy": "guess"}, {"kind": "x"}):
        assert ola.call("PATCH", f"{NEWS}/settings", json=wrong).status_code == 422, wrong


def test_files_are_shared_and_taken_back_in_a_closed_collection_and_nothing_else_changes(program: Caller) -> None:
    ola = program("ola")
    ola.call("POST", f"{NEWS}/close")
    for shares in (True, False):
        asked = {"shares_qrels": shares, "shares_docnos": shares, "corpus": "Ask."}
        after = ola.call("PATCH", f"{NEWS}/settings", json=asked)
        assert {name: after.json[name] for name in asked} == asked
    for other in ({"terms": "Cite us."}, {"title": "Other"}, {"overlap_share": 10}):
        refused = ola.call("PATCH", f"{NEWS}/settings", json={"shares_qrels": True, **other})
        assert refused.status_code == 409
    assert not ola.get(f"{NEWS}/settings").json["shares_qrels"]


def test_a_collection_is_closed_and_reopened(program: Caller) -> None:
    ola = program("ola")
    assert ola.call("POST", f"{NEWS}/close").json["closed"] is True
    assert ola.call("PATCH", f"{NEWS}/settings", json={"title": "New"}).status_code == 409
    assert ola.call("POST", f"{NEWS}/reopen").json["closed"] is False


def test_a_copy_has_the_settings_and_its_documents_come_by_a_job(program: Caller, database: Database) -> None:
    ada = program("ada")
    copied = ada.post(f"{NEWS}/copy", {"slug": "later"})
    assert (copied.status_code, copied.json["slug"], copied.json["documents"]) == (201, "later", 0)
    asked = ada.post(f"{NEWS}/copy", {"slug": "with-texts", "documents": True})
    assert asked.status_code == 202
    work(database)
    job = ada.get(asked.headers["Location"]).json
    assert (job["state"], job["status"], job["result"]["documents"]) == ("done", 201, 5)
    assert program("ola").post(f"{NEWS}/copy", {"slug": "mine"}).status_code == 403


def test_rounds_are_opened_and_closed(program: Caller, database: Database) -> None:
    ola = program("ola")
    assert ola.get(f"{NEWS}/rounds").json == []
    opened = ola.post(f"{NEWS}/rounds", {"name": "First"})
    assert (opened.status_code, opened.json["number"], opened.json["runs"]) == (201, 1, 2)
    assert ola.post(f"{NEWS}/rounds", {}).status_code == 409
    with database.transaction() as session:
        labels(session, "ann", "1 0 a 1\n")
    closed = ola.call("POST", f"{NEWS}/rounds/close")
    assert (closed.json["version"], closed.json["closed_at"] is None) == (1, False)
    assert ola.get(f"{NEWS}/rounds").json == [closed.json]


def test_scores_are_released_by_kept_grades_and_withheld(program: Caller, database: Database) -> None:
    ola = program("ola")
    assert ola.get(f"{NEWS}/release").json["released_at"] is None
    assert ola.call("PUT", f"{NEWS}/release", json={"shown": "own"}).status_code == 409
    with database.transaction() as session:
        labels(session, "ann", "1 0 a 1\n")
    released = ola.call("PUT", f"{NEWS}/release", json={"shown": "own", "early": True, "from": "2027-05-01 23:59"})
    assert released.json == {"shown": "own", "released_at": "2027-05-01T23:59:00+00:00", "version": 1}
    assert (
        ola.call("PUT", f"{NEWS}/release", json={"from": "now", "qrels": "live", "early": True}).json["version"] is None
    )
    assert program("pat").get(f"{NEWS}/scores").status_code != 403
    assert ola.call("DELETE", f"{NEWS}/release").json["released_at"] is None
    assert program("pat").get(f"{NEWS}/scores").status_code == 403


def test_guidelines_are_published_and_accepted(program: Caller) -> None:
    ola = program("ola")
    assert ola.call("PUT", f"{NEWS}/guidelines", json={"text": " "}).status_code == 422
    first = ola.call("PUT", f"{NEWS}/guidelines", json={"text": "Read it all."})
    assert first.json == {"number": 1, "text": "Read it all."}
    assert ola.call("PUT", f"{NEWS}/guidelines", json={"text": "Read it all."}).json["number"] == 1
    assert program("jo").post(f"{NEWS}/guidelines/acceptances", {"number": 1}).status_code == 200
    listed = ola.get(f"{NEWS}/guidelines/acceptances").json
    assert listed == [{"judge": "jo", "number": 1}, {"judge": "kim", "number": None}]
