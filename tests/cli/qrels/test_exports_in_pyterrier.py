"""PyTerrier's Experiment takes the qrels, topics and runs that a collection exports, and has our scores for them."""

from pathlib import Path

import pandas as pd
import pyterrier as pt
import pytest
from cli.command_line import CommandLine
from ir_measures import AP, P, nDCG

import annotator as library


@pytest.fixture
def exported(pooled: CommandLine, tmp_path: Path) -> Path:
    """A folder with topics.jsonl, qrels.txt and two runs, as commands write them."""
    pooled.done("judgements", "import", "news", "-", "--judge", "jo", given="1 0 a 2\n1 0 b 0\n1 0 d 1\n2 0 e 1\n")
    pooled.done("topics", "export", "news", "-o", "topics.jsonl")
    pooled.done("qrels", "export", "news", "-o", "qrels.txt")
    for tag in ("alpha", "beta"):
        pooled.done("runs", "export", "news", tag, "-o", f"exported-{tag}.run")
    return tmp_path


def test_an_experiment_has_the_scores_of_the_library_and_needs_no_java(exported: Path) -> None:
    topics = pd.read_json(exported / "topics.jsonl", lines=True, dtype={"number": str})
    topics = topics.rename(columns={"number": "qid", "title": "query"})[["qid", "query"]]
    qrels = pt.io.read_qrels(str(exported / "qrels.txt"))
    runs = {tag: pt.io.read_results(str(exported / f"exported-{tag}.run")) for tag in ("alpha", "beta")}
    found = pt.Experiment(
        [pt.Transformer.from_df(run) for run in runs.values()],
        topics,
        qrels,
        [nDCG @ 10, AP(rel=2), P @ 2],
        names=list(runs),
    )
    measures = ["nDCG@10", "AP(rel=2)", "P@2"]
    of_files = library.evaluate(exported / "qrels.txt", [exported / f"exported-{tag}.run" for tag in runs], measures)
    for row in of_files:
        theirs = found[found["name"] == row["run"]].iloc[0]
        assert [theirs[measure] for measure in measures] == pytest.approx([row[measure] for measure in measures])
    assert of_files.value("beta", "nDCG@10") != of_files.value("alpha", "nDCG@10")
    # The frames of PyTerrier are taken as they are.
    assert library.evaluate(qrels, runs, measures).rows == of_files.rows
    assert not pt.java.started()
