"""Scoring from Python: files, dicts and arrays in, arrays out."""

from pathlib import Path

import numpy as np
import pytest

from annotator.errors import FileRefusedError, InvalidValueError
from annotator.evaluation import metrics
from annotator.evaluation.metrics.inputs import QrelsInput, RunsInput
from annotator.evaluation.qrels_table import table_of

QRELS = {"1": {"a": 2, "b": 0, "c": 1}, "10": {"a": 0}, "9": {"e": 1}}
ALPHA = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "10": {"a": 1.0}, "x": {"z": 1.0}}
BETA = {"1": {"c": 0.5}, "9": {"e": 1.0, "f": 1.0}}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, list[Path]]:
    """The same qrels and runs as files."""
    qrels = tmp_path / "qrels"
    qrels.write_text(
        "".join(f"{topic} 0 {docno} {grade}\n" for topic in QRELS for docno, grade in QRELS[topic].items())
    )
    paths = []
    for tag, run in (("alpha", ALPHA), ("beta", BETA)):
        path = tmp_path / tag
        path.write_text(
            "".join(f"{topic} Q0 {docno} 0 {score} {tag}\n" for topic in run for docno, score in run[topic].items())
        )
        paths.append(path)
    return qrels, paths


def test_values_come_as_an_array_of_runs_topics_and_measures() -> None:
    evaluation = metrics.evaluate(QRELS, {"alpha": ALPHA, "beta": BETA}, ["AP", "nDCG@10", "NumRet"])
    assert evaluation.runs == ("alpha", "beta")
    scores = evaluation.scores
    assert scores.topics == ("1", "10", "9")  # in the order of their bytes
    assert scores.values.shape == (2, 3, 3)
    assert scores.means.shape == (2, 3)
    # AP by hand. f goes before e: in a tie the later docno.
    assert scores.values[:, :, 0].tolist() == [[(1 + 2 / 3) / 2, 0, 0], [1 / 2, 0, 1 / 2]]
    assert scores.means[:, 0].tolist() == [(1 + 2 / 3) / 2 / 3, 1 / 3]
    assert scores.means[:, 2].tolist() == [4, 3]  # a count is summed, topics outside the qrels left out
    assert evaluation.scores.by_topic(1)["9"][0] == 1 / 2


def test_what_counts_as_nothing_is_named() -> None:
    evaluation = metrics.evaluate({**QRELS, "7": {"a": -1}}, {"alpha": ALPHA, "beta": BETA}, ["AP"])
    assert evaluation.scores.missing(0) == ("7", "9")
    assert evaluation.scores.missing(1) == ("10", "7")
    assert evaluation.scores.without_relevant == ("10", "7")
    assert evaluation.other_topics == (1, 0)
    assert evaluation.never_judged == ("7",)
    assert [str(warning).split(",")[0] for warning in evaluation.warnings] == [
        "Nothing of topic 7 is judged",
        "Topics of run alpha that the qrels do not have",
    ]


def test_files_dicts_and_arrays_give_the_same(files: tuple[Path, list[Path]]) -> None:
    qrels, paths = files
    arrays = {
        name: {topic: (np.array(list(scored)), np.array(list(scored.values()))) for topic, scored in run.items()}
        for name, run in (("alpha", ALPHA), ("beta", BETA))
    }
    as_bytes = {
        name: {topic: (docnos.astype(np.bytes_), scores.tolist()) for topic, (docnos, scores) in run.items()}
        for name, run in arrays.items()
    }
    inputs: list[tuple[QrelsInput, RunsInput]] = [
        (QRELS, {"alpha": ALPHA, "beta": BETA}),
        (table_of(QRELS), arrays),
        (qrels, as_bytes),
        (str(qrels), paths),
        (QRELS, [str(path) for path in paths]),
        (("q", qrels.read_bytes()), [(path.name, path.read_bytes()) for path in paths]),
    ]
    results = [metrics.evaluate(qrels, runs, ["all_trec", "RBP", "ERR@10"]) for qrels, runs in inputs]
    assert len({result.runs for result in results}) == 1
    for result in results[1:]:
        np.testing.assert_array_equal(result.scores.values, results[0].scores.values)
        np.testing.assert_array_equal(result.scores.means, results[0].scores.means)


def test_lenient_and_strict_agree_on_clean_files(files: tuple[Path, list[Path]]) -> None:
    qrels, paths = files
    strict = metrics.evaluate(qrels, paths, ["all_trec"], compat="9")
    lenient = metrics.evaluate(qrels, paths, ["all_trec"], compat="9", lenient=True)
    np.testing.assert_array_equal(strict.scores.values, lenient.scores.values)
    assert lenient.notices == ()


def test_compat_9_compares_scores_as_float32_however_they_come(tmp_path: Path) -> None:
    close = {"1": {"a": 1.00000002, "c": 1.00000001}}
    path = tmp_path / "close"
    path.write_text("1 Q0 a 1 1.00000002 close\n1 Q0 c 2 1.00000001 close\n")
    inputs: list[RunsInput] = [{"close": close}, [path]]
    for runs in inputs:
        for lenient in (False, True):
            double, single = (
                metrics.evaluate({"1": {"a": 1}}, runs, ["RR"], compat=compat, lenient=lenient).scores.means[0, 0]
                for compat in ("10", "9")
            )
            assert (double, single) == (1, 1 / 2)


def test_measures_may_be_names_or_measures_and_come_once() -> None:
    parsed = metrics.parse_measure("AP")
    evaluation = metrics.evaluate(QRELS, {"alpha": ALPHA}, ["map", parsed, "P@5"])
    assert list(map(str, evaluation.scores.measures)) == ["AP", "P@5"]


def test_judged_only_is_for_every_measure_or_for_one() -> None:
    gap = {"gap": {"1": {"x": 2.0, "a": 1.0}}}
    scores = metrics.evaluate(QRELS, gap, ["RR", "RR(judged_only=True)", "NumRet"]).scores
    assert scores.values[0, 0].tolist() == [1 / 2, 1, 2]
    condensed = metrics.evaluate(QRELS, gap, ["RR", "NumRet"], judged_only=True).scores
    assert condensed.values[0, 0].tolist() == [1, 1]
    assert condensed.missing(0) == ("10", "9")


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        ({"1": {"a b": 1.0}}, "not one word"),
        ({"": {"a": 1.0}}, "not one word"),
        ({"1": {"a": float("nan")}}, "not finite"),
        ({"1": {"a": float("inf")}}, "not finite"),
        ({"1": {"a": "high"}}, "no number"),
        ({"1": {7: 1.0}}, "no text"),
        ({"1": (["a", "a"], [2.0, 1.0])}, "Document a is in topic 1 twice"),
        ({"1": (["a", "b"], [2.0])}, "2 documents"),
    ],
)
def test_values_that_cannot_be_a_run_are_refused(run: object, sentence: str) -> None:
    with pytest.raises(InvalidValueError, match=sentence):
        metrics.evaluate(QRELS, {"run": run}, ["AP"])  # type: ignore[dict-item]  # wrong on purpose


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"relevant_from": 0}, "from grade 1 on, not from 0"),
        ({"compat": "8"}, "9 or 10, not “8”"),
        ({"runs": []}, "no run to score"),
        ({"qrels": {}}, "no topic"),
        ({"measures": ["APP"]}, "no measure “APP”"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(change: dict[str, object], sentence: str) -> None:
    asked: dict[str, object] = {"qrels": QRELS, "runs": {"alpha": ALPHA}, "measures": ["AP"], **change}
    with pytest.raises(InvalidValueError, match=sentence):
        metrics.evaluate(**asked)  # type: ignore[arg-type]  # the table mixes types


def test_every_problem_of_every_file_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_text("1 Q0 a 1 1,5 bad\n1 Q0 b 2\n")
    with pytest.raises(FileRefusedError, match=r"Nothing was scored. Problems found: 3.") as refusal:
        metrics.evaluate(QRELS, [bad, tmp_path / "missing"], ["AP"])
    assert [problem.line for problem in refusal.value.problems] == [1, 2, None]


def test_five_columns_of_qrels_are_a_stratified_sample() -> None:
    # One stratum of four documents, two judged, one of them relevant: R is estimated as 4 * 1/2 = 2.
    qrels = b"1 0 a 1 1\n1 0 b 1 0\n1 0 c 1 -1\n1 0 d 1 -1\n"
    scores = metrics.evaluate(("q", qrels), {"run": {"1": {"a": 1.0}}}, ["xinfAP"]).scores
    # (1 / R) * (N / n) * E[PC at rank 1] = 1/2 * 4/2 * 1
    assert scores.means[0, 0] == 1
