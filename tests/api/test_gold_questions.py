"""Gold questions by program."""

import pytest
from calling import NEWS, Caller

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


def test_a_file_of_gold_questions_is_imported_whole_or_not_at_all(program: Caller) -> None:
    ola = program("ola")
    refused = ola.send(GOLD, "1\tb\t1\n1\tz\t1\n9\ta\t1\n", name="gold.tsv")
    assert refused.status_code == 422
    assert [(one["file"], one["line"]) for one in refused.json["problems"]] == [("gold.tsv", 2), ("gold.tsv", 3)]
    assert ola.get(GOLD).json == []
    lines = "1\tb\t1\n2\tb\t0\n"
    assert ola.send(GOLD, lines).json == {"added": 2, "changed": 0, "known": 0, "pooled": 1}
    assert ola.send(GOLD, lines).json == {"added": 0, "changed": 0, "known": 2, "pooled": 0}


def test_a_gold_question_becomes_an_ordinary_document_again(program: Caller) -> None:
    ola = program("ola")
    ola.send(GOLD, "1\tb\t1\n1\tc\t0\n")
    assert ola.call("DELETE", f"{GOLD}?topic=1&docno=b").json == {"topic": "1", "docno": "b"}
    assert [one["docno"] for one in ola.get(GOLD).json] == ["c"]
    assert ola.call("DELETE", f"{GOLD}?topic=1&docno=b").status_code == 404
    assert ola.call("DELETE", f"{GOLD}?topic=1").status_code == 422
