"""Topics assigned to judges by program."""

import pytest
from build import SLUG
from calling import NEWS, Caller, Program

from annotator.storage import Database
from annotator.workflows.judging.topic_owners import show_assigning

pytestmark = pytest.mark.usefixtures("news")
ASSIGNMENTS = f"{NEWS}/assignments"


def owners(ola: Program) -> dict[str, str | None]:
    return {topic["number"]: topic["owner"] for topic in ola.get(ASSIGNMENTS).json["topics"]}


def change(ola: Program, *assignments: tuple[str, str | None], **more: object) -> tuple[int, object]:
    rows = [{"topic": topic, "judge": judge} for topic, judge in assignments]
    answer = ola.call("PATCH", ASSIGNMENTS, json={"assignments": rows, **more})
    return answer.status_code, answer.json


def test_topics_get_owners_and_lose_them_again(program: Caller) -> None:
    ola = program("ola")
    assert change(ola, ("1", "jo"), ("2", "kim")) == (200, {"topics": 2, "given_back": 0})
    shown = ola.get(ASSIGNMENTS).json
    assert [(one["name"], one["topics"], one["remaining"]) for one in shown["judges"]] == [("jo", 1, 4), ("kim", 1, 2)]
    assert change(ola, ("1", None)) == (200, {"topics": 1, "given_back": 0})
    assert owners(ola) == {"1": None, "2": "kim"}


@pytest.mark.parametrize(
    ("assignments", "status", "detail"),
    [
        ([("1", "jo"), ("2", "ola")], 404, "“ola” is no judge of this collection."),
        ([("1", "jo"), ("99", "jo")], 404, "There is no accepted topic “99” in this collection."),
        ([("1", "jo"), ("1", "kim")], 422, "The topic “1” is given twice."),
    ],
)
def test_assignments_that_do_not_fit_change_nothing(
    program: Caller, assignments: list[tuple[str, str]], status: int, detail: str
) -> None:
    ola = program("ola")
    answered, problem = change(ola, *assignments)
    assert isinstance(problem, dict)
    assert (answered, problem["detail"]) == (status, detail)
    assert set(owners(ola).values()) == {None}


def test_topics_are_balanced_among_the_judges_after_a_dry_run(program: Caller, database: Database) -> None:
    ola = program("ola")
    planned = ola.post(f"{ASSIGNMENTS}/balance", {"dry_run": True}).json
    assert {move["topic"] for move in planned["moves"]} == {"1", "2"}
    assert set(owners(ola).values()) == {None}
    done = ola.post(f"{ASSIGNMENTS}/balance", {}).json
    assert done == planned
    # The largest topic to one judge, the next to the other: documents 4 and 2.
    assert sorted(one["after"] for one in done["judges"]) == [2, 4]
    present = database.read(show_assigning, SLUG)
    assert {topic.number: topic.owner for topic in present.topics if topic.items} == {
        move["topic"]: move["judge"] for move in done["moves"]
    }


def test_a_change_of_owners_is_in_the_audit_log(program: Caller) -> None:
    ola = program("ola")
    change(ola, ("1", "jo"), ("2", "jo"), dry_run=True)
    change(ola, ("1", "jo"), ("2", "jo"))
    [entry] = ola.get(f"{NEWS}/audit", action="topics.assign").json
    assert (entry["subject"], entry["details"]) == ("jo", {"topics": ["1", "2"]})
