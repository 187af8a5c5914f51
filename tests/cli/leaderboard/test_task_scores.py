"""Commands that score the runs of one task, and what they say where there are tasks and none is chosen."""

import csv
import json
from datetime import UTC, datetime
from io import StringIO
from unittest.mock import Mock

import pytest
from cli.command_line import CommandLine, write_run
from sqlalchemy import update
from tasks import run, task

from annotator.cli.leaderboard.gate import Asked, SiteRuns
from annotator.client import Site
from annotator.evaluation.leaderboard.leaderboard_notices import EVERY_TASK
from annotator.storage import Database, Run

SAYS = str(EVERY_TASK)


@pytest.fixture
def tasks(pooled: CommandLine, sqlite_database: Database) -> CommandLine:
    """Task `one` has topic 1 and alpha, `both` has every topic and beta."""
    pooled.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 2\n1 0 b 0\n1 0 d 1\n2 0 e 1\n")
    with sqlite_database.transaction() as session:
        task(session, "one", ["1"], runs=["alpha"])
        task(session, "both", runs=["beta"])
    sqlite_database.close()
    return pooled


def test_the_leaderboard_of_a_task_is_shown_and_exported(tasks: CommandLine) -> None:
    shown = json.loads(tasks.done("leaderboard", "show", "news", "-m", "AP", "--format", "json", "--task", "one"))
    assert ([row["tag"] for row in shown["rows"]], shown["topics"]) == (["alpha"], ["1"])
    text = tasks.done("leaderboard", "show", "news", "--task", "one")
    assert "Qrels: live, task one settled by" in text
    assert "Only the runs of the task “one” are scored, on its topics." in text
    file = tasks.done("leaderboard", "show", "news", "--task", "both", "--format", "csv")
    lines = list(csv.DictReader(StringIO(file)))
    assert [(line["run"], line["qrels"], line["topics"]) for line in lines] == [("beta", "live, task both", "2")]
    assert tasks.refused("leaderboard", "show", "news", "--task", "none") == [
        "There is no task “none”. There are: one, both."
    ]


@pytest.mark.parametrize(
    ("command", "more"),
    [
        (("leaderboard", "show"), ()),
        (("leaderboard", "run", "show"), ("alpha",)),
        (("leaderboard", "topic", "show"), ("1",)),
        (("leaderboard", "topics", "list"), ()),
        (("significance", "show"), ()),
        (("collections", "quality", "show"), ()),
    ],
)
def test_scores_of_a_task_and_of_all(tasks: CommandLine, command: tuple[str, ...], more: tuple[str, ...]) -> None:
    words = (*command, "news", *more, "-m", "AP")
    said = [*tasks.done(*words).splitlines(), *tasks.talk(*words).splitlines()]
    assert SAYS in said
    of_task = (*words, "--task", "one")
    said = [*tasks.done(*of_task).splitlines(), *tasks.talk(*of_task).splitlines()]
    assert SAYS not in said
    assert "Only the runs of the task “one” are scored, on its topics." in said
    assert tasks.refused(*words, "--task", "none") == ["There is no task “none”. There are: one, both."]


def test_two_runs_are_compared_in_their_task(tasks: CommandLine) -> None:
    other = tasks("runs", "compare", "news", "alpha", "beta")
    assert (other.exit_code, "of different tasks (alpha: one; beta: both)" in other.stderr) == (2, True)
    assert SAYS in tasks.talk("runs", "compare", "news", "alpha", "beta", "--all-tasks")
    assert tasks.refused("runs", "compare", "news", "alpha", "beta", "--task", "one") == [
        "The run beta is not one of the task “one”."
    ]


def test_the_gate_compares_runs_of_a_task_on_its_topics(tasks: CommandLine) -> None:
    write_run("newer", ["1 b", "1 a"])
    tasks.done("runs", "import", "news", "newer.run", "--task", "both")
    pair = ("gate", "news", "--baseline", "alpha", "--run", "beta", "--measure", "AP")
    assert SAYS in tasks(*pair, "--all-tasks").stderr
    different = tasks(*pair)
    assert (different.exit_code, "Compare runs of one task, or ask for all tasks" in different.stderr) == (2, True)
    assert tasks(*pair, "--all-tasks", "--task", "one").exit_code == 2
    same = tasks("gate", "news", "--baseline", "beta", "--measure", "AP", "--max-drop", "1")
    assert "Only the runs of the task “both” are scored, on its topics." in same.stderr
    none = tasks("gate", "news", "--baseline", "alpha", "--measure", "AP", "--task", "one")
    assert "The collection has no run besides “alpha”" in none.stderr  # the newest run is of another task
    other = tasks("gate", "news", "--baseline", "alpha", "--run", "beta", "--task", "one")
    assert (other.exit_code, "The run beta is not one of the task “one”." in other.stderr) == (2, True)


def add_old(database: Database, tag: str) -> None:
    with database.transaction() as session:
        run(session, tag, {"1": ["a"], "2": ["e"]})
        session.execute(update(Run).where(Run.tag == tag).values(uploaded_at=datetime(2001, 1, 1, tzinfo=UTC)))
    database.close()


def test_the_gate_takes_the_newest_run_of_the_same_task_as_the_baseline_also_of_none(
    tasks: CommandLine, sqlite_database: Database
) -> None:
    """`early` and `older` are from before the tasks."""
    gate = ("gate", "news", "--baseline", "early", "--measure", "AP", "--max-drop", "1", "--format", "json")
    add_old(sqlite_database, "early")
    alone = tasks(*gate)
    assert (alone.exit_code, "“early” has no task, and there is no other run without one" in alone.stderr) == (1, True)
    assert json.loads(tasks.done(*gate, "--all-tasks"))["run"] == "beta"
    add_old(sqlite_database, "older")
    assert json.loads(tasks.done(*gate))["run"] == "older"
    other = tasks(*gate, "--run", "beta")
    assert (other.exit_code, "of different tasks (early: no task; beta: both)" in other.stderr) == (2, True)


def test_the_gate_of_a_site_leaves_out_a_run_from_before_the_tasks() -> None:
    def sent(tag: str, hour: int, **task: str | None) -> dict[str, object]:
        return {"tag": tag, "uploaded_at": f"2026-03-01T0{hour}:00:00+00:00", **task}

    site = Mock(Site)
    site.runs.return_value = [sent("alpha", 1, task="one"), sent("mid", 2, task="one"), sent("last", 3)]
    site.get.side_effect = LookupError
    with pytest.raises(LookupError):
        SiteRuns(site).gate("news", "alpha", None, Asked("AP", 0, "live", "one"))
    assert site.get.call_args.kwargs["second"] == "mid"


def test_the_effect_of_dropping_topics_says_that_there_are_tasks(tasks: CommandLine) -> None:
    assert SAYS in tasks.talk("topics", "flags", "list", "news", "-m", "AP", "--topic", "1")
