"""Reports of one task beside the leaderboard: by page, file, command and API alike, and kept apart by task."""

import csv
import io
import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from build import SLUG, build, member
from calling import NEWS as API
from calling import Program, token_of
from cli.command_line import CommandLine
from flask import Flask
from kept import Kept
from sqlalchemy.orm import Session
from two_tasks import ALONE, TOPICS, add_two_tasks, fill, machine_labels, runs_of
from visiting import Visitor, shared_application, with_database, words

from annotator.evaluation.leaderboard.leaderboard_notices import EVERY_TASK
from annotator.storage import Database, Role
from annotator.storage.pools.pools import PoolRequest

PAGE = f"/collections/{SLUG}"
KEYS = list(TOPICS)
UNKNOWN = "There is no task “none”. There are: long, short."


@dataclass(frozen=True)
class Report:
    """Where a report is."""

    page: str
    file: str
    path: str  # of the API
    query: dict[str, Any]
    command: tuple[str, ...]


REPORTS = {
    "leave-out": Report(
        "quality/leave-out?m=AP",
        "quality/leave-out.csv?m=AP&by=runs",
        "leave-out",
        {"m": "AP", "by": "runs"},
        ("pool", "leave-out", "show", SLUG, "-m", "AP"),
    ),
    "correlation": Report(
        "correlation?m=AP&m2=P@5",
        "correlation.csv?m=AP&m2=P@5",
        "correlation",
        {"m": "AP", "m2": "P@5"},
        ("correlation", "show", SLUG, "-m", "AP", "-m", "P@5"),
    ),
    "estimates": Report(
        "estimates?m=P@5",
        "estimates.csv?m=P@5",
        "leaderboard/estimates",
        {"m": "P@5"},
        ("leaderboard", "show", SLUG, "-m", "P@5", "--estimate"),
    ),
}


def prepare(database: Database) -> None:
    with database.transaction() as session:
        add_two_tasks(session)
        machine_labels(session)
        draw(session, SLUG)
        member(session, "ola", Role.ORGANISER)
        member(session, "obi", Role.OBSERVER)


def draw(session: Session, slug: str) -> None:
    parameters: dict[str, str | int] = {"certainty_depth": 1, "bands": "4", "depth": 12, "budget": 40}
    build(session, PoolRequest("sample", parameters), seed=7, slug=slug)


@pytest.fixture
def tasks(sqlite_database: Database, kept: Kept) -> Database:
    """Tasks `long` and `short` with a shared topic, three runs each and a run without a task, pooled and judged."""
    kept.fill(sqlite_database, prepare)
    return sqlite_database


@pytest.fixture
def app(tasks: Database) -> Flask:
    """The application over it."""
    return with_database(shared_application(), tasks)


@pytest.fixture
def ola(app: Flask, tasks: Database) -> Visitor:
    """An organiser's browser."""
    return Visitor(app, tasks, "ola")


@pytest.fixture
def program(app: Flask, tasks: Database) -> Program:
    """An organiser's program."""
    return Program(app, token_of(tasks, "ola"))


@pytest.fixture
def shell(tasks: Database) -> CommandLine:
    """The command line."""
    return CommandLine(str(tasks.engine.url))


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def of_task(address: str, key: str | None) -> str:
    return f"{PAGE}/{address}" if key is None else f"{PAGE}/{address}{'&' if '?' in address else '?'}task={key}"


def as_words(value: object) -> str:
    """A value of the API as a file has it."""
    return "" if value is None else str(value)


def runs_in(rows: list[dict[str, str]]) -> set[str]:
    columns = ("run",) if "run" in rows[0] else ("first", "second")
    return {row[name] for row in rows for name in columns}


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("key", [*KEYS, None])
def test_page_command_and_api_give_the_same_rows(
    ola: Visitor, program: Program, shell: CommandLine, name: str, key: str | None
) -> None:
    report, task = REPORTS[name], () if key is None else ("--task", key)
    from_page = rows_of(ola.get(of_task(report.file, key)).text)
    assert rows_of(shell.done(*report.command, *task, "--format", "csv")) == from_page
    answer = program.get(f"{API}/{report.path}", **report.query, **({} if key is None else {"task": key}))
    assert answer.status_code == 200
    # The file has further columns, which name the grades or the task.
    rows = [{name: as_words(value) for name, value in row.items()} for row in answer.json["rows"]]
    assert [{name: row[name] for name in rows[0]} for row in from_page] == rows
    if key is not None:
        assert runs_in(from_page) == set(runs_of(key))
        assert any(key in value for value in from_page[0].values())


@pytest.mark.parametrize("name", REPORTS)
def test_no_task_gets_what_was_kept_for_another(ola: Visitor, program: Program, name: str) -> None:
    report = REPORTS[name]
    first, again = (
        [
            (ola.get(of_task(report.file, key)).text, program.get(f"{API}/{report.path}", **report.query, **given).json)
            for key, given in {None: {}, "long": {"task": "long"}, "short": {"task": "short"}}.items()
        ]
        for _ in range(2)
    )
    assert first == again
    assert len({text for text, _ in first}) == len({json.dumps(answer) for _, answer in first}) == 3


@pytest.mark.parametrize("name", REPORTS)
def test_the_page_has_a_choice_that_its_links_keep(ola: Visitor, name: str) -> None:
    report = REPORTS[name]
    whole = ola.get(of_task(report.page, None))
    assert str(EVERY_TASK) in words(whole)
    assert '<option value="short">The task short</option>' in whole.text
    shown = ola.get(of_task(report.page, "short"))
    assert '<option value="short" selected>' in shown.text
    text = words(shown)
    assert "· short" in text.split("Only the runs of the task “short” are scored, on its topics.")[0]  # the heading
    assert str(EVERY_TASK) not in text
    assert "long-0" not in text
    links = re.findall(r'href="([^"]*(?:leaderboard/|\.csv|quality/|holes)[^"]*\?[^"]*)"', shown.text.split("<main")[1])
    assert links
    assert [link for link in links if "task=short" not in link] == []


@pytest.mark.parametrize("name", REPORTS)
def test_an_unknown_task_is_refused_everywhere_by_the_same_sentence(
    ola: Visitor, program: Program, shell: CommandLine, name: str
) -> None:
    report = REPORTS[name]
    for address in (report.page, report.file):
        answer = ola.get(of_task(address, "none"))
        assert (answer.status_code, UNKNOWN in words(answer)) == (404, True)
    refused = program.get(f"{API}/{report.path}", **report.query, task="none")
    assert (refused.status_code, refused.json["detail"]) == (404, UNKNOWN)
    assert shell.refused(*report.command, "--task", "none") == [UNKNOWN]


def test_the_overview_of_a_task_is_the_same_file_by_page_command_and_api(
    ola: Visitor, program: Program, shell: CommandLine
) -> None:
    form = ola.get(f"{PAGE}/report?task=short")
    assert '<option value="short" selected>' in form.text
    parts = ["participants", "leaderboard", "topics", "significance", "quality"]
    page = ola.get(f"{PAGE}/report.html?m=AP&task=short&{'&'.join(f'part={part}' for part in parts)}").text
    from_api = program.get(f"{API}/report", m="AP", task="short", section=parts).text
    sections = [word for part in parts for word in ("--section", part)]
    from_command = shell.done("report", "export", SLUG, "-m", "AP", "--task", "short", *sections)
    made = re.compile(r"made on .{20} by")
    assert made.sub("", page) == made.sub("", from_api) == made.sub("", from_command)
    assert "Participants, leaderboard, topics, significance and quality are those of the task “short”." in page
    assert "<h1>News search: The task short</h1>" in page
    assert str(EVERY_TASK) not in page
    for tag in runs_of("short"):
        assert tag in page
    assert "long-" not in page
    whole = ola.get(f"{PAGE}/report.html?m=AP").text
    assert str(EVERY_TASK) in whole
    assert "are those of the task" not in whole
    assert ola.get(f"{PAGE}/report.html?task=none").status_code == 404
    assert program.get(f"{API}/report", task="none").json["detail"] == UNKNOWN
    assert shell.refused("report", "export", SLUG, "--task", "none") == [UNKNOWN]


@pytest.mark.parametrize("name", REPORTS)
def test_observers_choose_a_task_too(app: Flask, tasks: Database, name: str) -> None:
    report = REPORTS[name]
    observer = Visitor(app, tasks, "obi")
    assert '<option value="long" selected>' in observer.get(of_task(report.page, "long")).text


@pytest.mark.parametrize("name", REPORTS)
def test_a_collection_without_tasks_mentions_none(
    app: Flask, tasks: Database, shell: CommandLine, program: Program, name: str
) -> None:
    with tasks.transaction() as session:
        fill(session, ALONE, TOPICS["long"], runs_of("long"))
        machine_labels(session, ALONE, TOPICS["long"])
        draw(session, ALONE)
        member(session, "ola", Role.ORGANISER, slug=ALONE)
    report = REPORTS[name]
    page = Visitor(app, tasks, "ola").get(f"/collections/{ALONE}/{report.page}")
    assert page.status_code == 200
    assert 'name="task"' not in page.text
    file = Visitor(app, tasks, "ola").get(f"/collections/{ALONE}/{report.file}")
    assert "task" not in file.text.splitlines()[0]
    answer = program.get(f"{API.replace(SLUG, ALONE)}/{report.path}", **report.query)
    assert answer.status_code == 200
    assert answer.json["about"].get("task") is None
    assert "task" not in " ".join(answer.json["notices"])
    command = tuple(ALONE if word == SLUG else word for word in report.command)
    assert "task" not in shell.done(*command) + shell.talk(*command)
    none = "There is no task “long”: this collection has no tasks."
    assert shell.refused(*command, "--task", "long") == [none]
