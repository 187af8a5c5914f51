"""What the API gives out is read by the packages of its users: ir_measures and pandas."""

import io

import ir_measures
import pandas as pd
import pytest
from build import labels
from calling import NEWS, Caller
from ir_measures import nDCG

from annotator.storage import Database

pytestmark = pytest.mark.usefixtures("news")

GRADES = "1 0 a 1\n1 0 b 0\n1 0 d 2\n2 0 a 0\n2 0 e 1\n"


def test_ir_measures_reads_qrels_and_runs_and_comes_to_the_leaderboards_scores(
    program: Caller, database: Database
) -> None:
    with database.transaction() as session:
        labels(session, "ann", GRADES)
    ola = program("ola")
    qrels = list(ir_measures.read_trec_qrels(ola.get(f"{NEWS}/qrels").text))  # type: ignore[no-untyped-call]  # theirs
    assert [(one.query_id, one.doc_id, one.relevance) for one in qrels] == [
        ("1", "a", 1),
        ("1", "b", 0),
        ("1", "d", 2),
        ("2", "a", 0),
        ("2", "e", 1),
    ]
    board = pd.read_csv(io.StringIO(ola.get(f"{NEWS}/leaderboard", m="nDCG@10", format="csv").text))
    assert set(board["run"]) == {"alpha", "beta"}
    for row in board.to_dict("records"):
        sent = ola.get(f"{NEWS}/runs/{row['run']}/file").text
        run = list(ir_measures.read_trec_run(sent))  # type: ignore[no-untyped-call]  # theirs
        assert row["nDCG@10"] == pytest.approx(ir_measures.calc_aggregate([nDCG @ 10], qrels, run)[nDCG @ 10])


def test_pandas_reads_the_topics_of_the_leaderboard_and_the_judgements(program: Caller, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "ann", GRADES)
    ola = program("ola")
    text = ola.get(f"{NEWS}/leaderboard", m=["AP", "P@5"], per_topic=True, format="csv").text
    by_topic = pd.read_csv(io.StringIO(text), dtype={"topic": str})
    means = by_topic[by_topic["topic"] != "all"].groupby("run")["AP"].mean()
    assert means["alpha"] == pytest.approx(by_topic.set_index(["run", "topic"]).loc[("alpha", "all"), "AP"])
    judgements = pd.read_json(io.StringIO(ola.get(f"{NEWS}/judgements").text), lines=True, dtype={"topic": str})
    assert list(judgements["grade"]) == [1, 0, 2, 0, 1]
