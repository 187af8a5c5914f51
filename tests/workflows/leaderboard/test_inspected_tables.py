"""Tables of one run and of topics: every row has what its heading says, counted by hand."""

import pytest
from beginning import beginning
from build import SLUG, labels, pooled_news
from sqlalchemy.orm import Session

from annotator.workflows.leaderboard.compared_runs import compare_runs
from annotator.workflows.leaderboard.inspected_tables import PAIR_TABLES, RUN_TABLES, TOPIC_TABLES, TOPICS_TABLES
from annotator.workflows.leaderboard.inspecting import inspect_run, inspect_topic, inspect_topics


@pytest.fixture
def judged(session: Session) -> Session:
    """Alpha returned a b c and a, beta d b a and e; of topic 1 a and d are relevant, of topic 2 e is."""
    judged_news(session)
    return session


@beginning
def judged_news(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 d 1\n2 0 e 1\n")


def rows_of_run(session: Session, table: str) -> list[dict[str, object]]:
    headings, rows = RUN_TABLES[table]
    found = inspect_run(session, SLUG, "alpha", measure="P@1", topic="1")
    return [dict(zip(headings, row, strict=True)) for row in rows(found)]


def test_the_topics_of_a_run_stand_beside_the_other_runs(judged: Session) -> None:
    assert rows_of_run(judged, "topics") == [
        {"topic": "1", "value": 1, "median": 1, "best": 1, "worst": 1, "place": 1, "unjudged": 1},
        {"topic": "2", "value": 0, "median": 0.5, "best": 1, "worst": 0, "place": 2, "unjudged": 1},
    ]


def test_the_ranking_of_a_run_has_its_grades(judged: Session) -> None:
    assert rows_of_run(judged, "documents") == [
        {"topic": "1", "rank": 1, "docno": "a", "grade": 2},
        {"topic": "1", "rank": 2, "docno": "b", "grade": 0},
        {"topic": "1", "rank": 3, "docno": "c", "grade": None},
    ]
    assert rows_of_run(judged, "unjudged") == [
        {"topic": "1", "rank": 3, "docno": "c"},
        {"topic": "2", "rank": 1, "docno": "a"},
    ]


def test_the_curves_of_a_run_are_those_of_its_list(judged: Session) -> None:
    # One of two relevant documents at rank 1, the other never.
    assert [(one["recall"], one["precision"]) for one in rows_of_run(judged, "points")] == [(0.5, 1)]
    curve = {one["recall"]: one["precision_of_topic"] for one in rows_of_run(judged, "curve")}
    assert (curve[0.5], curve[0.8]) == (1, 0)
    assert rows_of_run(judged, "gain")[0]["rank"] == 1
    assert sum(int(str(one["unjudged"])) for one in rows_of_run(judged, "scores")) == 2


def test_topics_are_listed_with_their_scores(judged: Session) -> None:
    found = inspect_topics(judged, SLUG, measure="P@1")
    headings, rows = TOPICS_TABLES["scores"]
    assert headings == ("topic", "run", "value")
    assert set(map(tuple, rows(found))) == {("1", "alpha", 1), ("1", "beta", 1), ("2", "alpha", 0), ("2", "beta", 1)}
    headings, difficulties = TOPICS_TABLES["topics"]
    medians = {row[0]: dict(zip(headings, row, strict=True))["median"] for row in difficulties(found)}
    assert medians == {"1": 1, "2": 0.5}


def test_a_topic_is_listed_with_its_runs_and_documents(judged: Session) -> None:
    found = inspect_topic(judged, SLUG, "1", measure="P@1")
    tables = {
        name: [dict(zip(headings, row, strict=True)) for row in rows(found)]
        for name, (headings, rows) in TOPIC_TABLES.items()
    }
    assert {one["run"]: one["value"] for one in tables["runs"]} == {"alpha": 1, "beta": 1}
    assert {one["grade"]: one["documents"] for one in tables["grades"]} == {1: 1, 2: 1}
    by_docno = {one["docno"]: one for one in tables["documents"]}
    assert (by_docno["a"]["grade"], by_docno["a"]["found_by"], by_docno["a"]["best_rank"]) == (2, 2, 1)
    assert (by_docno["d"]["runs"], by_docno["d"]["found_by"]) == ("beta", 1)
    assert {one["runs"]: one["documents"] for one in tables["counts"]} == {1: 1, 2: 1}


def test_two_runs_are_listed_beside_each_other(judged: Session) -> None:
    found = compare_runs(judged, SLUG, "alpha", "beta", measure="P@1", topic="1")
    tables = {
        name: [dict(zip(headings, row, strict=True)) for row in rows(found)]
        for name, (headings, rows) in PAIR_TABLES.items()
    }
    [test] = tables["tests"]
    assert (test["first"], test["second"], test["first_mean"], test["second_mean"]) == ("alpha", "beta", 0.5, 1)
    assert {one["topic"]: (one["first"], one["second"]) for one in tables["topics"]} == {"1": (1, 1), "2": (0, 1)}
    assert [(one["docno"], one["rank_in_other"]) for one in tables["lists"] if one["run"] == "alpha"] == [
        ("a", 3),
        ("b", 2),
        ("c", None),
    ]
    assert {one["docno"] for one in tables["documents"]} >= {"a", "d"}
    assert [one["recall"] for one in tables["curves"]] == [level / 10 for level in range(11)]
