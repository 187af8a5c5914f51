"""Sources of runs on pages, by program and at night: a worker fetches, and the source shows what came of it."""

from datetime import UTC, datetime, timedelta

import pytest
from build import SLUG
from calling import NEWS, Program, token_of
from flask import Flask
from local_server import HOST
from search_engines import MATCH, EngineServer, sending
from sqlalchemy import select, update
from visiting import words
from worker import at_work
from worker.at_work import N, Visit, job_of, state, work

from annotator.storage import AuditEvent, Database, JobState, RunSource
from annotator.workflows.people.tokens import Scope
from annotator.workflows.runs import run_sources
from annotator.workflows.runs.runs import list_runs

SEARCH, SOURCES = f"{N}/runs/fetch", f"{N}/runs/sources"
PAGE = f"{SOURCES}/nightly"


@pytest.fixture(autouse=True)
def _allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker, too, may ask the local server."""
    made = at_work.settings_of
    monkeypatch.setattr(
        at_work,
        "settings_of",
        lambda database: type(made(database))(**{**vars(made(database)), "outgoing_hosts": (HOST,)}),
    )


def form(server: EngineServer, **changes: str) -> dict[str, str]:
    sent = {"endpoint": f"{server.site}/news/_search", "dialect": "opensearch", "query": MATCH, "depth": "3"}
    return {**sent, "tag": "bm25-{number}", "run_type": "automatic", "name": "nightly", "hour": "3", **changes}


def tags(database: Database) -> list[str]:
    return [run.tag for run in database.read(list_runs, SLUG)]


def make_due(database: Database) -> None:
    with database.transaction() as session:
        session.execute(update(RunSource).values(due_at=datetime.now(UTC) - timedelta(days=3)))


def test_a_source_is_saved_changed_fetched_by_a_button_and_removed(
    visit: Visit, news: Database, engine_server: EngineServer
) -> None:
    ola = visit("ola")
    saved = ola.post(SOURCES, **form(engine_server, paths="docno=_id", team="blue"))
    assert (saved.status_code, saved.location) == (303, PAGE)
    assert "nightly" in words(ola.get(SEARCH))
    page = ola.get(PAGE)
    assert "docno=_id" in page.text
    assert "03:00 UTC" in words(page)
    assert "Saved on" in words(page)
    assert ola.post(PAGE, **form(engine_server, hour="", description="BM25")).status_code == 303
    assert "not by itself" in words(ola.get(PAGE))
    job = job_of(ola.post(f"{PAGE}/fetch"))
    assert engine_server.asked == []
    work(news)
    assert "bm25-1" in words(ola.get(ola.get(job).location))
    assert "Run from a search engine" in words(ola.get(f"{N}/jobs"))
    confirming = ola.post(f"{PAGE}/remove")
    assert "Its runs stay, but" in words(confirming)
    assert ola.post(f"{PAGE}/remove", confirmed="y").status_code == 303
    assert ola.get(PAGE).status_code == 404
    assert "bm25-1" in tags(news)


def test_the_page_asks_for_the_task_and_names_one_that_was_removed(
    visit: Visit, news: Database, engine_server: EngineServer
) -> None:
    ola = visit("ola")
    ola.post(SOURCES, **form(engine_server))
    for key in ("one", "two"):
        assert ola.post(f"{N}/tasks", key=key, title=key.title(), topics="1").status_code == 303
    page = words(ola.get(PAGE))
    assert "Task none" in page
    assert "this source has none: it brings no run until you choose its task" in page
    assert "none · brings no run" in words(ola.get(SEARCH))
    assert ola.post(f"{PAGE}/fetch").status_code == 409
    assert ola.post(PAGE, **form(engine_server)).status_code == 422
    make_due(news)
    at_work.work(news)
    assert state(news) == [JobState.FAILED]
    assert ola.post(PAGE, **form(engine_server, task="one")).status_code == 303
    assert "Task one" in words(ola.get(PAGE))
    assert "choose another task: nightly." in words(ola.post(f"{N}/tasks/one/remove"))
    ola.post(f"{N}/tasks/one/remove", confirmed="y")
    assert "The task “one” of this source was removed" in words(ola.get(PAGE))
    ola.post(PAGE, **form(engine_server, task="two"))
    ola.post(f"{PAGE}/fetch")
    work(news)
    [run] = [run for run in news.read(list_runs, SLUG) if run.tag == "bm25-1"]
    assert run.task == "two"
    assert "two" in words(ola.get(SEARCH))


def test_a_program_names_the_task_of_a_source(app: Flask, news: Database, engine_server: EngineServer) -> None:
    program = Program(app, token_of(news, "ola", [Scope.ORGANISE, Scope.READ]))
    body = {"endpoint": f"{engine_server.site}/news/_search", "query": MATCH, "depth": 3, "tag": "bm25"}
    address = f"{NEWS}/run-sources/nightly"
    assert program.call("PUT", address, json=body).json["task"] is None
    assert (
        program.call("POST", f"{NEWS}/tasks", json={"key": "one", "title": "One", "topics": ["1"]}).status_code == 201
    )
    assert program.get(address).json["refusal"].startswith("This collection has tasks")
    assert program.call("PUT", address, json=body).status_code == 422
    assert program.call("PUT", address, json={**body, "task": "none"}).status_code == 404
    assert program.call("PUT", address, json={**body, "task": "one"}).json["task"] == "one"
    asked = program.call("POST", f"{address}/fetch")
    work(news)
    assert program.get(asked.headers["Location"]).json["result"]["task"] == "one"


def test_what_cannot_be_saved_shows_the_form_with_the_reason(visit: Visit, engine_server: EngineServer) -> None:
    ola = visit("ola")
    for changes, sentence in (
        ({"name": "My source"}, "is no name of a source"),
        ({"tag": "a-{day}"}, "no other braces"),
        ({"endpoint": "https://other.org/_search"}, "may not send to “other.org”"),
        ({"hour": "25"}, "Not a valid choice"),
    ):
        answer = ola.post(SOURCES, **form(engine_server, **changes))
        assert answer.status_code in {403, 422}
        assert sentence in words(answer)
    ola.post(SOURCES, **form(engine_server))
    assert ola.post(SOURCES, **form(engine_server)).status_code == 409
    wrong = ola.post(PAGE, **form(engine_server, query="none"))
    assert (wrong.status_code, "The template needs {query}" in words(wrong)) == (422, True)
    assert ola.post(f"{SOURCES}/other", **form(engine_server)).status_code == 404


def test_a_failed_fetch_is_shown_with_the_source(visit: Visit, news: Database, engine_server: EngineServer) -> None:
    ola = visit("ola")
    ola.post(SOURCES, **form(engine_server))
    engine_server.always = sending(b"<html>")
    job = job_of(ola.post(f"{PAGE}/fetch"))
    work(news)
    page = ola.get(ola.get(job).location)
    assert (page.status_code, "The engine answered HTML or XML, not JSON." in words(page)) == (409, True)
    assert "brought no run" in words(ola.get(PAGE))
    assert "failed" in words(ola.get(SEARCH))
    # What is known before is refused at once.
    with news.transaction() as session:
        session.execute(update(RunSource).values(tag="alpha"))
    refused = ola.post(f"{PAGE}/fetch")
    assert (refused.status_code, "is taken by another run" in words(refused)) == (409, True)


def test_a_worker_fetches_at_night_once_for_all_nights_that_were_missed(
    visit: Visit, news: Database, engine_server: EngineServer
) -> None:
    ola = visit("ola")
    ola.post(SOURCES, **form(engine_server))
    make_due(news)
    at_work.work(news)
    at_work.work(news)
    assert [tag for tag in tags(news) if tag.startswith("bm25")] == ["bm25-1"]
    assert state(news) == [JobState.DONE]
    assert "Done." in words(ola.get(f"{N}/jobs/1"))
    with news.reading() as session:
        entry = session.scalars(
            select(AuditEvent).where(AuditEvent.action == "runs.import", AuditEvent.subject == "bm25-1")
        ).one()
        assert (entry.door, entry.user_id) == ("worker", None)
    assert "worker" in words(ola.get(f"{N}/audit"))
    assert ola.get(f"{N}/runs/receipt?tag=bm25-1").status_code == 200


def test_a_night_that_fails_is_shown_and_the_next_one_comes(
    visit: Visit, news: Database, engine_server: EngineServer
) -> None:
    ola = visit("ola")
    ola.post(SOURCES, **form(engine_server))
    make_due(news)
    engine_server.always = sending(b"[]")
    at_work.work(news)
    assert state(news) == [JobState.FAILED]
    assert "Nothing was stored." in words(ola.get(f"{N}/jobs/1"))
    assert "The answer has no list of hits" in words(ola.get(PAGE))
    engine_server.always = None
    make_due(news)
    at_work.work(news)
    assert state(news) == [JobState.FAILED, JobState.DONE]
    assert "bm25-1" in tags(news)
    assert news.read(run_sources.show_source, SLUG, "nightly").problem is None


def test_a_program_keeps_a_source(app: Flask, news: Database, engine_server: EngineServer) -> None:
    program = Program(app, token_of(news, "ola", [Scope.ORGANISE, Scope.READ]))
    body = {"endpoint": f"{engine_server.site}/news/_search", "query": MATCH, "depth": 3, "tag": "bm25", "hour": 3}
    address = f"{NEWS}/run-sources/nightly"
    assert program.call("PUT", address, json={**body, "hour": 24}).status_code == 422
    assert program.call("PUT", address, json={**body, "endpoint": "https://other.org/_search"}).status_code == 403
    made = program.call("PUT", address, json=body)
    assert (made.status_code, made.json["hour"], made.json["fetched"], made.json["problem"]) == (200, 3, 0, None)
    assert program.get(f"{NEWS}/run-sources").json == [made.json] == [program.get(address).json]
    asked = program.call("POST", f"{address}/fetch")
    assert asked.status_code == 202
    work(news)
    job = program.get(asked.headers["Location"]).json
    assert (job["state"], job["status"], job["result"]["tag"]) == ("done", 201, "bm25")
    assert program.get(address).json["fetched"] == 1
    assert program.call("DELETE", address).json["name"] == "nightly"
    assert program.get(address).status_code == 404
