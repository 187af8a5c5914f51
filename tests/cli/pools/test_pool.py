"""`annotator pool`."""

import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine, write_run


def exported(annotator: CommandLine, *words: str) -> list[str]:
    return annotator.done("pool", "export", "news", *words).splitlines()


def test_a_pool_grows_by_what_is_new(pooled: CommandLine) -> None:
    write_run("gamma", ["1 a", "1 f", "2 e"])
    pooled.done("runs", "import", "news", "gamma.run")
    assert pooled.table("pool", "build", "news", "--depth", "10") == [["1", "1", "4"], ["2", "0", "2"]]
    versions, progress, _runs = pooled.done("pool", "show", "news").split("\n\n")
    assert [line.split()[:5] for line in versions.splitlines()[1:]] == [
        ["1", "depth", "random", "1", "6"],
        ["2", "depth", "random", "1", "1"],
    ]
    assert [line.split()[:4] for line in progress.splitlines()[1:]] == [["1", "5", "0", "0"], ["2", "2", "0", "0"]]


@pytest.mark.parametrize("words", [("pool", "build"), ("pool", "holes", "show", "--add-to-pool")])
def test_a_person_at_a_terminal_confirms_what_a_pool_costs(
    pooled: CommandLine, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    write_run("gamma", ["1 a", "1 f", "2 e", "2 g"])
    pooled.done("runs", "import", "news", "gamma.run")
    for module in ("site.options", "pools.pool_plan"):
        monkeypatch.setattr(f"annotator.cli.{module}.at_terminal", lambda: True)
    before = exported(pooled)
    answer = pooled(*words, "news", "--depth", "10", given="n\n")
    assert answer.exit_code == 1
    assert (
        "Documents that join the pool: 2, in 2 topics. Judgements wanted: 2, about 0.02 hours at 30.0 seconds each "
        "(assumed, for too few were measured).\nGo on? [y/N]: n\nAborted!"
    ) in answer.output
    assert exported(pooled) == before
    assert pooled(*words, "news", "--depth", "10", given="y\n").exit_code == 0
    assert len(exported(pooled)) == len(before) + 2
    # What adds no document asks nothing, and neither does --yes.
    pooled.done(*words, "news", "--depth", "10")
    write_run("delta", ["1 h"])
    pooled.done("runs", "import", "news", "delta.run")
    assert "Go on?" not in pooled.talk(*words, "news", "--depth", "10", "--yes")
    assert len(exported(pooled)) == len(before) + 3


def test_a_pool_is_built_of_the_runs_that_fit_a_pattern(news: CommandLine) -> None:
    for tag in ("bm25", "bm25-stemmed", "dense", "odd[tag]"):
        write_run(tag, [f"1 only-{tag}"])
        news.done("runs", "import", "news", f"{tag}.run")
    news.done("pool", "build", "news", "--depth", "1", "--runs", "bm25*", "--runs", "odd[tag]")
    assert exported(news) == ["1 only-bm25", "1 only-bm25-stemmed", "1 only-odd[tag]"]


def test_a_pattern_that_fits_no_run_is_refused(pooled: CommandLine) -> None:
    assert pooled.refused("pool", "build", "news", "--depth", "1", "--runs", "alpha", "--runs", "x*") == [
        "No run of this collection has a tag like “x*”."
    ]


def test_a_pool_of_no_depth_is_refused(pooled: CommandLine) -> None:
    [sentence] = pooled.refused("pool", "build", "news", "--depth", "0")
    assert sentence.startswith("The depth must be a whole number from 1")
    assert pooled.refused("pool", "build", "news", "--strategy", "depth") == ["The strategy depth needs a depth."]


def test_strategies_are_listed_with_what_they_take(annotator: CommandLine) -> None:
    lines = annotator.done("pool", "strategies", "list").splitlines()[1:]
    assert [line.split()[0] for line in lines][:3] == ["depth", "rrf", "borda"]
    assert "--start-depth" in next(line for line in lines if line.startswith("mtf"))


def test_a_pool_is_built_by_a_strategy_with_what_it_takes(pooled: CommandLine) -> None:
    talk = pooled.talk("pool", "build", "news", "--strategy", "mtf", "--per-topic", "3", "--start-depth", "1")
    assert talk == "Version 2 of the pool: 0 added, 4 already pooled.\n"
    assert "start_depth=1" in pooled.done("pool", "show", "news")
    assert "mtf: 0 of 6 choices made." in pooled.talk("pool", "show", "news")
    assert pooled.refused("pool", "build", "news", "--strategy", "mtf", "--budget", "3", "--strata", "1:1") == [
        "The strategy mtf takes no strata; it takes budget, per_topic, depth, ties, start_depth."
    ]
    assert "nearest names are: borda" in pooled.refused("pool", "build", "news", "--strategy", "bord")[0]


def test_a_seed_alone_changes_nothing_and_the_command_says_so(pooled: CommandLine) -> None:
    assert pooled.talk("pool", "build", "news", "--depth", "10", "--seed", "5") == (
        "Nothing is new: version 1 of the pool stays in force, with its seed and its order. Already pooled: 6.\n"
    )


def test_who_shows_documents_as_they_were_chosen_is_warned(news: CommandLine) -> None:
    write_run("alpha", ["1 b", "1 a"])
    news.done("runs", "import", "news", "alpha.run")
    talk = news.talk("pool", "build", "news", "--depth", "2", "--showing", "selection")
    assert "tells them something of the runs" in talk
    assert '"showing": "selection"' in news.talk("qrels", "export", "news", "--manifest", "-")


def test_runs_may_have_depths_of_their_own(news: CommandLine) -> None:
    write_run("a=b", ["1 a", "1 b", "1 c"])
    write_run("beta", ["1 d", "1 e"])
    news.done("runs", "import", "news", "a=b.run", "beta.run")
    news.done("pool", "build", "news", "--depth", "1", "--depth-of", "a=b=2")
    assert exported(news) == ["1 a", "1 b", "1 d"]
    assert news("pool", "build", "news", "--depth", "1", "--depth-of", "beta").exit_code == 2
    assert news("pool", "build", "news", "--depth", "1", "--depth-of", "beta=two").exit_code == 2


def test_a_pool_is_exported_as_it_was(pooled: CommandLine) -> None:
    write_run("gamma", ["1 f"])
    pooled.done("runs", "import", "news", "gamma.run")
    pooled.done("pool", "build", "news", "--depth", "10")
    assert exported(pooled, "--version", "1") == ["1 a", "1 b", "1 c", "1 d", "2 a", "2 e"]
    assert exported(pooled) == ["1 a", "1 b", "1 c", "1 d", "1 f", "2 a", "2 e"]
    assert pooled.refused("pool", "export", "news", "--version", "9") == ["There is no version 9 of the pool."]
    pooled.done("pool", "export", "news", "-o", "pool.txt")
    assert Path("pool.txt").read_text().count("\n") == 7


def test_withdrawn_runs_are_marked_and_pooled_no_more(pooled: CommandLine) -> None:
    pooled.done("runs", "withdraw", "news", "beta")
    assert pooled.refused("pool", "build", "news", "--depth", "1", "--runs", "beta") == [
        "No run of this collection has a tag like “beta”."
    ]
    runs = pooled.done("pool", "show", "news").split("\n\n")[2].splitlines()[1:]
    assert [line.split() for line in runs] == [
        ["alpha", "-", "in", "force", "4", "2"],
        ["beta", "-", "withdrawn", "4", "2"],
    ]


def test_a_plan_shows_the_curve_the_topics_the_runs_and_the_teams(pooled: CommandLine) -> None:
    curve, topics, runs = pooled.done("pool", "plan", "news", "--depth", "2", "--hours", "0.04").split("\n\n")
    assert [line.split() for line in curve.splitlines()] == [
        # Six documents are pooled, which a lesser depth does not take away.
        ["DEPTH", "DOCUMENTS", "ADDED", "HOURS"],
        ["1", "6", "0", "0.1"],
        ["2", "6", "0", "0.1"],
        ["3", "6", "0", "0.1"],
    ]
    assert [line.split() for line in topics.splitlines()[1:]] == [["1", "4", "0", "0"], ["2", "2", "0", "0"]]
    assert [line.split()[0] for line in runs.splitlines()[1:]] == ["alpha", "beta"]
    talk = pooled.talk("pool", "plan", "news", "--depth", "2", "--hours", "0.04")
    assert "30 seconds a judgement (nothing is measured yet), 1 a document." in talk
    assert "Hours for judging: 0.04. That is enough for none of these pools." in talk
    talk = pooled.talk("pool", "plan", "news", "--depth", "2", "--hours", "1")
    assert "Hours for judging: 1. That is enough up to depth 3." in talk
    assert pooled.done("pool", "show", "news").split("\n\n")[0].count("\n") == 1
    planned = json.loads(
        pooled.done("pool", "plan", "news", "--strategy", "hedge", "--budget", "2", "--format", "json")
    )
    assert (planned["grows"], planned["adaptive"]) == ("budget", True)
    assert "of its beginning" in pooled.talk("pool", "plan", "news", "--strategy", "hedge", "--budget", "2")


def test_what_belongs_to_no_named_strategy_is_wrong_usage(pooled: CommandLine) -> None:
    assert pooled("pool", "plan", "news", "--budget", "3").exit_code == 2
    assert pooled("pool", "build", "news").exit_code == 2


def test_a_plan_has_usual_values_where_nothing_is_said(pooled: CommandLine) -> None:
    assert pooled.done("pool", "plan", "news").splitlines()[0].split()[0] == "DEPTH"
    planned = json.loads(pooled.done("pool", "plan", "news", "--strategy", "hedge", "--format", "json"))
    assert (planned["grows"], planned["amounts"][planned["asked"]]) == ("per_topic", 100)


def test_who_exports_a_version_that_still_chooses_is_told(pooled: CommandLine) -> None:
    pooled.done("pool", "build", "news", "--strategy", "mtf", "--per-topic", "3", "--start-depth", "1")
    grows = "may still grow: an adaptive strategy goes on choosing documents.\n"
    assert pooled.talk("pool", "export", "news", "--version", "2") == f"Version 2 {grows}"
    assert pooled.talk("pool", "export", "news", "--version", "1") == ""
    pooled.done("collections", "close", "news")
    assert pooled.talk("pool", "export", "news", "--version", "2") == ""


def test_runs_are_compared_by_the_documents_they_have_in_common(pooled: CommandLine) -> None:
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given="1 0 a 1\n1 0 d 1\n2 0 e 1\n")
    # Of topic 1 alpha has a b c and beta d b a, two of three in common; of topic 2 a and e, none of one.
    assert pooled.table("pool", "overlap", "show", "news") == [["alpha", "beta", "0.3333"]]
    teams = json.loads(pooled.done("pool", "overlap", "show", "news", "--by", "teams", "--format", "json"))
    assert {one["team"]: (one["relevant_found"], one["found_alone"]) for one in teams} == {
        "alpha": (1, 0),
        "beta": (3, 2),
    }
    assert pooled.talk("pool", "overlap", "show", "news") == "Runs: 2, to rank 10. Relevant documents: 3.\n"
    assert "A depth is from 1 to 1000" in pooled.refused("pool", "overlap", "show", "news", "--depth", "0")[0]
