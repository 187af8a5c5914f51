"""Adjudication by program: what an adjudicator draws and decides, and what an organiser decides."""

import pytest
from build import labels, member, pooled_news
from calling import NEWS, Caller

from annotator.storage import Database, Role

ADJUDICATING = f"{NEWS}/adjudicating"


@pytest.fixture(autouse=True)
def disputed(database: Database) -> None:
    """Jo and Kim differ on a and b of topic 1, and agree on c."""
    with database.transaction() as session:
        pooled_news(session, judgements_wanted=2)
        member(session, "jo", Role.JUDGE)
        member(session, "kim", Role.JUDGE)
        labels(session, "jo", "1 0 a 1\n1 0 b 0\n1 0 c 1\n")
        labels(session, "kim", "1 0 a 0\n1 0 b 2\n1 0 c 1\n")
        member(session, "ola", Role.ORGANISER)
        member(session, "ann", Role.ADJUDICATOR)


def is_decided(program: Caller, docno: str) -> bool:
    """Whether an adjudicator decided on the document."""
    rows = program("ola").get(f"{NEWS}/disagreements").json
    return any(row["is_decided"] for row in rows if row["docno"] == docno)


def test_an_adjudicator_draws_what_is_in_dispute_and_decides_it(program: Caller) -> None:
    ann = program("ann")
    [topic] = ann.get(ADJUDICATING).json
    assert (topic["number"], topic["in_dispute"], topic["waiting"], topic["decided"]) == ("1", 2, 2, 0)
    drawn = ann.post(f"{ADJUDICATING}/documents", {"topic": "1"}).json
    assert sorted(one["docno"] for one in drawn["documents"]) == ["a", "b"]
    decisions = [{"id": one["docno"], "assignment": one["assignment"], "grade": 1} for one in drawn["documents"]]
    assert ann.post(f"{ADJUDICATING}/decisions", {"judgements": decisions}).json["refused"] == []
    assert is_decided(program, "a")
    assert is_decided(program, "b")
    assert ann.post(f"{ADJUDICATING}/documents", {"topic": "1"}).json["documents"] == []
    assert ann.get(ADJUDICATING).json[0]["decided"] == 2


def test_an_adjudicator_learns_no_names_and_grades_only_where_the_collection_shows_them(
    program: Caller,
) -> None:
    answers = []
    for shows in (False, True):
        program("ola").call("PATCH", f"{NEWS}/settings", json={"shows_grades": shows})
        answers.append(program("ann").post(f"{ADJUDICATING}/documents", {"topic": "1"}))
    hidden, shown = ({one["docno"]: one["given"] for one in answer.json["documents"]} for answer in answers)
    assert hidden == {"a": [], "b": []}
    assert shown == {"a": [0, 1], "b": [0, 2]}
    assert not any(name in answer.text for answer in answers for name in ('"jo"', '"kim"'))


def test_a_decision_counts_only_in_the_queue_of_its_assignment(program: Caller) -> None:
    [one, _] = program("ann").post(f"{ADJUDICATING}/documents", {"topic": "1"}).json["documents"]
    decision = {"judgements": [{"id": "d1", "assignment": one["assignment"], "grade": 1}]}
    assert program("jo").post(f"{NEWS}/judgements", decision).status_code == 404
    assert program("jo").post(f"{ADJUDICATING}/decisions", decision).status_code == 403


def test_an_organiser_decides_a_disagreement_and_again_by_the_same_id_once(program: Caller) -> None:
    ola = program("ola")
    body = {"topic": "1", "docno": "a", "grade": 1, "note": "It answers.", "id": "d1"}
    for _ in range(2):
        decided = ola.post(f"{NEWS}/disagreements/decisions", body)
        assert decided.json == {"topic": "1", "docno": "a", "grade": 1, "adjudicator": "ola"}
    row = next(row for row in ola.get(f"{NEWS}/disagreements").json if row["docno"] == "a")
    assert [(word["judge"], word["grade"], word["note"]) for word in row["words"] if word["adjudicates"]] == [
        ("ola", 1, "It answers.")
    ]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"topic": "1", "docno": "z", "grade": 1}, 404),
        ({"topic": "9", "docno": "a", "grade": 1}, 404),
        ({"topic": "1", "docno": "a", "grade": 7}, 422),
        ({"topic": "1", "docno": "c", "grade": 1}, 409),
    ],
)
def test_what_cannot_be_decided_is_refused(program: Caller, body: dict[str, object], status: int) -> None:
    assert program("ola").post(f"{NEWS}/disagreements/decisions", body).status_code == status
