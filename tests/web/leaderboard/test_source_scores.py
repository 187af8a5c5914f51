"""The page of a source's scores in time."""

import pytest
from build import NOW, SLUG, labels, member, pooled_news
from calling import NEWS, Program, token_of
from flask import Flask
from kept import Kept
from sqlalchemy import select
from visiting import Visitor, words

from annotator.evaluation.runs.search_engines import SearchEngine
from annotator.storage import Database, Role, Run, RunSource
from annotator.storage.runs.run_sources import note_fetched
from annotator.workflows.people.tokens import Scope
from annotator.workflows.runs import run_sources
from annotator.workflows.runs.engine_requests import EngineAccess
from annotator.workflows.runs.run_sources import SourceSettings

PAGE = f"/collections/{SLUG}/runs/sources/bm25/scores"


@pytest.fixture
def started(database: Database, kept: Kept) -> Database:
    kept.fill(database, fill)
    return database


def fill(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        member(session, "ola", Role.ORGANISER)
        member(session, "oli", Role.OBSERVER)
        member(session, "pat", Role.PARTICIPANT, team="red")
        engine = SearchEngine("https://search.example.org/_search", "q={query}")
        access = EngineAccess(("search.example.org",))
        run_sources.set_source(session, SLUG, "bm25", SourceSettings(engine, "n"), access, by_id=None, at=NOW)


def add_runs(database: Database) -> None:
    with database.transaction() as session:
        source = session.scalars(select(RunSource)).one()
        for id_ in session.scalars(select(Run.id).order_by(Run.id)):
            note_fetched(session, source.id, [id_], at=NOW)


def test_the_page_has_the_scores_as_a_chart_and_a_table(app: Flask, started: Database) -> None:
    ola = Visitor(app, started, "ola")
    assert "No run has come from this source yet." in words(ola.get(PAGE))
    assert "Scores in time" not in words(ola.get(PAGE.removesuffix("/scores")))
    add_runs(started)
    assert "Nothing is judged yet" in words(ola.get(PAGE))
    with started.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 d 0\n2 0 a 1\n")
    page = ola.get(f"{PAGE}?m=P@1")
    assert 'data-chart="line"' in page.text
    for word in ("alpha", "beta", "P@1", "live qrels"):
        assert word in words(page)
    wrong = ola.get(f"{PAGE}?m=Q@x")
    assert wrong.status_code == 422
    assert "Scores in time" in words(ola.get(PAGE.removesuffix("/scores")))
    for name in ("oli", "pat"):
        assert Visitor(app, started, name).get(PAGE).status_code == 403


def test_a_program_reads_the_same(app: Flask, started: Database) -> None:
    add_runs(started)
    with started.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 d 0\n2 0 a 1\n")
    program = Program(app, token_of(started, "ola", [Scope.ORGANISE]))
    found = program.get(f"{NEWS}/run-sources/bm25/scores?m=P@1").json
    assert (found["measure"], found["alarms"], [one["tag"] for one in found["runs"]]) == (
        "P@1",
        ["live"],
        ["alpha", "beta"],
    )
    [first], [second] = (one["scores"] for one in found["runs"])
    assert (first["qrels"], first["mean"], first["compared_with"], second["compared_with"]) == ("live", 1.0, None, 0)
    assert (second["mean"], second["better"], second["alarm"]) == (0.0, False, True)
