"""`annotator clicks check`: what a log holds, or everything that is wrong with it; without any database."""

import gzip
import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine
from csv_cells import unquoted

# Two users of A see two results each, one clicks and stays; one of B sees one. The last line says what stands above.
LOG = """time,user,session,query,variant,page,position,docno,event,value
2026-05-01T12:00:00Z,u1,s1,q,A,1,1,d1,impression,
2026-05-01T12:00:00Z,u1,s1,q,A,1,2,d2,impression,
2026-05-01T12:00:05Z,u1,s1,q,A,1,2,d2,click,
2026-05-01T12:00:05Z,u1,s1,q,A,1,2,d2,dwell,31
2026-05-02T12:00:00Z,u2,s1,r,A,1,1,d1,impression,
2026-05-02T12:00:00Z,u2,s1,r,A,1,2,d3,impression,
2026-05-03T12:00:00Z,u3,s9,q,B,1,1,d2,impression,
2026-05-03T12:00:00Z,u3,s9,q,B,1,1,d2,impression,
"""
ONE_CLICK = "item,slot,clicked\n7,1,0\n8,2,1\n7,3,0\n"


@pytest.fixture
def annotator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line where no database can be opened, beside logs."""
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text(LOG)
    return CommandLine("sqlite:////nowhere/to/be/found.sqlite")


def test_a_log_is_shown_by_variant_and_what_does_not_count_is_counted(annotator: CommandLine) -> None:
    table, _, told = annotator.done("clicks", "check", "log.csv").partition("\n\n")
    assert [line.split() for line in table.splitlines()] == [
        ["VARIANT", "USERS", "SESSIONS", "IMPRESSIONS", "CLICKS", "DWELLS", "RATINGS", "CONVERSIONS"],
        ["A", "2", "2", "4", "1", "1", "0", "0"],
        ["B", "1", "1", "1", "0", "0", "0", "0"],
    ]
    assert told == (
        "Lines: 8. Events: 7. Users: 3. Sessions: 3. Queries: 2. Documents: 3.\n"
        "From 2026-05-01T12:00:00Z to 2026-05-03T12:00:00Z.\n"
        "Left out: duplicate 1.\n"
    )


def test_json_has_it_all(annotator: CommandLine) -> None:
    told = json.loads(annotator.done("clicks", "check", "log.csv", "--format", "json"))
    assert told["variants"][1] == {
        "variant": "B",
        "users": 1,
        "sessions": 1,
        "impression": 1,
        "click": 0,
        "dwell": 0,
        "rating": 0,
        "conversion": 0,
    }
    assert (told["lines"], told["events"], told["dropped"]) == (8, 7, {"duplicate": 1})
    assert (told["first"], told["last"]) == ("2026-05-01T12:00:00+00:00", "2026-05-03T12:00:00+00:00")
    assert (told["unsaid"], told["notices"]) == ([], [])


def test_csv_is_a_line_for_each_variant(annotator: CommandLine) -> None:
    assert unquoted(annotator.done("clicks", "check", "log.csv", "--format", "csv")).splitlines() == [
        "variant,users,sessions,impressions,clicks,dwells,ratings,conversions",
        "A,2,2,4,1,1,0,0",
        "B,1,1,1,0,0,0,0",
    ]


def test_files_of_results_with_a_click_are_variants_by_their_names(annotator: CommandLine) -> None:
    Path("new.csv.gz").write_bytes(gzip.compress(ONE_CLICK.encode()))
    Path("old.csv").write_text(ONE_CLICK)
    mapping = (
        "--click-column",
        "clicked",
        "--variant-from-name",
        "--column",
        "docno=item",
        "--column",
        "position=slot",
    )
    rows = annotator.table("clicks", "check", "new.csv.gz", "old.csv", *mapping)
    assert rows == [[name, "0", "0", "3", "1", "0", "0", "0"] for name in ("new", "old")]
    told = annotator.done("clicks", "check", "new.csv.gz", "old.csv", *mapping)
    assert "The log does not say: time, user, session, query, page.\n" in told


def test_a_log_can_come_on_standard_input_with_its_own_words(annotator: CommandLine) -> None:
    given = '{"arm": "A", "event": "view", "doc": 7}\n{"arm": "B", "event": "tap", "doc": 8}\n'
    options = ("--column", "variant=arm", "--column", "docno=doc", "--event", "impression=view", "--event", "click=tap")
    told = annotator.done("clicks", "check", "-", *options, given=given)
    assert "Left out: click without impression 1.\n" in told


@pytest.mark.parametrize(
    ("events", "sentence"),
    [
        ("A,impression B,impression", "The log has no click: no variant can be told to be the better one."),
        (
            "A,click B,click",
            "The log has no impression: what was clicked can be counted, but not how often of what was shown.",
        ),
        ("A,impression A,click", "The log has one variant, A: there is nothing to compare."),
        (",impression ,click", "No line names a variant: there is nothing to compare."),
    ],
    ids=["no click", "no impression", "one variant", "no variant"],
)
def test_what_a_log_cannot_tell_is_said(annotator: CommandLine, events: str, sentence: str) -> None:
    log = "variant,event\n" + events.replace(" ", "\n") + "\n"
    assert sentence in annotator.done("clicks", "check", "-", given=log).splitlines()


def test_lines_without_a_variant_are_shown_beside_the_others(annotator: CommandLine) -> None:
    log = "variant,user,event\nA,u,impression\n,u,impression\n"
    assert unquoted(annotator.done("clicks", "check", "-", "--format", "csv", given=log)).splitlines()[1:] == [
        ",1,0,1,0,0,0,0",
        "A,1,0,1,0,0,0,0",
    ]


def test_every_bad_line_is_told_and_nothing_is_shown(annotator: CommandLine) -> None:
    Path("bad.csv").write_text("variant,position,event\nA,0,impression\nA,1,impression\nA,1,view\n")
    assert annotator.refused("clicks", "check", "bad.csv") == [
        "bad.csv:2: The position is 0; pages and positions count from 1.",
        "bad.csv:4: There is no event “view”; there are impression, click, dwell, rating, conversion.",
        "The log was not read. Problems found: 2. Lines that cannot be read may be left out and counted instead.",
    ]


def test_bad_lines_that_are_dropped_are_told_all_the_same(annotator: CommandLine) -> None:
    Path("bad.csv").write_text("variant,position,event\nA,0,impression\nA,1,impression\n")
    assert "Left out: bad line 1.\n" in annotator.done("clicks", "check", "bad.csv", "--drop-bad-lines")
    assert annotator.talk("clicks", "check", "bad.csv", "--drop-bad-lines") == (
        "bad.csv:2: The position is 0; pages and positions count from 1.\n"
    )


def test_what_contradicts_itself_is_refused_before_anything_is_read(annotator: CommandLine) -> None:
    assert annotator.refused("clicks", "check", "log.csv", "--column", "visitor") == [
        "“visitor” is not of the form NAME=NAME, the format's name first, then the log's."
    ]


def test_standard_input_can_be_given_once(annotator: CommandLine) -> None:
    assert annotator("clicks", "check", "-", "-").exit_code == 2
