"""`annotator collections export`, `import` and `copy`, `users remove`, `judges hours show`."""

import csv
import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from cli.command_line import CommandLine
from kept import Kept

from annotator.storage import Database


@pytest.fixture
def judged(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """Jo and Kim judged the same document of topic 1."""
    kept.fill(sqlite_database, add_grades)
    sqlite_database.close()
    return pooled


def add_grades(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 2\n1 0 b 0\n")
    command_line.done("judgements", "import", "news", "-", "--judge", "kim", given="1 0 a 1\n")


def test_a_collection_goes_into_an_archive_and_comes_out_of_it(judged: CommandLine) -> None:
    talk = judged.talk("collections", "export", "news", "-o", "news.zip")
    assert talk == "news.zip has 2 topics, 5 documents, 2 runs and 3 judgements.\n"
    talk = judged.talk("collections", "import", "news.zip", "--slug", "again")
    assert talk.splitlines() == [
        "Stored the collection again: 2 topics, 2 runs, 3 judgements.",
        "Accounts that were here: jo, kim.",
        "Accounts made, without a password: none.",
    ]
    for words in (["qrels", "export"], ["agreement", "show"]):
        assert judged.done(*words, "again") == judged.done(*words, "news")
    boards = [
        json.loads(judged.done("leaderboard", "show", slug, "--format", "json"))["rows"] for slug in ("news", "again")
    ]
    assert boards[0] == boards[1]


def test_an_archive_goes_through_a_pipe(judged: CommandLine) -> None:
    there = Path().absolute()
    before = set(there.iterdir())
    sent = judged("collections", "export", "news", "-o", "-")
    assert (sent.exit_code, set(there.iterdir())) == (0, before)
    judged.done("collections", "import", "-", "--slug", "again", given=sent.stdout_bytes)
    assert judged.done("qrels", "export", "again") == judged.done("qrels", "export", "news")
    # What is sent away is whole or nothing.
    assert judged("collections", "export", "nothing", "-o", "-").stdout_bytes == b""
    problem, _ = judged.refused("collections", "import", "-", "--slug", "other", given=sent.stdout_bytes[:-9])
    assert problem.startswith("-: ")


@pytest.mark.process
def test_a_pipe_between_two_processes_carries_an_archive(judged: CommandLine) -> None:
    program = [sys.executable, "-m", "annotator", "--database", judged.url, "collections"]
    with subprocess.Popen([*program, "export", "news", "-o", "-"], stdout=subprocess.PIPE) as sender:  # noqa: S603 - our own command
        subprocess.run([*program, "import", "-", "--slug", "again"], stdin=sender.stdout, check=True)  # noqa: S603 - likewise
    assert sender.returncode == 0
    assert judged.done("qrels", "export", "again") == judged.done("qrels", "export", "news")


def test_an_archive_whose_grades_come_out_otherwise_is_not_stored(judged: CommandLine) -> None:
    judged.done("collections", "export", "news", "-o", "news.zip")
    with ZipFile("news.zip") as old, ZipFile("other.zip", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "manifest.json":
                manifest = json.loads(content)
                content = json.dumps({**manifest, "qrels_sha256": "0" * 64}).encode()
            new.writestr(name, content)
    (refusal,) = judged.refused("collections", "import", "other.zip", "--slug", "other")
    assert "do not come out as they did" in refusal
    assert judged.refused("collections", "show", "other") == ["There is no collection “other”."]


def test_what_cannot_be_written_or_read_is_said_so_and_leaves_nothing(judged: CommandLine) -> None:
    assert judged.refused("collections", "export", "nothing", "-o", "a.zip") == ["There is no collection “nothing”."]
    (refusal,) = judged.refused("collections", "export", "news", "-o", "folder/a.zip")
    assert "cannot be written" in refusal
    Path("text.zip").write_text("no zip")
    problem, _ = judged.refused("collections", "import", "text.zip", "--slug", "other")
    assert problem.startswith("text.zip: This is no archive of a collection")
    (refusal,) = judged.refused("collections", "import", "missing.zip")
    assert "cannot be read" in refusal
    judged.done("collections", "export", "news", "-o", "news.zip")
    (refusal,) = judged.refused("collections", "import", "news.zip", "--slug", "Bad Name")
    assert "is not a short name" in refusal
    assert not [path.name for path in Path().iterdir() if path.name.startswith(".news.zip")]


def test_judges_have_other_names_on_request(judged: CommandLine) -> None:
    judged.done("collections", "export", "news", "-o", "news.zip", "--pseudonyms")
    with ZipFile("news.zip") as bundle:
        people = [json.loads(line)["name"] for line in bundle.read("people.jsonl").splitlines()]
    assert all(name.startswith("person-") for name in people)
    assert len(people) == 2


def test_next_years_collection_is_begun(judged: CommandLine) -> None:
    judged.done("users", "add", "ola", given="correct horse staple\n")
    talk = judged.talk("collections", "copy", "news", "news-2027", "--title", "News 2027", "--organiser", "ola")
    assert talk == "Began the collection news-2027 as news is set up; documents copied: 0.\n"
    assert judged.table("members", "list", "news-2027")[0][:2] == ["ola", "organiser"]


def test_a_person_is_forgotten_after_a_question(judged: CommandLine) -> None:
    grades = judged.done("qrels", "export", "news")
    assert judged("users", "remove", "jo", given="n\n").exit_code == 1
    talk = judged.talk("users", "remove", "jo", "--yes")
    assert talk.startswith("Forgotten. The judgements stay as those of forgotten-")
    assert judged.done("qrels", "export", "news") == grades
    assert judged.refused("users", "remove", "jo", "--yes") == ["There is no user “jo”."]


def test_hours_of_judges_are_listed(judged: CommandLine) -> None:
    lines = list(
        csv.DictReader(StringIO(judged.done("judges", "hours", "show", "news", "--period", "all", "--format", "csv")))
    )
    assert [(line["judge"], line["judgements"], line["without_time"]) for line in lines] == [
        ("jo", "2", "2"),
        ("kim", "1", "1"),
    ]
    assert judged.table("judges", "hours", "show", "news", "--since", "2001-01-01", "--until", "2001-01-02") == []
