"""Commands that show the same by several measures: a table each, CSV with a column, JSON with a list."""

import csv
import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine
from clicking import interleaving_text
from kept import Kept

from annotator.storage import Database

BOTH = ("-m", "P@1", "-m", "AP")
BY_MEASURE = {
    "quality": ("collections", "quality", "show", "news"),
    "significance": ("significance", "show", "news", "--permutations", "100"),
    "effect": ("agreement", "effect", "show", "news", "--draws", "20"),
    "machines": ("agreement", "machines", "show", "news"),
    "costs": ("costs", "show", "news"),
}
every_command = pytest.mark.parametrize("words", BY_MEASURE.values(), ids=BY_MEASURE)


@pytest.fixture
def judged(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """The pool with the labels of two people and of a machine; of two grades the lower one counts."""
    kept.fill(sqlite_database, add_grades)
    sqlite_database.close()
    return pooled


def add_grades(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done("collections", "set", "news", "--consensus", "majority")
    for judge, labels in (("jo", "1 0 a 1\n1 0 d 0\n2 0 a 0\n2 0 e 1\n"), ("kim", "1 0 a 0\n1 0 d 1\n2 0 e 1\n")):
        command_line.done("judgements", "import", "news", "-", "--judge", judge, given=labels)
    machine = ("--judge", "bot", "--machine", "--model", "Judge-7B", "--prompt", "prompt.txt", "--date", "2026-02-01")
    Path("prompt.txt").write_text("Grade 0, 1 or 2.\n")
    command_line.done("judgements", "import", "news", "-", *machine, given="1 0 a 1\n1 0 d 0\n2 0 e 1\n")


@every_command
def test_json_has_the_object_of_each_measure(judged: CommandLine, words: tuple[str, ...]) -> None:
    alone = [json.loads(judged.done(*words, "-m", measure, "--format", "json")) for measure in ("P@1", "AP")]
    assert [one["measure"] for one in alone] == ["P@1", "AP"]
    assert json.loads(judged.done(*words, *BOTH, "--format", "json")) == alone


@every_command
def test_csv_names_the_measure_in_each_row(judged: CommandLine, words: tuple[str, ...]) -> None:
    rows = list(csv.DictReader(judged.done(*words, *BOTH, "--format", "csv").splitlines()))
    alone = [
        list(csv.DictReader(judged.done(*words, "-m", measure, "--format", "csv").splitlines()))
        for measure in ("P@1", "AP")
    ]
    assert [row["measure"] for row in rows] == [
        measure for measure, of_one in zip(("P@1", "AP"), alone, strict=True) for _ in of_one
    ]
    without_names = [[value for name, value in row.items() if name != "measure"] for row in rows]
    assert without_names == [
        [value for name, value in row.items() if name != "measure"] for of_one in alone for row in of_one
    ]


@every_command
def test_a_terminal_shows_the_tables_of_each_measure(judged: CommandLine, words: tuple[str, ...]) -> None:
    alone = [judged.done(*words, "-m", measure) for measure in ("P@1", "AP")]
    assert judged.done(*words, *BOTH) == f"By P@1:\n{alone[0]}\nBy AP:\n{alone[1]}"


@every_command
def test_a_measure_named_twice_counts_once(judged: CommandLine, words: tuple[str, ...]) -> None:
    assert judged.done(*words, "-m", "AP", "-m", "map") == judged.done(*words, "-m", "AP")


def test_what_holds_for_all_measures_is_put_out_once(judged: CommandLine) -> None:
    lines = judged.talk(*BY_MEASURE["effect"], *BOTH).splitlines()
    assert len([line for line in lines if line.startswith("Mixtures: 20 draws")]) == 1
    assert "P@1: Runs are ranked by P@1; topics with grades: 2; judges: 2." in lines
    assert "AP: Runs are ranked by AP; topics with grades: 2; judges: 2." in lines


def test_costs_name_the_column_of_values_for_all_measures(judged: CommandLine) -> None:
    judged.done("costs", "set", "news", "alpha", "latency_p95=50")
    rows = list(csv.DictReader(judged.done("costs", "show", "news", *BOTH, "--format", "csv").splitlines()))
    assert [(row["measure"], row["run"]) for row in rows if row["latency_p95 (ms)"]] == [
        ("P@1", "alpha"),
        ("AP", "alpha"),
    ]
    assert all(row["value"] for row in rows)


def test_before_anything_is_judged_costs_are_shown_once(pooled: CommandLine) -> None:
    result = pooled("costs", "show", "news", *BOTH)
    assert (result.exit_code, result.stdout.count("RUN"), len(result.stderr.splitlines())) == (0, 1, 1)


def test_an_unknown_measure_among_them_is_refused(judged: CommandLine) -> None:
    [refusal] = judged.refused("significance", "show", "news", "-m", "AP", "-m", "nosuch")
    assert "nosuch" in refusal


def test_flags_have_one_table_with_the_measure_of_each_row(judged: CommandLine) -> None:
    flags = ("topics", "flags", "list", "news", "--topic", "2", *BOTH)
    shown = judged.done(*flags).split("\n\n")[1].splitlines()
    assert shown[0].split() == ["MEASURE", "RUN", "WITH", "WITHOUT", "PLACE", "PLACE", "WITHOUT", "MOVES"]
    assert [line.split()[0] for line in shown[1:]] == ["P@1", "P@1", "AP", "AP"]
    found = json.loads(judged.done(*flags, "--format", "json"))
    assert [(one["measure"], one["run"]) for one in found["runs"]] == [
        *(("P@1", "beta"), ("P@1", "alpha"), ("AP", "beta"), ("AP", "alpha")),
    ]
    # No run changes its place by either measure: one line holds for both.
    assert len(judged.talk(*flags).splitlines()) == 1


def test_versions_of_qrels_are_compared_by_several_measures(judged: CommandLine) -> None:
    judged.done("qrels", "keep", "news")
    judged.done("judgements", "import", "news", "-", "--judge", "lee", given="1 0 a 1\n1 0 d 1\n2 0 a 1\n")
    compare = ("qrels", "compare", "news", "1", "live")
    tables = judged.done(*compare, *BOTH).split("\n\n")
    assert [table.split()[:2] for table in tables] == [["TOPIC", "SAME"], ["RUN", "P@1"], ["RUN", "AP"]]
    # Both rankings stay as they are: this holds for both measures and is put out once.
    assert judged.talk(*compare, *BOTH).splitlines()[2:] == ["Kendall's tau of the rankings: 1.0000"]
    found = json.loads(judged.done(*compare, *BOTH, "--format", "json"))
    assert found == [json.loads(judged.done(*compare, "-m", name, "--format", "json")) for name in ("P@1", "AP")]
    # The grades that differ are the same by every measure.
    assert judged.done(*compare, *BOTH, "--format", "csv") == judged.done(*compare, "--format", "csv")


def test_clicks_are_beside_the_judgements_by_several_measures(judged: CommandLine) -> None:
    Path("lists.csv").write_text(interleaving_text())
    judged.done("clicks", "add", "news", "lists.csv", "--name", "Lists", "--interleaving")
    together = ("clicks", "together", "show", "news")
    found = json.loads(judged.done(*together, *BOTH, "--format", "json"))
    alone = [json.loads(judged.done(*together, "-m", name, "--format", "json")) for name in ("P@1", "AP")]
    assert found == [{"measure": "P@1", **alone[0]}, {"measure": "AP", **alone[1]}]
    rows = csv.DictReader(judged.done(*together, *BOTH, "--format", "csv").splitlines())
    assert [row["measure"] for row in rows] == ["P@1"] * len(alone[0]["pairs"]) + ["AP"] * len(alone[1]["pairs"])
    [talk] = judged.talk(*together, *BOTH).splitlines()
    assert talk.startswith("Documents of these queries that are not in the pool:")
