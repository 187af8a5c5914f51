"""The questionnaire by program: asked, answered with a run and later, refused with the same words as on the pages."""

import json

import pytest
from build import run_text
from calling import NEWS, Caller

QUESTIONS = [
    {"key": "trained", "text": "Was it trained on these topics?", "kind": "yes-no", "required": True, "choices": []},
    {"key": "contact", "text": "Whom do we ask?", "kind": "e-mail", "required": False, "choices": []},
]
GAMMA = run_text("gamma", {"1": ["a", "b"], "2": ["c"]})
ANSWERS = f"{NEWS}/runs/gamma/answers"


@pytest.fixture(autouse=True)
def _asked(news: str, program: Caller) -> None:
    """Two questions."""
    del news
    made = program("ola").call("PUT", f"{NEWS}/questionnaire", json={"questions": QUESTIONS})
    assert (made.status_code, made.json) == (200, {"number": 1, "questions": QUESTIONS})


def test_a_program_reads_what_is_asked_and_answers_with_its_run(program: Caller) -> None:
    pat = program("pat")
    assert pat.get(f"{NEWS}/questionnaire").json == {"number": 1, "questions": QUESTIONS}
    missing = pat.call("POST", f"{NEWS}/runs?name=g", data=GAMMA)
    assert (missing.status_code, "needs an answer to" in missing.text) == (422, True)
    broken = pat.call("POST", f"{NEWS}/runs?name=g&answers=[1]", data=GAMMA)
    assert (broken.status_code, "JSON object" in broken.text) == (422, True)
    query = {"name": "g", "answers": json.dumps({"trained": False, "contact": "pat@example.org"})}
    assert pat.call("POST", f"{NEWS}/runs", data=GAMMA, query_string=query).status_code == 201
    found = pat.get(ANSWERS).json
    assert (found["answers"], found["missing"]) == ({"trained": "no", "contact": "pat@example.org"}, [])
    assert [one["question"] for one in found["kept"]] == ["Whom do we ask?", "Was it trained on these topics?"]


def test_a_program_changes_answers(program: Caller) -> None:
    pat = program("pat")
    pat.call("POST", f"{NEWS}/runs", data=GAMMA, query_string={"answers": '{"trained": "no"}'})
    changed = pat.call("PATCH", ANSWERS, json={"answers": {"trained": True}})
    assert (changed.status_code, changed.json["answers"]) == (200, {"trained": "yes"})
    wrong = pat.call("PATCH", ANSWERS, json={"answers": {"contact": "nobody"}})
    assert (wrong.status_code, "is an e-mail address" in wrong.text) == (422, True)


def test_an_organiser_reads_all_answers(program: Caller) -> None:
    program("pat").call("POST", f"{NEWS}/runs", data=GAMMA, query_string={"answers": '{"trained": "no"}'})
    ola = program("ola")
    found = {one["run"]: one for one in ola.get(f"{NEWS}/questionnaire/answers").json}
    assert found["gamma"]["answers"] == {"trained": "no"}
    assert found["gamma"]["team"] == "red"
    assert '"gamma","red","1","yes","no",""' in ola.get(f"{NEWS}/questionnaire/answers?format=csv").text
    assert "Was it trained" in ola.get(f"{NEWS}/questionnaire/answers?format=every-csv").text


@pytest.mark.parametrize(
    ("body", "status", "wrong"),
    [
        ({"questions": [{"key": "A", "text": "?"}]}, 422, "its key is at most 40 small letters"),
        ({"questions": QUESTIONS[:1], "after": 0}, 409, "has changed since"),
    ],
)
def test_a_questionnaire_that_cannot_be_asked_is_refused(
    program: Caller, body: dict[str, object], status: int, wrong: str
) -> None:
    answer = program("ola").call("PUT", f"{NEWS}/questionnaire", json=body)
    assert (answer.status_code, wrong in answer.text) == (status, True)


REWORDED = [{**QUESTIONS[0], "text": "Was it NOT trained on these topics?"}, QUESTIONS[1]]


def test_answers_of_a_program_to_another_version_are_refused(program: Caller) -> None:
    pat, query = program("pat"), {"answers": '{"trained": "no"}'}
    assert pat.call("POST", f"{NEWS}/runs", data=GAMMA, query_string={**query, "questionnaire": 1}).status_code == 201
    assert pat.get(ANSWERS).json["version"] == 1
    assert program("ola").call("PUT", f"{NEWS}/questionnaire", json={"questions": REWORDED}).json["number"] == 2
    late = pat.call("PATCH", ANSWERS, json={"answers": {"trained": "no"}, "version": 1})
    assert (late.status_code, "has changed since you opened it" in late.text) == (409, True)
    delta = run_text("delta", {"1": ["a", "b"], "2": ["c"]})
    late = pat.call("POST", f"{NEWS}/runs", data=delta, query_string={**query, "questionnaire": 1})
    assert (late.status_code, "has changed since you opened it" in late.text) == (409, True)
    assert "delta" not in [one["tag"] for one in pat.get(f"{NEWS}/runs").json]
    assert pat.call("PATCH", ANSWERS, json={"answers": {"trained": "yes"}, "version": 2}).status_code == 200
    assert pat.call("POST", f"{NEWS}/runs", data=delta, query_string={**query, "questionnaire": 2}).status_code == 201


def test_answers_that_were_changed_meanwhile_fail_the_precondition(program: Caller) -> None:
    pat = program("pat")
    pat.call("POST", f"{NEWS}/runs", data=GAMMA, query_string={"answers": '{"trained": "no"}'})
    read = pat.get(ANSWERS).headers["ETag"]
    program("ola").call("PATCH", ANSWERS, json={"answers": {"contact": "ola@example.org"}})
    late = pat.call("PATCH", ANSWERS, json={"answers": {"contact": "pat@example.org"}}, headers={"If-Match": read})
    assert late.status_code == 412
    assert pat.get(ANSWERS).json["answers"]["contact"] == "ola@example.org"


def test_a_version_of_many_digits_is_refused(program: Caller) -> None:
    ola, many = program("ola"), "9" * 5_000
    answers = ola.call("POST", f"{NEWS}/runs", data=GAMMA, query_string={"questionnaire": many})
    assert answers.status_code == 422
    for method, address, body in (
        ("PUT", f"{NEWS}/questionnaire", '{"questions": [], "after": %s}'),
        ("PATCH", ANSWERS, '{"answers": {}, "version": %s}'),
    ):
        refused = ola.call(method, address, data=body % many, content_type="application/json")
        assert refused.status_code in {400, 422}


def test_the_same_questions_again_are_not_noted_as_a_change(program: Caller) -> None:
    ola = program("ola")
    assert ola.call("PUT", f"{NEWS}/questionnaire", json={"questions": QUESTIONS}).json["number"] == 1
    noted = [one for one in ola.get(f"{NEWS}/audit").json if one["action"] == "questionnaire.set"]
    assert len(noted) == 1
