"""`annotator agreement show`: all together, by pair, by topic, by judge and by grade, in every format."""

import csv
import json

import pytest
from cli.command_line import CommandLine
from kept import Kept

from annotator.storage import Database

STRICT = "1 0 a 2\n1 0 b 0\n2 0 a 1\n"
GENEROUS = "1 0 a 2\n1 0 b 1\n2 0 e 1\n"


@pytest.fixture
def judged(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """The pool with the labels of two judges, who have a and b of topic 1 in common."""
    kept.fill(sqlite_database, add_grades)
    sqlite_database.close()
    return pooled


def add_grades(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done("judgements", "import", "news", "-", "--judge", "strict", given=STRICT)
    command_line.done("judgements", "import", "news", "-", "--judge", "generous", given=GENEROUS)


def test_all_together_come_first_and_then_the_pairs(judged: CommandLine) -> None:
    together, pairs = judged.done("agreement", "show", "news").split("\n\n")
    assert together.splitlines()[2].startswith("alpha, ordinal")
    assert pairs.splitlines()[0].split()[:4] == ["FIRST", "SECOND", "N", "KAPPA"]
    assert pairs.splitlines()[1].split()[:4] == ["generous", "strict", "2", "0.3333"]


def test_observed_and_expected_agreement_stand_beside_kappa_and_its_band(judged: CommandLine) -> None:
    # (2, 2) and (0, 1) by strict and generous: P(A) 1/2; P(E) (1*0 + 0*1 + 1*1)/4 = 1/4; kappa 1/3, fair.
    out = judged.done("agreement", "show", "news", "--by", "pair", "--format", "csv")
    [line] = csv.DictReader(out.splitlines())
    assert (line["observed"], line["expected"], line["band"], line["same"]) == ("0.5", "0.25", "fair", "0.5")
    # Generous is half a grade higher: 2 and 1 against 2 and 0.
    assert line["difference"] == "0.5"


@pytest.mark.parametrize(
    ("part", "key", "first"),
    [
        ("all", "all", {"statistic": "alpha, nominal"}),
        ("pair", "pairs", {"first": "generous", "second": "strict", "confusion": [[0, 0, 0], [1, 0, 0], [0, 0, 1]]}),
        ("topic", "by_topic", {"topic": "1", "documents": 2, "same": 0.5}),
        ("judge", "by_judge", {"judge": "generous", "pairs": 2, "difference": 0.5}),
        ("grade", "by_grade", {"grade": 0, "same": 0.0}),
    ],
)
def test_each_part_can_be_had_alone(judged: CommandLine, part: str, key: str, first: dict[str, object]) -> None:
    report = json.loads(judged.done("agreement", "show", "news", "--by", part, "--format", "json"))
    assert report["documents_shared"] == 2
    assert report[key][0].items() >= first.items()
    rows = list(csv.DictReader(judged.done("agreement", "show", "news", "--by", part, "--format", "csv").splitlines()))
    assert len(rows) == len(report[key])
    assert len(judged.table("agreement", "show", "news", "--by", part)) == len(rows)


@pytest.mark.parametrize(("weights", "observed", "expected"), [("linear", 3 / 4, 1 / 2), ("quadratic", 7 / 8, 5 / 8)])
def test_weights_count_neighbours_as_nearer(
    judged: CommandLine, weights: str, observed: float, expected: float
) -> None:
    # strict 2, 0; generous 2, 1. A grade apart agrees by 1/2, squared by 3/4. Observed 2-2 and 0-1: (1 + 1/2) / 2.
    # By chance 2-2, 2-1, 0-2 and 0-1 are equally frequent: (1 + 1/2 + 0 + 1/2) / 4, squared (1 + 3/4 + 0 + 3/4) / 4.
    report = json.loads(judged.done("agreement", "show", "news", "--weights", weights, "--format", "json"))
    [pair] = report["pairs"]
    assert (report["weights"], pair["observed"], pair["expected"]) == (weights, observed, expected)
    assert pair["kappa"] == pytest.approx((observed - expected) / (1 - expected))


def test_over_time_labels_of_files_are_left_out(judged: CommandLine) -> None:
    report = json.loads(judged.done("agreement", "show", "news", "--by", "time", "--format", "json"))
    assert (report["over_time"], report["grades_without_time"]) == ([], 6)
    talk = judged.talk("agreement", "show", "news", "--by", "time")
    assert "Grades of files, which have no time of their own, left out: 6." in talk


def test_chosen_topics_alone_are_compared(judged: CommandLine) -> None:
    report = json.loads(judged.done("agreement", "show", "news", "--topic", "1", "--topic", "2", "--format", "json"))
    assert (report["only_topics"], report["documents"]) == (["1", "2"], 4)
    report = json.loads(judged.done("agreement", "show", "news", "--topic", "2", "--format", "json"))
    assert report["pairs"][0]["n"] == 0
    assert judged.refused("agreement", "show", "news", "--topic", "7") == [
        "There is no accepted topic “7” in this collection."
    ]


def test_without_judgements_every_number_has_its_reason(pooled: CommandLine) -> None:
    rows = json.loads(pooled.done("agreement", "show", "news", "--by", "all", "--format", "json"))["all"]
    assert {(row["value"], row["reason"]) for row in rows} == {(None, "There are no grades yet.")}


def test_two_judges_are_compared_grade_by_grade_and_with_their_documents(judged: CommandLine) -> None:
    pair = ("agreement", "pair", "show", "news", "strict", "generous")
    assert judged.table(*pair)[0][:4] == ["generous", "strict", "2", "0.3333"]
    assert judged.talk(*pair) == "First: generous. Second: strict.\n"
    grades = json.loads(judged.done(*pair, "--by", "grades", "--format", "json"))
    assert [(one["first_grade"], one["second_grade"]) for one in grades if one["documents"]] == [(1, 0), (2, 2)]
    documents = list(csv.DictReader(judged.done(*pair, "--by", "documents", "--format", "csv").splitlines()))
    assert [(one["docno"], one["first"], one["second"]) for one in documents] == [("a", "2", "2"), ("b", "1", "0")]
    assert "no two judges" in judged.refused("agreement", "pair", "show", "news", "strict", "nobody")[0]
