"""`annotator audit list`: what was done by command."""

import csv
import json
from getpass import getuser
from io import StringIO

from cli.command_line import CommandLine


def test_what_is_done_by_command_stands_in_the_log(pooled: CommandLine) -> None:
    pooled.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 2\n")
    pooled.done("qrels", "export", "news")
    pooled.refused("pool", "build", "nothing", "--depth", "1")
    entries = json.loads(pooled.done("audit", "list", "news", "--format", "json"))
    assert [entry["action"] for entry in entries] == [
        "qrels.export",
        "judgements.import",
        "pool.build",
        "runs.import",
        "runs.import",
        "topics.import",
        "collections.add",
    ]
    assert {(entry["name"], entry["door"]) for entry in entries} == {(getuser(), "command")}
    assert entries[1]["details"]["added"] == 1


def test_the_log_is_asked_by_person_action_and_time(pooled: CommandLine) -> None:
    assert pooled.talk("audit", "list", "news", "--actor", "nobody") == "Entries: 0.\n"
    assert pooled.talk("audit", "list", "--action", "runs") == "Entries: 2.\n"
    assert pooled.talk("audit", "list", "--since", "2001-01-01", "--until", "2001-01-02") == "Entries: 0.\n"
    lines = list(csv.DictReader(StringIO(pooled.done("audit", "list", "--action", "pool.build", "--format", "csv"))))
    assert [(line["collection"], line["subject"]) for line in lines] == [("news", "1")]
    assert pooled.refused("audit", "list", "nothing") == ["There is no collection “nothing”."]


def test_deeds_of_the_site_belong_to_no_collection(annotator: CommandLine) -> None:
    annotator.done("users", "add", "ada", "--administrator", given="correct horse staple\n")
    ((_, _, door, collection, action, *_),) = annotator.table("audit", "list")
    assert (door, collection, action) == ("command", "-", "users.add")
