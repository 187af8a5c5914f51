"""`annotator costs`: state what systems cost, show it beside the scores, ask for more."""

import csv
import json
from io import StringIO

import pytest
from cli.command_line import CommandLine
from kept import Kept

from annotator.storage import Database


@pytest.fixture
def judged(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """P@1: alpha has the relevant a first for both topics, beta for none."""
    kept.fill(sqlite_database, add_grades)
    sqlite_database.close()
    return pooled


def add_grades(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 2\n1 0 d 0\n2 0 a 1\n")


def test_costs_are_stated_and_shown_beside_the_scores(judged: CommandLine) -> None:
    said = judged.talk("costs", "set", "news", "alpha", "latency_p95=0.05 s", "latency_at@1e6=35", "hardware=8 cores")
    assert said == "Stored what alpha costs.\n"
    judged.done("costs", "set", "news", "beta", "latency_p95=60")
    result = judged("costs", "show", "news", "-m", "P@1")
    heading, first, second = result.stdout.splitlines()
    assert heading.split() == [
        *("RUN", "TEAM", "P@1", "FRONT", "LATENCY_P95", "(ms)", "LATENCY_AT@1000000", "(ms)", "HARDWARE"),
    ]
    assert first.split() == ["alpha", "-", "1.0000", "*", "50", "35", "8", "cores"]
    assert second.split() == ["beta", "-", "0.0000", "60", "-", "-"]
    assert "FRONT: nobody is better by P@1 without being worse by latency_p95. Qrels: live" in result.stderr


def test_a_fact_with_nothing_behind_it_is_taken_back(judged: CommandLine) -> None:
    judged.done("costs", "set", "news", "alpha", "latency_p95=50", "hardware=8 cores")
    judged.done("costs", "set", "news", "alpha", "latency_p95=")
    (row, _) = json.loads(judged.done("costs", "show", "news", "--format", "json"))["rows"]
    assert row["costs"] == {"hardware": "8 cores"}


def test_within_50_ms_leaves_out_who_is_slower_or_silent(judged: CommandLine) -> None:
    judged.done("costs", "set", "news", "alpha", "latency_p95=50")
    result = judged("costs", "show", "news", "--within", "50 ms", "-m", "P@1")
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["RUN", "alpha"]
    assert "Left out: 0 runs beyond the bound, 1 that do not state latency_p95." in result.stderr
    shown = json.loads(judged.done("costs", "show", "news", "--within", "40", "-m", "P@1", "--format", "json"))
    assert {name: shown[name] for name in ("measure", "cost", "unit", "within", "over", "silent", "rows")} == {
        "measure": "P@1",
        "cost": "latency_p95",
        "unit": "ms",
        "within": 40,
        "over": 1,
        "silent": 1,
        "rows": [],
    }


def test_the_csv_is_exact_and_names_its_grades(judged: CommandLine) -> None:
    judged.done("costs", "set", "news", "alpha", "index_size=1.25 GB")
    text = judged.done("costs", "show", "news", "-m", "P@1", "--cost", "index_size", "--format", "csv")
    first, second = csv.DictReader(StringIO(text))
    assert (first["run"], first["P@1"], first["front"], first["index_size (MB)"]) == ("alpha", "1.0", "True", "1250.0")
    assert (second["front"], second["index_size (MB)"]) == ("False", "")
    assert (first["qrels"], first["grades"]) == ("live", "3")


def test_before_anything_is_judged_costs_stand_alone(pooled: CommandLine) -> None:
    pooled.done("costs", "set", "news", "beta", "latency_p95=60")
    result = pooled("costs", "show", "news")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].split() == ["RUN", "TEAM", "FRONT", "LATENCY_P95", "(ms)"]
    assert "judged" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["set", "news", "alpha", "speed=1"], "“speed” is no fact that is stated here."),
        (["set", "news", "alpha", "latency_p95=fast"], "“fast” is no number of ms such as “48.5 ms”"),
        (["set", "news", "gamma", "latency_p95=1"], "There is no run “gamma” in this collection."),
        (
            ["show", "news", "--cost", "hardware"],
            "“hardware” is not a numeric column, so runs cannot be compared by it.",
        ),
        (["columns", "remove", "news", "price"], "There is no column “price” in this collection."),
        (["columns", "add", "news", "hardware"], "“hardware” is a standard column and need not be added."),
    ],
)
def test_what_cannot_be_is_refused(judged: CommandLine, words: list[str], said: str) -> None:
    assert judged.refused("costs", *words)[-1].startswith(said)


@pytest.mark.parametrize(
    "words",
    [
        ["set", "news", "alpha"],
        ["set", "news", "alpha", "latency_p95"],
        ["set", "news", "alpha", "latency_p95=1", "latency_p95=2"],
        ["columns", "add", "news", "--name", "Price"],
        ["columns", "add", "news", "price", "--better", "cheap"],
    ],
)
def test_a_command_that_is_not_whole_is_wrong_usage(judged: CommandLine, words: list[str]) -> None:
    assert judged("costs", *words).exit_code == 2


def test_columns_are_listed_added_and_removed(judged: CommandLine) -> None:
    assert ["latency_p95", "number", "ms", "less"] in [
        row[:4] for row in judged.table("costs", "columns", "list", "news")
    ]
    judged.done("costs", "columns", "add", "news", "price", "--name", "Price", "--unit", "EUR", "--better", "less")
    judged.done("costs", "columns", "add", "news", "licence", "--words")
    listed = list(csv.DictReader(StringIO(judged.done("costs", "columns", "list", "news", "--format", "csv"))))
    own = [(row["key"], row["kind"], row["unit"], row["better"], row["name"]) for row in listed if row["own"] == "yes"]
    assert own == [("price", "number", "EUR", "less", "Price"), ("licence", "words", "", "neither", "licence")]
    judged.done("costs", "set", "news", "alpha", "price=12 EUR", "licence=MIT")
    assert judged.refused("costs", "columns", "remove", "news", "price")[-1].startswith("Runs state “price”: alpha")
    judged.done("costs", "set", "news", "alpha", "price=")
    judged.done("costs", "columns", "remove", "news", "price")
    assert "PRICE" not in judged.done("costs", "show", "news")
