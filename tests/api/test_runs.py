"""Runs by program: checked, sent, listed, given back, withdrawn, with the same words as on the pages."""

import gzip
import hashlib
import io
import zipfile

import pytest
from build import NOW, SLUG, run, run_text
from calling import NEWS, Caller
from sqlalchemy import update

from annotator.api.site import jobs_asked
from annotator.storage import Database, Round
from annotator.workflows.collections.rounds import open_round

pytestmark = pytest.mark.usefixtures("news")

GAMMA = run_text("gamma", {"1": ["a", "e"], "2": ["b"]})
RUNS, CHECKS = f"{NEWS}/runs", f"{NEWS}/runs/check"


def test_a_file_is_checked_and_nothing_is_stored(program: Caller) -> None:
    pat = program("pat")
    answer = pat.send(CHECKS, GAMMA, name="gamma.txt")
    assert answer.status_code == 200
    assert {**answer.json, "warnings": None} == {
        "tag": "gamma",
        "topics": 2,
        "retrieved": 3,
        "checksum": hashlib.sha256(GAMMA).hexdigest(),
        "corrects": False,
        "warnings": None,
    }
    assert pat.get(RUNS).json == []


def test_everything_wrong_with_a_file_is_said_with_its_lines(program: Caller) -> None:
    answer = program("pat").send(CHECKS, "1 Q0 a 1 x gamma\n9 Q0 a 1 2.0 gamma\n", name="gamma.txt")
    assert answer.status_code == 422
    assert answer.mimetype == "application/problem+json"
    assert answer.json["title"] == "Unprocessable Entity"
    assert answer.json["detail"] == "Problems found: 2."
    assert [(one["file"], one["line"]) for one in answer.json["problems"]] == [("gamma.txt", 1), ("gamma.txt", 2)]
    assert answer.json["problems_total"] == 2


@pytest.mark.parametrize("sent", [GAMMA, gzip.compress(GAMMA, mtime=0)])
def test_a_run_is_stored_byte_for_byte_and_answered_with_its_receipt(program: Caller, sent: bytes) -> None:
    pat = program("pat")
    answer = pat.send(RUNS, sent, name="gamma.txt", description="ours", type="manual", priority=2, team="blue")
    assert answer.status_code == 201
    receipt = answer.json
    assert receipt["checksum"] == hashlib.sha256(sent).hexdigest()
    assert (receipt["tag"], receipt["bytes"], receipt["version"]) == ("gamma", len(sent), 1)
    assert (receipt["type"], receipt["priority"], receipt["description"]) == ("manual", 2, "ours")
    assert receipt["team"] == "red"  # a participant's own, whatever they say
    assert receipt["uploaded_by"] == "pat"
    assert pat.get(f"{NEWS}/runs/gamma/file").data == sent
    assert pat.get(f"{RUNS}/gamma").json == receipt


def test_a_form_with_a_file_is_refused_with_what_to_do(program: Caller) -> None:
    answer = program("pat").call("POST", RUNS, data={"file": "x"}, content_type="multipart/form-data")
    assert answer.status_code == 415
    assert "Send the file itself as the body" in answer.json["detail"]


def test_a_file_may_come_as_curl_sends_it(program: Caller) -> None:
    answer = program("pat").call("POST", RUNS, data=GAMMA, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 201
    assert answer.json["tag"] == "gamma"


def test_the_same_file_again_is_refused_and_stored_once(program: Caller) -> None:
    pat = program("pat")
    assert pat.send(RUNS, GAMMA).status_code == 201
    assert pat.send(RUNS, GAMMA).status_code == 422
    assert pat.send(RUNS, GAMMA, replaces=True).status_code == 422
    [row] = pat.get(RUNS, every=True).json
    assert row["tag"] == "gamma"


def test_a_corrected_file_takes_the_place_of_the_first(program: Caller) -> None:
    pat = program("pat")
    pat.send(RUNS, GAMMA)
    corrected = run_text("gamma", {"1": ["e", "a"], "2": ["b"]})
    assert pat.send(RUNS, corrected, replaces=True).json["version"] == 2
    assert pat.get(f"{NEWS}/runs/gamma/file").data == corrected
    assert pat.get(f"{NEWS}/runs/gamma/file", version=1).data == GAMMA
    assert pat.get(f"{RUNS}/gamma", version=3).status_code == 404


def test_a_run_is_withdrawn_once(program: Caller) -> None:
    pat = program("pat")
    pat.send(RUNS, GAMMA)
    assert pat.call("DELETE", f"{RUNS}/gamma").json["state"] == "withdrawn"
    assert pat.call("DELETE", f"{RUNS}/gamma").status_code == 409
    assert pat.get(RUNS).json == []
    assert [row["state"] for row in pat.get(RUNS, every=True).json] == ["withdrawn"]


def test_the_answer_says_that_a_team_cannot_restore_a_run_of_a_closed_round(
    program: Caller, database: Database
) -> None:
    pat = program("pat")
    pat.send(RUNS, GAMMA)
    assert "in_closed_round" not in pat.get(f"{RUNS}/gamma").json
    with database.transaction() as session:
        open_round(session, SLUG, at=NOW)
        session.execute(update(Round).values(closed_at=NOW))
    assert pat.get(f"{RUNS}/gamma").json["in_closed_round"] is True
    assert pat.call("DELETE", f"{RUNS}/gamma").json["in_closed_round"] is True
    assert pat.call("POST", f"{RUNS}/gamma/restore").status_code == 403


@pytest.mark.parametrize("path", [f"{RUNS}/alpha", f"{NEWS}/runs/alpha/file"])
def test_a_participant_finds_no_run_of_another_team(program: Caller, path: str) -> None:
    answer = program("pat").get(path)
    assert answer.status_code == 404
    assert answer.json["detail"] == "There is no run “alpha” in this collection."
    assert program("ola").get(path).status_code == 200


def test_a_participant_cannot_withdraw_a_run_of_another_team(program: Caller) -> None:
    assert program("pat").call("DELETE", f"{RUNS}/alpha").status_code == 404
    assert program("ola").get(f"{RUNS}/alpha").json["state"] == "in force"


def test_the_same_ranking_of_another_team_is_shown_to_organisers_alone(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        run(session, "copy", {"1": ["c", "d"]}, team="blue")
    pat, ola = program("pat"), program("ola")
    assert pat.send(RUNS, run_text("gamma", {"1": ["c", "d"]})).json["same_ranking_as"] == []
    assert pat.get(f"{RUNS}/gamma").json["same_ranking_as"] == []
    assert [row["same_ranking_as"] for row in pat.get(RUNS).json] == [[]]
    assert ola.get(f"{RUNS}/gamma").json["same_ranking_as"] == ["copy"]
    assert {row["tag"]: row["same_ranking_as"] for row in ola.get(RUNS).json} == {
        "alpha": [],
        "beta": [],
        "copy": ["gamma"],
        "gamma": ["copy"],
    }
    sent = ola.send(RUNS, run_text("delta", {"1": ["c", "d"]}), team="green")
    assert sent.json["same_ranking_as"] == ["copy", "gamma"]
    assert pat.call("DELETE", f"{RUNS}/gamma").json["same_ranking_as"] == []
    assert ola.get(f"{RUNS}/copy").json["same_ranking_as"] == ["delta"]


def test_a_list_comes_a_page_at_a_time(program: Caller) -> None:
    ola = program("ola")
    answer = ola.get(RUNS, page=2, page_size=1)
    assert [row["tag"] for row in answer.json] == ["beta"]
    assert '"total": 2' in answer.headers["X-Pagination"]
    assert ola.get(RUNS, page=0).status_code == 422
    assert ola.get(RUNS, page_size=1001).status_code == 422
    assert ola.get(RUNS, page=10**30).status_code in {200, 422}


def test_a_tag_may_have_a_slash(program: Caller) -> None:
    pat = program("pat")
    assert pat.send(RUNS, run_text("our/run", {"1": ["a"], "2": ["b"]})).status_code == 201
    assert pat.get(f"{RUNS}/our%2Frun").json["tag"] == "our/run"


def test_a_call_sends_one_run_and_no_archive_or_metadata(program: Caller) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("gamma.run", GAMMA)
    pat = program("pat")
    for name, sent in (("all.zip", content.getvalue()), ("runs.csv", b"tag,team\ngamma,red\n")):
        assert pat.send(RUNS, sent, name=name).status_code == 422
    assert pat.get(RUNS).json == []


def test_a_run_is_changed_withdrawn_and_restored(program: Caller) -> None:
    ola = program("ola")
    changed = ola.call("PATCH", f"{RUNS}/alpha", json={"description": "BM25", "type": "manual", "team": "red"})
    assert changed.status_code == 200, changed.text
    assert [changed.json[name] for name in ("description", "type", "team")] == ["BM25", "manual", "red"]
    pat = program("pat")
    assert pat.call("PATCH", f"{RUNS}/alpha", json={"priority": 3}).json["priority"] == 3
    assert pat.call("PATCH", f"{RUNS}/beta", json={"priority": 3}).status_code == 404
    assert pat.call("PATCH", f"{RUNS}/alpha", json={"round": 1}).status_code == 422
    assert pat.call("PATCH", f"{RUNS}/alpha", json={}).status_code == 422
    assert ola.call("DELETE", f"{RUNS}/alpha").json["state"] == "withdrawn"
    assert pat.call("POST", f"{RUNS}/alpha/restore").status_code == 403
    assert ola.call("POST", f"{RUNS}/alpha/restore").json["withdrawn_at"] is None


def test_jobs_are_listed_and_cancelled_by_their_sender_or_an_organiser(
    program: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_asked, "MOST_AT_ONCE", 1)
    pat, ola = program("pat"), program("ola")
    asked = pat.send(RUNS, run_text("gamma", {"1": ["a"]}), name="gamma.run")
    assert asked.status_code == 202
    [job] = pat.get(f"{NEWS}/jobs").json
    assert (job["number"], job["state"], job["asked_by"]) == (asked.json["number"], "waiting", "pat")
    assert program("jo").get(f"{NEWS}/jobs").json == []
    assert program("jo").call("DELETE", f"{NEWS}/jobs/{job['number']}").status_code == 404
    assert ola.get(f"{NEWS}/jobs").json == [job]
    assert ola.call("DELETE", f"{NEWS}/jobs/{job['number']}").json["state"] == "cancelled"
    assert pat.call("DELETE", f"{NEWS}/jobs/{job['number']}").status_code == 409
