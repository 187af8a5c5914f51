"""`annotator.evaluate` and `annotator.compare`: everything that programs hold gives the scores of the files."""

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from frames import FRAMES, pandas_frame
from ir_measures import AP, P, nDCG
from scipy import stats  # type: ignore[import-untyped]  # it ships no types

import annotator
from annotator.errors import AnnotatorError, FileRefusedError
from annotator.evaluation.metrics import evaluate as evaluate_files

QRELS = "1 0 d1 2\n1 0 d2 0\n1 0 d3 1\n2 0 d1 1\n2 0 d4 0\n3 0 d5 1\n3 0 d6 2\n"
RUNS = {
    "bm25": "1 Q0 d2 1 9.5 bm25\n1 Q0 d1 2 8.5 bm25\n2 Q0 d1 1 3 bm25\n3 Q0 d7 1 4 bm25\n3 Q0 d5 2 3 bm25\n",
    "dense": "1 Q0 d1 1 9 dense\n1 Q0 d3 2 8 dense\n2 Q0 d4 1 7 dense\n3 Q0 d6 1 6 dense\n3 Q0 d5 2 5 dense\n",
}
MEASURES = ["nDCG@10", "AP", "P(rel=2)@1"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with qrels and two runs."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    for tag, lines in RUNS.items():
        (tmp_path / f"{tag}.run").write_text(lines)
    return tmp_path


def qrels_rows() -> list[tuple[int, str, int]]:
    """Topic numbers as numbers, as frames read from files have them."""
    return [(int(topic), docno, int(grade)) for topic, _, docno, grade in map(str.split, QRELS.splitlines())]


def run_rows(tag: str) -> list[tuple[int, str, int, float]]:
    return [
        (int(topic), docno, int(rank), float(score))
        for topic, _, docno, rank, score, _ in map(str.split, RUNS[tag].splitlines())
    ]


def expected(files: Path) -> tuple[tuple[Any, ...], ...]:
    """The rows by the files, by the function that is compared with trec_eval."""
    scores = evaluate_files(files / "qrels.txt", [files / f"{tag}.run" for tag in RUNS], MEASURES).scores
    return tuple((tag, *scores.over_topics(place)) for place, tag in enumerate(RUNS))


def test_files_give_a_row_a_run(files: Path) -> None:
    results = annotator.evaluate(files / "qrels.txt", [files / "bm25.run", str(files / "dense.run")], MEASURES)
    assert results.columns == ("run", *MEASURES)
    assert results.rows == expected(files)
    assert results.value("dense", "AP") == results.rows[1][2]
    by_topic = results.by_topic
    assert by_topic.columns == ("run", "topic", *MEASURES)
    assert [row[:2] for row in by_topic.rows] == [(tag, topic) for tag in RUNS for topic in "123"]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    "names", [("topic", "docno", "grade"), ("query_id", "doc_id", "relevance"), ("qid", "docno", "label")]
)
def test_frames_give_the_scores_of_the_files(
    files: Path, frame: Callable[..., object], names: tuple[str, str, str]
) -> None:
    topic, docno, grade = names
    qrels = frame([topic, docno, grade], qrels_rows())
    runs = {tag: frame([topic, docno, "rank", "score"], run_rows(tag)) for tag in RUNS}
    assert annotator.evaluate(qrels, runs, MEASURES).rows == expected(files)
    tagged = [(tag, *row) for tag in RUNS for row in run_rows(tag)]
    together = frame(["tag", topic, docno, "rank", "score"], tagged)
    assert annotator.evaluate(qrels, together, MEASURES).rows == expected(files)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", ["subtopic", "iteration"])
def test_frames_and_records_may_have_subtopics(frame: Callable[..., object], name: str) -> None:
    rows = [(1, 1, "d1", 1), (1, 2, "d1", 0), (1, 2, "d3", 2), (2, 1, "d1", 1), (3, 1, "d6", 1)]
    lines = "".join(f"{topic} {subtopic} {docno} {grade}\n" for topic, subtopic, docno, grade in rows)
    measures = ["alpha_nDCG@5", "StRecall@1", "AP"]
    runs = {tag: pandas_frame(["topic", "docno", "rank", "score"], run_rows(tag)) for tag in RUNS}
    expected = annotator.evaluate(("qrels", lines.encode()), runs, measures).rows
    assert annotator.evaluate(frame(["topic", name, "docno", "grade"], rows), runs, measures).rows == expected
    records = ir_measures.read_trec_qrels(lines)  # type: ignore[no-untyped-call]
    assert annotator.evaluate(records, runs, measures).rows == expected
    assert expected[1][2] == pytest.approx((1 / 2 + 0 + 1) / 3)


def test_a_column_of_subtopics_that_names_one_of_each_topic_is_ignored(files: Path) -> None:
    qrels = pandas_frame(["topic", "docno", "grade", "iteration"], [(*row, "0") for row in qrels_rows()])
    runs = [files / f"{tag}.run" for tag in RUNS]
    assert annotator.evaluate(qrels, runs, MEASURES).rows == expected(files)
    with pytest.raises(AnnotatorError, match="StRecall@5 needs qrels with subtopics"):
        annotator.evaluate(qrels, runs, "StRecall@5")


def test_a_frame_without_scores_is_ordered_by_its_ranks(files: Path) -> None:
    rows = [row[:3] for row in run_rows("dense")]
    run = pandas_frame(["qid", "docno", "rank"], rows[::-1])
    results = annotator.evaluate(files / "qrels.txt", run, MEASURES)
    assert results.rows == (("run", *expected(files)[1][1:]),)


def test_records_and_measures_of_ir_measures_are_taken(files: Path) -> None:
    qrels = ir_measures.read_trec_qrels(str(files / "qrels.txt"))  # type: ignore[no-untyped-call]
    runs = {tag: ir_measures.read_trec_run(str(files / f"{tag}.run")) for tag in RUNS}  # type: ignore[no-untyped-call]
    found = annotator.evaluate(qrels, runs, [nDCG @ 10, AP, P(rel=2) @ 1])
    assert found.columns == ("run", *MEASURES)
    assert found.rows == expected(files)


def test_dicts_and_objects_with_to_dict_are_taken(files: Path) -> None:
    class Run:
        """As of ranx: a name, and the scores as a dict."""

        def __init__(self, tag: str) -> None:
            self.name = tag

        def to_dict(self) -> dict[str, dict[str, float]]:
            found: dict[str, dict[str, float]] = {}
            for topic, docno, _, score in run_rows(self.name):
                found.setdefault(str(topic), {})[docno] = score
            return found

    qrels: dict[str, dict[str, int]] = {}
    for topic, docno, grade in qrels_rows():
        qrels.setdefault(str(topic), {})[docno] = grade
    by_name = {tag: Run(tag).to_dict() for tag in RUNS}
    assert annotator.evaluate(qrels, by_name, MEASURES).rows == expected(files)
    assert annotator.evaluate(qrels, Run("dense"), MEASURES).rows == expected(files)[1:]
    assert annotator.evaluate(qrels, by_name["dense"], MEASURES).rows == (("run", *expected(files)[1][1:]),)


def test_files_with_the_same_tag_are_named_by_their_files(files: Path) -> None:
    (files / "again.run").write_text(RUNS["bm25"])
    runs = [files / name for name in ("bm25.run", "again.run", "dense.run")]
    assert annotator.evaluate(files / "qrels.txt", runs).column("run") == [
        "bm25 (bm25.run)",
        "bm25 (again.run)",
        "dense",
    ]
    compared = annotator.compare(files / "qrels.txt", runs, "AP", baseline="dense")
    assert compared.column("run") == ["bm25 (bm25.run)", "bm25 (again.run)"]
    assert ("1", "d2", 1, 2) in annotator.pool(runs, depth=1).rows


def test_a_comparison_has_the_paired_t_test_of_scipy(files: Path) -> None:
    compared = annotator.compare(files / "qrels.txt", [files / f"{tag}.run" for tag in RUNS], ["AP", "nDCG@10"])
    by_topic = annotator.evaluate(files / "qrels.txt", [files / f"{tag}.run" for tag in RUNS], "AP").by_topic
    values = np.array(by_topic.column("AP"), np.float64).reshape(2, 3)
    assert compared.column("measure") == ["AP", "nDCG@10"]
    first = next(iter(compared))
    assert first["difference"] == pytest.approx(values[1].mean() - values[0].mean())
    assert first["p_t"] == pytest.approx(stats.ttest_rel(values[1], values[0]).pvalue)
    assert compared.notes == ("Baseline: bm25",)


def test_results_become_frames_latex_and_markdown(files: Path) -> None:
    results = annotator.evaluate(files / "qrels.txt", files / "bm25.run", ["AP", "NumRel"])
    [row] = results.rows
    assert results.to_pandas().to_dict("records") == results.to_dicts()
    assert results.to_polars().to_dicts() == results.to_dicts()
    assert rf"bm25 & {row[1]:.4f} & {row[2]} \\" in results.to_latex()
    assert f"| bm25 | {row[1]:.4f} | {row[2]} |" in results.to_markdown()
    assert repr(results).splitlines()[1].split() == ["bm25", f"{row[1]:.4f}", str(row[2])]
    shown = results._repr_html_()
    assert '<td style="text-align: left">bm25</td>' in shown
    assert f'<td style="text-align: right">{results.value("bm25", "AP"):.4f}</td>' in shown


def test_a_long_table_is_shown_in_part() -> None:
    qrels = {"1": {f"d{number:02}": 1 for number in range(30)}}
    shown = repr(annotator.pool({"1": dict.fromkeys(qrels["1"], 1.0)}, depth=30))
    assert len(shown.splitlines()) == 22
    assert shown.endswith("… and 10 more rows")


@pytest.mark.parametrize(
    ("qrels", "runs", "sentence"),
    [
        (7, {}, "The qrels are given as a file, a dict, a frame or records; int is none of them."),
        (pd.DataFrame({"topic": [1], "docno": ["a"]}), {}, "The frame of the qrels has no column grade; it is also"),
        (pd.DataFrame({"qid": [1.5], "docno": ["a"], "label": [1]}), {}, "1.5 in the column topic is no identifier"),
        (
            pd.DataFrame({"qid": [1, 1], "docno": ["a", "a"], "label": [1, 2]}),
            {},
            "Document a is in topic 1 twice.",
        ),
        ({"1": {"a": 1}}, pd.DataFrame({"qid": [1, 1], "docno": ["a", "a"], "score": [1, 2]}), "is in topic 1 twice"),
        ({"1": {"a": 1}}, pd.DataFrame({"qid": [1], "docno": ["a"], "score": [None]}), "a score that is"),
        ([("1", "a", 1)], {}, "The records of the qrels have no field topic"),
    ],
)
def test_what_cannot_be_read_is_named(qrels: object, runs: object, sentence: str) -> None:
    with pytest.raises(AnnotatorError, match=sentence):
        annotator.evaluate(qrels, runs, "AP")


def test_a_bad_file_is_refused_with_its_line(files: Path) -> None:
    (files / "bad.run").write_text("1 Q0 d1 1 high bad\n")
    with pytest.raises(FileRefusedError) as refused:
        annotator.evaluate(files / "qrels.txt", files / "bad.run")
    [problem] = refused.value.problems
    assert problem.line == 1
    assert str(problem) in "".join(traceback.format_exception(refused.value))  # what a notebook shows
    with pytest.raises(FileRefusedError):
        annotator.pool(files / "bad.run")


def test_one_run_is_not_compared(files: Path) -> None:
    with pytest.raises(AnnotatorError, match="there is only bm25"):
        annotator.compare(files / "qrels.txt", files / "bm25.run")
    with pytest.raises(AnnotatorError, match="The baseline “none” is not among the runs"):
        annotator.compare(files / "qrels.txt", [files / f"{tag}.run" for tag in RUNS], baseline="none")


def test_without_pandas_a_frame_says_what_to_install(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = annotator.evaluate(files / "qrels.txt", files / "bm25.run")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(AnnotatorError, match="pip install pandas"):
        results.to_pandas()


def test_the_format_of_a_file_can_be_named(files: Path) -> None:
    (files / "table.csv").write_text("qid,docno,score\n1,d1,2.5\n")
    (files / "grades.csv").write_text("query,docid,rating\n1,d1,1\n")
    named = {"input_format": "csv", "qrels_format": "csv"}
    assert annotator.evaluate(files / "grades.csv", files / "table.csv", "AP", **named).value("table", "AP") == 1.0
    with pytest.raises(FileRefusedError):
        annotator.evaluate(files / "grades.csv", files / "table.csv", "AP", input_format="trec")
    with pytest.raises(AnnotatorError, match="There is no format xml of runs; there are csv"):
        annotator.evaluate(files / "grades.csv", files / "table.csv", "AP", input_format="xml")


@pytest.mark.parametrize("runs", [[], {}])
def test_no_run_is_refused_and_has_no_scores(runs: object) -> None:
    with pytest.raises(AnnotatorError, match="There is no run"):
        annotator.evaluate({"1": {"a": 1}}, runs, "AP")
