"""Announcements, and questions of participants, by program."""

import pytest
from build import member, run
from calling import NEWS, Caller

from annotator.storage import Database, Role

pytestmark = pytest.mark.usefixtures("news")
OWN = f"{NEWS}/team/questions"
ANNOUNCEMENTS = f"{NEWS}/announcements"


def test_a_participant_asks_once_and_reads_the_answer(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        member(session, "tom", Role.PARTICIPANT, team="blue")
        run(session, "gamma", {"1": ["a"]}, team="red")
    pat, ola = program("pat"), program("ola")
    for _ in range(2):
        asked = pat.post(OWN, {"id": "q1", "text": "Do ties count?", "run": "gamma"}).json
        assert (asked["id"], asked["run"], asked["asked_by"]) == ("q1", "gamma", "pat")
    [question] = ola.get(f"{NEWS}/questions").json
    assert (question["judge"], question["team"], question["run"]) == ("pat", "red", "gamma")
    ola.call("PUT", f"{NEWS}/questions/{question['number']}/answer", json={"text": "They do."})
    [answered] = pat.get(OWN).json
    assert (answered["answer"], answered["is_new"], answered["is_public"]) == ("They do.", True, False)
    assert [one["is_new"] for one in pat.call("POST", f"{OWN}/read").json] == [False]
    assert program("tom").get(OWN).json == []
    assert program("tom").get(ANNOUNCEMENTS).json == []
    ola.call("PUT", f"{NEWS}/questions/{question['number']}/answer", json={"text": "They do.", "public": True})
    [shown] = program("tom").get(ANNOUNCEMENTS).json
    assert (shown["question"], shown["text"], shown["published_by"]) == ("Do ties count?", "They do.", None)
    assert program("jo").get(ANNOUNCEMENTS).json == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"id": "q1", "text": " "}, 422),
        ({"id": "no id", "text": "Do ties count?"}, 422),
        ({"id": "q1", "text": "Do ties count?", "run": "none"}, 404),
    ],
)
def test_a_question_that_does_not_fit_is_refused(program: Caller, body: dict[str, object], status: int) -> None:
    pat = program("pat")
    assert pat.post(OWN, body).status_code == status
    assert pat.get(OWN).json == []


def test_an_announcement_is_published_changed_and_withdrawn(program: Caller) -> None:
    def seen(name: str) -> list[str]:
        return [one["text"] for one in program(name).get(ANNOUNCEMENTS).json]

    ola = program("ola")
    made = ola.post(ANNOUNCEMENTS, {"title": "Topics", "text": "They are final."})
    assert (made.status_code, made.json["published_by"], made.json["for_everyone"]) == (201, "ola", False)
    assert (seen("pat"), seen("jo")) == (["They are final."], [])
    one = f"{ANNOUNCEMENTS}/{made.json['number']}"
    body = {"title": "Topics", "text": "They changed.", "for_everyone": True}
    assert ola.call("PUT", one, json=body).json["changed_at"] is not None
    assert (seen("pat"), seen("jo")) == (["They changed."], ["They changed."])
    assert ola.post(ANNOUNCEMENTS, {"title": "Topics", "text": " "}).status_code == 422
    assert ola.call("DELETE", one).json == {"number": made.json["number"]}
    assert seen("pat") == []
