"""Gold questions by program, and answers to the questions of judges."""

from datetime import UTC, datetime

import pytest
from build import SLUG
from calling import NEWS, Caller

from annotator.storage import Database
from annotator.storage.people.accounts import find_user
from annotator.workflows.judging import questions

pytestmark = pytest.mark.usefixtures("news")
GOLD = f"{NEWS}/gold-questions"


def test_a_document_becomes_a_gold_question_and_its_grade_is_changed(program: Caller) -> None:
    ola = program("ola")
    added = ola.call("PUT", GOLD, json={"topic": "1", "docno": "d", "grade": 1})
    assert added.json == {"added": 1, "changed": 0, "known": 0, "pooled": 0}
    assert ola.call("PUT", GOLD, json={"topic": "1", "docno": "d", "grade": 0}).json["changed"] == 1
    [one] = ola.get(GOLD).json
    assert (one["topic"], one["docno"], one["known_grade"], one["answered"]) == ("1", "d", 0, 0)
    assert ola.call("PUT", GOLD, json={"topic": "1", "docno": "d", "grade": 9}).status_code == 422


def test_a_question_of_a_judge_is_listed_and_answered(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        jo = find_user(session, "jo").id
        questions.ask(session, SLUG, jo, "Do plans count?", client_id="q1", asked_at=datetime.now(UTC), topic="1")
    ola = program("ola")
    [asked] = ola.get(f"{NEWS}/questions").json
    assert (asked["judge"], asked["topic"], asked["answered_at"]) == ("jo", "1", None)
    answered = ola.call("PUT", f"{NEWS}/questions/{asked['number']}/answer", json={"text": "No."})
    assert (answered.json["answer"], answered.json["answered_by"]) == ("No.", "ola")
    assert ola.call("PUT", f"{NEWS}/questions/999/answer", json={"text": "No."}).status_code == 404
