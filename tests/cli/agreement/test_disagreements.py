"""`annotator disagreements list` and `annotator judges quality show`."""

import csv
import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine
from kept import Kept

from annotator.storage import Database


@pytest.fixture
def judged(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """Jo and Kim differ on a by two grades and on b by one, and agree on c."""
    kept.fill(sqlite_database, add_grades)
    sqlite_database.close()
    return pooled


def add_grades(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    Path("jo.txt").write_text("1 0 a 0\n1 0 b 1\n1 0 c 1\n2 0 e 0\n")
    Path("kim.txt").write_text("1 0 a 2\n1 0 b 2\n1 0 c 1\n")
    for judge in ("jo", "kim"):
        command_line.done("judgements", "import", "news", f"{judge}.txt", "--judge", judge)


def test_documents_whose_judges_differ_are_listed_worst_first(judged: CommandLine) -> None:
    assert judged.table("disagreements", "list", "news") == [
        ["1", "a", "2", "yes", "no", "jo:", "0,", "kim:", "2"],
        ["1", "b", "1", "no", "no", "jo:", "1,", "kim:", "2"],
    ]
    assert judged.talk("disagreements", "list", "news", "--across") == "Documents: 1.\n"


@pytest.mark.parametrize(
    ("options", "docnos"),
    [
        (["--apart", "2"], ["a"]),
        (["--across"], ["a"]),
        (["--topic", "2"], []),
        (["--topic", "1", "--topic", "2"], ["a", "b"]),
        (["--judge", "jo", "--judge", "kim", "--undecided"], ["a", "b"]),
    ],
)
def test_they_are_narrowed_in_every_format(judged: CommandLine, options: list[str], docnos: list[str]) -> None:
    assert [row[1] for row in judged.table("disagreements", "list", "news", *options)] == docnos
    found = json.loads(judged.done("disagreements", "list", "news", "--format", "json", *options))
    assert [row["docno"] for row in found] == docnos
    lines = csv.DictReader(judged.done("disagreements", "list", "news", "--format", "csv", *options).splitlines())
    assert [line["docno"] for line in lines] == [docno for docno in docnos for _ in range(2)]


def test_a_judge_or_topic_that_is_not_there_is_refused(judged: CommandLine) -> None:
    assert judged.refused("disagreements", "list", "news", "--judge", "gus") == [
        "“gus” has judged nothing in this collection."
    ]
    assert "9" in judged.refused("disagreements", "list", "news", "--topic", "9")[0]
    assert judged.refused("disagreements", "list", "news", "--apart", "0") == [
        "Ask for one judge or for two different ones, and for 1 grade apart or more."
    ]


def test_the_quality_of_judges_is_shown_in_each_format(judged: CommandLine) -> None:
    jo, kim = judged.table("judges", "quality", "show", "news")
    assert jo[:6] == ["jo", "4", "-", "-", "-", "0.5000"]
    assert kim[:6] == ["kim", "3", "-", "-", "-", "1.0000"]
    first, _ = csv.DictReader(judged.done("judges", "quality", "show", "news", "--format", "csv").splitlines())
    assert (first["judge"], first["judged"], first["relevant"], first["documents_shared"]) == ("jo", "4", "0.5", "3")
    report = json.loads(judged.done("judges", "quality", "show", "news", "--format", "json", "--streak", "5"))
    assert (report["streak"], report["percent"]) == (5, 25)
    assert [judge["judge"] for judge in report["judges"]] == ["jo", "kim"]
    # Grades of files have no order in time.
    assert [judge["stretches"] for judge in report["judges"]] == [[], []]
    assert report["judges"][0]["streaks"] == []


def test_before_the_first_judgement_there_is_nothing_to_show(pooled: CommandLine) -> None:
    assert pooled.table("disagreements", "list", "news") == []
    assert pooled.table("judges", "quality", "show", "news") == []


def test_a_streak_of_one_is_refused(judged: CommandLine) -> None:
    [refusal] = judged.refused("judges", "quality", "show", "news", "--streak", "1")
    assert "very fast streak" in refusal


def test_an_adjudicator_decides_a_disagreement_and_a_stranger_does_not(judged: CommandLine) -> None:
    decide = ("disagreements", "decide", "news", "1", "a", "2", "--adjudicator")
    judged.done("users", "add", "eve", given="correct horse\n")
    assert judged.refused(*decide, "eve") == ["“eve” is no adjudicator or organiser of this collection."]
    judged.done("members", "add", "news", "eve", "--role", "adjudicator")
    assert judged.talk(*decide, "eve", "--note", "It answers.") == "Decided by eve: document a of topic 1 is 2.\n"
    assert [row[1] for row in judged.table("disagreements", "list", "news", "--undecided")] == ["b"]
    assert judged.table("adjudication", "show", "news") == [["1", "1", "0", "1"]]
