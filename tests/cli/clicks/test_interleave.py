"""`annotator interleave`: lists to show, from files of runs."""

from pathlib import Path

import pytest
from cli.command_line import CommandLine, write_run

ALPHA, BETA = ["1 a", "1 b", "2 a", "2 b"], ["1 c", "1 d", "2 b", "2 a", "3 a"]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line where no database can be opened, beside two runs of which one has a topic more."""
    monkeypatch.chdir(tmp_path)
    write_run("alpha", ALPHA)
    write_run("beta", BETA)
    return CommandLine("sqlite:////nowhere/to/be/found.sqlite")


def data(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def test_lists_of_the_topics_that_both_runs_have_are_made(files: CommandLine) -> None:
    heading, *rows = data(
        files.done("interleave", "alpha.run", "beta.run", "--depth", "3", "--count", "2", "--seed", "1")
    )
    assert heading == ["topic", "list", "position", "docno", "team", "alpha", "beta"]
    assert [row[:3] for row in rows] == [
        [topic, number, position]
        for topic in "12"
        for number in "12"
        for position in "123"
        if (topic, position) != ("2", "3")
    ]
    of_one = {(row[3], *row[4:]) for row in rows if row[0] == "1"}
    assert of_one <= {
        ("a", "alpha", "1", "-"),
        ("b", "alpha", "2", "-"),
        ("c", "beta", "-", "1"),
        ("d", "beta", "-", "2"),
    }
    # Of topic 2 both have the same two documents, and each picks one.
    assert {row[3] for row in rows if row[0] == "2"} == {"a", "b"}
    assert {row[4] for row in rows if row[0] == "2"} == {"alpha", "beta"}


def test_the_bias_of_balanced_lists_is_stated_where_they_are_chosen(files: CommandLine) -> None:
    made = ("interleave", "alpha.run", "beta.run", "--seed", "1", "-o", "lists.tsv")
    assert "Balanced interleaving has a known bias" in files.talk(*made, "--method", "balanced")
    assert "bias" not in files.talk(*made)
    assert "Balanced interleaving has a known bias" in files.done("interleave", "--help")


def test_the_same_seed_gives_the_same_file_and_another_seed_another(files: CommandLine) -> None:
    for name, seed in (("one", "5"), ("two", "5"), ("three", "6")):
        files.done("interleave", "alpha.run", "beta.run", "--seed", seed, "-o", name)
    contents = [Path(name).read_bytes() for name in ("one", "two", "three")]
    assert contents[0] == contents[1]
    assert contents[0].split(b"\n", 1)[1] != contents[2].split(b"\n", 1)[1]
    assert contents[0].startswith(b"# annotator interleave --method team-draft --depth 10 --count 60 --seed 5\n")


def test_what_was_made_is_said_on_standard_error(files: CommandLine) -> None:
    assert files.talk("interleave", "alpha.run", "beta.run", "--seed", "1", "--count", "3").splitlines() == [
        "Topics: 2, of 3 lists each. Runs: alpha, beta.",
        "Topics left out, as not all runs have them: 1.",
        "Take a multiple of 2 lists, so that each run picks first as often as another.",
    ]


def test_more_than_two_runs_are_drafted_from(files: CommandLine) -> None:
    write_run("gamma", ["1 e", "1 f", "1 g"])
    heading, *rows = data(files.done("interleave", "alpha.run", "beta.run", "gamma.run", "--depth", "3", "--seed", "1"))
    assert heading[5:] == ["alpha", "beta", "gamma"]
    assert {tuple(sorted(row[3] for row in rows[place : place + 3])) for place in range(0, len(rows), 3)} == {
        ("a", "c", "e")
    }


def test_balanced_lists_have_ranks_and_no_team(files: CommandLine) -> None:
    heading, *rows = data(
        files.done("interleave", "alpha.run", "beta.run", "--method", "balanced", "--count", "2", "--seed", "1")
    )
    assert heading == ["topic", "list", "position", "docno", "alpha", "beta"]
    assert sorted("".join(row[3] for row in rows if row[:2] == ["1", number]) for number in "12") == ["acbd", "cadb"]
    assert ["2", "1", "1"] in [row[:3] for row in rows]


def test_runs_are_read_by_score_and_not_by_their_rank_column(files: CommandLine) -> None:
    Path("gamma.run").write_text("1 Q0 x 1 0.1 gamma\n1 Q0 y 2 0.2 gamma\n")
    _, *rows = data(files.done("interleave", "alpha.run", "gamma.run", "--depth", "2", "--seed", "1"))
    assert {row[3] for row in rows} == {"a", "y"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["alpha.run"], "Interleaving takes from 2 to 20 runs, not 1."),
        (["alpha.run", "alpha.run"], "Two runs have the tag alpha, so clicks could not be told apart."),
        (["alpha.run", "elsewhere.run"], "No topic is in all of these runs, so there is nothing to interleave."),
        (["alpha.run", "bad.run"], "No list was made. Problems found: 1."),
        (["alpha.run", "missing.run"], "missing.run: The file cannot be read: No such file or directory."),
        (
            ["alpha.run", "beta.run", "elsewhere.run", "--method", "balanced"],
            "Balanced interleaving takes two runs, not 3.",
        ),
    ],
)
def test_what_cannot_be_interleaved_is_refused(files: CommandLine, words: list[str], sentence: str) -> None:
    write_run("elsewhere", ["9 a"])
    Path("bad.run").write_text("1 Q0 a 1 high bad\n")
    assert any(line.startswith(sentence) for line in files.refused("interleave", *words, "--seed", "1"))


def test_a_seed_must_be_given(files: CommandLine) -> None:
    result = files("interleave", "alpha.run", "beta.run")
    assert result.exit_code == 2
    assert "Missing option '--seed'" in result.stderr
