"""Scores in the formats of TREC AutoJudge, read back by its own reader of leaderboards."""

from pathlib import Path

import pytest
from autojudge import Leaderboard
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.outputs.score_outputs import ALL_TOPICS, OF_VALUES, RunScores, ScoreTable

TABLE = ScoreTable(
    ("nDCG@10", "NumRet"),
    (
        RunScores("bm25", {"1": (0.1 + 0.2, 3), "t-2": (0.0, 0)}, (0.15, 3)),
        RunScores("dense", {"1": (1.0, 2), "t-2": (1 / 3, 1)}, (2 / 3, 3)),
    ),
)
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
    assert read(OF_VALUES[name](TABLE), name, tmp_path) == set(TABLE.cells())


@pytest.mark.parametrize("name", FORMATS)
def test_without_topics_there_are_the_means(name: str, tmp_path: Path) -> None:
    means = ScoreTable(TABLE.measures, tuple(RunScores(one.run, {}, one.values) for one in TABLE.runs))
    assert read(OF_VALUES[name](means), name, tmp_path) == {cell for cell in TABLE.cells() if cell[1] == ALL_TOPICS}


def test_the_columns_of_tot_are_run_measure_topic_value() -> None:
    table = ScoreTable(("AP",), (RunScores("bm25 (a/bm25.run)", {"1": (0.5,)}, (0.5,)),))
    assert OF_VALUES["tot"](table) == "bm25_(a/bm25.run)\tAP\t1\t0.5\nbm25_(a/bm25.run)\tAP\tall\t0.5\n"


@given(values=st.lists(st.floats(-10, 10) | st.integers(0, 10**6), min_size=1, max_size=3))
def test_every_value_comes_back_exactly(values: list[float]) -> None:
    table = ScoreTable(tuple(f"m{place}" for place in range(len(values))), (RunScores("r", {}, values),))
    for line, value in zip(OF_VALUES["tot"](table).splitlines(), values, strict=True):
        assert float(line.split("\t")[3]) == value
