"""`annotator runs fetch`."""

import json

import pytest
from cli.command_line import CommandLine
from local_server import HOST
from search_engines import MATCH, EngineServer, sending


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An administrator has named the host."""
    monkeypatch.setenv("ANNOTATOR_OUTGOING_HOSTS", HOST)


def words(server: EngineServer, *others: str) -> tuple[str, ...]:
    return ("runs", "fetch", "news", "--endpoint", f"{server.site}/news/_search", "--query", MATCH, *others)


def test_a_run_is_fetched_with_its_texts(news: CommandLine, engine_server: EngineServer) -> None:
    engine_server.documents = {"d1": "first", "d2": "first first"}
    asked = words(engine_server, "--tag", "bm25", "--depth", "5", "--team", "blue", "--texts")
    tried = news.talk(*asked, "--dry-run").splitlines()
    assert tried[-1] == "Nothing was stored. The import would give: Run fetched: bm25."
    assert news.table("runs", "list", "news") == []
    assert news.talk(*asked).splitlines() == [
        "bm25: warning: Topics that the run leaves out: 1 of 2 (2).",
        "Topics: 2, hits: 2; topics with fewer than 5: 2.",
        "Topics without any: 2.",
        "Texts: added 2, filled 0, changed 0, unchanged 0.",
        "Run fetched: bm25.",
    ]
    assert [row[:4] for row in news.table("runs", "list", "news")] == [["bm25", "blue", "1", "2"]]
    assert news.done("documents", "show", "news", "d2", "--format", "json").count("first first") == 1
    news.done("database", "check")


def test_a_run_is_fetched_for_a_task_and_its_topics_alone(news: CommandLine, engine_server: EngineServer) -> None:
    engine_server.documents = {"d1": "first", "d2": "second"}
    news.done("tasks", "add", "news", "one", "One", "--topics", "-", given="1\n")
    news.done("tasks", "add", "news", "all", "All")
    asked = words(engine_server, "--tag", "bm25", "--depth", "5")
    assert news.refused(*asked) == ["Name the task of this run. There are: one, all."]
    assert news.refused(*asked, "--task", "none") == ["There is no task “none”. There are: one, all."]
    assert "Topics: 1, hits: 1; topics with fewer than 5: 1." in news.talk(*asked, "--task", "one").splitlines()
    found = json.loads(news.done("runs", "list", "news", "--format", "json"))
    assert [(row["tag"], row["task"], row["topics"]) for row in found] == [("bm25", "one", 1)]


def test_what_fails_is_told_with_the_topic_and_nothing_is_stored(
    news: CommandLine, engine_server: EngineServer
) -> None:
    engine_server.always = sending(b"<html>")
    [told] = news.refused(*words(engine_server, "--tag", "bm25"))
    assert told.endswith("and nothing was stored: The engine answered HTML or XML, not JSON.")
    assert news.table("runs", "list", "news") == []
    [told] = news.refused(
        "runs", "fetch", "news", "--endpoint", "https://other.org/_search", "--query", "q={query}", "--tag", "a"
    )
    assert told.startswith("This server may not send to “other.org”")


@pytest.mark.parametrize("wrong", [("--dialect", "sql"), ("--depth", "0"), ("--depth", "10001")])
def test_wrong_usage_is_refused(news: CommandLine, engine_server: EngineServer, wrong: tuple[str, str]) -> None:
    assert news(*words(engine_server, "--tag", "a", *wrong)).exit_code == 2
