"""`annotator runs`."""

import gzip
from pathlib import Path

import pytest
from cli.command_line import CommandLine, write_run

from annotator.settings import sqlite_url


def test_checking_shows_what_was_read_and_stores_nothing(news: CommandLine) -> None:
    write_run("alpha", ["1 a", "1 b", "2 a"])
    assert news.table("runs", "check", "news", "alpha.run") == [["alpha", "2", "3", "0", "alpha.run"]]
    assert news.table("runs", "list", "news") == []


def test_a_run_is_checked_at_home_with_topics_alone_and_no_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = CommandLine(sqlite_url(tmp_path / "none.sqlite"))
    Path("topics.tsv").write_text("1\tfirst\n2\tsecond\n")
    write_run("alpha", ["1 a", "1 b"])
    words = ("check", "topics.tsv", "alpha.run", "--most-documents", "1")
    assert home.table(*words) == [["alpha", "1", "2", "2", "alpha.run"]]
    assert home.talk(*words).splitlines() == [
        "alpha.run: warning: Topics that the run leaves out: 1 of 2 (2).",
        "alpha.run: warning: Topics with more than 1 documents: 1; the longest list has 2; first lines past that: 2.",
    ]
    write_run("beta", ["3 a"])
    both = home("check", "topics.tsv", "alpha.run", "beta.run")
    assert both.exit_code == 1
    assert both.stdout.splitlines()[-1].split()[0] == "alpha"
    assert [line.partition(" ")[0] for line in both.stderr.splitlines()] == ["alpha.run:", "beta.run:1:", "Problems"]
    assert "beta.run:1: The file of topics has no topic 3." in both.stderr
    assert not Path("none.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["runs", "check", "news"], "Missing argument"),
        (["runs", "check", "news", "alpha.run", "--most-documents", "5"], "No such option"),
        (["check", "topics.tsv"], "Missing argument"),
        (["check", "-", "-", "-"], "can be given once"),
        (["check", "-", "-"], "can be given once"),
    ],
)
def test_a_check_needs_a_collection_or_topics(annotator: CommandLine, words: list[str], told: str) -> None:
    result = annotator(*words)
    assert result.exit_code == 2
    assert told in result.stderr


def test_warnings_are_told_when_checking_and_importing_and_shown_later(news: CommandLine) -> None:
    Path("odd+tag.run").write_text("1 Q0 a 1 5 odd+tag\n1 Q0 b 2 7 odd+tag\n2 Q0 a 1 5 odd+tag\n")
    told = [f"odd+tag.run: warning: {beginning}" for beginning in ("The tag odd+tag has signs", "Topics in which")]
    for command in ("check", "import"):
        first, second, *_ = news.talk("runs", command, "news", "odd+tag.run").splitlines()
        assert first.startswith(told[0])
        assert second.startswith(told[1])
    [row] = news.table("runs", "list", "news")
    # Tag, team, topics, retrieved, pooled, version, state, type, priority, warnings.
    assert row[:11] == ["odd+tag", "-", "2", "3", "no", "1", "in", "force", "-", "1", "2"]
    shown = news.done("runs", "show", "news", "odd+tag")
    assert shown.count("\nwarning") == 2
    assert "Ranks are not read" in shown


def test_each_file_is_told_of_when_some_are_bad(news: CommandLine) -> None:
    write_run("alpha", ["1 a"])
    write_run("beta", ["3 a"])
    both = news("runs", "check", "news", "beta.run", "alpha.run")
    assert both.exit_code == 1
    assert both.stdout.splitlines()[-1].split()[0] == "alpha"
    assert "beta.run:1: The collection has no topic 3." in both.stderr
    assert "alpha.run: warning: Topics that the run leaves out: 1 of 2 (2)." in both.stderr


def test_runs_are_imported_all_or_none(news: CommandLine) -> None:
    write_run("alpha", ["1 a"])
    write_run("beta", ["3 a"])
    first, _ = news.refused("runs", "import", "news", "alpha.run", "beta.run")
    assert first.startswith("beta.run:1: ")
    assert news.table("runs", "list", "news") == []
    assert news.talk("runs", "import", "news", "alpha.run").endswith("Runs imported: 1.\n")


def test_a_run_has_its_team_and_description(news: CommandLine) -> None:
    write_run("alpha", ["1 a", "1 b"])
    details = ["--team", "words", "--description", "BM25", "--type", "manual", "--priority", "2"]
    news.done("runs", "import", "news", "alpha.run", *details)
    [[tag, team, topics, retrieved, is_pooled, *rest, _sent, same, description]] = news.table("runs", "list", "news")
    assert (tag, team, topics, retrieved, is_pooled, description) == ("alpha", "words", "1", "2", "no", "BM25")
    assert same == "-"
    assert rest == ["1", "in", "force", "manual", "2", "1"]  # version, state, type, priority, warnings
    assert news.table("runs", "list", "news", "--team", "others") == []
    news.done("runs", "set", "news", "alpha", "--priority", "1", "--team", "others")
    [row] = news.table("runs", "list", "news", "--team", "others")
    assert row[1] == "others"
    assert row[8:10] == ["manual", "1"]
    assert news("runs", "set", "news", "alpha").exit_code == 2


def test_an_organiser_is_warned_of_the_ranking_of_another_team(news: CommandLine) -> None:
    write_run("alpha", ["1 a", "1 b"])
    write_run("beta", ["1 a", "1 b"])
    news.done("runs", "import", "news", "alpha.run", "--team", "red")
    talk = news.talk("runs", "import", "news", "beta.run", "--team", "blue")
    assert "warning: beta has the same ranking as alpha.\n" in talk
    assert [row[-1] for row in news.table("runs", "list", "news")] == ["beta", "alpha"]
    assert "same ranking as  alpha" in news.done("runs", "show", "news", "beta")
    news.done("runs", "set", "news", "beta", "--team", "red")
    assert [row[-1] for row in news.table("runs", "list", "news")] == ["-", "-"]


def test_a_run_is_corrected_withdrawn_and_restored(news: CommandLine) -> None:
    write_run("alpha", ["1 a", "2 a"])
    first = Path("alpha.run").read_bytes()
    news.done("runs", "import", "news", "alpha.run")
    write_run("alpha", ["1 b", "2 b"])
    [problem, _] = news.refused("runs", "import", "news", "alpha.run")
    assert problem == "alpha.run:1: The tag alpha is taken by another run."
    assert news.table("runs", "check", "news", "alpha.run")[0][0] == "alpha"
    news.done("runs", "import", "news", "alpha.run", "--replace")
    assert [row[5] for row in news.table("runs", "list", "news")] == ["2"]
    assert [row[5:7] for row in news.table("runs", "list", "news", "--all")] == [["1", "replaced"], ["2", "in"]]
    assert news("runs", "export", "news", "alpha", "--version", "1").stdout_bytes == first
    shown = news.done("runs", "show", "news", "alpha", "--version", "1").splitlines()
    assert shown[2].split() == ["version", "1", "of", "2"]
    news.done("runs", "withdraw", "news", "alpha")
    assert news.table("runs", "list", "news") == []
    assert news.refused("runs", "withdraw", "news", "alpha") == ["The run “alpha” is withdrawn already."]
    news.done("runs", "restore", "news", "alpha")
    assert [row[5] for row in news.table("runs", "list", "news")] == ["2"]


def test_two_runs_of_one_tag_are_told_apart_by_their_files(news: CommandLine) -> None:
    lines = "1 Q0 a 1 2 same\n"
    Path("first.run").write_text(lines)
    Path("second.run.gz").write_bytes(gzip.compress(lines.encode()))
    [problem, _] = news.refused("runs", "import", "news", "first.run", "second.run.gz")
    assert "The tag same is also the tag of first.run." in problem
    news.done("runs", "import", "news", "first.run", "second.run.gz", "--tag-from-file")
    assert [tag for tag, *_ in news.table("runs", "list", "news")] == ["first.run", "second.run"]


def test_a_run_is_given_back_byte_for_byte(news: CommandLine) -> None:
    sent = gzip.compress(b"# a comment\n1\tQ0  a 1 2.50 alpha\n")
    Path("alpha.gz").write_bytes(sent)
    news.done("runs", "import", "news", "alpha.gz")
    assert news("runs", "export", "news", "alpha").stdout_bytes == sent
    news.done("runs", "export", "news", "alpha", "-o", "back.gz")
    assert Path("back.gz").read_bytes() == sent
    assert news.refused("runs", "export", "news", "beta") == ["There is no run “beta” in this collection."]


def test_standard_input_can_be_given_once(annotator: CommandLine) -> None:
    result = annotator("runs", "check", "news", "-", "-")
    assert result.exit_code == 2
    assert "can be given once" in result.stderr
