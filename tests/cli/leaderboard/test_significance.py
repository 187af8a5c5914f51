"""`annotator significance show` and `correlation`."""

import csv
import json

import pytest
from cli.command_line import CommandLine
from csv_cells import unquoted
from kept import Kept

from annotator.storage import Database

TEST = ("significance", "show", "news", "-m", "P@1", "--permutations", "100")


@pytest.fixture
def judged(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """P@1 by topic: alpha 1 1, beta 1 0."""
    kept.fill(sqlite_database, add_grades)
    sqlite_database.close()
    return pooled


def add_grades(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done(
        "judgements", "import", "news", "-", "--judge", "nist", given="1 0 a 1\n1 0 d 1\n2 0 a 1\n2 0 e 0\n"
    )


def test_runs_are_shown_with_interval_and_letters(judged: CommandLine) -> None:
    assert [row[0:2] + row[4:5] for row in judged.table(*TEST)] == [["alpha", "1.0000", "a"], ["beta", "0.5000", "a"]]
    talk = judged.talk(*TEST)
    assert "P@1 by live qrels: 4 grades; topics with a score of all: 2." in talk
    assert "0 of 1 pairs differ at 5 %" in talk
    assert "by 100 permutations with seed 1" in talk


def test_every_part_can_be_had_as_csv_and_json(judged: CommandLine) -> None:
    [pair] = csv.DictReader(judged.done(*TEST, "--format", "csv").splitlines())
    assert (pair["first"], pair["second"], pair["second_minus_first"], pair["differ"]) == (
        "alpha",
        "beta",
        "-0.5",
        "False",
    )
    assert (pair["measure"], pair["qrels"], pair["grades"]) == ("P@1", "live", "4")
    # Differences 0 and -1: t is -0.5 / 0.5 of 1 degree of freedom, p exactly a half.
    assert float(pair["t_p"]) == pytest.approx(0.5)
    found = json.loads(judged.done(*TEST, "--baseline", "beta", "--format", "json"))
    assert found.keys() == {"measure", "qrels", "notices", "runs", "pairs", "baseline", "variance", "topics"}
    assert (found["measure"], found["qrels"]["name"], found["qrels"]["grades"]) == ("P@1", "live", 4)
    assert [one["run"] for one in found["baseline"]] == ["alpha"]
    assert judged.table(*TEST, "--by", "topics")[0][:1] == ["0.0100"]


def test_comparing_two_runs_and_testing_all_subtract_the_same_way(judged: CommandLine) -> None:
    [pair] = csv.DictReader(judged.done(*TEST, "--format", "csv").splitlines())
    both = ("runs", "compare", "news", pair["first"], pair["second"], "-m", "P@1", "--format", "csv")
    [compared] = csv.DictReader(judged.done(*both).splitlines())
    assert compared["second_minus_first"] == pair["second_minus_first"] == "-0.5"
    [against] = csv.DictReader(
        judged.done(*TEST, "--baseline", "alpha", "--by", "baseline", "--format", "csv").splitlines()
    )
    assert (against["run"], against["run_minus_baseline"]) == ("beta", "-0.5")


def test_what_cannot_be_tested_is_said(pooled: CommandLine) -> None:
    assert pooled.refused(*TEST) == ["Nothing is judged yet, so there is nothing to score against."]
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given="1 0 b 1\n2 0 a 0\n")
    assert "Not defined: no difference." in pooled.talk(*TEST)
    assert pooled.refused(*TEST, "--qrels", "3") == ["There is no version 3 of these qrels."]


def test_two_measures_rank_the_runs(judged: CommandLine) -> None:
    words = ("correlation", "show", "news", "-m", "P@1", "-m", "AP")
    # AP of topic 1, where a and d are relevant: alpha has a first, 1/2; beta d and third a, (1 + 2/3) / 2. Of topic 2
    # alpha has 1 and beta 0.
    assert judged.table(*words) == [["alpha", "1.0000", "0.7500", "1", "1"], ["beta", "0.5000", "0.4167", "2", "2"]]
    assert judged.talk(*words).splitlines() == [
        "First: P@1 by live qrels, 4 grades of 2 topics.",
        "Second: AP by live qrels, 4 grades of 2 topics.",
        "tau-b 1.0000, tau AP 1.0000, RBO 1.0000.",
    ]
    assert json.loads(judged.done(*words, "--format", "json"))["tau"] == 1
    assert unquoted(judged.done(*words, "--format", "csv")).splitlines()[1] == (
        "alpha,1.0,0.75,1,1,P@1,live,adjudicated-else-majority-first,4,AP,live,adjudicated-else-majority-first,4"
    )


def test_two_rankings_are_compared_and_no_third(judged: CommandLine) -> None:
    judged.done("qrels", "keep", "news")
    one_measure = judged.talk("correlation", "show", "news", "--qrels", "1", "--qrels", "live").splitlines()
    assert one_measure[:2] == [
        "First: nDCG@10 by 1 qrels, 4 grades of 2 topics.",
        "Second: nDCG@10 by live qrels, 4 grades of 2 topics.",
    ]
    assert judged("correlation", "show", "news", "-m", "AP", "-m", "P@1", "-m", "P@5").exit_code == 2
