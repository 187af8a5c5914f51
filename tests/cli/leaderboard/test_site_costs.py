"""`annotator --site URL costs`: what it stores and shows is what the command on the site's own database does."""

import json
from datetime import UTC, datetime

import pytest
from build import SLUG, labels, run
from cli.remote_site import Remote, served
from kept import Kept

from annotator.storage import Database, ScoresShown
from annotator.workflows.runs import submissions


@pytest.fixture
def judged(site: Remote, kept: Kept) -> Remote:
    """P@1: alpha has the relevant a first for both topics, beta and red's gamma for none."""
    kept.fill(site.database, add_grades)
    return site


def add_grades(database: Database) -> None:
    with database.transaction() as session:
        run(session, "gamma", {"1": ["d"], "2": ["e"]}, slug=SLUG, team="red")
        labels(session, "nist", "1 0 a 2\n1 0 d 0\n2 0 a 1\n")


@pytest.fixture
def stated(judged: Remote, kept: Kept) -> Remote:
    """All three state what they cost."""
    kept.fill(judged.database, add_costs)
    return judged


def add_costs(database: Database) -> None:
    with served(database) as site:
        site.done("ola", "costs", "set", "news", "alpha", "latency_p95=0.05 s", "latency_at@1e6=35", "hardware=8 cores")
        site.done("ola", "costs", "set", "news", "beta", "latency_p95=40.5")
        site.done("pat", "costs", "set", "news", "gamma", "latency_p95=60", "query_language=phrase, Boolean")


@pytest.mark.parametrize("format_", ["table", "csv", "json"])
@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-m", "P@1", "--cost", "latency_at@1000000"],
        ["-m", "P@1", "-m", "NumRelRet", "--within", "55 ms"],
        ["-m", "map", "--cost", "index_size"],
    ],
    ids=" ".join,
)
def test_costs_are_shown_as_on_the_database_of_the_site(stated: Remote, words: list[str], format_: str) -> None:
    shown = stated.alike("ola", "costs", "show", "news", *words, "--format", format_)
    assert "alpha" in shown


def test_before_anything_is_judged_costs_are_shown_without_scores(site: Remote) -> None:
    site.done("ola", "costs", "set", "news", "beta", "latency_p95=60")
    assert "LATENCY_P95 (ms)" in site.alike("ola", "costs", "show", "news", "-m", "P@1", "-m", "AP")


def test_single_facts_are_changed_and_taken_back(stated: Remote) -> None:
    stated.done("ola", "costs", "set", "news", "alpha", "latency_at@1000000=", "hardware=a laptop")
    [alpha, *_] = json.loads(stated.done("ola", "costs", "show", "news", "-m", "P@1", "--format", "json"))["rows"]
    assert alpha["costs"] == {"latency_p95": 50, "hardware": "a laptop"}


@pytest.mark.parametrize(
    "words",
    [
        ["set", "news", "alpha", "speed=1"],
        ["set", "news", "alpha", "latency_p95=fast"],
        ["set", "news", "delta", "latency_p95=1"],
        ["set", "news", "alpha", "latency_p95"],
        ["set", "news", "alpha", "latency_p95=1", "latency_p95=2"],
        ["show", "news", "--cost", "hardware"],
        ["show", "news", "-m", "fun"],
        ["columns", "remove", "news", "price"],
        ["columns", "add", "news", "hardware"],
    ],
    ids=" ".join,
)
def test_what_is_refused_is_refused_in_the_same_words(stated: Remote, words: list[str]) -> None:
    assert stated.alike("ola", "costs", *words) == ""


def test_participants_state_costs_of_their_own_runs_and_see_all_after_the_release(stated: Remote) -> None:
    assert stated.refused("pat", "costs", "set", "news", "alpha", "hardware=x") == [
        "There is no run “alpha” in this collection."
    ]
    [refused] = stated.refused("pat", "costs", "show", "news")
    assert refused == "The organisers do not show participants the leaderboard, or do not show it yet."
    with stated.database.transaction() as session:
        submissions.release_scores(session, SLUG, at=datetime.now(UTC), shown=ScoresShown.WHOLE, early=True)
    assert len(stated.done("pat", "costs", "show", "news", "-m", "P@1").splitlines()) == 4


def test_columns_are_listed_added_and_removed(stated: Remote) -> None:
    price = ("price", "--name", "Price", "--unit", "EUR", "--better", "less")
    stated.done("ola", "costs", "columns", "add", "news", *price)
    stated.done("ola", "costs", "columns", "add", "news", "licence", "--words")
    stated.done("ola", "costs", "set", "news", "alpha", "price=12 EUR", "licence=MIT")
    for format_ in ("table", "csv", "json"):
        assert "licence" in stated.alike("ola", "costs", "columns", "list", "news", "--format", format_)
        assert "MIT" in stated.alike("ola", "costs", "show", "news", "--format", format_)
    stated.alike("ola", "costs", "columns", "remove", "news", "price")
    stated.done("ola", "costs", "set", "news", "alpha", "price=")
    stated.done("ola", "costs", "columns", "remove", "news", "price")
    assert "PRICE" not in stated.done("ola", "costs", "show", "news")
