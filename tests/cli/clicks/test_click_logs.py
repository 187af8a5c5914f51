"""`annotator clicks add`, `list`, `link`, `remove`, `together`: from a file to the pool."""

import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine
from clicking import interleaving_text, log_text
from csv_cells import unquoted
from kept import Kept

from annotator.storage import Database


@pytest.fixture
def studied(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """The pooled collection with a judged topic, and a log of alpha and beta."""
    Path("qrels.txt").write_text("1 0 a 0\n1 0 d 2\n2 0 a 1\n2 0 e 1\n")
    Path("log.csv").write_text(log_text())
    kept.fill(sqlite_database, add_log)
    sqlite_database.close()
    return pooled


def add_log(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done("judgements", "import", "news", "--judge", "nist", "qrels.txt")
    command_line.done("clicks", "add", "news", "log.csv", "--name", "March")


def test_a_log_is_added_listed_linked_and_removed(studied: CommandLine) -> None:
    assert [row[:6] for row in studied.table("clicks", "list", "news")] == [
        ["March", "comparison", "alpha", "alpha", "320", "0"],
        ["March", "comparison", "beta", "beta", "320", "0"],
    ]
    studied.done("clicks", "link", "news", "March", "alpha=", "beta=alpha")
    listed = json.loads(studied.done("clicks", "list", "news", "--format", "json"))
    assert {row["variant"]: row["run"] for row in listed} == {"alpha": None, "beta": "alpha"}
    studied.done("clicks", "remove", "news", "March")
    assert studied.table("clicks", "list", "news") == []
    deeds = unquoted(studied.done("audit", "list", "news", "--action", "clicks", "--format", "csv"))
    assert [line.split(",")[5:7] for line in deeds.splitlines()[1:]] == [
        [f"clicks.{deed}", "March"] for deed in ("remove", "link", "add")
    ]


def test_what_is_added_says_which_runs_its_variants_stand_for(pooled: CommandLine) -> None:
    Path("log.csv").write_text(log_text(variants={"beta": "new"}))
    said = pooled.talk("clicks", "add", "news", "log.csv", "--name", "March", "--variants", "alpha", "new")
    assert said.splitlines() == [
        "Added the click log March: 320 lines, 0 left out.",
        "alpha stands for the run alpha.",
        "new stands for no run.",
    ]
    assert pooled.refused("clicks", "add", "news", "log.csv", "--name", "March") == [
        "There is a click log “March” already."
    ]
    assert pooled("clicks", "link", "news", "March", "alpha").exit_code == 2


def test_clicks_stand_beside_judgements(studied: CommandLine) -> None:
    Path("lists.csv").write_text(interleaving_text())
    studied.done("clicks", "add", "news", "lists.csv", "--name", "Lists", "--interleaving")
    found = json.loads(studied.done("clicks", "together", "show", "news", "-m", "P@1", "--format", "json"))
    # P@1: alpha 0 and 1, beta 1 and 1. Of 44 lists alpha won 30 and tied 4: 32 / 44 - 1 / 2.
    assert [(one["log"], one["run"], one["judged"], one["ctr_at_1"]) for one in found["variants"]] == [
        ("Lists", "alpha", 0.5, None),
        ("Lists", "beta", 1.0, None),
        ("March", "alpha", 0.5, 0.5),
        ("March", "beta", 1.0, 0.25),
    ]
    assert found["variants"][0]["delta"] == pytest.approx(32 / 44 - 0.5)
    assert [(one["what"], one["second_minus_first"]) for one in found["pairs"]] == [
        ("judged", 0.5),
        ("Δ", pytest.approx(0.5 - 32 / 44)),
        ("CTR@1", -0.25),
    ]
    # Users won 32 to 12 of 44 lists: 20 / 44 against beta, judges 1 for it.
    [query] = found["queries"]
    assert (query["topic"], query["what"], query["apart"]) == ("1", "Δ", pytest.approx(20 / 44 + 1))
    [row] = studied.table("clicks", "together", "show", "news", "-m", "P@1", "--log", "March", "--by", "queries")
    assert row[:2] + row[-1:] == ["1", "first", "1.2500"]


def test_the_documents_of_the_queries_go_into_the_pool(studied: CommandLine) -> None:
    Path("x.run").write_text("1 Q0 x 1 9 gamma\n")
    studied.done("runs", "import", "news", "x.run")
    said = studied.talk("clicks", "together", "show", "news", "--add-to-pool")
    assert said.splitlines() == [
        "Documents of these queries that are not in the pool: 1.",
        "Version 2 of the pool: 1 added.",
    ]
    assert studied.talk("clicks", "together", "show", "news", "--add-to-pool").splitlines() == [
        "Documents of these queries that are not in the pool: 0.",
        "There is no document to add.",
    ]
    assert "x" in studied.done("pool", "export", "news")


def test_a_table_together_is_a_file_that_names_its_qrels(studied: CommandLine) -> None:
    lines = unquoted(
        studied.done("clicks", "together", "show", "news", "--format", "csv", "--by", "documents")
    ).splitlines()
    assert lines[0].startswith("topic,docno,clicks,rank_first,rank_second,standing,grade,measure,qrels,policy")
    # Of 40 users of alpha 20 click a and 20 x, of 40 of beta 10 d and 30 a.
    assert lines[1].startswith("1,a,50,1,3,judged,0,nDCG@10,live,")
    assert lines[2].startswith("1,x,20,,,unknown,,nDCG@10,live,")


def test_a_sampled_pool_is_named_beside_clicks(studied: CommandLine) -> None:
    words = ("clicks", "together", "show", "news", "-m", "AP")
    assert "The pool is a sample" not in studied.talk(*words)
    studied.done("pool", "build", "news", "--strategy", "stratified", "--strata", "1-2:0.5")
    assert studied.talk(*words).splitlines()[0].startswith("The pool is a sample: version 2 drew")
    [notice] = json.loads(studied.done(*words, "--format", "json"))["notices"]
    assert notice.startswith("The pool is a sample")
    assert "The pool is a sample" not in studied.talk("clicks", "together", "show", "news", "-m", "infAP")
