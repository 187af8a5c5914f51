"""`annotator evaluate --estimate`: the estimates of `annotator.estimate`, at a terminal and for programs."""

import csv
import io
import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine, write_run
from csv_cells import unquoted

import annotator as library

# Of stratum 2 every second document was drawn.
SAMPLE = "".join(
    f"{topic} 0 d{n} {1 if n < 2 else 2} {(n + topic) % 2 if n < 2 or n % 2 else -1}\n"
    for topic in (1, 2)
    for n in range(8)
)
MACHINE = "".join(f"{topic} 0 d{n} {n % 2}\n" for topic in (1, 2) for n in range(8))


@pytest.fixture
def annotator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line where no database can be opened, beside two runs, a sample and a machine's grades."""
    monkeypatch.chdir(tmp_path)
    Path("sample").write_text(SAMPLE)
    Path("machine").write_text(MACHINE)
    write_run("up", [f"{topic} d{n}" for topic in (1, 2) for n in range(8)])
    write_run("down", [f"{topic} d{n}" for topic in (1, 2) for n in reversed(range(8))])
    return CommandLine("sqlite:////nowhere/to/be/found.sqlite")


@pytest.mark.parametrize("measure", ["xinfAP", "infNDCG@5", "P@4"])
def test_each_run_has_the_estimate_and_intervals_of_the_library(annotator: CommandLine, measure: str) -> None:
    shown = annotator.done("evaluate", "sample", "up.run", "down.run", "--estimate", "-m", measure, "--format", "json")
    found = json.loads(shown)
    expected = library.estimate("sample", ["up.run", "down.run"], measure)
    assert found["runs"] == expected.to_dicts()
    assert found["pairs"] == expected.differences.to_dicts()
    assert (found["topics"], found["notices"]) == (2, [])


def test_a_machine_joins_in_and_pairs_are_another_table(annotator: CommandLine) -> None:
    given = ("evaluate", "sample", "up.run", "down.run", "--estimate", "-m", "P@4", "--machine-file", "machine")
    table = annotator.done(*given)
    assert table.split()[:5] == ["RUN", "ESTIMATE", "LOW", "HIGH", "LOW"]
    assert "MACHINE" in table.splitlines()[0]
    rows = list(csv.DictReader(io.StringIO(unquoted(annotator.done(*given, "--by", "pairs", "--format", "csv")))))
    assert [(row["first"], row["second"]) for row in rows] == [("up", "down")]


def test_several_measures_are_shown_one_after_the_other(annotator: CommandLine) -> None:
    shown = annotator.done("evaluate", "sample", "up.run", "--estimate", "-m", "P@4", "-m", "xinfAP")
    assert [line for line in shown.splitlines() if line.startswith("By ")] == ["By P@4:", "By xinfAP:"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["up.run", "--by", "runs"], "--machine-file and --by go with --estimate."),
        (["up.run", "--machine-file", "machine"], "--machine-file and --by go with --estimate."),
        (["up.run", "--estimate", "--judged-only"], "--estimate does not go with --judged-only."),
        (["up.run", "--estimate", "--format", "tot"], "Estimates are shown as"),
        (["-", "--estimate", "--machine-file", "-"], "Standard input (-) can be given once."),
    ],
)
def test_options_that_do_not_go_together_are_named(annotator: CommandLine, given: list[str], sentence: str) -> None:
    result = annotator("evaluate", "sample", *given)
    assert result.exit_code == 2
    assert sentence in result.stderr


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["up.run", "up.run"], "The run up (up.run) is given twice."),
        (["up.run", "-m", "RR"], "RR cannot be estimated from a sample"),
        (["up.run", "-m", "xinfAP", "--machine-file", "machine"], "xinfAP is estimated from people's judgements alone"),
        (["bad", "good.run"], "bad:1:"),
        (["up.run", "--machine-file", "few"], "The machine has no grade for 7 documents of topic 1"),
    ],
)
def test_bad_input_is_named(annotator: CommandLine, given: list[str], sentence: str) -> None:
    Path("bad").write_text("1 Q0 d0 1\n")
    Path("few").write_text("1 0 d0 1\n")
    write_run("good", ["1 d0"])
    assert any(sentence in line for line in annotator.refused("evaluate", "sample", *given, "--estimate"))


def test_what_cannot_be_estimated_is_a_sentence(annotator: CommandLine) -> None:
    Path("none").write_text("1 0 d0 1 -1\n")
    [line] = annotator.refused("evaluate", "none", "up.run", "--estimate")
    assert line.startswith("Nothing can be estimated")
