"""What systems cost by program: asked, stated, refused with the same words as on the pages."""

import pytest
from build import SLUG, run
from calling import NEWS, Caller

from annotator.storage import Database

COSTS = f"{NEWS}/run-costs/gamma"


@pytest.fixture(autouse=True)
def collection(news: str, database: Database) -> None:
    """Red has the run gamma."""
    del news
    with database.transaction() as session:
        run(session, "gamma", {"1": ["a"]}, slug=SLUG, team="red")


def one(fact: str, value: str, detail: str = "") -> dict[str, str]:
    return {"fact": fact, "value": value, "detail": detail}


def test_a_program_asks_what_may_be_stated(program: Caller) -> None:
    facts = {fact["key"]: fact for fact in program("pat").get(f"{NEWS}/cost-facts").json}
    assert facts["latency_at"] == {
        "key": "latency_at",
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
    other = f"{NEWS}/run-costs/alpha"
    assert pat.get(other).status_code == 404
    assert pat.call("PUT", other, json={"costs": []}).status_code == 404
    assert program("ola").call("PUT", COSTS, json={"costs": [one("hardware", "x")]}).status_code == 200
