"""`annotator collections quality show`, `pool holes show` and `pool leave-out show`."""

import csv
import json

import pytest
from cli.command_line import CommandLine
from csv_cells import unquoted

QUALITY = ("collections", "quality", "show", "news", "-m", "P@1")
LEAVE_OUT = ("pool", "leave-out", "show", "news", "-m", "P@1")


@pytest.fixture
def judged(pooled: CommandLine) -> CommandLine:
    """Topic 1 is judged, but for c; alpha begins with a and b, beta with d and b."""
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given="1 0 a 1\n1 0 b 0\n1 0 d 1\n")
    return pooled


def test_the_topics_are_shown_and_what_that_means(judged: CommandLine) -> None:
    assert judged.table(*QUALITY) == [
        ["1", "4", "3", "1", "2", "0.6667", "no", "no"],
        ["2", "2", "0", "2", "0", "-", "no", "no"],
    ]
    talk = judged.talk(*QUALITY)
    assert "Relevant, of the 3 judged documents: 66.7%." in talk
    assert "less than three documents deep" in talk


def test_every_part_can_be_had_by_itself(judged: CommandLine) -> None:
    rows = list(csv.DictReader(judged.done(*QUALITY, "--by", "fewer", "--format", "csv").splitlines()))
    assert (rows[0]["share"], rows[0]["judgements"]) == ("0.9", "3")
    found = json.loads(judged.done(*QUALITY, "--format", "json"))
    assert found.keys() == {"measure", "qrels", "notices", "topics", "depths", "deeper", "fewer"}
    assert unquoted(judged.done(*QUALITY, "--format", "csv")).splitlines()[1] == (
        "1,4,3,1,2,0.6666666666666666,False,False,live,adjudicated-else-majority-first,3,1"
    )


def test_holes_are_shown_and_made_the_next_version(annotator: CommandLine, news: CommandLine) -> None:
    assert annotator is news
    news.done("runs", "import", "news", "-", given="1 Q0 a 1 9 alpha\n1 Q0 b 2 8 alpha\n1 Q0 c 3 7 alpha\n")
    news.done("pool", "build", "news", "--depth", "1")
    news.done("judgements", "import", "news", "-", "--judge", "nist", given="1 0 a 1\n")
    assert news.table("pool", "holes", "show", "news", "--depth", "2") == [["alpha", "2", "2", "1", "0.5000", "1"]]
    assert news.talk("pool", "holes", "show", "news", "--depth", "2", "--add-to-pool").splitlines() == [
        (
            "To fill the holes of all runs down to 2: 1 documents of 1 topics, of which 0 are in the pool already and "
            "1 are not."
        ),
        "Version 2 of the pool: 1 added.",
    ]
    again = news.talk("pool", "holes", "show", "news", "--depth", "2", "--add-to-pool").splitlines()
    assert again[-1] == "All of them are in the pool already: version 2 stays in force."
    assert json.loads(news.done("pool", "holes", "show", "news", "--format", "json"))[0]["unjudged"] == 2
    assert unquoted(news.done("pool", "holes", "show", "news", "--format", "csv")).splitlines()[1] == (
        "alpha,10,3,2,0.6666666666666666,1,live,adjudicated-else-majority-first,1,1"
    )


def test_holes_are_added_down_to_one_depth(judged: CommandLine) -> None:
    assert judged("pool", "holes", "show", "news", "--add-to-pool").exit_code == 2
    assert judged("pool", "holes", "show", "news", "--add-to-pool", "--depth", "5", "--depth", "6").exit_code == 2
    assert judged.refused("pool", "holes", "show", "news", "--depth", "0") == [
        "The depth of a pool must be 1 or more, not 0."
    ]


def test_each_run_is_left_out_in_turn(judged: CommandLine) -> None:
    runs = list(csv.DictReader(judged.done(*LEAVE_OUT, "--whom", "run", "--format", "csv").splitlines()))
    # Both have a; d is beta's alone, and without it beta has nothing right at first.
    assert [(row["run"], row["score"], row["score_without"], row["places_lost"]) for row in runs] == [
        ("alpha", "1.0", "1.0", "0"),
        ("beta", "1.0", "0.0", "1"),
    ]
    assert judged.table(*LEAVE_OUT, "--by", "sources") == [
        ["alpha", "yes", "2", "1", "0", "0", "0.0000"],
        ["beta", "yes", "3", "2", "1", "1", "0.5000"],
    ]
    assert (
        "P@1: scores change by 50.0% in the mean, by 100.0% at most (beta); runs that contributed to the pool: 2 of 2."
        in judged.talk(*LEAVE_OUT)
    )
    found = json.loads(judged.done(*LEAVE_OUT, "--format", "json"))
    assert found.keys() == {"qrels", "notices", "runs", "sources", "without"}
