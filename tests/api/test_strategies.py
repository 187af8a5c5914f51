"""Pooling strategies by program: listed, simulated on the judgements, and replayed; equal to what commands give."""

import pytest
from adaptive import AdaptiveJudge, adaptive_news, chosen
from build import LIMIT, NOW, SLUG, labels, member
from calling import API, NEWS, Caller
from sqlalchemy import select
from worker.at_work import work

from annotator.files import InputFile
from annotator.storage import Database, Role, SelectionEvent
from annotator.workflows.people.tokens import Scope
from annotator.workflows.pools import pool_replay
from annotator.workflows.pools.pool_simulation import simulate_strategies
from annotator.workflows.pools.pools import list_strategies
from annotator.workflows.qrels.qrels import export_qrels

SIMULATION, REPLAY = f"{NEWS}/pool/simulation", f"{NEWS}/pool/replay"


@pytest.mark.usefixtures("news")
def test_strategies_are_listed_with_their_parameters(program: Caller) -> None:
    found = program("jo", Scope.JUDGE).get(f"{API}/pooling-strategies").json
    assert [one["name"] for one in found] == list(list_strategies())
    depth = next(one for one in found if one["name"] == "depth")
    assert depth["parameters"][0]["name"] == "depth"
    assert depth["parameters"][0]["needed"]
    assert {one["name"] for one in found if one["sampled"]} == {"stratified", "sample"}


@pytest.mark.usefixtures("news")
def test_a_simulation_is_the_one_on_the_exported_qrels(program: Caller, database: Database) -> None:
    ola = program("ola")
    assert ola.get(SIMULATION).status_code == 409
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 e 1\n")
    found = ola.get(SIMULATION, strategy=["depth", "rrf"], start_depth=0, seed=5).json
    with database.reading() as session:
        file = InputFile("q", export_qrels(session, SLUG, made_at=NOW).qrels)
        names = ("depth", "rrf")
        simulated = simulate_strategies(
            session, SLUG, file, names=names, start_depths=(0,), seed=5, unpacked_limit=LIMIT
        )
    headings, rows = simulated.table()
    assert found["rows"] == [dict(zip(headings, row, strict=True)) for row in rows]
    assert (found["about"]["judged"], found["about"]["relevant"], found["about"]["seed"]) == (4, 3, 5)
    assert ola.get(SIMULATION, strategy="nothing").status_code == 422
    assert ola.get(SIMULATION, start_depth=-1).status_code == 422


def test_a_replay_is_empty_and_lists_a_choice_that_was_changed(program: Caller, database: Database) -> None:
    jo, _ = adaptive_news(database, "maxmean", {"budget": 7, "start_depth": 1})
    with database.transaction() as session:
        member(session, "ola", Role.ORGANISER)
    AdaptiveJudge(database, jo).work()
    ola = program("ola")
    found = ola.get(REPLAY).json
    assert found["about"] == {"version": 1, "strategy": "maxmean", "topics": 1, "choices": 7}
    assert found["rows"] == []
    with database.transaction() as session:
        order = chosen(session)
        events = session.scalars(select(SelectionEvent).order_by(SelectionEvent.step)).all()
        events[0].pool_item_id, events[1].pool_item_id = events[1].pool_item_id, events[0].pool_item_id
    row = ola.get(REPLAY, version=1).json["rows"][0]
    assert (row["topic"], row["step"], row["docno"], row["docno_replayed"]) == ("1", 1, order[1], order[0])
    assert ola.get(REPLAY, version=2).status_code == 404


def test_a_long_replay_is_left_to_the_worker(
    program: Caller, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jo, _ = adaptive_news(database, "cal", {"budget": 7, "start_depth": 1})
    with database.transaction() as session:
        member(session, "ola", Role.ORGANISER)
    AdaptiveJudge(database, jo).work()
    ola = program("ola")
    at_once = ola.get(REPLAY).json
    assert at_once["about"] == {"version": 1, "strategy": "cal", "topics": 1, "choices": 7}
    monkeypatch.setattr(pool_replay, "MOST_LEARNED_AT_ONCE", 6)
    begun = ola.get(REPLAY)
    assert begun.status_code == 202
    assert ola.get(REPLAY).json["number"] == begun.json["number"]
    work(database)
    job = ola.get(begun.headers["Location"])
    assert (job.json["state"], job.json["kind"], job.json["result"]) == ("done", "Pool.replay_pool", at_once)
    assert ola.get(REPLAY).json == at_once
    assert ola.get(REPLAY, version=2).status_code == 404
