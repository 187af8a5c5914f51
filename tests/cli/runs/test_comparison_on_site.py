"""`annotator runs compare` on a site: any two runs for organisers, two of the team for participants."""

import json
from datetime import timedelta

import pytest
from build import NOW, SLUG, labels, member, run
from cli.remote_site import Remote
from kept import Kept
from tasks import task

from annotator.evaluation.leaderboard import leaderboard_notices
from annotator.storage import Database, Role, ScoresShown
from annotator.workflows.runs import submissions

EVERY_TASK = str(leaderboard_notices.EVERY_TASK)


@pytest.fixture
def judged(site: Remote, kept: Kept) -> Remote:
    """Pat's team has two runs beside alpha and beta; P@1 of ours is 1 on both topics, of more on one."""
    kept.fill(site.database, add_grades)
    return site


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        run(session, "ours", {"1": ["a"], "2": ["a"]}, team="red")
        run(session, "more", {"1": ["a"], "2": ["d"]}, team="red")
        labels(session, "nist", "1 0 a 2\n1 0 d 0\n2 0 a 1\n")


def release(database: Database) -> None:
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=NOW + timedelta(days=1), shown=ScoresShown.OWN, early=True)


@pytest.mark.parametrize("words", [[], ["--format", "csv"], ["--format", "json"], ["--by", "topic", "--seed", "3"]])
def test_the_site_answers_organisers_as_its_database(judged: Remote, words: list[str]) -> None:
    given = ("runs", "compare", SLUG, "alpha", "beta", "-m", "P@1", "-m", "AP", *words)
    assert judged.alike("ola", *given)


@pytest.mark.parametrize(
    "words", [["-m", "AP,P@1"], ["-m", "P"], ["-m", "AP", "-m", "AP"], ["-m", "nDCG@5", "-m", "ndcg_cut.5", "-m", "RR"]]
)
def test_the_site_compares_by_each_measure_that_a_name_is_for(judged: Remote, words: list[str]) -> None:
    for table in ([], ["--format", "csv"], ["--format", "json"]):
        assert judged.alike("ola", "runs", "compare", SLUG, "alpha", "beta", *words, *table)


def test_the_qrels_of_a_comparison_are_named_with_the_task(judged: Remote) -> None:
    with judged.database.transaction() as session:
        task(session, "a", ["1", "2"], runs=["alpha", "beta"])
    assert judged.alike("ola", "runs", "compare", SLUG, "alpha", "beta", "--task", "a")
    said = judged("ola", "runs", "compare", SLUG, "alpha", "beta", "--task", "a").stderr
    assert "Qrels: live, task a settled by" in said
    assert judged.alike("ola", "runs", "compare", SLUG, "alpha", "beta")
    assert "Qrels: live, task a settled by" in judged("ola", "runs", "compare", SLUG, "alpha", "beta").stderr
    with judged.database.transaction() as session:
        task(session, "b", runs=["beta"])
    for command in (("runs", "compare", SLUG, "alpha", "beta"), ("gate", SLUG, "--baseline", "alpha", "--run", "beta")):
        assert judged.alike("ola", *command, "--all-tasks")
        refused = judged("ola", *command)
        assert (refused.exit_code, "ask for all tasks" in refused.stderr) == (2, True)


def test_an_observer_compares_two_runs_by_the_same_rule(judged: Remote) -> None:
    with judged.database.transaction() as session:
        member(session, "obi", Role.OBSERVER)
        task(session, "a", ["1", "2"], runs=["alpha", "ours"])
        task(session, "b", runs=["beta", "more"])
    for compare in (("runs", "compare", SLUG), ("gate", SLUG, "--max-drop", "1")):
        one, two = ("--baseline", "--run") if compare[0] == "gate" else (None, None)
        pair = [word for word in (one, "alpha", two, "beta") if word]
        refused = judged("obi", *compare, *pair)
        assert (refused.exit_code, "of different tasks (alpha: a; beta: b)" in refused.stderr) == (2, True)
        assert EVERY_TASK in judged("obi", *compare, *pair, "--all-tasks").stderr
        alike = [word for word in (one, "alpha", two, "ours") if word]
        assert "Only the runs of the task “a” are scored" in judged("obi", *compare, *alike).stderr


def test_a_participant_compares_two_runs_of_the_team(judged: Remote) -> None:
    compare = ("runs", "compare", SLUG, "ours", "more", "--own", "-m", "P@1", "--format", "json")
    assert judged.refused("pat", *compare)
    release(judged.database)
    found = json.loads(judged.done("pat", *compare))
    [test] = found["tests"]
    assert (test["measure"], test["topics"], test["first"], test["second"]) == ("P@1", 2, 1.0, 0.5)
    assert [(one["topic"], one["second_minus_first"]) for one in found["topics"]] == [("1", 0.0), ("2", -1.0)]
    assert judged.refused("pat", "runs", "compare", SLUG, "ours", "alpha", "--own") == [
        "There is no run “alpha” in this collection."
    ]
    # Not as an organiser compares: this shows any two runs.
    assert judged.refused("pat", "runs", "compare", SLUG, "ours", "more")


def test_own_scores_are_by_the_measures_that_are_named(judged: Remote) -> None:
    release(judged.database)
    shown = judged.done("pat", "leaderboard", "show", SLUG, "--own", "-m", "P@1", "--format", "csv")
    assert shown.startswith('"run","team","P@1",')
    beside = judged.done("pat", "leaderboard", "show", SLUG, "--own", "--beside", "-m", "P@1")
    assert {line.split(",")[1] for line in beside.splitlines()[1:]} == {'"P@1"'}
