"""`annotator.pool` and `annotator.simulate`: pools and strategies on runs as files, dicts and frames."""

from collections.abc import Callable

import pandas as pd
import pytest
from frames import FRAMES
from hypothesis import given
from hypothesis import strategies as st

import annotator
from annotator.errors import AnnotatorError

RUNS = {
    "a": {"2": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "10": {"d9": 1.0}},
    "b": {"2": {"d2": 9.0, "d4": 8.0, "d1": 7.0}},
}


def test_a_depth_pool_holds_the_top_of_every_run() -> None:
    pooled = annotator.pool(RUNS, depth=2)
    assert pooled.columns == ("topic", "docno", "rank", "runs")
    assert pooled.rows == (("2", "d1", 1, 1), ("2", "d2", 1, 2), ("2", "d4", 2, 1), ("10", "d9", 1, 1))
    assert annotator.pool(RUNS).rows == annotator.pool(RUNS, depth=10).rows


ROWS = [(run, int(topic), *one) for run, lists in RUNS.items() for topic, docs in lists.items() for one in docs.items()]
LABELS = [(2, "d1", 0), (2, "d2", 1), (2, "d4", 0), (10, "d9", 1)]


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_give_the_pool_and_the_simulation_of_dicts(frame: Callable[..., object]) -> None:
    runs = frame(["tag", "topic", "docno", "score"], ROWS)
    assert annotator.pool(runs, depth=2).rows == annotator.pool(RUNS, depth=2).rows
    qrels = frame(["topic", "docno", "grade"], LABELS)
    expected = annotator.simulate({"2": {"d1": 0, "d2": 1, "d4": 0}, "10": {"d9": 1}}, RUNS, ["rrf", "depth"])
    assert annotator.simulate(qrels, runs, ["rrf", "depth"]).rows == expected.rows


def test_other_strategies_take_their_parameters() -> None:
    rows = annotator.pool(RUNS, strategy="rrf", budget=2).rows
    assert [row[:2] for row in rows] == [("2", "d2"), ("10", "d9")]
    assert annotator.pool(RUNS, strategy="mtf", budget=9, start_depth=1).rows == annotator.pool(RUNS, depth=1).rows
    with pytest.raises(AnnotatorError, match="There is no strategy “rff”"):
        annotator.pool(RUNS, strategy="rff", budget=2)
    with pytest.raises(AnnotatorError, match=r"There is no run\."):
        annotator.pool({})


@given(st.dictionaries(st.sampled_from("abc"), st.dictionaries(st.sampled_from("12"), st.dictionaries(
    st.sampled_from(["d1", "d2", "d3", "d4", "d5"]), st.integers(0, 9), min_size=1), min_size=1), min_size=1),
    st.integers(1, 6))  # fmt: skip
def test_a_pool_is_the_union_of_the_tops(runs: dict[str, dict[str, dict[str, float]]], depth: int) -> None:
    tops = {
        (topic, docno)
        for lists in runs.values()
        for topic, scores in lists.items()
        for docno in sorted(scores, key=lambda one: (scores[one], one), reverse=True)[:depth]
    }
    assert {row[:2] for row in annotator.pool(runs, depth=depth).rows} == tops


def test_a_simulation_finds_everything_in_the_end_and_the_best_first() -> None:
    qrels = pd.DataFrame(
        [(topic, docno, int(docno in {"d2", "d9"})) for topic, docno in [(2, "d1"), (2, "d2"), (2, "d4"), (10, "d9")]],
        columns=["qid", "docno", "label"],
    )
    found = annotator.simulate(qrels, RUNS, ["rrf", "depth"])
    assert found.columns == ("strategy", "start_depth", "share", "judged", "recall", "tau")
    by_rrf = [row for row in found.rows if row[0] == "rrf"]
    assert [row[2] for row in by_rrf] == [0.05, 0.1, 0.2, 0.3, 0.5]
    assert (by_rrf[-1][3], by_rrf[-1][4]) == (2, 1.0)
    with pytest.raises(AnnotatorError, match="No run has a document that is relevant"):
        annotator.simulate({"2": {"d1": 0}}, RUNS)
