"""`annotator agreement effect show` and `machines`, `judgements import --machine`, `users set --machine`."""

import csv
import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine
from csv_cells import unquoted
from kept import Kept

from annotator.storage import Database

STRICT = "1 0 a 1\n1 0 d 0\n2 0 a 0\n2 0 e 1\n"
GENEROUS = "1 0 a 0\n1 0 d 1\n2 0 a 0\n2 0 e 1\n"
EFFECT = ("agreement", "effect", "show", "news", "-m", "P@1", "--draws", "20")


@pytest.fixture
def judged(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """The pool with the labels of two judges."""
    kept.fill(sqlite_database, add_grades)
    sqlite_database.close()
    return pooled


def add_grades(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done("judgements", "import", "news", "-", "--judge", "strict", given=STRICT)
    command_line.done("judgements", "import", "news", "-", "--judge", "generous", given=GENEROUS)


def test_the_effect_is_shown_part_by_part(judged: CommandLine) -> None:
    # Alpha begins with a and a, beta with d and e; generous has beta's both right, strict one of each run's.
    assert judged.table(*EFFECT, "--by", "pair") == [["generous", "strict", "4", "2", "-", "-", "-", "0"]]
    assert judged.table(*EFFECT)[0][0] == "beta"
    rows = list(csv.DictReader(judged.done(*EFFECT, "--format", "csv").splitlines()))
    assert [(row["run"], row["low"], row["high"]) for row in rows] == [("beta", "0.5", "1.0"), ("alpha", "0.0", "0.5")]
    found = json.loads(judged.done(*EFFECT, "--format", "json"))
    assert found["pairs"][0]["comparison"]["first"] == [0, 1]
    assert (found["own_policy"], found["mixture"]["draws"], found["mixture"]["seed"]) == (
        "adjudicated-else-majority-first",
        20,
        1,
    )


def test_how_it_was_found_is_said_on_standard_error(judged: CommandLine) -> None:
    lines = judged.talk(*EFFECT).splitlines()
    assert "Runs are ranked by P@1; topics with grades: 2; judges: 2." in lines
    assert any(line.startswith("Mixtures: 20 draws with seed 1 over 4 documents of 2 topics") for line in lines)


def test_topics_are_named_with_commas_between(judged: CommandLine) -> None:
    assert json.loads(judged.done(*EFFECT, "--topic", "2", "--format", "json"))["topics"] == ["2"]
    assert judged.refused(*EFFECT, "--topic", "7") == ["There is no topic “7” in this collection."]


def test_one_judge_has_nobody_to_be_compared_with(pooled: CommandLine) -> None:
    pooled.done("judgements", "import", "news", "-", "--judge", "strict", given=STRICT)
    assert "nothing to mix or compare" in pooled.done(*EFFECT)
    assert "nothing to mix or compare" in pooled.done(*EFFECT, "--by", "pair")


def test_machines_come_in_apart_and_are_compared_with_people(judged: CommandLine) -> None:
    Path("prompt.txt").write_text("Say 0, 1 or 2.\n")
    words = ("judgements", "import", "news", "-", "--judge", "bot", "--machine", "--model", "Judge-7B")
    talk = judged.talk(*words, "--prompt", "prompt.txt", "--date", "2026-02-01", given="1 0 a 1\n1 0 d 9\n")
    assert talk.splitlines() == [
        "-:2: The label 9 of document d of topic 1 is outside the scale: it is kept apart.",
        (
            "Judgements of bot: 2 added, 0 changed, 0 known already, 0 unjudged; documents added to the pool: 0. "
            "Outside the scale: 1."
        ),
    ]
    [row] = judged.table("agreement", "machines", "show", "news")
    assert row[:5] == ["bot", "Judge-7B", "1", "1", "1"]
    assert [row[1:3] for row in judged.table("agreement", "machines", "show", "news", "--by", "judge")] == [
        ["generous", "1"],
        ["strict", "1"],
    ]
    outside = unquoted(judged.done("agreement", "machines", "show", "news", "--by", "outside", "--format", "csv"))
    assert outside.splitlines() == ["machine,topic,docno,label", "bot,1,d,9"]
    [machine] = json.loads(judged.done("agreement", "machines", "show", "news", "--format", "json"))["machines"]
    assert (machine["model"], machine["prompt"], machine["date"]) == ("Judge-7B", "Say 0, 1 or 2.\n", "2026-02-01")
    assert machine["people"]["confusion"] == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    grades = judged.table("agreement", "machines", "show", "news", "--by", "grade", "--shared")
    assert ["bot", "strict", "1", "1", "1"] in grades
    assert [row[0] for row in judged.table(*EFFECT, "--by", "pair")] == ["generous"]


def test_what_is_said_of_a_machine_needs_one(pooled: CommandLine) -> None:
    result = pooled("judgements", "import", "news", "-", "--judge", "bot", "--model", "M", given=STRICT)
    assert result.exit_code == 2
    assert "say --machine, too" in result.stderr


def test_a_judge_is_marked_as_a_machine_and_back(judged: CommandLine) -> None:
    assert (
        judged.talk("users", "set", "strict", "--machine", "--model", "Judge-7B") == "The judge strict is a machine.\n"
    )
    assert [row[-1] for row in judged.table("users", "list")] == ["-", "Judge-7B"]
    assert [row[0] for row in judged.table("agreement", "machines", "show", "news")] == ["strict"]
    assert judged.talk("users", "set", "strict", "--person") == "The judge strict is a person.\n"
    assert judged.table("agreement", "machines", "show", "news") == []


def test_a_value_that_is_missing_has_its_reason_beside_it(judged: CommandLine) -> None:
    no_order = (
        "There is no order to compare: there are fewer than two runs, or all of them are equal by one of the two."
    )
    assert f"generous and strict: tau, tau_ap, rbo: {no_order}" in judged.talk(*EFFECT, "--by", "pair").splitlines()
    [pair] = csv.DictReader(judged.done(*EFFECT, "--by", "pair", "--format", "csv").splitlines())
    assert (pair["tau"], pair["reasons"]) == ("", f"tau, tau_ap, rbo: {no_order}")
    found = json.loads(judged.done(*EFFECT, "--format", "json"))
    assert found["pairs"][0]["comparison"]["reasons"] == dict.fromkeys(("tau", "tau_ap", "rbo"), no_order)
    judged.done("judgements", "import", "news", "-", "--judge", "bot", "--machine", given="1 0 b 1\n")
    no_overlap = "The two judges have graded no document in common."
    no_ranking = "No document has both a grade of the machine and a settled grade of people."
    reasons = (
        "same, more, kappa, low, high, analytic_low, analytic_high, quadratic, quadratic_low, quadratic_high, "
        "quadratic_analytic_low, quadratic_analytic_high: "
        f"{no_overlap} tau, tau_ap, rbo: {no_ranking}"
    )
    machines = ("agreement", "machines", "show", "news")
    assert judged.talk(*machines).splitlines() == [f"bot: {reasons}"]
    [row] = csv.DictReader(judged.done(*machines, "--format", "csv").splitlines())
    assert (row["kappa"], row["reasons"]) == ("", reasons)
    [machine] = json.loads(judged.done(*machines, "--format", "json"))["machines"]
    assert machine["people"]["reasons"]["kappa"] == no_overlap
    assert machine["ranking_reasons"]["tau"] == no_ranking


def test_without_two_judges_csv_and_json_say_why_there_is_no_mixture(pooled: CommandLine) -> None:
    pooled.done("judgements", "import", "news", "-", "--judge", "strict", given=STRICT)
    assert "nothing to mix or compare" in pooled.talk(*EFFECT, "--format", "csv")
    found = json.loads(pooled.done(*EFFECT, "--format", "json"))
    assert (found["mixture"], found["mixture_reason"].endswith("nothing to mix or compare.")) == (None, True)
