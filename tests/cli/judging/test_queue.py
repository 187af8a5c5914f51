"""The commands of the queue: how the work is shared out, who owns which topic, gold questions."""

import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine
from kept import Kept

from annotator.storage import Database


@pytest.fixture
def judged_by_two(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """The pooled collection with texts and the judges jo and kim."""
    kept.fill(sqlite_database, add_judges)
    sqlite_database.close()
    return pooled


def add_judges(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    texts = "".join(f"{docno}\tTitle of {docno}\tText of {docno}.\n" for docno in "abcdef")
    command_line.done("documents", "import", "news", "-", given=texts)
    for name in ("jo", "kim"):
        command_line.done("users", "add", name, given="correct horse\n")
        command_line.done("members", "add", "news", name, "--role", "judge")


def settings(annotator: CommandLine, slug: str = "news") -> dict[str, str]:
    rows = annotator.done("collections", "show", slug).splitlines()[1:]
    return {name.strip(): value.strip() for name, _, value in (row.partition("  ") for row in rows)}


def test_a_collection_begins_with_the_queue_that_was_asked_for(annotator: CommandLine) -> None:
    options = ["--mode", "owned", "--overlap", "20", "--reshow", "5", "--common", "2"]
    annotator.done("collections", "add", "web", "--title", "Web", "--scale", "0=No,1=Yes", *options)
    shown = settings(annotator, "web")
    assert shown["mode"] == "owned"
    assert shown["overlap percent"] == "20"
    assert shown["re-shown percent"] == "5"
    assert shown["common documents"] == "2"


def test_the_queue_is_changed_by_what_is_given_and_told_in_the_manifest(pooled: CommandLine) -> None:
    pooled.done("collections", "set", "news", "--overlap", "50")
    pooled.done("collections", "set", "news", "--mode", "owned")
    assert (settings(pooled)["mode"], settings(pooled)["overlap percent"]) == ("owned", "50")
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given="1 0 a 1\n")
    pooled.done("qrels", "export", "news", "-o", "news.qrels")
    told = json.loads(Path("news.qrels.manifest.json").read_text())["judging"]
    # 50 % of the four documents of topic 1 and of the two of topic 2.
    assert (told["mode"], told["overlap_share"], told["overlap"], told["test_questions"]) == ("owned", 50, 3, 0)


def test_a_queue_that_cannot_be_is_refused(pooled: CommandLine) -> None:
    assert pooled.refused("collections", "set", "news", "--overlap", "200") == [
        "A share is from 0 to 100 percent, not 200."
    ]
    assert pooled.refused("collections", "set", "news", "--mode", "mine") == [
        "“mine” is not a way of sharing out the work; there are shared, owned."
    ]
    assert settings(pooled)["mode"] == "shared"


def test_topics_are_assigned_by_hand(judged_by_two: CommandLine) -> None:
    talk = judged_by_two.talk("assignments", "set", "news", "--topic", "1", "--topic", "2", "--judge", "jo")
    assert talk == "Topics that changed hands: 2; documents given back: 0.\n"
    assert judged_by_two.table("assignments", "list", "news") == [
        ["1", "4", "0", "4", "jo", "first", "topic"],
        ["2", "2", "0", "2", "jo", "second", "topic"],
    ]
    judged_by_two.done("assignments", "set", "news", "--topic", "2", "--none")
    shown = judged_by_two("assignments", "list", "news")
    assert [line.split() for line in shown.stdout.split("\n\n")[1].splitlines()[1:]] == [
        ["jo", "1", "4"],
        ["kim", "0", "0"],
    ]
    assert "The collection is shared: owners count when it is owned." in shown.stderr


def test_a_balance_is_shown_by_a_dry_run_and_then_stored(judged_by_two: CommandLine) -> None:
    plan = [["1", "4", "-", "jo"], ["2", "2", "-", "kim"]]
    dry = judged_by_two("assignments", "balance", "news", "--dry-run")
    assert "Topics that would change hands: 2. Nothing was stored." in dry.stderr
    assert judged_by_two.table("assignments", "balance", "news", "--dry-run") == plan
    assert judged_by_two.table("assignments", "balance", "news") == plan
    assert judged_by_two.table("assignments", "balance", "news", "--all") == []
    assert judged_by_two.table("assignments", "balance", "news", "--all", "--judge", "kim") == [["1", "4", "jo", "kim"]]


@pytest.mark.parametrize(
    "options",
    [
        ["set", "news", "--topic", "1"],
        ["set", "news", "--judge", "jo"],
        ["set", "news", "--none"],
        ["set", "news", "--topic", "1", "--judge", "jo", "--none"],
        ["set", "news", "--topic", "1", "--judge", "jo", "--all"],
        ["balance", "news", "--none"],
        ["balance", "news", "--topic", "1"],
    ],
)
def test_options_that_do_not_fit_together_are_wrong_usage(judged_by_two: CommandLine, options: list[str]) -> None:
    assert judged_by_two("assignments", *options).exit_code == 2


def test_whoever_does_not_judge_here_gets_no_topic(judged_by_two: CommandLine) -> None:
    assert judged_by_two.refused("assignments", "set", "news", "--topic", "1", "--judge", "ola") == [
        "“ola” is no judge of this collection."
    ]


def test_an_owner_who_judges_no_more_is_told_of(judged_by_two: CommandLine) -> None:
    judged_by_two.done("assignments", "set", "news", "--topic", "1", "--judge", "kim")
    judged_by_two.done("members", "remove", "news", "kim", "--role", "judge")
    assert "kim owns topics and is no judge any more" in judged_by_two("assignments", "list", "news").stderr


def test_gold_questions_are_imported_added_listed_and_removed(judged_by_two: CommandLine) -> None:
    talk = judged_by_two.talk("gold-questions", "import", "news", "-", given="1\ta\t2\n1\tf\t0\n")
    assert talk == "Gold questions: 2 added, 0 changed, 0 known already; documents added to the pool: 1.\n"
    judged_by_two.done("gold-questions", "add", "news", "2", "e", "1")
    judged_by_two.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 2\n2 0 e 0\n")
    assert judged_by_two.table("gold-questions", "list", "news") == [
        ["1", "a", "2", "1", "1", "2:1"],
        ["1", "f", "0", "0", "0", "-"],
        ["2", "e", "1", "1", "0", "0:1"],
    ]
    listed = judged_by_two.done("gold-questions", "list", "news").split("\n\n")[1]
    assert [line.split() for line in listed.splitlines()[1:]] == [["jo", "2", "1", "0.5000", "0"]]
    judged_by_two.done("gold-questions", "remove", "news", "1", "f")
    assert judged_by_two.done("test-questions", "list", "news", "--format", "json") == judged_by_two.done(
        "gold-questions", "list", "news", "--format", "json"
    )  # their earlier name
    assert judged_by_two.refused("gold-questions", "remove", "news", "1", "f") == [
        "Document “f” is no gold question of topic “1”."
    ]


def test_a_file_of_gold_questions_is_refused_with_every_line(judged_by_two: CommandLine) -> None:
    assert judged_by_two.refused("gold-questions", "import", "news", "-", given="9\ta\t1\n1\tb\t8\n") == [
        "-:1: There is no accepted topic “9” in this collection.",
        "-:2: The grade 8 is not in the scale of the collection, which has 0, 1, 2.",
        "Nothing was stored. Problems found: 2.",
    ]


def test_near_duplicates_and_identical_documents_are_shown(judged_by_two: CommandLine) -> None:
    ten = "one two three four five six seven eight nine ten"
    texts = f"a\tA\t{ten}\nb\tA\t{ten} eleven\nc\tSame\tRain.\nd\tSame\tRain.\n"
    judged_by_two.done("documents", "import", "news", "-", given=texts)
    judged_by_two.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 2\n1 0 b 1\n1 0 d 0\n")
    # Of nine shingles of three words, eight are common.
    assert judged_by_two.table("pool", "near-duplicates", "list", "news", "--topic", "1") == [
        ["1", "0.8889", "a", "b", "jo:2", "jo:1", "yes", "A", "A"]
    ]
    assert judged_by_two.table("pool", "near-duplicates", "list", "news", "--at-least", "0.9") == []
    identical = judged_by_two.done("pool", "near-duplicates", "list", "news").split("\n\n")[1]
    assert [line.split() for line in identical.splitlines()[1:]] == [["1", "c", "d", "1"]]
    assert judged_by_two.refused("pool", "near-duplicates", "list", "news", "--at-least", "0.2") == [
        "The similarity is from 0.5 to 1, not 0.2."
    ]
