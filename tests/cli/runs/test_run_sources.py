"""`annotator runs sources`."""

import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine
from local_server import HOST
from search_engines import MATCH, EngineServer, sending


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An administrator has named the host."""
    monkeypatch.setenv("ANNOTATOR_OUTGOING_HOSTS", HOST)


def save(news: CommandLine, server: EngineServer, *others: str, name: str = "bm25") -> str:
    given = ("--endpoint", f"{server.site}/news/_search", "--query", MATCH, "--depth", "3", "--tag", "bm25-{number}")
    return news.talk("runs", "sources", "set", "news", name, *given, *others)


def test_a_source_is_saved_fetched_listed_and_removed(news: CommandLine, engine_server: EngineServer) -> None:
    assert save(news, engine_server) == "The source bm25 is saved. Its runs are fetched by command or button.\n"
    told = save(news, engine_server, "--hour", "3", "--path", "docno=_id", "--team", "blue")
    assert told.endswith("also by a worker, every day at 03:00 UTC.\n")
    told = news.talk("runs", "sources", "fetch", "news", "bm25")
    assert told.splitlines()[-1] == "Run fetched: bm25-1."
    [row] = news.table("runs", "sources", "list", "news")
    assert row[:3] == ["bm25", "bm25-{number}", "1"]
    shown = json.loads(news.done("runs", "sources", "show", "news", "bm25", "--format", "json"))
    assert (shown["paths"], shown["team"], shown["hour"], shown["runs"]) == ("docno=_id", "blue", 3, 1)
    news.done("database", "check")
    assert news.talk("runs", "sources", "remove", "news", "bm25") == "Removed the source of runs.\n"
    assert news.table("runs", "sources", "list", "news") == []
    assert [row[0] for row in news.table("runs", "list", "news")] == ["bm25-1"]
    assert news.refused("runs", "sources", "show", "news", "bm25") == [
        "There is no source of runs “bm25” in this collection."
    ]


def test_what_fails_is_told_and_shown_with_the_source(news: CommandLine, engine_server: EngineServer) -> None:
    save(news, engine_server)
    engine_server.always = sending(b"<html>")
    [told] = news.refused("runs", "sources", "fetch", "news", "bm25")
    assert told.endswith("nothing was stored: The engine answered HTML or XML, not JSON.")
    shown = json.loads(news.done("runs", "sources", "show", "news", "bm25", "--format", "json"))
    assert shown["problem"] == told


def test_a_source_names_its_task(news: CommandLine, engine_server: EngineServer, tmp_path: Path) -> None:
    save(news, engine_server)
    numbers = tmp_path / "topics.txt"
    numbers.write_text("1\n", "utf-8")
    news.talk("tasks", "add", "news", "one", "One", "--topics", str(numbers))
    [told] = news.refused("runs", "sources", "fetch", "news", "bm25")
    assert told.startswith("This collection has tasks, and this source has none")
    save(news, engine_server, "--task", "one")
    assert news.talk("runs", "sources", "fetch", "news", "bm25").splitlines()[-2].startswith("Topics: 1, hits: ")
    shown = json.loads(news.done("runs", "sources", "show", "news", "bm25", "--format", "json"))
    assert (shown["task"], shown["refusal"]) == ("one", None)
    [asked] = news.refused("tasks", "remove", "news", "one", "--yes")
    assert "has runs and cannot be removed" in asked
