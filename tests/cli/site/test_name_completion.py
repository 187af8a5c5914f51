"""A shell completes slugs and tags, from the database or the site that the line names."""

from pathlib import Path

import pytest
from calling import token_of
from cli.command_line import CommandLine
from cli.remote_site import Remote
from click.shell_completion import ShellComplete

from annotator.cli import main
from annotator.settings import sqlite_url


def completed(*words: str) -> list[str]:
    """What is offered for the last word."""
    *before, begun = words
    offered = ShellComplete(main, {}, "annotator", "_ANNOTATOR_COMPLETE").get_completions(before, begun)
    return [one.value for one in offered]


def test_slugs_and_tags_are_completed_from_the_database(pooled: CommandLine) -> None:
    on_database = ("--database", pooled.url)
    assert completed(*on_database, "leaderboard", "show", "") == ["news"]
    assert completed(*on_database, "leaderboard", "show", "x") == []
    assert completed(*on_database, "runs", "show", "news", "") == ["alpha", "beta"]
    assert completed(*on_database, "runs", "withdraw", "news", "be") == ["beta"]
    assert completed(*on_database, "runs", "compare", "news", "alpha", "b") == ["beta"]


def test_the_database_of_the_environment_is_read(pooled: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOTATOR_DATABASE_URL", pooled.url)
    assert completed("topics", "list", "n") == ["news"]


def test_tags_of_a_collection_that_does_not_exist_are_not_completed(pooled: CommandLine) -> None:
    assert completed("--database", pooled.url, "runs", "show", "unknown", "") == []


def test_no_database_is_created_or_complained_of(tmp_path: Path) -> None:
    assert completed("--database", sqlite_url(tmp_path / "none.sqlite"), "topics", "list", "") == []
    assert completed("--database", "nonsense", "topics", "list", "") == []
    assert list(tmp_path.iterdir()) == []


def test_slugs_and_tags_are_completed_from_a_site(site: Remote) -> None:
    on_site = ("--site", site.address, "--token", token_of(site.database, "ola"))
    assert completed(*on_site, "leaderboard", "show", "") == ["news"]
    assert completed(*on_site, "runs", "withdraw", "news", "be") == ["beta"]


def test_a_site_that_does_not_answer_completes_nothing() -> None:
    assert completed("--site", "http://127.0.0.1:1", "--token", "t", "runs", "list", "") == []
    assert completed("--site", "http://127.0.0.1:1", "runs", "list", "") == []
