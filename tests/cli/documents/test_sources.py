"""`annotator documents source`: set, show, check, fetch, remove; what could not be fetched."""

import json

import pytest
from build import SECRET_KEY
from cli.command_line import CommandLine
from local_server import HOST
from source_server import MISBEHAVIOURS, SourceServer
from sourced import pool_unread

from annotator.storage import Database


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An administrator has named the host, and a worker can run."""
    monkeypatch.setenv("ANNOTATOR_SECRET_KEY", SECRET_KEY)
    monkeypatch.setenv("ANNOTATOR_OUTGOING_HOSTS", HOST)


def shown(annotator: CommandLine) -> dict[str, object]:
    found: dict[str, object] = json.loads(annotator.done("documents", "source", "show", "news", "--format", "json"))
    return found


def test_a_source_is_set_shown_checked_fetched_and_removed(pooled: CommandLine, source_server: SourceServer) -> None:
    given = ("--path", "body=segment", "--search", source_server.search)
    talk = pooled.talk("documents", "source", "set", "news", source_server.template, *given)
    assert talk == "The source is set. A worker fetches the texts of pooled documents that are missing.\n"
    found = shown(pooled)
    assert (found["kind"], found["location"], found["paths"], found["search"], found["set_by"]) == (
        "address",
        source_server.template,
        "body=segment",
        source_server.search,
        None,
    )
    assert pooled.table("documents", "source", "check", "news", "x") == [["x", "10", "Title", "of", "x"]]
    assert "Results of its search for “test”: 0." in pooled.talk("documents", "source", "check", "news", "x")
    talk = pooled.talk("documents", "source", "fetch", "news")
    assert talk == "A worker fetches them now: 0, and what was pooled since.\n"
    pooled.done("worker", "--once")
    assert shown(pooled)["waiting"] == 0
    assert pooled.talk("documents", "source", "remove", "news") == "Removed the source of documents.\n"
    assert pooled.refused("documents", "source", "show", "news") == ["The collection has no source of documents."]


def test_what_could_not_be_fetched_is_listed(
    pooled: CommandLine, source_server: SourceServer, sqlite_database: Database
) -> None:
    pool_unread(sqlite_database)
    source_server.behaviours["u"] = MISBEHAVIOURS["html"][0]
    pooled.done("documents", "source", "set", "news", source_server.template)
    pooled.done("worker", "--once")
    [row] = json.loads(pooled.done("documents", "source", "failures", "list", "news", "--format", "json"))
    assert (row["docno"], row["reason"], row["tries"]) == ("u", "The source sent HTML or XML, not JSON.", 1)
    assert shown(pooled)["fetched"] == 6
    pooled.done("documents", "source", "set", "news", source_server.template, "--search", source_server.search)
    source_server.is_down = True
    assert "Its search: The source refused" in pooled.talk("documents", "source", "check", "news")


def test_what_is_no_source_is_refused(pooled: CommandLine, source_server: SourceServer) -> None:
    [sentence] = pooled.refused("documents", "source", "set", "news", "https://elsewhere.org/{docno}")
    assert sentence.startswith("This server may not send to “elsewhere.org”")
    [sentence] = pooled.refused("documents", "source", "set", "news", source_server.template, "--path", "x")
    assert sentence.startswith("“x” is not a path")


def test_a_source_that_may_not_be_asked_any_more(
    pooled: CommandLine, source_server: SourceServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pooled.done("documents", "source", "set", "news", source_server.template)
    monkeypatch.setenv("ANNOTATOR_OUTGOING_HOSTS", "")
    assert "may not send to" in pooled.refused("documents", "source", "check", "news", "x")[0]
