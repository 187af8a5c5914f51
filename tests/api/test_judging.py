"""A judge that is a program: it draws, it grades, and nothing is lost or stored twice."""

import re
from typing import Any

import pytest
from build import NOW, SLUG
from calling import NEWS, Caller
from csv_cells import unquoted
from sqlalchemy import func, select

from annotator.storage import Database, Judgement
from annotator.workflows.collections import collection

pytestmark = pytest.mark.usefixtures("news")

DRAW, JUDGEMENTS = f"{NEWS}/judging/documents", f"{NEWS}/judgements"


def grade(assignment: int, value: int = 1, id_: str = "one") -> dict[str, Any]:
    return {"judgements": [{"id": id_, "assignment": assignment, "grade": value}]}


def stored(database: Database) -> int:
    with database.reading() as session:
        return session.scalars(select(func.count()).select_from(Judgement)).one()


def test_a_program_judges_all_that_waits_for_it(program: Caller, database: Database) -> None:
    jo = program("jo")
    count = 0
    for topic in jo.get(f"{NEWS}/judging").json:
        while documents := jo.post(DRAW, {"topic": topic["number"]}).json["documents"]:
            sent = [{"id": f"a{one['assignment']}", "assignment": one["assignment"], "grade": 1} for one in documents]
            answer = jo.post(JUDGEMENTS, {"judgements": sent})
            assert answer.json == {"acknowledged": [one["id"] for one in sent], "refused": []}
            count += len(sent)
    assert count == stored(database) == 6
    assert all(topic["waiting"] == 0 for topic in jo.get(f"{NEWS}/judging").json)


def test_documents_come_with_their_topic_and_their_text_and_with_nothing_else(program: Caller) -> None:
    answer = program("jo").post(DRAW, {"topic": "1"})
    assert set(answer.json) == {"topic", "documents", "judged", "waiting"}
    assert answer.json["topic"]["title"] == "first topic"
    for document in answer.json["documents"]:
        assert set(document) == {"assignment", "docno", "title", "body", "url", "language"}
    text = "".join(f"Title of {docno} Text of {docno}." for docno in "abcd")
    assert {f"Title of {one['docno']} {one['body']}" for one in answer.json["documents"]} <= set(
        re.findall(r"Title of \w Text of \w\.", text)
    )
    assert not re.search("alpha|beta|rank|score|run", answer.text)


def test_whoever_asks_again_before_judging_gets_the_same_documents(program: Caller) -> None:
    jo = program("jo")
    assert jo.post(DRAW, {"topic": "1"}).json == jo.post(DRAW, {"topic": "1"}).json
    assert program("kim").post(DRAW, {"topic": "1"}).json["documents"] == []


def test_a_judgement_that_arrives_again_is_acknowledged_and_stored_once(program: Caller, database: Database) -> None:
    jo = program("jo")
    first = jo.post(DRAW, {"topic": "1"}).json["documents"][0]["assignment"]
    for _ in range(3):
        assert jo.post(JUDGEMENTS, grade(first)).json == {"acknowledged": ["one"], "refused": []}
    assert stored(database) == 1


def test_an_id_is_refused_when_it_comes_with_another_grade(program: Caller, database: Database) -> None:
    jo = program("jo")
    first = jo.post(DRAW, {"topic": "1"}).json["documents"][0]["assignment"]
    jo.post(JUDGEMENTS, grade(first, 1))
    answer = jo.post(JUDGEMENTS, grade(first, 2))
    assert (answer.status_code, "send a new id" in answer.json["detail"], stored(database)) == (422, True, 1)


def test_a_judgement_is_replaced_under_another_id(program: Caller, database: Database) -> None:
    jo = program("jo")
    first = jo.post(DRAW, {"topic": "1"}).json["documents"][0]["assignment"]
    jo.post(JUDGEMENTS, grade(first, 1))
    jo.post(JUDGEMENTS, grade(first, 2, "two"))
    with database.reading() as session:
        assert session.execute(select(Judgement.grade, Judgement.current).order_by(Judgement.id)).all() == [
            (1, False),
            (2, True),
        ]


def test_each_judgement_is_stored_or_refused_by_itself(program: Caller, database: Database) -> None:
    jo = program("jo")
    first = jo.post(DRAW, {"topic": "1"}).json["documents"][0]["assignment"]
    good, bad, foreign = grade(first, 1, "good"), grade(first, 9, "bad"), grade(9999, 1, "foreign")
    answer = jo.post(JUDGEMENTS, {"judgements": [one["judgements"][0] for one in (bad, good, foreign)]})
    assert answer.status_code == 200
    assert answer.json["acknowledged"] == ["good"]
    assert [(one["id"], one["status"]) for one in answer.json["refused"]] == [("bad", 422), ("foreign", 404)]
    assert stored(database) == 1


@pytest.mark.parametrize(
    ("judgement", "status"),
    [
        ({"grade": 9}, 422),
        ({"grade": "1"}, 422),
        ({"grade": 1.0}, 422),
        ({"grade": True}, 422),
        ({"grade": 10**12}, 422),
        ({"grade": None}, 422),
        ({"cannot_judge": "bored"}, 422),
        ({"grade": 1, "cannot_judge": "broken"}, 422),
        ({"grade": 1, "note": "\0"}, 422),
        ({"grade": 1, "note": "\ud800"}, 422),
        ({"grade": 1, "note": "x" * 10_001}, 422),
        ({"grade": 1, "seconds": "long"}, 422),
        ({"grade": 1, "guidelines": 7}, 422),
        ({"grade": 1, "evidence": [{"start": 0, "end": 1}]}, 422),
        ({"grade": 1, "id": "no blanks"}, 422),
        ({"grade": 1, "id": ""}, 422),
        ({"grade": 1, "assignment": 9999}, 404),
        ({"grade": 1, "assignment": 10**12}, 422),
        ({"grade": 1, "unknown": 1}, 422),
    ],
)
def test_what_does_not_fit_is_a_problem_and_nothing_is_stored(
    program: Caller, database: Database, judgement: dict[str, Any], status: int
) -> None:
    jo = program("jo")
    first = jo.post(DRAW, {"topic": "1"}).json["documents"][0]["assignment"]
    answer = jo.post(JUDGEMENTS, {"judgements": [{"id": "one", "assignment": first, **judgement}]})
    assert answer.status_code == status
    assert answer.mimetype == "application/problem+json"
    assert stored(database) == 0


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", "1", '{"judgements": []}', '{"judgements": 1}', '{"judgements": [1]}', "[" * 100_000],
)
def test_a_body_that_is_none_is_a_problem(program: Caller, body: str) -> None:
    answer = program("jo").call("POST", JUDGEMENTS, data=body, content_type="application/json")
    assert answer.status_code in {400, 422}
    assert answer.mimetype == "application/problem+json"


def test_numbers_of_ten_thousand_digits_are_a_problem(program: Caller) -> None:
    answer = program("jo").call("POST", DRAW, data=f'{{"topic": {"9" * 10_000}}}', content_type="application/json")
    assert answer.status_code in {400, 422}


def test_another_judges_assignment_is_none_of_mine(program: Caller, database: Database) -> None:
    first = program("jo").post(DRAW, {"topic": "1"}).json["documents"][0]["assignment"]
    answer = program("kim").post(JUDGEMENTS, grade(first))
    assert answer.status_code == 404
    assert answer.json["refused"][0]["detail"] == "You have no such assignment."
    assert stored(database) == 0


def test_a_closed_collection_takes_nothing_and_acknowledges_what_it_has(program: Caller, database: Database) -> None:
    jo = program("jo")
    first = jo.post(DRAW, {"topic": "1"}).json["documents"][0]["assignment"]
    jo.post(JUDGEMENTS, grade(first))
    with database.transaction() as session:
        collection.close_collection(session, SLUG)
    assert jo.post(JUDGEMENTS, grade(first, 2, "two")).status_code == 409
    assert jo.post(JUDGEMENTS, grade(first)).json["acknowledged"] == ["one"]
    assert jo.post(DRAW, {"topic": "1"}).status_code == 409


def test_guidelines_are_accepted_before_documents_are_drawn(program: Caller, database: Database) -> None:
    jo = program("jo")
    with database.transaction() as session:
        collection.set_guidelines(session, SLUG, "Be strict.", made_by_id=None, made_at=NOW)
    assert jo.post(DRAW, {"topic": "1"}).status_code == 409
    assert jo.get(f"{NEWS}/guidelines").json == {"number": 1, "text": "Be strict."}
    assert jo.post(f"{NEWS}/guidelines/acceptances", {"number": 2}).status_code == 409
    assert jo.post(f"{NEWS}/guidelines/acceptances", {"number": 1}).status_code == 200
    assert jo.post(DRAW, {"topic": "1"}).json["documents"]


def test_an_unknown_topic_is_not_found(program: Caller) -> None:
    assert program("jo").post(DRAW, {"topic": "9"}).status_code == 404


def test_organisers_get_everything_that_was_said(program: Caller) -> None:
    jo = program("jo")
    first = jo.post(DRAW, {"topic": "1"}).json["documents"][0]
    body = grade(first["assignment"])
    body["judgements"][0] |= {"note": "sure", "seconds": 2.5, "evidence": [{"start": 0, "end": 4, "text": "Text"}]}
    jo.post(JUDGEMENTS, body)
    answer = program("ola").get(JUDGEMENTS)
    assert answer.mimetype == "application/x-ndjson"
    assert '"judge": "jo"' in answer.text
    assert '"note": "sure"' in answer.text
    assert unquoted(program("ola").get(JUDGEMENTS, format="csv").text).startswith("topic,docno,judge,grade")
