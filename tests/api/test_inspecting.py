"""The detail behind the leaderboard by program: a run, the topics, a topic, two runs; equal to the files of the pages.

Alpha returned a b c and a, beta d b a and e; of topic 1 a and d are relevant, of topic 2 e. The numbers are counted by
hand, as for the pages.
"""

import csv
import json
from datetime import timedelta
from typing import Any

import pytest
from build import NOW, SLUG, labels, member, run
from calling import NEWS, Caller, Program
from flask import Flask
from visiting import Visitor

from annotator.storage import Database, Role
from annotator.workflows.leaderboard.inspected_tables import PAIR_TABLES, RUN_TABLES, TOPIC_TABLES
from annotator.workflows.runs import submissions

RUN, TOPICS, TOPIC = f"{NEWS}/leaderboard/runs/alpha", f"{NEWS}/leaderboard/topics", f"{NEWS}/leaderboard/topics/1"
PAIR = f"{NEWS}/leaderboard/comparison?first=alpha&second=beta"
# The page with the same tables as files, and what it is asked for.
PAGES = {
    RUN: ("run", {"tag": "alpha"}, RUN_TABLES),
    TOPIC: ("topic", {"number": "1"}, TOPIC_TABLES),
    PAIR: ("pair", {"first": "alpha", "second": "beta"}, PAIR_TABLES),
}


@pytest.fixture(autouse=True)
def judged(news: None, database: Database) -> None:
    del news
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 d 1\n2 0 e 1\n")
        member(session, "obi", Role.OBSERVER)


def found(program: Program, address: str, **query: object) -> Any:  # noqa: ANN401 - JSON
    path, _, asked = address.partition("?")
    answer = program.get(path, **dict(part.split("=") for part in asked.split("&") if part), **query)
    assert answer.status_code == 200, answer.text
    return answer.json


def test_a_run_stands_beside_the_others(program: Caller) -> None:
    seen = found(program("ola"), RUN, m="P@1")
    assert seen["rows"] == [
        {"topic": "1", "value": 1, "median": 1, "best": 1, "worst": 1, "place": 1, "unjudged": 1},
        {"topic": "2", "value": 0, "median": 0.5, "best": 1, "worst": 0, "place": 2, "unjudged": 1},
    ]
    about = seen["about"]
    assert (about["run"], about["mean"], about["place"], about["measure"]) == ("alpha", 0.5, 2, "P@1")
    assert (about["above"], about["below"], about["equal"], about["baseline"]) == (0, 1, 1, None)
    assert found(program("ola"), RUN, m="P@1", baseline="beta")["about"]["below"] == 1


def test_a_ranking_has_its_grades(program: Caller) -> None:
    rows = found(program("ola"), RUN, by="documents", topic="1")["rows"]
    assert [(one["rank"], one["docno"], one["grade"]) for one in rows] == [(1, "a", 2), (2, "b", 0), (3, "c", None)]
    assert len(found(program("ola"), RUN, by="documents", topic="1", top=2)["rows"]) == 2


def test_topics_are_listed_hardest_first_and_by_run(program: Caller) -> None:
    assert [row["topic"] for row in found(program("ola"), TOPICS, m="P@1")["rows"]] == ["2", "1"]
    rows = found(program("ola"), TOPICS, m="P@1", by="scores")["rows"]
    assert {(row["topic"], row["run"]): row["value"] for row in rows} == {
        ("1", "alpha"): 1,
        ("1", "beta"): 1,
        ("2", "alpha"): 0,
        ("2", "beta"): 1,
    }


def test_a_topic_has_the_score_of_every_run_and_who_found_what(program: Caller) -> None:
    # AP of alpha is 1/2 and of beta (1 + 2/3)/2.
    rows = found(program("ola"), TOPIC, m="AP")["rows"]
    assert [(row["run"], row["place"], row["value"]) for row in rows] == [
        ("beta", 1, pytest.approx(5 / 6)),
        ("alpha", 2, 0.5),
    ]
    documents = found(program("ola"), TOPIC, by="documents")["rows"]
    assert {row["docno"]: (row["grade"], row["runs"]) for row in documents} == {
        "a": (2, "alpha beta"),
        "d": (1, "beta"),
    }


def test_two_runs_are_compared_with_a_conclusion(program: Caller) -> None:
    # Differences of 0 and 1: t is 1 with one degree of freedom, whose 95 % point is 12.706.
    seen = found(program("ola"), PAIR, m="P@1")
    conclusion = seen["about"]["conclusion"]
    assert (conclusion["leader"], conclusion["lead"], conclusion["won"], conclusion["tied"]) == ("beta", 0.5, 1, 1)
    assert (conclusion["high"], conclusion["is_significant"]) == (pytest.approx(6.853, abs=0.001), False)
    assert seen["rows"][0]["p_t"] == pytest.approx(0.5)
    lists = found(program("ola"), PAIR, by="lists", topic="1")["rows"]
    assert [(one["rank"], one["docno"], one["rank_in_other"]) for one in lists if one["run"] == "alpha"] == [
        (1, "a", 3),
        (2, "b", 2),
        (3, "c", None),
    ]


@pytest.mark.parametrize("address", PAGES)
def test_every_table_is_the_one_of_the_page(app: Flask, database: Database, program: Caller, address: str) -> None:
    page, query, tables = PAGES[address]
    visitor, ola = Visitor(app, database, "ola"), program("ola")
    for table in tables:
        written = visitor.get(f"/collections/{SLUG}/leaderboard/{page}.csv", query_string={**query, "table": table})
        of_page = list(csv.DictReader(written.text.splitlines()))
        rows = found(ola, address, by=table)["rows"]
        assert rows
        assert [{name: "" if cell is None else str(cell) for name, cell in row.items()} for row in rows] == [
            {name: line[name] for name in rows[0]} for line in of_page
        ]


@pytest.mark.parametrize("address", [RUN, TOPICS, TOPIC, PAIR])
def test_observers_read_it_without_names_of_judges(program: Caller, address: str) -> None:
    ola, obi = program("ola"), program("obi")
    assert ola.call("PATCH", f"{NEWS}/settings", json={"consensus_policy": "judge:nist"}).status_code == 200
    assert "judge:nist" in json.dumps(found(ola, address))
    assert "nist" not in json.dumps(found(obi, address))
    separator = "&" if "?" in address else "?"
    for choice in ("policy=majority", "judge=nist"):
        assert obi.get(f"{address}{separator}{choice}").status_code == 403
        assert ola.get(f"{address}{separator}{choice}").status_code == 200
    assert program("pat").get(address).status_code == 403


def test_what_is_not_there_is_named(program: Caller) -> None:
    ola = program("ola")
    assert ola.get(f"{NEWS}/leaderboard/runs/gamma").status_code == 404
    assert ola.get(f"{NEWS}/leaderboard/topics/9").status_code == 404
    assert ola.get(f"{NEWS}/leaderboard/comparison", first="alpha").status_code == 422
    itself = ola.get(f"{NEWS}/leaderboard/comparison", first="alpha", second="alpha")
    assert (itself.status_code, "compared with itself" in itself.text) == (422, True)
    assert ola.get(RUN, m="nonsense").status_code == 422
    assert ola.get(RUN, by="nothing").status_code == 422
    assert ola.get(RUN, round=7).status_code == 404


def test_a_team_compares_its_runs_as_organisers_do_and_no_other(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        run(session, "ours", {"1": ["a", "b"], "2": ["e"]}, team="red")
        run(session, "more", {"1": ["b", "d"]}, team="red")
    own = f"{NEWS}/scores/comparison"
    pat, ours = program("pat"), {"first": "ours", "second": "more"}
    assert pat.get(own, **ours).status_code == 403
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=NOW + timedelta(days=1), early=True)
    for table in ("tests", "topics"):
        asked = {**ours, "by": table, "m": "AP", "seed": 5}
        assert found(pat, own, **asked) == found(program("ola"), f"{NEWS}/leaderboard/comparison", **asked) | {
            "about": found(pat, own, **asked)["about"]
        }
    assert found(pat, own, **ours)["about"]["qrels"]["name"] == "live"
    assert pat.get(own, first="ours", second="alpha").status_code == 404
    assert pat.get(own, **ours, by="documents").status_code == 422
    assert pat.get(own, **ours, m="none").status_code == 422
    assert program("ola").get(own, **ours).status_code == 403
