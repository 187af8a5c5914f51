"""Machine judges that the site runs, by program."""

import pytest
from build import labels
from calling import NEWS, Caller
from machine_judging import work
from model_server import KEY, MODEL, ModelServer, responding

from annotator.storage import Database

pytestmark = pytest.mark.usefixtures("news", "model_key")
MACHINES = f"{NEWS}/machine-judges"


def test_a_machine_judge_is_added_estimated_run_and_shown(
    program: Caller, database: Database, model_server: ModelServer
) -> None:
    ola = program("ola")
    body = {"name": "robot", "endpoint": model_server.endpoint, "model": MODEL, "price_sent": 1, "price_received": 2}
    added = ola.call("POST", MACHINES, json=body)
    assert added.status_code == 201
    assert (added.json["judge"], added.json["host"], added.json["added_by"]) == ("robot-v1", "127.0.0.1", "ola")
    assert added.json["prompt_name"] == "plain"
    assert "{document_text}" in added.json["prompt"]
    assert [one["judge"] for one in ola.get(MACHINES).json] == ["robot-v1"]
    estimate = ola.call("POST", f"{MACHINES}/robot/estimate", json={}).json
    assert (estimate["requests"], estimate["stored"], estimate["documents"]) == (6, 0, 6)
    assert estimate["cost"] == pytest.approx((estimate["tokens_sent"] + 2 * estimate["tokens_received"]) / 1e6)
    model_server.behaviours["Text of b."] = [responding("Who knows?")]
    started = ola.call("POST", f"{MACHINES}/robot/runs?version=1", json={})
    assert (started.status_code, started.json["state"], started.json["documents"]) == (201, "running", 6)
    assert ola.call("POST", f"{MACHINES}/robot/runs", json={}).status_code == 409
    work(database)
    [run] = ola.get(f"{MACHINES}/robot").json["runs"]
    assert (run["state"], run["labelled"], run["without_grade"], run["requests"], run["started_by"]) == (
        *("done", 5, 1, 6, "ola"),
    )
    assert run["cost"] == pytest.approx((run["tokens_sent"] + 2 * run["tokens_received"]) / 1e6)
    [row] = ola.get(f"{MACHINES}/robot/unlabelled").json
    assert (row["docno"], row["kind"], row["response"]) == ("b", "without-grade", "Who knows?")
    for answer in (added, ola.get(f"{MACHINES}/robot"), ola.get(MACHINES)):
        assert KEY not in answer.text


def test_a_run_is_cancelled_and_continued(program: Caller, database: Database, model_server: ModelServer) -> None:
    ola = program("ola")
    ola.call("POST", MACHINES, json={"name": "robot", "endpoint": model_server.endpoint, "model": MODEL})
    ola.call("POST", f"{MACHINES}/robot/runs", json={"tried": 2, "topics": ["1"], "most_tokens": 100_000})
    assert ola.call("POST", f"{MACHINES}/robot/cancel").json["state"] == "cancelled"
    assert ola.call("POST", f"{MACHINES}/robot/cancel").status_code == 409
    assert ola.call("POST", f"{MACHINES}/robot/continue", json={}).json["state"] == "running"
    work(database)
    assert ola.get(f"{MACHINES}/robot").json["runs"][0]["labelled"] == 2
    assert ola.call("POST", f"{MACHINES}/robot/continue", json={"most_tokens": 5}).status_code == 409


def test_two_versions_are_compared_with_people(program: Caller, database: Database, model_server: ModelServer) -> None:
    with database.transaction() as session:
        labels(session, "jo", "1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 a 1\n2 0 e 0\n")
    ola = program("ola")
    body = {"name": "robot", "endpoint": model_server.endpoint, "model": MODEL}
    ola.call("POST", MACHINES, json=body)
    assert ola.get(f"{MACHINES}/robot/comparison").status_code == 422
    ola.call("POST", MACHINES, json={**body, "prompt_name": "umbrela"})
    for version, grade in ((1, "1"), (2, "0")):
        model_server.grades = {"Text of e.": grade}
        ola.call("POST", f"{MACHINES}/robot/runs?version={version}", json={})
        work(database)
    found = ola.get(f"{MACHINES}/robot/comparison").json
    assert (found["about"]["common"], found["about"]["changed"], found["about"]["nearer"]) == (6, 1, 1)
    assert [(row["judge"], row["n"], row["same"]) for row in found["rows"]] == [
        ("robot-v1", 5, 0.4),
        ("robot-v2", 5, 0.6),
    ]
    found = ola.get(f"{MACHINES}/robot/comparison?by=document&first=2&second=1&topic=2").json
    assert found["rows"] == [{"topic": "2", "docno": "e", "first_grade": 0, "second_grade": 1, "people_grade": 0}]


def test_what_is_no_machine_judge_is_refused(program: Caller, model_server: ModelServer) -> None:
    ola = program("ola")
    body = {"name": "robot", "endpoint": model_server.endpoint, "model": MODEL}
    cases: list[tuple[dict[str, object], int, str]] = [
        ({"endpoint": "https://elsewhere.org/v1"}, 403, "may not send to “elsewhere.org”"),
        ({"prompt_name": "x"}, 422, "There is no built-in prompt “x”"),
        ({"prompt": "x"}, 422, "“plain” is the name of a built-in prompt"),
        ({"prompt": "{wat}", "prompt_name": "own"}, 422, "“{wat}”, which is no variable"),
        ({"samples": 0}, 422, "samples: a whole number"),
    ]
    for changes, status, sentence in cases:
        refused = ola.call("POST", MACHINES, json={**body, **changes})
        assert (refused.status_code, sentence in str(refused.json)) == (status, True)
    assert ola.get(MACHINES).json == []
    assert ola.get(f"{MACHINES}/robot").status_code == 404
