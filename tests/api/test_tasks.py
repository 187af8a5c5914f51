"""Tasks by program: added, changed and removed by organisers; runs are checked and sent by task."""

import pytest
from build import run_text
from calling import NEWS, Caller

GAMMA = run_text("gamma", {"1": ["a"]})
FIRST = {"key": "first", "title": "Of one topic", "topics": ["1"], "most_runs": 2}


@pytest.fixture(autouse=True)
def _tasks(news: str, program: Caller) -> None:
    """A task of topic 1 and one of every topic."""
    del news
    ola = program("ola")
    made = ola.post(f"{NEWS}/tasks", FIRST)
    assert made.status_code == 201
    assert made.json == {
        **FIRST,
        "description": "",
        "every_topic": False,
        "formats": [],
        "most_documents": 1000,
        "runs": 0,
    }
    assert ola.post(f"{NEWS}/tasks", {"key": "every", "title": "All", "formats": ["trec"]}).status_code == 201


def test_participants_read_the_tasks(program: Caller) -> None:
    found = program("pat").get(f"{NEWS}/tasks").json
    assert [(one["key"], one["topics"], one["every_topic"], "runs" in one) for one in found] == [
        ("first", ["1"], False, False),
        ("every", ["1", "2"], True, False),
    ]


def test_a_program_sends_runs_to_a_task(program: Caller) -> None:
    pat = program("pat")
    missing = pat.send(f"{NEWS}/runs", GAMMA)
    assert (missing.status_code, "Name the task of this run. There are: first, every." in missing.text) == (422, True)
    assert pat.send(f"{NEWS}/runs/check", GAMMA, task="first").status_code == 200
    sent = pat.send(f"{NEWS}/runs", GAMMA, task="first")
    assert (sent.status_code, sent.json["task"]) == (201, "first")
    listed = {one["tag"]: one.get("task") for one in pat.get(f"{NEWS}/runs").json}
    assert listed == {"gamma": "first"}
    assert {one["tag"]: one.get("task") for one in program("ola").get(f"{NEWS}/runs").json}["alpha"] is None
    refused = pat.call("PATCH", f"{NEWS}/runs/gamma", json={"task": "every"})
    assert (refused.status_code, "Only organisers change the task" in refused.text) == (422, True)
    assert program("ola").call("PATCH", f"{NEWS}/runs/gamma", json={"task": "every"}).json["task"] == "every"


def test_tasks_are_changed_and_removed(program: Caller) -> None:
    ola, first = program("ola"), f"{NEWS}/tasks/first"
    assert ola.call("PATCH", first, json={"topics": None, "most_runs": None}).json["topics"] == ["1", "2"]
    program("pat").send(f"{NEWS}/runs", run_text("both", {"1": ["a"], "2": ["b"]}), task="first")
    lost = ola.call("PATCH", first, json={"topics": ["1"]})
    assert (lost.status_code, "2 (1)" in lost.text) == (409, True)
    assert ola.call("DELETE", first).status_code == 409
    assert ola.call("DELETE", f"{NEWS}/tasks/every").status_code == 200
    assert [one["key"] for one in ola.get(f"{NEWS}/tasks").json] == ["first"]
    assert ola.call("PATCH", first, json={}).status_code == 422


def test_the_rules_have_the_tasks(program: Caller) -> None:
    program("pat").send(f"{NEWS}/runs", GAMMA, task="first")
    rules = program("pat").get(f"{NEWS}/run-rules").json
    assert [(one["key"], one["topics"], one["most_runs"], one["most_per_topic"]) for one in rules["tasks"]] == [
        ("first", ["1"], 2, 1000),
        ("every", ["1", "2"], None, 1000),
    ]
    assert rules["tasks"][1]["formats"] == ["trec"]
    assert {one["tag"]: one["task"] for one in rules["runs"]} == {"gamma": "first"}
    everything = program("ola").get(f"{NEWS}/run-rules").json
    assert {one["tag"]: one["task"] for one in everything["runs"]} == {"alpha": None, "beta": None, "gamma": "first"}


def test_a_collection_without_tasks_answers_as_before(program: Caller) -> None:
    ola = program("ola")
    for key in ("first", "every"):
        assert ola.call("DELETE", f"{NEWS}/tasks/{key}").status_code == 200
    assert "task" not in ola.get(f"{NEWS}/runs/alpha").json
    rules = ola.get(f"{NEWS}/run-rules").json
    assert "tasks" not in rules
    assert all("task" not in one for one in rules["runs"])


def test_a_program_answers_what_the_task_asks(program: Caller) -> None:
    ola, pat = program("ola"), program("pat")
    question = {"key": "length", "text": "How long?", "kind": "text", "required": True, "choices": []}
    made = ola.call("PUT", f"{NEWS}/questionnaire?task=first", json={"questions": [question]})
    assert made.json == {"number": 1, "questions": [question]}
    assert pat.get(f"{NEWS}/questionnaire").json == {"number": 0, "questions": []}
    assert pat.get(f"{NEWS}/questionnaire", task="first").json["number"] == 1
    missing = pat.send(f"{NEWS}/runs", GAMMA, task="first")
    assert (missing.status_code, "needs an answer to “length”" in missing.json["detail"]) == (422, True)
    answers = '{"length": "5"}'
    assert pat.send(f"{NEWS}/runs", GAMMA, task="first", answers=answers, questionnaire=1).status_code == 201
    assert pat.get(f"{NEWS}/runs/gamma/answers").json["answers"] == {"length": "5"}
