"""`annotator gate`, on the database and on a site."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from build import SLUG, labels, run
from cli.command_line import CommandLine
from cli.remote_site import Remote
from kept import Kept
from sqlalchemy import update

from annotator.storage import Database, Run


@pytest.fixture
def judged(site: Remote, kept: Kept) -> Remote:
    """P@1: alpha has the relevant a first for both topics, beta for none."""
    kept.fill(site.database, add_grades)
    return site


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 d 0\n2 0 a 1\n")


@pytest.mark.parametrize("format_", ["table", "csv", "json"])
@pytest.mark.parametrize("words", [["alpha", "--run", "beta"], ["alpha"], ["beta", "--max-drop", "1"]])
def test_the_site_answers_as_its_database(judged: Remote, words: list[str], format_: str) -> None:
    assert judged.alike("ola", "gate", "news", "--measure", "P@1", "--baseline", *words, "--format", format_)


def test_the_site_and_its_database_find_the_same_run_newest(judged: Remote) -> None:
    with judged.database.transaction() as session:
        for tag in ("run10", "run9"):
            run(session, tag, {"1": ["d", "a"]})
        for one, moment in {"run10": 0, "run9": 0, "beta": -1}.items():
            # Times without and with a fraction of a second.
            at = datetime(2030, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment)
            session.execute(update(Run).where(Run.tag == one).values(uploaded_at=at))
    words = ("gate", "news", "--measure", "P@1", "--baseline", "alpha", "--max-drop", "1", "--format", "json")
    assert judged.alike("ola", *words)
    assert json.loads(judged("ola", *words).stdout)["run"] == "run10"


def test_the_exit_code_tells_whether_a_run_falls(judged: Remote) -> None:
    here = CommandLine(str(judged.database.engine.url))
    fell = here("gate", SLUG, "--baseline", "alpha", "--run", "beta", "--measure", "P@1", "--format", "json")
    assert fell.exit_code == 1
    found = json.loads(fell.stdout)
    assert (found["baseline_score"], found["run_score"], found["difference"]) == (1.0, 0.0, -1.0)
    assert found["passes"] is False
    assert (found["topics"], found["max_drop"]) == (2, 0.0)
    assert "beta falls too far: P@1 0.0000, alpha 1.0000, difference -1.0000; allowed 0." in fell.stderr
    for words in (("--run", "beta", "--max-drop", "1"), ("--run", "beta", "--measure", "Judged@1", "--max-drop", "1")):
        assert here("gate", SLUG, "--baseline", "alpha", "--measure", "P@1", *words).exit_code == 0
    assert here("gate", SLUG, "--baseline", "beta", "--run", "alpha", "--measure", "P@1").exit_code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--run", "beta"], "Missing option '--baseline'"),
        (["--baseline", "none", "--run", "beta"], "none"),
        (["--baseline", "alpha", "--run", "alpha"], "alpha"),
        (["--baseline", "alpha", "--measure", "nDGC"], "nDGC"),
        (["--baseline", "alpha", "--max-drop", "-1"], "-1"),
        (["--baseline", "alpha", "--max-drop", "nan"], "nan"),
        (["--baseline", "alpha", "--max-drop", "inf", "--format", "json"], "not inf"),
    ],
)
def test_wrong_usage_has_another_exit_code(judged: Remote, words: list[str], told: str) -> None:
    here = CommandLine(str(judged.database.engine.url))
    for answer in (here("gate", SLUG, *words), judged("ola", "gate", SLUG, *words)):
        assert answer.exit_code == 2
        assert told in answer.stderr
