"""A run from a search engine, fetched by the worker for its page and for a program."""

from build import SLUG
from calling import NEWS, Program, token_of
from flask import Flask
from search_engines import MATCH, EngineServer, sending
from visiting import words
from worker.at_work import N, Visit, job_of, work

from annotator.storage import Database
from annotator.workflows.people.tokens import Scope
from annotator.workflows.runs.runs import list_runs

PAGE = f"{N}/runs/fetch"


def form(server: EngineServer, **changes: str) -> dict[str, str]:
    sent = {"endpoint": f"{server.site}/news/_search", "dialect": "opensearch", "query": MATCH, "depth": "3"}
    return {**sent, "tag": "bm25", "team": "blue", "run_type": "automatic", "texts": "y", **changes}


def tags(database: Database) -> list[str]:
    return [run.tag for run in database.read(list_runs, SLUG)]


def test_a_run_is_fetched_by_the_worker_and_has_a_receipt(
    visit: Visit, news: Database, engine_server: EngineServer
) -> None:
    ola = visit("ola")
    assert "This server may ask: hooks.example.org" in words(ola.get(PAGE))
    job = job_of(ola.post(PAGE, **form(engine_server)))
    assert engine_server.asked == []
    work(news)
    receipt = ola.get(ola.get(job).location)
    assert "bm25" in words(receipt)
    assert "blue" in words(receipt)
    assert "bm25" in tags(news)
    assert "Run from a search engine" in words(ola.get(f"{N}/jobs"))


def test_a_form_that_cannot_be_fetched_is_refused_at_once(visit: Visit, engine_server: EngineServer) -> None:
    ola = visit("ola")
    for changes, sentence in (
        ({"endpoint": "https://other.org/_search"}, "This server may not send to “other.org”"),
        ({"query": "none"}, "The template needs {query}"),
        ({"paths": "docno"}, "is not a path"),
        ({"tag": "alpha"}, "The tag alpha is taken by another run."),
        ({"depth": "0"}, "Number must be between 1 and 10000."),
    ):
        answer = ola.post(PAGE, **form(engine_server, **changes))
        assert answer.status_code in {403, 409, 422}
        assert sentence in words(answer)
    assert engine_server.asked == []


def test_a_failed_fetch_shows_the_form_with_the_reason(
    visit: Visit, news: Database, engine_server: EngineServer
) -> None:
    engine_server.always = sending(b"<html>")
    ola, before = visit("ola"), tags(news)
    job = job_of(ola.post(PAGE, **form(engine_server)))
    work(news)
    page = ola.get(ola.get(job).location)
    assert page.status_code == 409
    assert "nothing was stored: The engine answered HTML or XML, not JSON." in words(page)
    assert MATCH.replace('"', "&#34;") in page.text
    assert tags(news) == before


def test_a_program_fetches_a_run(app: Flask, news: Database, engine_server: EngineServer) -> None:
    program = Program(app, token_of(news, "ola", [Scope.ORGANISE, Scope.READ]))
    body = {"endpoint": f"{engine_server.site}/news/_search", "query": MATCH, "depth": 3, "tag": "bm25"}
    refused = program.post(f"{NEWS}/runs/fetch", {**body, "endpoint": "https://other.org/_search"})
    assert refused.status_code == 403
    asked = program.post(f"{NEWS}/runs/fetch", body)
    assert asked.status_code == 202
    work(news)
    job = program.get(asked.headers["Location"]).json
    assert (job["state"], job["status"], job["result"]["tag"]) == ("done", 201, "bm25")
