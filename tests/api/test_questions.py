"""Questions of judges and clarifications for them, by program."""

import pytest
from build import NOW, SLUG, member, news
from calling import NEWS, Caller

from annotator.storage import Database
from annotator.storage.people.accounts import find_user
from annotator.workflows.judging import judge_desk

pytestmark = pytest.mark.usefixtures("news")
OWN = f"{NEWS}/judging/questions"
CLARIFICATIONS = f"{NEWS}/clarifications"


def test_a_judge_asks_once_and_reads_the_answer(program: Caller) -> None:
    jo, ola = program("jo"), program("ola")
    [document, *_] = jo.post(f"{NEWS}/judging/documents", {"topic": "2"}).json["documents"]
    for _ in range(2):
        asked = jo.post(OWN, {"id": "q1", "text": "Do plans count?", "assignment": document["assignment"]}).json
        assert (asked["id"], asked["topic"], asked["docno"]) == ("q1", "2", document["docno"])
    [question] = ola.get(f"{NEWS}/questions").json
    ola.call("PUT", f"{NEWS}/questions/{question['number']}/answer", json={"text": "No."})
    [answered] = jo.get(OWN).json
    assert (answered["answer"], answered["is_new"]) == ("No.", True)
    assert [one["is_new"] for one in jo.post(f"{OWN}/read", {"ids": ["q1"]}).json] == [False]
    assert program("kim").get(OWN).json == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"id": "q1", "text": " "}, 422),
        ({"id": "no id", "text": "Do plans count?"}, 422),
        ({"id": "q1", "text": "Do plans count?", "topic": "99"}, 404),
        ({"id": "q1", "text": "Do plans count?", "assignment": 99}, 404),
    ],
)
def test_a_question_that_does_not_fit_is_refused(program: Caller, body: dict[str, object], status: int) -> None:
    jo = program("jo")
    assert jo.post(OWN, body).status_code == status
    assert jo.get(OWN).json == []


def test_an_id_that_a_question_in_another_collection_has_is_refused(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        news(session, "other")
        member(session, "jo", slug="other")
    jo = program("jo")
    jo.post(OWN, {"id": "q1", "text": "Do plans count?"})
    refused = jo.post(OWN.replace("news", "other"), {"id": "q1", "text": "Do prices count?"})
    assert refused.status_code == 409
    assert jo.get(OWN.replace("news", "other")).json == []


def test_an_answer_is_shown_to_all_judges_of_the_topic_and_made_private_again(program: Caller) -> None:
    jo, ola = program("jo"), program("ola")
    jo.post(OWN, {"id": "q1", "text": "Do plans count?", "topic": "1"})
    [question] = ola.get(f"{NEWS}/questions").json
    answer = f"{NEWS}/questions/{question['number']}/answer"
    assert ola.call("PUT", answer, json={"text": "No.", "public": True}).json["is_public"]
    [shown] = ola.get(CLARIFICATIONS).json
    assert (shown["topic"], shown["text"], shown["question"]) == ("1", "No.", question["number"])
    assert ola.call("PUT", answer, json={"text": "Not at all."}).json["is_public"]
    assert ola.call("DELETE", f"{CLARIFICATIONS}/{ola.get(CLARIFICATIONS).json[0]['number']}").status_code == 200
    assert [one["is_public"] for one in ola.get(f"{NEWS}/questions").json] == [False]


def test_a_clarification_reaches_the_judges_of_its_topic_until_it_is_withdrawn(program: Caller) -> None:
    def seen_by_jo() -> list[str]:
        return [one["text"] for one in program("jo").get(f"{NEWS}/judging/clarifications", topic="1").json]

    ola = program("ola")
    added = ola.post(CLARIFICATIONS, {"topic": "1", "text": "Plans do not count."})
    assert (added.status_code, added.json["published_by"], added.json["seen"]) == (201, "ola", 0)
    assert seen_by_jo() == ["Plans do not count."]
    assert ola.post(CLARIFICATIONS, {"topic": "99", "text": "Plans do not count."}).status_code == 404
    assert ola.post(CLARIFICATIONS, {"topic": "1", "text": " "}).status_code == 422
    assert ola.call("DELETE", f"{CLARIFICATIONS}/{added.json['number']}").json == {"number": added.json["number"]}
    assert seen_by_jo() == []


def test_a_judge_is_not_told_who_asked(program: Caller) -> None:
    program("jo").post(OWN, {"id": "q1", "text": "Do plans count?", "topic": "1"})
    ola = program("ola")
    [question] = ola.get(f"{NEWS}/questions").json
    ola.call("PUT", f"{NEWS}/questions/{question['number']}/answer", json={"text": "No.", "public": True})
    shown = program("kim").get(f"{NEWS}/judging/clarifications", topic="1")
    assert [(one["question"], one["text"]) for one in shown.json] == [("Do plans count?", "No.")]
    assert "jo" not in shown.text


def test_organisers_read_the_notes_of_the_judges_and_judges_do_not(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        for topic, judge in (("2", "jo"), ("1", "kim"), ("1", "jo")):
            judge_id = find_user(session, judge).id
            judge_desk.save_note(session, SLUG, topic, judge_id, f"{judge} on {topic}", changed_at=NOW)
    notes = program("ola").get(f"{NEWS}/notes").json
    assert [one["text"] for one in notes] == ["jo on 1", "kim on 1", "jo on 2"]
    assert program("kim").get(f"{NEWS}/notes").status_code == 403
