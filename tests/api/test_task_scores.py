"""Scores of one task by program: of all runs, of a team's own, and of the reports beside them."""

from datetime import timedelta
from typing import Any

import pytest
from build import NOW, SLUG, labels
from calling import NEWS, Caller
from kept import Kept
from tasks import move_runs, run, task

from annotator.evaluation.leaderboard.leaderboard_notices import EVERY_TASK
from annotator.storage import Database, ScoresShown
from annotator.workflows.runs import submissions


@pytest.fixture(autouse=True)
def judged(news: None, database: Database, kept: Kept) -> None:
    """Task `one` has topic 1 and alpha, `two` topic 2 and beta; team red has a run in each."""
    del news
    kept.fill(database, add_tasks)


def add_tasks(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "ann", "1 0 a 1\n1 0 b 0\n1 0 d 2\n2 0 a 1\n2 0 e 0\n")
        run(session, "reds-one", {"1": ["b", "a"]}, team="red")
        run(session, "reds-two", {"2": ["a", "e"]}, team="red")
        task(session, "one", ["1"], runs=["alpha", "reds-one"])
        task(session, "two", ["2"], runs=["beta", "reds-two"])


def release(database: Database, shown: ScoresShown) -> None:
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=NOW + timedelta(days=1), shown=shown, early=True)


def test_the_leaderboard_of_a_task(program: Caller) -> None:
    ola = program("ola")
    whole = ola.get(f"{NEWS}/leaderboard", m="AP").json
    assert (whole["source"], whole["notices"][0]) == ("live, every task", str(EVERY_TASK))
    board = ola.get(f"{NEWS}/leaderboard", m="AP", task="two").json
    assert ({row["tag"] for row in board["rows"]}, board["topics"]) == ({"beta", "reds-two"}, ["2"])
    assert board["source"] == "live, task two"
    unknown = ola.get(f"{NEWS}/leaderboard", task="none")
    assert unknown.status_code == 404
    assert "There are: one, two." in unknown.json["detail"]


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("significance", {}),
        ("quality", {}),
        ("leaderboard/topics", {}),
        ("leaderboard/topics/1", {}),
        ("leaderboard/runs/alpha", {}),
    ],
)
def test_reports_are_limited_to_a_task(program: Caller, path: str, more: dict[str, Any]) -> None:
    ola = program("ola")
    answer = ola.get(f"{NEWS}/{path}", m="AP", task="one", **more).json
    assert (answer["about"]["qrels"]["task"], answer["about"]["qrels"]["topics"]) == ("one", 1)
    assert "Only the runs of the task “one” are scored, on its topics." in answer["notices"]
    every = ola.get(f"{NEWS}/{path}", m="AP", **more).json
    assert every["about"]["qrels"]["task"] is None
    assert str(EVERY_TASK) in every["notices"]
    assert ola.get(f"{NEWS}/{path}", m="AP", task="none", **more).status_code == 404


def test_two_runs_are_compared_in_the_task_of_both(program: Caller) -> None:
    ola = program("ola")
    path = f"{NEWS}/leaderboard/comparison"
    for more in ({}, {"task": "one"}):
        answer = ola.get(path, m="AP", first="alpha", second="reds-one", **more).json
        assert (answer["about"]["qrels"]["task"], answer["about"]["qrels"]["topics"]) == ("one", 1)
        assert "Only the runs of the task “one” are scored, on its topics." in answer["notices"]
    refused = ola.get(path, first="alpha", second="beta")
    assert refused.status_code == 422
    assert "of different tasks (alpha: one; beta: two)" in refused.json["detail"]
    every = ola.get(path, first="alpha", second="beta", all_tasks="true").json
    assert (every["about"]["qrels"]["task"], str(EVERY_TASK) in every["notices"]) == (None, True)
    assert ola.get(path, first="alpha", second="reds-one", task="one", all_tasks="true").status_code == 422
    assert ola.get(path, first="alpha", second="reds-one", task="none").status_code == 404


def test_a_team_sees_the_scores_of_one_of_its_tasks(program: Caller, database: Database) -> None:
    pat = program("pat")
    assert pat.get(f"{NEWS}/scores", task="two").status_code == 403
    release(database, ScoresShown.BESIDE)
    first = pat.get(f"{NEWS}/scores", m="AP").json
    assert ([row["tag"] for row in first["rows"]], first["source"]) == (["reds-one"], "live, task one")
    second = pat.get(f"{NEWS}/scores", m="AP", task="two").json
    assert ([row["tag"] for row in second["rows"]], second["topics"]) == (["reds-two"], ["2"])
    assert pat.get(f"{NEWS}/scores", task="none").status_code == 404
    assert pat.get(f"{NEWS}/leaderboard", task="two").status_code == 403
    with database.transaction() as session:
        move_runs(session, "one", ["reds-two"])
    refused = pat.get(f"{NEWS}/scores", task="two")
    assert refused.status_code == 404
    assert refused.json["detail"] == "Your team has no run with released scores in the task “two”."
    release(database, ScoresShown.WHOLE)
    assert {row["tag"] for row in pat.get(f"{NEWS}/leaderboard", task="two").json["rows"]} == {"beta"}


def test_own_runs_are_compared_in_their_task(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        run(session, "reds-more", {"2": ["e", "a"]}, team="red")
        move_runs(session, "two", ["reds-more"])
    release(database, ScoresShown.OWN)
    pat = program("pat")
    found = pat.get(f"{NEWS}/scores/comparison", first="reds-two", second="reds-more", m="AP").json
    [row] = found["rows"]
    assert (row["first_mean"], row["second_mean"], row["topics"]) == (1.0, 0.5, 1)
    assert (found["about"]["qrels"]["task"], found["about"]["qrels"]["round"]) == ("two", None)
    assert pat.get(f"{NEWS}/scores/comparison", first="reds-two", second="reds-one").status_code == 404
    assert pat.get(f"{NEWS}/scores/comparison", first="reds-two", second="reds-more", task="one").status_code == 404
