"""The training of judges, set up by program."""

from datetime import UTC, datetime

import pytest
from build import SLUG
from calling import NEWS, Caller

from annotator.storage import Database
from annotator.storage.people.accounts import find_user
from annotator.workflows.judging import training_attempts

pytestmark = pytest.mark.usefixtures("news")
TRAINING = f"{NEWS}/training"
LINES = "1\ta\t1\tIt answers.\n2\te\t0\t\n"


def answer_all(database: Database, judge: str, grade: int) -> None:
    """Answer every document of the first attempt with this grade."""
    with database.transaction() as session:
        id_ = find_user(session, judge).id
        while task := training_attempts.next_of_attempt(session, SLUG, id_, 1):
            training_attempts.answer_item(
                session, SLUG, id_, 1, task.item_id, grade, cannot_judge=None, answered_at=datetime.now(UTC)
            )


def test_a_training_is_set_up_and_its_results_are_read(program: Caller, database: Database) -> None:
    ola = program("ola")
    assert ola.send(TRAINING, LINES).json == {"documents": 2}
    shown = ola.call("PUT", f"{TRAINING}/rules", json={"pass_mark": 50, "size": None}).json
    assert (shown["pass_mark"], shown["size"]) == (50, None)
    assert [(row["topic"], row["docno"], row["grade"]) for row in shown["documents"]] == [("1", "a", 1), ("2", "e", 0)]
    answer_all(database, "jo", 1)
    jo, kim = ola.get(f"{TRAINING}/results").json
    assert (jo["judge"], jo["passed"], [attempt["right"] for attempt in jo["attempts"]]) == ("jo", True, [1])
    assert (kim["judge"], kim["passed"], kim["attempts"]) == ("kim", False, [])
    assert [row["right"] for row in ola.get(TRAINING).json["documents"]] == [1, 0]


def test_a_training_that_judges_have_begun_goes_only_with_their_answers(program: Caller, database: Database) -> None:
    ola = program("ola")
    ola.send(TRAINING, LINES)
    answer_all(database, "jo", 1)
    assert ola.send(TRAINING, "1\tb\t1\t\n").status_code == 409
    assert ola.call("DELETE", TRAINING).status_code == 409
    assert ola.call("DELETE", f"{TRAINING}?with_answers=true").json == {"documents": 2}
    assert ola.get(TRAINING).json["documents"] == []


def test_a_wrong_file_is_refused_with_its_lines_and_adds_nothing(program: Caller) -> None:
    ola = program("ola")
    refused = ola.send(TRAINING, "1\ta\t1\t\n1\tz\t1\t\n1\tb\t7\t\n", name="training.tsv")
    assert refused.status_code == 422
    assert [(one["file"], one["line"]) for one in refused.json["problems"]] == [
        ("training.tsv", 2),
        ("training.tsv", 3),
    ]
    assert ola.get(TRAINING).json["documents"] == []


@pytest.mark.parametrize("rules", [{"pass_mark": 101, "size": None}, {"pass_mark": 50, "size": 0}, {"pass_mark": 50}])
def test_rules_that_do_not_fit_are_refused(program: Caller, rules: dict[str, int | None]) -> None:
    assert program("ola").call("PUT", f"{TRAINING}/rules", json=rules).status_code == 422
