"""What systems cost by program: asked, stated, refused with the same words as on the pages."""

from datetime import UTC, datetime

import pytest
from build import SLUG, labels, run
from calling import NEWS, Caller
from kept import Kept

from annotator.storage import Database, ScoresShown
from annotator.workflows.runs import submissions

COSTS = f"{NEWS}/runs/gamma/costs"


@pytest.fixture(autouse=True)
def collection(news: str, database: Database, kept: Kept) -> None:
    """Red has the run gamma."""
    del news
    kept.fill(database, add_gamma)


def add_gamma(database: Database) -> None:
    with database.transaction() as session:
        run(session, "gamma", {"1": ["a"]}, slug=SLUG, team="red")


def one(fact: str, value: str, detail: str = "") -> dict[str, str]:
    return {"fact": fact, "value": value, "detail": detail}


def test_a_program_asks_what_may_be_stated(program: Caller) -> None:
    facts = {fact["key"]: fact for fact in program("pat").get(f"{NEWS}/cost-facts").json}
    assert facts["latency_at"] == {
        "key": "latency_at",
        "name": "Query latency by size of collection",
        "kind": "number",
        "unit": "ms",
        "better": "less",
        "per": "documents",
        "own": False,
    }


def test_a_program_states_what_a_run_costs_instead_of_all_that_was_stated(program: Caller) -> None:
    pat = program("pat")
    assert pat.get(COSTS).json == []
    told = [one("latency_p95", "0.05 s"), {"fact": "hardware", "value": "8 cores"}, one("latency_at", "35", "1e6")]
    answer = pat.call("PUT", COSTS, json={"costs": told})
    assert answer.status_code == 200
    assert answer.json == pat.get(COSTS).json
    assert sorted((said["fact"], said["detail"], said["number"], said["words"]) for said in answer.json) == [
        ("hardware", "", None, "8 cores"),
        ("latency_at", "1000000", 35, ""),
        ("latency_p95", "", 50, ""),
    ]
    assert pat.call("PUT", COSTS, json={"costs": []}).json == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"costs": [one("latency_p95", "fast")]}, "“fast” is no number of ms"),
        ({"costs": [one("latency_p50", "60"), one("latency_p95", "50")]}, "is above the 95th percentile"),
        ({"costs": [one("hardware", "a"), one("hardware", "b")]}, "“hardware” is stated twice"),
    ],
)
def test_what_cannot_be_stated_is_refused_in_the_words_of_the_pages(
    program: Caller, body: dict[str, object], said: str
) -> None:
    answer = program("pat").call("PUT", COSTS, json=body)
    assert answer.status_code == 422
    assert said in answer.json["detail"]
    assert program("pat").get(COSTS).json == []


def test_another_teams_run_is_not_there_for_a_participant(program: Caller) -> None:
    pat = program("pat")
    other = f"{NEWS}/runs/alpha/costs"
    assert pat.get(other).status_code == 404
    assert pat.call("PUT", other, json={"costs": []}).status_code == 404
    assert program("ola").call("PUT", COSTS, json={"costs": [one("hardware", "x")]}).status_code == 200


def test_a_program_changes_some_costs_and_all_others_stay(program: Caller) -> None:
    pat = program("pat")
    told = [one("latency_p95", "50"), one("hardware", "8 cores"), one("latency_at", "35", "1e6")]
    pat.call("PUT", COSTS, json={"costs": told})
    changes = [one("latency_p95", ""), one("latency_at@1000000", "30"), one("index_size", "1.2 GB")]
    answer = pat.call("PATCH", COSTS, json={"costs": changes})
    assert answer.status_code == 200
    assert {(said["fact"], said["detail"]): said["number"] or said["words"] for said in answer.json} == {
        ("hardware", ""): "8 cores",
        ("latency_at", "1000000"): 30,
        ("index_size", ""): 1200,
    }
    assert pat.call("PATCH", f"{NEWS}/runs/alpha/costs", json={"costs": changes}).status_code == 404


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ([one("speed", "1")], 404, "“speed” is no fact that is stated here."),
        ([one("index_size", "big")], 422, "“big” is no number of MB"),
        ([one("hardware", "a"), one("hardware", "")], 422, "“hardware” is stated twice."),
        ([one("latency_p50", "60")], 422, "is above the 95th percentile"),
    ],
)
def test_a_change_that_does_not_fit_is_refused_and_nothing_is_stored(
    program: Caller, changes: list[dict[str, str]], status: int, said: str
) -> None:
    pat = program("pat")
    before = pat.call("PUT", COSTS, json={"costs": [one("latency_p95", "50")]}).json
    answer = pat.call("PATCH", COSTS, json={"costs": [one("query_language", "phrase"), *changes]})
    assert answer.status_code == status
    assert said in answer.json["detail"]
    assert pat.get(COSTS).json == before


def test_after_the_deadline_only_organisers_change_costs(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        change = submissions.SubmissionChange(submissions.Deadline(datetime(2026, 1, 1, tzinfo=UTC)))
        submissions.change_submissions(session, SLUG, change)
    body = {"costs": [one("hardware", "x")]}
    assert program("pat").call("PATCH", COSTS, json=body).status_code == 409
    assert program("ola").call("PATCH", COSTS, json=body).status_code == 200


def test_costs_stand_beside_the_scores_with_the_front(program: Caller, database: Database) -> None:
    ola = program("ola")
    unscored = ola.get(f"{NEWS}/costs").json
    assert (unscored["measure"], unscored["qrels"], unscored["has_front"]) == (None, None, False)
    assert "judged" in unscored["unscored"]
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 d 0\n2 0 a 1\n2 0 e 0\n")
    ola.call("PUT", f"{NEWS}/runs/alpha/costs", json={"costs": [one("latency_p95", "50")]})
    ola.call("PUT", f"{NEWS}/runs/beta/costs", json={"costs": [one("latency_p95", "60")]})
    report = ola.get(f"{NEWS}/costs", m="P@1", within="55 ms").json
    about = {"measure": "P@1", "qrels": "live", "grades": 4, "cost": "latency_p95", "unit": "ms", "within": 55}
    about |= {"over": 1, "silent": 1}
    assert {name: report[name] for name in about} == about
    assert report["columns"] == [{"cost": "latency_p95", "unit": "ms"}]
    assert report["rows"] == [{"run": "alpha", "team": None, "value": 1, "front": True, "costs": {"latency_p95": 50}}]
    assert ola.get(f"{NEWS}/costs", m="fun").status_code == 422
    assert ola.get(f"{NEWS}/costs", cost="speed").status_code == 404
    csv = ola.get(f"{NEWS}/costs", m="P@1", format="csv")
    assert csv.mimetype == "text/csv"
    assert len(csv.text.splitlines()) == 4


def test_participants_read_costs_once_the_leaderboard_is_released(program: Caller, database: Database) -> None:
    pat = program("pat")
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n2 0 a 1\n")
    refused = pat.get(f"{NEWS}/costs")
    assert refused.status_code == 403
    assert refused.json["detail"] == "The organisers do not show participants the leaderboard, or do not show it yet."
    number = str(program("ola").post(f"{NEWS}/qrels/versions", {}).json["number"])
    with database.transaction() as session:
        submissions.release_scores(
            session, SLUG, at=datetime.now(UTC), shown=ScoresShown.WHOLE, qrels=number, early=True
        )
    # What is sent and judged after the release is not shown.
    assert program("ola").send(f"{NEWS}/runs", "1 Q0 a 1 1.0 late\n").status_code == 201
    with database.transaction() as session:
        labels(session, "nist2", "1 0 d 2\n", name="later.txt")
    report = pat.get(f"{NEWS}/costs", m="P@1").json
    assert [row["run"] for row in report["rows"]] == ["alpha", "gamma", "beta"]
    assert (report["qrels"], report["grades"]) == ("1", 2)


def test_organisers_add_and_remove_facts(program: Caller) -> None:
    ola = program("ola")
    wanted = {"key": "price", "name": "Price", "unit": "EUR", "better": "less"}
    added = ola.post(f"{NEWS}/cost-facts", wanted)
    assert (added.status_code, added.json) == (201, {**wanted, "kind": "number", "per": "", "own": True})
    assert ola.post(f"{NEWS}/cost-facts", wanted).status_code == 409
    assert ola.post(f"{NEWS}/cost-facts", {"key": "no key"}).status_code == 422
    ola.call("PATCH", COSTS, json={"costs": [one("price", "12")]})
    assert ola.call("DELETE", f"{NEWS}/cost-facts/price").status_code == 409
    ola.call("PATCH", COSTS, json={"costs": [one("price", "")]})
    assert ola.call("DELETE", f"{NEWS}/cost-facts/price").json == added.json
    assert "price" not in [fact["key"] for fact in ola.get(f"{NEWS}/cost-facts").json]
