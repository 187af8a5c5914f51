"""`annotator qrels`: which grades go out, the versions that are kept, and two of them compared."""

import hashlib
import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine
from csv_cells import unquoted
from kept import Kept

from annotator.storage import Database


@pytest.fixture
def judged(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """Topic 1: jo and kim agree on a (2) and differ on b (0, 1); of topic 2 nothing is judged."""
    kept.fill(sqlite_database, add_grades)
    sqlite_database.close()
    return pooled


def add_grades(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 2\n1 0 b 0\n")
    command_line.done("judgements", "import", "news", "-", "--judge", "kim", given="1 0 a 2\n1 0 b 1\n")


def test_an_export_says_what_is_unjudged_and_how_it_was_at_a_moment(judged: CommandLine) -> None:
    lines = judged.done("qrels", "export", "news", "--unjudged", "-1").splitlines()
    assert lines == ["1 0 a 2", "1 0 b 0", "1 0 c -1", "1 0 d -1", "2 0 a -1", "2 0 e -1"]
    assert judged.done("qrels", "export", "news", "--unjudged", "omit") == "1 0 a 2\n1 0 b 0\n"
    assert judged.done("qrels", "export", "news", "--at", "2020-01-01 00:00", "--unjudged", "-1") == ""
    assert judged.done("qrels", "export", "news", "--policy", "any-relevant") == "1 0 a 2\n1 0 b 1\n"
    assert "Documents judged only by judges whom the policy does not count: 2" in judged.talk(
        "qrels", "export", "news", "--policy", "owner"
    )
    wrong = judged("qrels", "export", "news", "--at", "noon")
    assert (wrong.exit_code, "“noon” is not a moment" in wrong.stderr) == (2, True)
    assert judged.refused("qrels", "export", "news", "--policy", "")[0].startswith("There is no consensus policy “”")


def test_qrels_identical_to_the_last_version_are_refused_by_its_number(judged: CommandLine) -> None:
    judged.done("qrels", "keep", "news")
    identical = "These qrels are identical to version %d, which is kept already. Nothing was stored."
    assert judged.refused("qrels", "keep", "news") == [identical % 1]
    # The same grades by another policy are other qrels, and so are those of the first after them.
    assert judged.done("qrels", "export", "news") == judged.done("qrels", "export", "news", "--policy", "lowest")
    judged.done("qrels", "keep", "news", "--policy", "lowest")
    assert judged.refused("qrels", "keep", "news", "--policy", "lowest") == [identical % 2]
    judged.done("qrels", "keep", "news")
    judged.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 0\n")
    judged.done("judgements", "import", "news", "-", "--judge", "kim", given="1 0 a 0\n")
    judged.done("qrels", "keep", "news")
    assert [number for number, *_ in judged.table("qrels", "list", "news")] == ["4", "3", "2", "1"]


def test_a_round_is_closed_with_the_last_version_when_nothing_was_judged_since(judged: CommandLine) -> None:
    judged.done("qrels", "keep", "news")
    assert "kept as version 1 of the qrels" in judged.talk("rounds", "close", "news")
    judged.done("rounds", "open", "news")
    assert "kept as version 1 of the qrels" in judged.talk("rounds", "close", "news")
    judged.done("rounds", "open", "news")
    assert [number for number, *_ in judged.table("qrels", "list", "news")] == ["1"]


def test_versions_are_kept_listed_given_again_and_compared(judged: CommandLine) -> None:
    assert judged.talk("qrels", "keep", "news") == "Kept as version 1 of the qrels of news.\n"
    judged.done("qrels", "keep", "news", "--policy", "highest", "--unjudged", "-1")
    listed = judged.table("qrels", "list", "news")
    assert [(line[0], line[3], line[4]) for line in listed] == [
        ("2", "highest", "6"),
        ("1", "adjudicated-else-majority-first", "2"),
    ]
    judged.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 0\n1 0 b 1\n")
    assert judged.done("qrels", "export", "news", "--version", "1") == "1 0 a 2\n1 0 b 0\n"
    judged.done("qrels", "export", "news", "--version", "2", "-o", "two.qrels")
    assert json.loads(Path("two.qrels.manifest.json").read_text())["version"] == 2
    assert judged.table("qrels", "compare", "news", "1", "2") == [["1", "1", "1", "0", "0"]]
    shown = judged.done("qrels", "compare", "news", "1", "live", "-m", "P@1").split("\n\n")[1]
    assert [line.split() for line in shown.splitlines()[1:]] == [
        ["alpha", "0.0000", "1.0000", "1", "1"],
        ["beta", "0.0000", "0.0000", "1", "2"],
    ]
    changes = unquoted(judged.done("qrels", "compare", "news", "1", "live", "--format", "csv"))
    assert changes.splitlines() == ["topic,docno,change,before,after", "1,a,changed,2,0", "1,b,changed,0,1"]
    found = json.loads(judged.done("qrels", "compare", "news", "1", "live", "-m", "AP", "--format", "json"))
    assert (found["measure"], found["changes"][0]["change"], found["before"]["grades"]) == ("AP", "changed", 2)
    assert judged.refused("qrels", "compare", "news", "1", "3") == ["There is no version 3 of these qrels."]
    huge = str(10**20)
    no_version = [f"There is no version {huge} of these qrels."]
    assert judged.refused("qrels", "export", "news", "--version", huge) == no_version
    assert judged.refused("qrels", "compare", "news", "1", huge) == no_version
    assert judged.refused("qrels", "export", "news", "--format", "prels", "--version", huge)[0].startswith(
        "There is no such sample"
    )


def test_a_kept_version_is_exported_as_it_is_and_a_sample_as_of_now(judged: CommandLine) -> None:
    judged.done("qrels", "keep", "news")
    assert judged("qrels", "export", "news", "--version", "1", "--policy", "median").exit_code == 2
    assert judged("qrels", "export", "news", "--format", "prels", "--at", "2026-01-01 00:00").exit_code == 2
    assert judged("qrels", "export", "news", "--judge", "jo", "--policy", "median").exit_code == 2
    assert judged("qrels", "export", "news", "--at", "none").exit_code == 2


def test_grades_are_written_for_other_tools_and_their_manifest_describes_that_file(judged: CommandLine) -> None:
    judged.done("qrels", "export", "news", "--format", "quepid", "-o", "ratings.csv")
    content = Path("ratings.csv").read_bytes()
    assert content == b'"query","docid","rating"\n"first topic","a","2"\n"first topic","b","0"\n'
    manifest = json.loads(Path("ratings.csv.manifest.json").read_text())
    assert (manifest["format"], manifest["sha256"]) == ("quepid", hashlib.sha256(content).hexdigest())
    judged.done("qrels", "keep", "news", "--unjudged", "-1")
    kept = judged.done("qrels", "export", "news", "--version", "1", "--format", "beir")
    assert kept.splitlines()[3:5] == ["1\tc\t-1", "1\td\t-1"]
    assert json.loads(judged.done("qrels", "export", "news", "--judge", "kim", "--format", "json")) == {
        "1": {"a": 2, "b": 1}
    }
    assert judged("qrels", "export", "news", "--format", "quepid", "--version", "1", "--judge", "jo").exit_code == 2


def test_a_collection_says_how_its_grades_are_settled(judged: CommandLine) -> None:
    judged.done(
        *("collections", "set", "news", "--consensus", "adjudicated-else-highest", "--leave-out-disputed"),
        *("--count-machines", "--show-grades"),
    )
    shown = [line.split("  ")[0] + ": " + line.split("  ")[-1].strip() for line in _settings(judged)]
    assert {"consensus: adjudicated-else-highest", "in dispute: left out", "machines count: yes"} <= set(shown)
    assert "shown to adjudicators: the grades" in shown
    assert judged.done("qrels", "export", "news") == "1 0 a 2\n"
    judged.done("collections", "set", "news", "--settle-disputed", "--leave-out-machines", "--hide-grades")
    assert judged.done("qrels", "export", "news") == "1 0 a 2\n1 0 b 1\n"
    [refusal] = judged.refused("collections", "set", "news", "--consensus", "vote")
    assert refusal.startswith("There is no consensus policy “vote”; the policies are: owner, owner-else-majority,")


def _settings(judged: CommandLine) -> list[str]:
    return judged.done("collections", "show", "news").splitlines()[1:]
