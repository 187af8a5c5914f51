"""`annotator rounds`, the round of a run, a pool and a leaderboard, and documents with another text than was judged."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from cli.command_line import CommandLine, write_run
from kept import Kept

from annotator.storage import Database


@pytest.fixture
def second(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """Round 1 judged a and b of topic 1; round 2 is open and has gamma, which finds a b d c."""
    kept.fill(sqlite_database, add_second_round)
    sqlite_database.close()
    return pooled


def add_second_round(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 2\n1 0 b 0\n")
    assert command_line.talk("rounds", "list", "news").startswith("This collection has no rounds")
    closed = command_line.talk("rounds", "close", "news")
    assert closed.endswith("Closed round 1; its grades are kept as version 1 of the qrels.\n")
    write_run("gamma", ["1 a", "1 b", "1 d", "1 c"])
    refusal = "Round 1 is closed and the next one is not open, so no runs are taken now."
    assert command_line.refused("runs", "import", "news", "gamma.run") == [refusal]
    assert command_line.talk("rounds", "open", "news", "--name", "second") == "Opened round 2.\n"
    command_line.done("runs", "import", "news", "gamma.run")
    command_line.done("judgements", "import", "news", "-", "--judge", "kim", given="1 0 c 1\n1 0 d 0\n")


def scores(command_line: CommandLine, *words: str) -> dict[str, float]:
    """AP by run."""
    shown = json.loads(command_line.done("leaderboard", "show", "news", "-m", "AP", "--format", "json", *words))
    return {row["tag"]: row["values"]["AP"] for row in shown["rows"]}


def test_rounds_are_closed_opened_and_shown(second: CommandLine) -> None:
    first, later = second.table("rounds", "list", "news")
    assert (first[0], first[-3:]) == ("1", ["1", "2", "0"])
    assert (later[0], later[1], later[-2:]) == ("2", "second", ["1", "2"])
    assert second.refused("rounds", "open", "news") == ["Round 2 is open. Close it first."]


def test_a_leaderboard_of_a_round_is_residual_or_whole_and_says_so(second: CommandLine) -> None:
    # Residual: d c, of which c is relevant. Whole: a b d c, of which a and c are.
    assert scores(second, "--round", "2") == {"gamma": 0.5}
    assert scores(second, "--round", "2", "--whole") == {"gamma": 0.75}
    assert len(scores(second)) == 3
    shown = second.done("leaderboard", "show", "news", "--round", "2", "--residual")
    assert "Qrels: live, round 2, residual settled by" in shown
    assert "on the residual collection: 2 documents of topics" in shown
    lines = list(
        csv.DictReader(StringIO(second.done("leaderboard", "show", "news", "--round", "2", "--format", "csv")))
    )
    assert [line["qrels"] for line in lines] == ["live, round 2, residual"]
    assert second.refused("leaderboard", "show", "news", "--round", "7") == ["There is no round 7 in this collection."]
    assert second("leaderboard", "show", "news", "--whole").exit_code == 2


EVERY_ROUND = (
    "This collection has rounds. The runs of every round are scored here, whole: nothing that was judged before a "
    "round is taken out."
)


@pytest.mark.parametrize(
    "command", [("leaderboard", "show"), ("significance", "show"), ("collections", "quality", "show")]
)
def test_scores_that_are_asked_for_without_a_round_say_that_there_are_some(
    second: CommandLine, command: tuple[str, ...]
) -> None:
    words = (*command, "news", "-m", "AP")
    assert EVERY_ROUND in [*second.done(*words).splitlines(), *second.talk(*words).splitlines()]
    assert EVERY_ROUND in json.loads(second.done(*words, "--format", "json"))["notices"]


def test_the_report_says_that_there_are_rounds(second: CommandLine) -> None:
    second.done("report", "export", "news", "-o", "report.html")
    assert EVERY_ROUND in Path("report.html").read_text(encoding="utf-8")


def test_a_leaderboard_in_latex_and_markdown_names_what_it_was_scored_against(second: CommandLine) -> None:
    words = ("leaderboard", "show", "news", "-m", "AP", "--format")
    latex = second.done(*words, "latex", "--round", "2").splitlines()
    comments = [line for line in latex if line.startswith("% ")]
    assert latex[: len(comments)] == comments
    assert comments[0].startswith("% Qrels: live, round 2, residual settled by")
    assert "on the residual collection: 2 documents of topics" in comments[2]
    markdown = second.done(*words, "markdown").splitlines()
    qrels = next(line for line in markdown if line.startswith("Qrels: "))
    assert qrels.startswith("Qrels: live, every round, whole settled by")
    assert EVERY_ROUND in markdown


def test_runs_and_pools_are_of_the_round_that_is_named(second: CommandLine) -> None:
    write_run("late", ["1 e"])
    second.done("runs", "import", "news", "late.run", "--round", "1")
    assert ["round", "1"] in second.table("runs", "show", "news", "late")
    assert second.refused("pool", "build", "news", "--depth", "1", "--runs", "late")[0].startswith("No run of this")
    assert "0 added" in second.talk("pool", "build", "news", "--depth", "2")
    assert "1 added" in second.talk("pool", "build", "news", "--depth", "1", "--round", "1")


def test_changed_documents_are_listed_judged_anew_or_let_stand(second: CommandLine) -> None:
    Path("new.tsv").write_text("a\tA\tnew text\nc\tC\tnew text of c\n")
    second.done("documents", "import", "news", "new.tsv")
    Path("newer.tsv").write_text("a\tA\tnewer text\nc\tC\tnewer text of c\n")
    second.done("documents", "import", "news", "newer.tsv")
    listed = second.table("documents", "changed", "list", "news")
    assert [line[:2] for line in listed] == [["1", "a"], ["1", "c"]]
    lines = list(csv.DictReader(StringIO(second.done("documents", "changed", "list", "news", "--format", "csv"))))
    assert [(line["docno"], line["judge"], line["grade"]) for line in lines] == [("a", "jo", "2"), ("c", "kim", "1")]
    told = second.talk("documents", "changed", "requeue", "news", "a")
    assert told == "Documents of topics put back to be judged again: 1.\n"
    assert second.done("qrels", "export", "news") == "1 0 b 0\n1 0 c 1\n1 0 d 0\n"
    assert second.talk("documents", "changed", "confirm", "news").endswith("whose grades stand: 1.\n")
    assert second.table("documents", "changed", "list", "news") == []
    assert second.refused("documents", "changed", "requeue", "news", "c")[0].startswith("Document c is not among")
    assert second("documents", "changed", "list", "news", "c").exit_code == 2


@pytest.mark.parametrize(
    "words",
    [
        ("significance", "show", "news", "--permutations", "0", "-m", "AP"),
        ("collections", "quality", "show", "news", "-m", "AP"),
        ("runs", "compare", "news", "gamma", "delta", "-m", "AP"),
    ],
)
def test_reports_are_limited_to_a_round(second: CommandLine, words: tuple[str, ...]) -> None:
    write_run("delta", ["1 c", "1 d"])
    second.done("runs", "import", "news", "delta.run")
    for choice, name in {"--residual": "residual", "--whole": "whole"}.items():
        result = second(*words, "--round", "2", choice)
        assert result.exit_code == 0, result.output
        assert EVERY_ROUND not in result.output
        assert "Only the runs of round 2 are scored" in result.output
        assert ("on the residual collection: 2 documents of topics" in result.output) == (name == "residual")
    assert second.refused(*words, "--round", "7") == ["There is no round 7 in this collection."]
    assert second(*words, "--whole").exit_code == 2
