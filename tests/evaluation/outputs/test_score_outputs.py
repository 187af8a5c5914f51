"""Scores in the formats of TREC AutoJudge, read back by its own reader of leaderboards."""

from pathlib import Path

import pytest
from autojudge import Leaderboard
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.outputs.score_outputs import (
    ALL_TOPICS,
    RunScores,
    ScoreTable,
    ir_measures,
    scores_as,
    tot,
    trec_eval,
)

TABLE = ScoreTable(
    ("nDCG@10", "NumRet"),
    (
        RunScores("bm25", {"1": (0.1 + 0.2, 3), "t-2": (0.0, 0)}, (0.15, 3)),
        RunScores("dense", {"1": (1.0, 2), "t-2": (1 / 3, 1)}, (2 / 3, 3)),
    ),
)
NO_COLUMNS: tuple[list[str], list[list[str]]] = ([], [])
FORMATS = {"tot": "tot", "autojudge": "jsonl"}


def read(text: str, name: str, folder: Path) -> set[tuple[str, str, str, float]]:
    """Each value as autojudge-base reads it, which says on standard output what it does."""
    path = folder / "scores"
    path.write_text(text, encoding="utf-8")
    return {
        (entry.run_id, entry.topic_id, measure, float(value))
        for entry in Leaderboard.load(path, FORMATS[name]).entries
        for measure, value in entry.values.items()
    }


@pytest.mark.parametrize("name", FORMATS)
def test_autojudge_reads_every_value(name: str, tmp_path: Path) -> None:
    assert read(scores_as(name, TABLE, NO_COLUMNS).decode(), name, tmp_path) == set(TABLE.cells())


@pytest.mark.parametrize("name", FORMATS)
def test_without_topics_there_are_the_means(name: str, tmp_path: Path) -> None:
    means = ScoreTable(TABLE.measures, tuple(RunScores(one.run, {}, one.values) for one in TABLE.runs))
    text = scores_as(name, means, NO_COLUMNS).decode()
    assert read(text, name, tmp_path) == {cell for cell in TABLE.cells() if cell[1] == ALL_TOPICS}


def test_the_columns_of_tot_are_run_measure_topic_value() -> None:
    table = ScoreTable(("AP",), (RunScores("bm25 (a/bm25.run)", {"1": (0.5,)}, (0.5,)),))
    assert tot(table) == "bm25_(a/bm25.run)\tAP\t1\t0.5\nbm25_(a/bm25.run)\tAP\tall\t0.5\n"


def test_trec_eval_has_counts_as_integers_topics_by_their_bytes_and_the_name_of_each_run() -> None:
    runs = (
        RunScores("a", {"é": (3, 0.25, 0.5), "z": (4, 0.0, 1.0), "10": (1, 1.0, 0.0)}, (8, 0.0, 0.5)),
        RunScores("b", {}, (0, 0.0, 0.0)),
    )
    table = ScoreTable(("NumRet", "GMAP", "P@5"), runs)
    assert [line.split() for line in trec_eval(table).splitlines()] == [
        *(["num_ret", "10", "1"], ["P_5", "10", "0.0000"], ["num_ret", "z", "4"], ["P_5", "z", "1.0000"]),
        *(["num_ret", "é", "3"], ["P_5", "é", "0.5000"]),
        *(["runid", "all", "a"], ["num_ret", "all", "8"], ["gm_map", "all", "0.0000"], ["P_5", "all", "0.5000"]),
        *(["runid", "all", "b"], ["num_ret", "all", "0"], ["gm_map", "all", "0.0000"], ["P_5", "all", "0.0000"]),
    ]
    for name in ("RBP(p=0.8)", "Judged@10", "ERR@5"):
        with pytest.raises(InvalidValueError, match="its format cannot show"):
            trec_eval(ScoreTable((name,), (RunScores("a", {}, (0.5,)),)))


def test_ir_measures_is_for_one_run() -> None:
    one, other = TABLE.runs
    assert ir_measures(ScoreTable(TABLE.measures, ())) == ""
    assert ir_measures(ScoreTable(("nDCG@10",), (RunScores("a", {}, (0.5,)),))) == "nDCG@10\t0.5000\n"
    assert ir_measures(ScoreTable(TABLE.measures, (one,))).startswith("1\tnDCG@10\t0.3000\n1\tNumRet\t3.0000\n")
    with pytest.raises(InvalidValueError, match="is for one run; there are 2"):
        ir_measures(ScoreTable(TABLE.measures, (one, other)))


@given(values=st.lists(st.floats(-10, 10) | st.integers(0, 10**6), min_size=1, max_size=3))
def test_every_value_comes_back_exactly(values: list[float]) -> None:
    table = ScoreTable(tuple(f"m{place}" for place in range(len(values))), (RunScores("r", {}, values),))
    for line, value in zip(tot(table).splitlines(), values, strict=True):
        assert float(line.split("\t")[3]) == value
