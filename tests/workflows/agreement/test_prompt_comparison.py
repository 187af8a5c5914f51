"""Two versions of a machine judge beside people: the same documents for both, and what changed."""

import pytest
from build import SLUG, labels, pooled_news
from machine_judging import NAME, add, settings_for, start, work
from model_server import KEY, VARIABLE, ModelServer, responding

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.agreement.kappa import kappa_of_grades
from annotator.evaluation.machine_judging.prompts import BUILT_IN
from annotator.storage import Database
from annotator.workflows.agreement.machine_runs import RunRequest
from annotator.workflows.agreement.prompt_comparison import PROMPT_TABLES, ChangedGrade, compare_versions


@pytest.fixture(autouse=True)
def compared(database: Database, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 1 says 1 to all but b, which it does not grade; version 2 says 2 to a and 0 to d, and has no topic 2."""
    monkeypatch.setenv(VARIABLE, KEY)
    with database.transaction() as session:
        pooled_news(session)
        labels(session, "jo", "1 0 a 2\n1 0 b 1\n1 0 c 0\n2 0 a 1\n")
        labels(session, "kim", "1 0 a 2\n1 0 c 0\n")
    model_server.behaviours["Text of b."] = [responding("?")]
    add(database, settings_for(model_server))
    start(database)
    work(database)
    model_server.grades = {"Text of a.": "2", "Text of d.": "0"}
    add(database, settings_for(model_server, prompt_name="umbrela", prompt=BUILT_IN["umbrela"]))
    start(database, RunRequest(topics=["1"]))
    work(database)


def test_both_are_compared_with_people_on_the_same_documents(database: Database) -> None:
    found = database.read(compare_versions, SLUG, NAME)
    assert [(one.version.number, one.labels) for one in found.versions] == [(1, 5), (2, 4)]
    # Both labelled a, c and d of topic 1; people graded a and c.
    assert (found.common, found.grades) == (3, (0, 1, 2))
    for one, grades in zip(found.versions, ([1, 1], [2, 1]), strict=True):
        by_hand = kappa_of_grades(grades, [2, 0], found.grades)
        assert (one.people.kappa.n, one.people.kappa.value) == (2, by_hand.value)
        assert one.people.confusion == by_hand.confusion.tolist()
    assert found.changed == (ChangedGrade("1", "a", 1, 2, 2), ChangedGrade("1", "d", 1, 0, None))
    assert (found.nearer, found.further) == (1, 0)
    back = database.read(compare_versions, SLUG, NAME, 2, 1)
    assert (back.nearer, back.further, back.first.version.number) == (0, 1, 2)


def test_tables_have_a_value_under_each_heading(database: Database) -> None:
    found = database.read(compare_versions, SLUG, NAME, topics=["1"])
    counts = {name: len(rows(found)) for name, (_, rows) in PROMPT_TABLES.items()}
    assert counts == {"version": 2, "grade": 18, "document": 2}
    for headings, rows in PROMPT_TABLES.values():
        assert {len(row) for row in rows(found)} == {len(headings)}


def test_a_topic_without_labels_of_both_has_nothing_in_common(database: Database) -> None:
    found = database.read(compare_versions, SLUG, NAME, topics=["2"])
    assert (found.common, found.changed, found.first.people.kappa.value) == (0, (), None)


def test_what_cannot_be_compared_is_refused(database: Database, model_server: ModelServer) -> None:
    with pytest.raises(InvalidValueError, match="Two different versions of “robot” are needed"):
        database.read(compare_versions, SLUG, NAME, 1, 1)
    with pytest.raises(NotFoundError, match="no version 3"):
        database.read(compare_versions, SLUG, NAME, 1, 3)
    with pytest.raises(NotFoundError, match="no machine judge “nobody”"):
        database.read(compare_versions, SLUG, "nobody")
    add(database, settings_for(model_server), "lone")
    with pytest.raises(InvalidValueError, match="Two different versions of “lone” are needed"):
        database.read(compare_versions, SLUG, "lone")
    with pytest.raises(NotFoundError, match="no topic “9”"):
        database.read(compare_versions, SLUG, NAME, topics=["9"])
