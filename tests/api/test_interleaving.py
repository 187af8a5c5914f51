"""Interleaved lists by program: the same file as by page and by command."""

import pytest
from build import SLUG, run
from calling import NEWS, Caller
from sqlalchemy import select
from worker.at_work import work

from annotator.api.site import jobs_asked
from annotator.clicks.workflows.interleaving import ListsWanted, make_lists
from annotator.storage import AuditEvent, Database
from annotator.workflows.runs.runs import original_file

LISTS = f"{NEWS}/interleaving"
OPTIONS = {"run": ["gamma", "delta"], "depth": 3, "lists": 4, "seed": 7}


@pytest.fixture(autouse=True)
def two_more_runs(news: None, database: Database) -> None:
    del news
    with database.transaction() as session:
        run(session, "gamma", {"1": ["d", "b", "a"], "2": ["e"]})
        run(session, "delta", {"1": ["a", "b", "c"], "2": ["a"]})


def test_interleaved_lists_are_those_of_the_command(program: Caller, database: Database) -> None:
    ola = program("ola")
    answer = ola.get(LISTS, **OPTIONS)
    with database.reading() as session:
        files = [original_file(session, SLUG, tag) for tag in ("gamma", "delta")]
        (entry,) = session.scalars(select(AuditEvent).where(AuditEvent.action == "interleaving.export"))
    assert answer.data == make_lists(files, ListsWanted("team-draft", 3, 4, 7)).content
    assert entry.details == {"method": "team-draft", "depth": 3, "lists": 4, "seed": 7}
    one = ola.get(LISTS, run="gamma")
    assert (one.status_code, "from 2 to 20 runs, not 1" in one.text) == (422, True)
    assert ola.get(LISTS).status_code == 422
    assert ola.get(LISTS, run=["gamma", "nothing"]).status_code == 404


def test_many_lists_are_made_by_the_worker(
    program: Caller, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ola = program("ola")
    at_once = ola.get(LISTS, **OPTIONS).data
    monkeypatch.setattr(jobs_asked, "MOST_LISTS_AT_ONCE", 0)
    assert ola.get(LISTS, **OPTIONS).status_code == 202
    work(database)
    assert ola.get(LISTS, **OPTIONS).data == at_once
