"""`annotator runs` and `annotator pool`."""

import gzip
from pathlib import Path

from cli.command_line import CommandLine, write_run


def test_checking_shows_what_was_read_and_stores_nothing(news: CommandLine) -> None:
    write_run("alpha", ["1 a", "1 b", "2 a"])
    assert news.table("runs", "check", "news", "alpha.run") == [["alpha", "2", "3", "alpha.run"]]
    assert news.table("runs", "list", "news") == []


def test_runs_are_imported_all_or_none(news: CommandLine) -> None:
    write_run("alpha", ["1 a"])
    write_run("beta", ["3 a"])
    first, _ = news.refused("runs", "import", "news", "alpha.run", "beta.run")
    assert first.startswith("beta.run:1: ")
    assert news.table("runs", "list", "news") == []
    assert news.talk("runs", "import", "news", "alpha.run") == "Runs imported: 1.\n"


def test_a_run_has_its_team_and_description(news: CommandLine) -> None:
    write_run("alpha", ["1 a", "1 b"])
    news.done("runs", "import", "news", "alpha.run", "--team", "words", "--description", "BM25")
    [[tag, team, topics, retrieved, is_pooled, _sent, description]] = news.table("runs", "list", "news")
    assert (tag, team, topics, retrieved, is_pooled, description) == ("alpha", "words", "1", "2", "no", "BM25")
    assert news.table("runs", "list", "news", "--team", "others") == []


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


def test_a_pool_grows_by_what_is_new(pooled: CommandLine) -> None:
    write_run("gamma", ["1 a", "1 f", "2 e"])
    pooled.done("runs", "import", "news", "gamma.run")
    assert pooled.table("pool", "build", "news", "--depth", "10") == [["1", "1", "4"], ["2", "0", "2"]]
    versions, progress = pooled.done("pool", "show", "news").split("\n\n")
    assert [line.split()[:4] for line in versions.splitlines()[1:]] == [
        ["1", "depth", "1", "6"],
        ["2", "depth", "1", "1"],
    ]
    assert [line.split()[:4] for line in progress.splitlines()[1:]] == [["1", "5", "0", "0"], ["2", "2", "0", "0"]]


def test_a_pool_is_built_of_the_runs_that_fit_a_pattern(news: CommandLine) -> None:
    for tag in ("bm25", "bm25-stemmed", "dense", "odd[tag]"):
        write_run(tag, [f"1 only-{tag}"])
        news.done("runs", "import", "news", f"{tag}.run")
    news.done("pool", "build", "news", "--depth", "1", "--runs", "bm25*", "--runs", "odd[tag]")
    pooled = {tag for tag, _, _, _, is_pooled, *_ in news.table("runs", "list", "news") if is_pooled == "yes"}
    assert pooled == {"bm25", "bm25-stemmed", "odd[tag]"}


def test_a_pattern_that_fits_no_run_is_refused(pooled: CommandLine) -> None:
    assert pooled.refused("pool", "build", "news", "--depth", "1", "--runs", "alpha", "--runs", "x*") == [
        "No run of this collection has a tag like “x*”."
    ]


def test_a_pool_of_no_depth_is_refused(pooled: CommandLine) -> None:
    [sentence] = pooled.refused("pool", "build", "news", "--depth", "0")
    assert sentence.startswith("The depth of a pool lies between 1 and")


def test_standard_input_can_be_given_once(annotator: CommandLine) -> None:
    result = annotator("runs", "check", "news", "-", "-")
    assert result.exit_code == 2
    assert "can be given once" in result.stderr
