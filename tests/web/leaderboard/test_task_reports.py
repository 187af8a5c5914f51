"""Reports of one task beside the leaderboard: by page, file, command and API alike, and kept apart by task."""

import csv
import io
import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from build import SLUG, build, labels, member
from calling import NEWS as API
from calling import Program, token_of
from cli.command_line import CommandLine
from flask import Flask
from kept import Kept
from sqlalchemy.orm import Session
from tasks import move_runs, run
from two_tasks import ALONE, TOPICS, add_two_tasks, fill, machine_labels, runs_of, second_grades
from visiting import Visitor, shared_application, with_database, words

from annotator.evaluation.leaderboard.leaderboard_notices import EVERY_TASK
from annotator.storage import Database, Role
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.collections.audit import AuditFilter, list_audit_entries
from annotator.workflows.pools import pool_holes, run_overlap
from annotator.workflows.pools.pools import pool_versions

PAGE = f"/collections/{SLUG}"
KEYS = list(TOPICS)
UNKNOWN = "There is no task “none”. There are: long, short."


@dataclass(frozen=True)
class Report:
    """Where a report is."""

    page: str
    file: str | None  # none of the page
    path: str  # of the API
    query: dict[str, Any]
    command: tuple[str, ...]
    notices: tuple[str, str] = ("Only the runs of the task “short” are scored, on its topics.", str(EVERY_TASK))
    readers: tuple[str, ...] = ("ola", "obi")


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
    "overlap": Report(
        "pool/teams?all=1",
        None,
        "pool/overlap",
        {},
        ("pool", "overlap", "show", SLUG),
        notices=("Only the runs of the task “short” are counted, on its topics.", str(run_overlap.EVERY_TASK)),
        readers=("ola",),
    ),
    "teams": Report(
        "pool/teams?all=1",
        None,
        "pool/overlap",
        {"by": "teams"},
        ("pool", "overlap", "show", SLUG, "--by", "teams"),
        notices=("Only the runs of the task “short” are counted, on its topics.", str(run_overlap.EVERY_TASK)),
        readers=("ola",),
    ),
    "holes": Report(
        "pool/holes?depth=5",
        "pool/holes.csv?depth=5",
        "pool/holes",
        {},
        ("pool", "holes", "show", SLUG),
        notices=("Only the runs of the task “short” are counted, on its topics.", str(pool_holes.EVERY_TASK)),
        readers=("ola",),
    ),
    "machines": Report(
        "agreement/machines?m=AP",
        None,
        "agreement/machines",
        {"m": "AP"},
        ("agreement", "machines", "show", SLUG, "-m", "AP"),
        readers=("ola",),
    ),
    "effect": Report(
        "agreement/effect?m=AP",
        None,
        "agreement/effect",
        {"m": "AP", "draws": 20},
        ("agreement", "effect", "show", SLUG, "-m", "AP", "--draws", "20"),
        readers=("ola",),
    ),
    "estimates": Report(
        "estimates?m=P@5",
        "estimates.csv?m=P@5",
        "leaderboard/estimates",
        {"m": "P@5"},
        ("leaderboard", "show", SLUG, "-m", "P@5", "--estimate"),
    ),
}


WITHOUT_RUNS = {"teams", "machines"}


def prepare(database: Database) -> None:
    with database.transaction() as session:
        add_two_tasks(session)
        machine_labels(session)
        draw(session, SLUG)
        labels(session, "kim", second_grades(TOPICS["long"] + TOPICS["short"][1:]), name="kim.txt")
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
    file = rows_of(shell.done(*report.command, *task, "--format", "csv"))
    assert report.file is None or rows_of(ola.get(of_task(report.file, key)).text) == file
    answer = program.get(f"{API}/{report.path}", **report.query, **({} if key is None else {"task": key}))
    assert answer.status_code == 200
    # The file has further columns, which name the grades or the task.
    rows = [{name: as_words(value) for name, value in row.items()} for row in answer.json["rows"]]
    assert [{name: row[name] for name in rows[0]} for row in file] == rows
    if key is not None:
        assert name in WITHOUT_RUNS or runs_in(file) == set(runs_of(key))
        assert any(key in value for value in file[0].values())


@pytest.mark.parametrize("name", REPORTS)
def test_no_task_gets_what_was_kept_for_another(ola: Visitor, program: Program, name: str) -> None:
    report = REPORTS[name]
    given: dict[str | None, dict[str, str]] = {None: {}, "long": {"task": "long"}, "short": {"task": "short"}}
    address = report.file or report.page

    def both(key: str | None) -> tuple[str, object]:
        return ola.get(of_task(address, key)).text, program.get(
            f"{API}/{report.path}", **report.query, **given[key]
        ).json

    first, again = ([both(key) for key in given] for _ in range(2))
    assert [answer for _, answer in first] == [answer for _, answer in again]
    assert report.file is None or first == again
    assert len({text for text, _ in first}) == len({json.dumps(answer) for _, answer in first}) == 3


@pytest.mark.parametrize("name", REPORTS)
def test_the_page_has_a_choice_that_its_links_keep(ola: Visitor, name: str) -> None:
    report = REPORTS[name]
    whole = ola.get(of_task(report.page, None))
    assert report.notices[1] in words(whole)
    assert '<option value="short">The task short</option>' in whole.text
    shown = ola.get(of_task(report.page, "short"))
    assert '<option value="short" selected>' in shown.text
    text = words(shown)
    assert "· short" in text.split(report.notices[0])[0]  # the heading
    assert report.notices[1] not in text
    assert "long-0" not in text
    links = re.findall(
        r'href="([^"]*(?:leaderboard/|\.csv|quality/|holes|pool/teams)[^"]*\?[^"]*)"', shown.text.split("<main")[1]
    )
    # The page of machine judges has none, but a second form.
    assert links or '<input type="hidden" name="task" value="short">' in shown.text
    assert [link for link in links if "task=short" not in link] == []


@pytest.mark.parametrize("name", REPORTS)
def test_an_unknown_task_is_refused_everywhere_by_the_same_sentence(
    ola: Visitor, program: Program, shell: CommandLine, name: str
) -> None:
    report = REPORTS[name]
    for address in filter(None, (report.page, report.file)):
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
def test_all_who_read_a_page_choose_a_task(app: Flask, tasks: Database, name: str) -> None:
    report = REPORTS[name]
    for reader in report.readers:
        assert '<option value="long" selected>' in Visitor(app, tasks, reader).get(of_task(report.page, "long")).text


@pytest.mark.parametrize("name", REPORTS)
def test_a_collection_without_tasks_mentions_none(
    app: Flask, tasks: Database, shell: CommandLine, program: Program, name: str
) -> None:
    with tasks.transaction() as session:
        fill(session, ALONE, TOPICS["long"], runs_of("long"))
        machine_labels(session, ALONE, TOPICS["long"])
        draw(session, ALONE)
        labels(session, "kim", second_grades(TOPICS["long"]), name="kim.txt", slug=ALONE)
        member(session, "ola", Role.ORGANISER, slug=ALONE)
    report = REPORTS[name]
    page = Visitor(app, tasks, "ola").get(f"/collections/{ALONE}/{report.page}")
    assert page.status_code == 200
    assert 'name="task"' not in page.text
    if report.file is not None:
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


def test_the_holes_of_a_task_are_filled_by_page_and_api_after_confirmation(
    ola: Visitor, program: Program, tasks: Database
) -> None:
    with tasks.transaction() as session:
        run(session, "short-new", {"4": ["x1", "x2"]})
        run(session, "long-new", {"1": ["y1"]})
        move_runs(session, "short", ["short-new"])
        move_runs(session, "long", ["long-new"])
    address = f"{PAGE}/pool/holes?task=short"
    assert program.get(f"{API}/pool/holes", depth=12, task="short").json["about"]["fillings"][0]["new"] == 2
    asked = ola.post(address, depth="12")
    assert "Add these documents to the pool?" in words(asked)
    assert 'action="/collections/news/pool/holes?task=short"' in asked.text
    done = ola.post(address, depth="12", confirmed="y")
    assert done.headers["Location"].endswith("/pool/holes?task=short")
    assert "Added to the pool: 2." in words(ola.get(address))
    with tasks.reading() as session:
        assert pool_versions(session, SLUG)[-1].parameters["task"] == "short"
    assert program.post(f"{API}/pool/holes", {"depth": 12, "task": "none"}).json["detail"] == UNKNOWN
    filled = program.post(f"{API}/pool/holes", {"depth": 12, "task": "long"}).json
    assert (filled["is_new"], filled["added"]) == (True, 1)
    with tasks.reading() as session:
        noted = [one.details for one in list_audit_entries(session, SLUG, AuditFilter()) if one.action == "pool.build"]
    assert {"depth": 12, "task": "long", "added": 1} in noted
