"""A kit of a collection with tasks: scores and topics of each task, and that it is compared with the database."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest
from build import SLUG
from sqlalchemy.orm import Session
from tasks import add_topics, move_runs, run, task
from workflows.leaderboard.test_release_kit import PUBLICATION, TAGS, VEILED, judged_news, kit, rows

from annotator.errors import FileRefusedError
from annotator.evaluation.publishing.kit_reading import KitFolder
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.release_kit import check_kit, write_kit
from annotator.workflows.runs.tasks import change_task


@pytest.fixture
def tasks(session: Session) -> Session:
    """Task `one` has topic 1 with two runs, `All` every topic with another, `none` no run."""
    judged_news(session)
    task(session, "one", ["1"], title="First topic alone", runs=TAGS[:2])
    task(session, "All", title="Every topic", runs=TAGS[2:])
    task(session, "none", ["2"])
    return session


def test_scores_are_those_of_each_task(tasks: Session) -> None:
    _, files = kit(tasks)
    assert "scores.csv" not in files
    assert "scores_by_topic.csv" not in files
    assert {path for path in files if path.startswith("scores")} == {
        "scores/one.csv",
        "scores/All.csv",
        "scores_by_topic/one.csv",
        "scores_by_topic/All.csv",
    }
    for key in ("one", "All"):
        board = build_leaderboard(
            tasks, SLUG, PUBLICATION.measures, grades=GradesFrom(version=1, as_kept=True, task=key)
        )
        written = {row["run"]: float(row["AP"]) for row in rows(files[f"scores/{key}.csv"])}
        assert written == {row.tag: row.values[1] for row in board.rows}
        assert {row["topic"] for row in rows(files[f"scores_by_topic/{key}.csv"])} == {*board.topics, "all"}
    assert {row["run"]: row["task"] for row in rows(files["runs.csv"])} == {
        "zeta": "one",
        "zeta-2": "one",
        "../Élan": "All",
    }
    listed = json.loads(files["tasks.json"])["tasks"]
    assert [(one["key"], one["title"], one["topics"]) for one in listed] == [
        ("one", "First topic alone", ["1"]),
        ("All", "Every topic", ["1", "2"]),
        ("none", "The task none", ["2"]),
    ]
    readme = files["README.md"].decode()
    assert "- `one`: First topic alone. Topics: 1; runs: 2." in readme
    assert "averaged over the topics of the task that have a judgement" in readme
    assert "| All | Every topic | 2 | 1 |" in files["DATASHEET.md"].decode()


def test_the_metadata_describe_the_files_of_tasks(tasks: Session) -> None:
    metadata = json.loads(kit(tasks)[1]["metadata.json"])
    about = {one["@id"]: one["description"] for one in metadata["distribution"]}
    assert about["scores/one.csv"] == "the scores of each run of a task, with intervals"
    assert about["tasks.json"].startswith("the tasks")
    tables = {one["@id"]: [field["name"] for field in one["field"]] for one in metadata["recordSet"]}
    assert tables["scores_by_topic_one"] == ["run", "topic", "nDCG@10", "AP"]
    assert tables["runs"][-1] == "task"


def test_a_kit_without_tasks_says_nothing_of_them(session: Session) -> None:
    judged_news(session)
    _, files = kit(session)
    assert "scores.csv" in files
    assert "tasks.json" not in files
    assert "task" not in next(csv.reader(io.StringIO(files["runs.csv"].decode())))
    assert "Tasks" not in files["README.md"].decode()


def test_a_veiled_kit_names_no_team_in_its_tasks(tasks: Session) -> None:
    _, files = kit(tasks, VEILED)
    assert not any(tag.encode() in content for tag in TAGS[:2] for content in files.values())
    assert {row["task"] for row in rows(files["runs.csv"])} == {"one", "All"}
    task(tasks, "theirs", ["1"], title="What Reds found")
    write_kit(tasks, VEILED, io.BytesIO())
    change_task(tasks, SLUG, "one", {"description": f"As in {TAGS[0]}"})
    with pytest.raises(FileRefusedError) as refusal:
        write_kit(tasks, VEILED, io.BytesIO())
    assert "tasks.json" in {problem.file for problem in refusal.value.problems}


def test_what_changed_since_is_found(tasks: Session, tmp_path: Path) -> None:
    stream = io.BytesIO()
    write_kit(tasks, replace(PUBLICATION), stream)
    with ZipFile(stream) as archive:
        archive.extractall(tmp_path)
    folder = KitFolder(tmp_path / SLUG)
    assert check_kit(tasks, SLUG, folder) > 0
    add_topics(tasks, "one", ["2"])
    with pytest.raises(FileRefusedError) as refusal:
        check_kit(tasks, SLUG, folder)
    assert {"tasks.json", "scores/one.csv", "scores_by_topic/one.csv"} <= {one.file for one in refusal.value.problems}
    run(tasks, "new", {"2": ["a"]})
    move_runs(tasks, "none", ["new"])
    with pytest.raises(FileRefusedError) as refusal:
        check_kit(tasks, SLUG, folder)
    assert {"scores/none.csv", "scores_by_topic/none.csv"} <= {one.file for one in refusal.value.problems}
