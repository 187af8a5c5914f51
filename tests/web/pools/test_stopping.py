"""The page of stopping rules, and decisions to stop."""

import csv
import io

from build import labels
from visiting import Visit, words

from annotator.evaluation.stopping.stopping_rules import RULES
from annotator.storage import Database


def judged(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n1 0 c 0\n")


def test_the_page_shows_what_each_rule_answers(visit: Visit, news: str, database: Database) -> None:
    judged(database)
    ola = visit("ola")
    page = words(ola.get(f"{news}/pool/stopping?in_a_row=2"))
    assert "3 Documents judged" in page or "Documents judged 3" in page
    for name, rule, promise in [
        ("target-set", "target set (QBCB)", "guarantee"),
        ("knee", "knee", "heuristic"),
        ("in-a-row", "documents in a row without a relevant one", "heuristic 1 of 2"),
    ]:
        assert f"{rule} {RULES[name].source} {promise}".replace("  ", " ") in page
    one = words(ola.get(f"{news}/pool/stopping?in_a_row=2&topic=1"))
    assert "2 documents in a row were not relevant." in one
    assert "There is no random sample of this topic's documents." in one


def test_settings_out_of_range_are_named(visit: Visit, news: str, database: Database) -> None:
    judged(database)
    ola = visit("ola")
    for query, sentence in {
        "target=2": "The target recall must be between 0 and 1, not 2.0.",
        "target=nan": "The target recall must be between 0 and 1, not nan.",
        "alpha=much": "“much” is not a number such as 0.8.",
        "in_a_row=0": "The number must be from 1 to",
        "budget=x": "“x” is not a whole number.",
        "topic=99": "There is no topic “99” in this collection.",
    }.items():
        answer = ola.get(f"{news}/pool/stopping?{query}")
        assert (query, answer.status_code in {404, 422}, sentence in words(answer)) == (query, True, True)
    assert ola.get(f"{news}/pool/stopping.csv?by=nothing").status_code == 404
    assert ola.get(f"{news}/pool/stopping?page=99").status_code == 200


def test_a_decision_is_recorded_and_taken_back(visit: Visit, news: str, database: Database) -> None:
    judged(database)
    ola = visit("ola")
    refused = ola.post(f"{news}/pool/stopping", stops="1", topic="1", reason=" ")
    assert (refused.status_code, "Give a reason for the decision" in words(refused)) == (422, True)
    assert ola.post(f"{news}/pool/stopping", stops="1", topic="99", reason="x").status_code == 404
    answer = ola.post(f"{news}/pool/stopping", stops="1", topic="1", reason="few are left", rule="knee")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{news}/pool/stopping")
    page = words(ola.get(f"{news}/pool/stopping"))
    assert "Judging of topic 1 is stopped." in page
    assert "few are left" in page
    assert ola.post(f"{news}/pool/stopping", stops="1", topic="1", reason="again").status_code == 409
    assert ola.post(f"{news}/pool/stopping", topic="1", reason="a late run").status_code == 303
    rows = list(csv.DictReader(io.StringIO(ola.get(f"{news}/pool/stopping.csv?by=decisions").text)))
    assert [(row["stops"], row["rule"], row["reason"], row["judged"], row["decided_by"]) for row in rows] == [
        ("True", "knee", "few are left", "3", "ola"),
        ("False", "", "a late run", "3", "ola"),
    ]
