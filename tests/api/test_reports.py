"""Reports by program: on runs and grades, on judges, and on the holes of the pool; and what observers may read."""

import json

import pytest
from build import labels, member
from calling import NEWS, Caller

from annotator.storage import Database, Role

pytestmark = pytest.mark.usefixtures("news")


@pytest.fixture(autouse=True)
def judged(news: None, database: Database) -> None:
    """Two people judge, and differ once; somebody observes."""
    del news
    with database.transaction() as session:
        labels(session, "ann", "1 0 a 1\n1 0 b 0\n1 0 d 0\n2 0 a 1\n2 0 e 0\n")
        labels(session, "bob", "1 0 a 0\n1 0 b 0\n")
        member(session, "obi", Role.OBSERVER)


@pytest.mark.parametrize("by", ["runs", "pairs", "baseline", "variance", "topics"])
def test_significance_has_every_table(program: Caller, by: str) -> None:
    found = program("ola").get(f"{NEWS}/significance", m="AP", by=by, baseline="alpha", permute=True).json
    assert (found["by"], found["about"]["measure"], found["about"]["qrels"]["name"]) == (by, "AP", "live")
    assert found["rows"] or by == "topics"
    if by == "runs":
        assert {row["run"] for row in found["rows"]} == {"alpha", "beta"}


def test_two_rankings_are_correlated(program: Caller) -> None:
    found = program("ola").get(f"{NEWS}/correlation", m="AP", m2="P@2").json
    assert found["about"]["first"]["measure"] == "AP"
    assert found["about"]["second"]["measure"] == "P@2"
    assert [row["run"] for row in found["rows"]] == ["alpha", "beta"]
    assert program("ola").get(f"{NEWS}/correlation", m="nonsense").status_code == 422


@pytest.mark.parametrize("by", ["topics", "depths", "deeper", "fewer"])
def test_quality_has_every_table(program: Caller, by: str) -> None:
    found = program("ola").get(f"{NEWS}/quality", by=by)
    assert (found.status_code, found.json["about"]["runs"]) == (200, 2)


@pytest.mark.parametrize("by", ["runs", "sources", "without"])
def test_leave_out_has_every_table(program: Caller, by: str) -> None:
    found = program("ola").get(f"{NEWS}/leave-out", by=by, whom="run")
    assert (found.status_code, bool(found.json["rows"])) == (200, True)


def test_two_states_of_the_qrels_are_compared(program: Caller, database: Database) -> None:
    ola = program("ola")
    assert ola.post(f"{NEWS}/qrels/versions", {}).status_code == 201
    with database.transaction() as session:
        labels(session, "ann", "2 0 e 1\n")
    changes = ola.get(f"{NEWS}/qrels/differences", before="1", m="AP").json
    assert [(row["topic"], row["docno"], row["before"], row["after"]) for row in changes["rows"]] == [("2", "e", 0, 1)]
    runs = ola.get(f"{NEWS}/qrels/differences", before="1", m="AP", by="runs").json
    assert {row["tag"] for row in runs["rows"]} == {"alpha", "beta"}
    assert ola.get(f"{NEWS}/qrels/differences", before="7").status_code == 404


def test_judges_are_reported_with_their_hours_and_where_they_differ(program: Caller) -> None:
    ola = program("ola")
    assert [row["judge"] for row in ola.get(f"{NEWS}/judges").json["rows"]] == ["ann", "bob"]
    assert ola.get(f"{NEWS}/judges", percent=101).status_code == 422
    hours = ola.get(f"{NEWS}/judges/hours", period="all", **{"from": "2020-01-01"}).json
    assert [(row["judge"], row["judgements"]) for row in hours["rows"]] == [("ann", 5), ("bob", 2)]
    [one] = ola.get(f"{NEWS}/disagreements").json
    assert (one["topic"], one["docno"], one["distance"], one["is_decided"]) == ("1", "a", 1, False)
    assert {word["judge"]: word["grade"] for word in one["words"]} == {"ann": 1, "bob": 0}
    assert ola.get(f"{NEWS}/disagreements", topic="2").json == []
    [row] = [one for one in ola.get(f"{NEWS}/adjudication").json["rows"] if one["in_dispute"]]
    assert (row["number"], row["in_dispute"]) == ("1", 1)
    assert ola.get(f"{NEWS}/adjudication", by="judge").status_code == 200


def test_two_judges_are_compared_on_the_documents_that_both_graded(program: Caller) -> None:
    ola, pair = program("ola"), f"{NEWS}/agreement/pair"
    found = ola.get(pair, first="bob", second="ann").json
    assert (found["about"]["first"], found["about"]["second"]) == ("ann", "bob")
    # Of a and b they agree on one; ann gave both grades and bob one, so that agreement by chance is a half, kappa 0.
    assert (found["rows"][0]["n"], found["rows"][0]["observed"], found["rows"][0]["kappa"]) == (2, 0.5, 0)
    grades = ola.get(pair, first="ann", second="bob", by="grades").json["rows"]
    assert {(row["first_grade"], row["second_grade"]): row["documents"] for row in grades if row["documents"]} == {
        (1, 0): 1,
        (0, 0): 1,
    }
    assert ola.get(pair, first="ann", second="bob", by="time").status_code == 200
    documents = f"{NEWS}/agreement/documents"
    both = ola.get(documents, first="ann", second="bob").json
    assert (both["count"], [one["docno"] for one in both["documents"]]) == (2, ["a", "b"])
    differ = ola.get(documents, first="ann", second="bob", one=1, other=0).json["documents"]
    assert [(one["docno"], one["first"], one["second"]) for one in differ] == [("a", 1, 0)]
    assert ola.get(documents, first="ann", second="bob", skip=2).json["documents"] == []
    for address in (pair, documents):
        assert ola.get(address, first="ann", second="nobody").status_code == 404
        assert program("obi").get(address, first="ann", second="bob").status_code == 403


def test_one_judge_is_reported_alone_and_by_stretches(program: Caller) -> None:
    ola = program("ola")
    assert [row["judge"] for row in ola.get(f"{NEWS}/judges", judge="bob").json["rows"]] == ["bob"]
    assert ola.get(f"{NEWS}/judges", by="streaks").json["rows"] == []
    # Grades of files have no order in which they were judged.
    assert ola.get(f"{NEWS}/judges", by="stretches", judge="ann").status_code == 200
    assert ola.get(f"{NEWS}/judges", judge="nobody").status_code == 404


def test_runs_are_compared_by_what_they_have_in_common(program: Caller) -> None:
    ola, overlap = program("ola"), f"{NEWS}/pool/overlap"
    # Of topic 1 alpha has a first and beta d, of topic 2 alpha a and beta e.
    [row] = ola.get(overlap, depth=1).json["rows"]
    assert ({row["first"], row["second"]}, row["share"]) == ({"alpha", "beta"}, 0)
    teams = ola.get(overlap, by="teams").json
    assert teams["about"]["relevant"] == 1
    assert {one["team"]: (one["relevant_found"], one["found_alone"]) for one in teams["rows"]} == {
        "alpha": (1, 1),
        "beta": (0, 0),
    }
    assert ola.get(overlap, depth=0).status_code == 422


def test_holes_are_counted_and_filled(program: Caller) -> None:
    ola = program("ola")
    found = ola.get(f"{NEWS}/pool/holes", depth=10).json
    assert {row["run"]: row["unjudged"] for row in found["rows"]} == {"alpha": 1, "beta": 0}
    [filling] = found["about"]["fillings"]
    assert (filling["depth"], filling["documents"]) == (10, 1)
    filled = ola.post(f"{NEWS}/pool/holes", {"depth": 10})
    assert (filled.status_code, filled.json["added"]) == (200, 0)


@pytest.mark.parametrize("report", ["significance", "correlation", "quality", "leave-out"])
def test_observers_read_reports_on_runs_without_names_of_judges(program: Caller, report: str) -> None:
    ola = program("ola")
    assert ola.call("PATCH", f"{NEWS}/settings", json={"consensus_policy": "judge:ann"}).status_code == 200
    assert "judge:ann" in ola.get(f"{NEWS}/{report}").text
    seen = program("obi").get(f"{NEWS}/{report}")
    assert seen.status_code == 200
    assert "ann" not in json.dumps(seen.json["about"])


def test_stopping_rules_answer_and_decisions_are_recorded(program: Caller) -> None:
    ola, stopping = program("ola"), f"{NEWS}/pool/stopping"
    found = ola.get(stopping, rule="in-a-row", in_a_row=1).json
    assert {row["rule"] for row in found["rows"]} == {"in-a-row"}
    assert found["about"]["recall"] is None
    assert "Topics without a random sample" in found["notices"][0]
    assert {row["certainty"] for row in ola.get(stopping, by="rules").json["rows"]} == {"guarantee", "heuristic"}
    made = ola.post(stopping, {"topic": "1", "stops": True, "reason": "few are left", "rule": "knee"})
    assert (made.status_code, made.json["rule"], made.json["stops"]) == (200, "knee", True)
    assert ola.post(stopping, {"topic": "1", "stops": True, "reason": "again"}).status_code == 409
    assert ola.post(stopping, {"topic": "1", "stops": False, "reason": "a late run"}).json["rule"] is None
    decisions = ola.get(stopping, by="decisions").json["rows"]
    assert [(row["stops"], row["counts"], row["decided_by"]) for row in decisions] == [
        (True, False, "ola"),
        (False, True, "ola"),
    ]
    assert ola.get(stopping, target=1).status_code == 422
    simulated = ola.get(f"{NEWS}/pool/simulation", strategy="rrf", by="stopping").json
    assert {row["rule"] for row in simulated["rows"]} >= {"knee", "target-set"}
