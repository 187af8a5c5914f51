"""`annotator tasks`, and `--task` of `annotator runs`, in the database and on a site."""

import csv
import io
import json
from pathlib import Path

import pytest
from build import run_text
from cli.command_line import CommandLine

from annotator.evaluation.runs.run_tags import Sender
from annotator.storage import Database
from annotator.workflows.runs.run_rules import rules_document

GAMMA = run_text("gamma", {"1": ["a"]}).decode()
DELTA = run_text("delta", {"1": ["a"], "2": ["b"]}).decode()


@pytest.fixture
def tasked(pooled: CommandLine) -> CommandLine:
    """A collection with a task of topic 1 and one of every topic."""
    pooled.done("tasks", "add", "news", "first", "Of one topic", "--topics", "-", "--most-runs", "2", given="1\n")
    pooled.done("tasks", "add", "news", "every", "Of all", "--run-format", "trec")
    return pooled


def test_tasks_are_listed_changed_and_removed(tasked: CommandLine) -> None:
    found = list(csv.DictReader(io.StringIO(tasked.done("tasks", "list", "news", "--format", "csv"))))
    assert [(row["key"], row["topics"], row["formats"], row["most_runs"]) for row in found] == [
        ("first", "1", "any", "2"),
        ("every", "every", "trec", ""),
    ]
    assert tasked.talk("tasks", "set", "news", "first", "--every-topic", "--most-runs", "collection") == (
        "Changed the task first.\n"
    )
    tasked.done("tasks", "set", "news", "every", "--run-format", "any", "--title", "Everything")
    found = json.loads(tasked.done("tasks", "list", "news", "--format", "json"))
    assert [(row["title"], row["topics"], row["formats"]) for row in found] == [
        ("Of one topic", "every", "any"),
        ("Everything", "every", "any"),
    ]
    assert tasked.talk("tasks", "remove", "news", "first", "--yes") == "Removed the task first.\n"


def test_a_collection_without_tasks_says_so(pooled: CommandLine) -> None:
    assert pooled.talk("tasks", "list", "news") == "This collection has no tasks: it is a single one.\n"
    assert "TASK" not in pooled.done("runs", "list", "news")
    assert "task" not in pooled.done("runs", "show", "news", "alpha")


def test_runs_are_checked_sent_and_changed_by_task(tasked: CommandLine) -> None:
    [wrong, _] = tasked.refused("runs", "import", "news", "-", given=GAMMA)
    assert wrong.endswith("Name the task of this run. There are: first, every.")
    [wrong, _] = tasked.refused("runs", "check", "news", "-", "--task", "first", given=DELTA)
    assert wrong.endswith("The task first has no topic 2.")
    tasked.done("runs", "import", "news", "-", "--task", "first", given=GAMMA)
    listed = json.loads(tasked.done("runs", "list", "news", "--format", "json"))
    assert {row["tag"]: row["task"] for row in listed} == {"alpha": None, "beta": None, "gamma": "first"}
    tasked.done("runs", "set", "news", "alpha", "--task", "every")
    assert json.loads(tasked.done("runs", "show", "news", "alpha", "--format", "json"))["task"] == "every"
    assert "does not have: 2." in tasked.refused("runs", "set", "news", "beta", "--task", "first")[0]


def test_the_rules_in_a_file_have_the_tasks(tasked: CommandLine, tmp_path: Path) -> None:
    database = Database(tasked.url)
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps(database.read(rules_document, "news", Sender(None, organises=True))))
    database.close()
    [wrong, _] = tasked.refused("runs", "check", "--rules", str(rules), "-", given=GAMMA)
    assert wrong.endswith("Name the task of this run. There are: first, every.")
    assert "gamma" in tasked.done("runs", "check", "--rules", str(rules), "--task", "first", "-", given=GAMMA)


def test_what_is_no_limit_is_a_usage_error(tasked: CommandLine) -> None:
    for options, wrong in {
        ("--most-runs", "x"): "neither a whole number nor “collection”",
        ("--every-topic", "--topics", "-"): "Give --topics or --every-topic",
        (): "Give at least one of --title",
    }.items():
        result = tasked("tasks", "set", "news", "first", *options, given="1\n")
        assert (result.exit_code, wrong in result.stderr) == (2, True)


def test_a_task_asks_its_own_questions(tasked: CommandLine) -> None:
    asked = json.dumps([{"key": "length", "text": "How long?", "required": True}])
    said = tasked.talk("questionnaire", "set", "news", "--task", "first", "-", given=asked)
    assert said == "Version 1 of the questionnaire is asked.\n"
    assert "How long?" in tasked.done("questionnaire", "show", "news", "--task", "first")
    assert "How long?" not in tasked.done("questionnaire", "show", "news")
    tasked.done("runs", "import", "news", "-", "--task", "first", "--answer", "length=5", given=GAMMA)
    assert "5" in tasked.done("questionnaire", "answers", "show", "news", "gamma")
    [wrong] = tasked.refused("questionnaire", "show", "news", "--task", "dox")
    assert wrong == "There is no task “dox”. There are: first, every."
