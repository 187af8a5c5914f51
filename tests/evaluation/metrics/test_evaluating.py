"""Scoring from Python: files, dicts and arrays in, arrays out."""

import os
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from annotator.errors import FileRefusedError, InvalidValueError
from annotator.evaluation import metrics
from annotator.evaluation.matching import files as files_module
from annotator.evaluation.metrics.inputs import QrelsInput, RunsInput
from annotator.evaluation.qrels.qrels_table import table_of

QRELS = {"1": {"a": 2, "b": 0, "c": 1}, "10": {"a": 0}, "9": {"e": 1}}
ALPHA = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "10": {"a": 1.0}, "x": {"z": 1.0}}
SHAPE_OF_RUNS = "Runs are {name: {topic: {docno: score}}}, as {'bm25': {'401': {'FT911-3': 12.5}}}"
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
        "Topic 7 has only negative grades",
        "Topics of run alpha that the qrels do not have",
    ]


def test_a_topic_without_documents_has_its_own_warning() -> None:
    evaluation = metrics.evaluate({"1": {"a": 1}, "7": {"a": -1}, "8": {}}, {"alpha": {"1": {"a": 1.0}}}, "AP")
    assert (evaluation.never_judged, evaluation.without_documents) == (("7", "8"), ("8",))
    assert [str(warning) for warning in evaluation.warnings] == [
        (
            "Topic 7 has only negative grades, so nothing of it is judged; no document of any run is relevant there, "
            "and the topic counts in the means."
        ),
        (
            "The qrels have no document of topic 8; no document of any run is relevant there, and the topic counts in "
            "the means."
        ),
    ]


def test_numbers_of_any_kind_are_scores() -> None:
    scores = [2**70, 3, 2.5, np.float32(2.25), np.int16(2), Decimal("1.5"), Fraction(1, 2), np.uint8(0), -1]
    docnos = [*"abcdefghi"]
    inputs = [dict(zip(docnos, scores, strict=True)), (docnos, scores), (np.array(docnos), np.array(scores, object))]
    for given in inputs:
        run = {"1": given}
        evaluation = metrics.evaluate(
            {"1": {"i": 1}},
            {"r": run},  # type: ignore[dict-item]  # more kinds of numbers than the types say
            "RR",
        )
        assert evaluation.scores.means[0, 0] == 1 / 9


def test_the_least_grade_may_be_a_number_of_numpy() -> None:
    assert metrics.evaluate(QRELS, {"alpha": ALPHA}, "NumRel", relevant_from=np.int64(2)).scores.means[0, 0] == 1  # type: ignore[arg-type]  # it is as good


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
        ({"1": {7: 1.0}}, "not text"),
        ({"1": (["a", "a"], [2.0, 1.0])}, "Document a is in topic 1 twice"),
        ({"1": (["a", "b"], [2.0])}, "2 documents"),
        ({"1": (np.array([b"a\xff"]), [1.0])}, r"The document id b'a\\xff' is not UTF-8"),
        ({"1": {b"a": 1.0}}, "b'a' .* is not text"),
        ({"1": {"a": 10**400}}, "beyond what a number can hold"),
        ({"1": {"a": 10**400, "b": 1.0}}, "beyond what a number can hold"),
        *(({"1": {"b": 2.0, "a": score}}, "no number") for score in ("5", b"5", True, np.True_, None, [1.0], 1j)),
        ({"1": {"a": "5"}}, "no number"),
        ({"1": {"a": True}}, "no number"),
        ({"1": (["a"], np.array([True]))}, "no number"),
        ({"1": (["a"], np.array(["5"]))}, "no number"),
        ({"1": (["a"], np.array([True], object))}, "no number"),
        ({"1": (["a"], None)}, "no number"),
        *(({"1": given}, SHAPE_OF_RUNS) for given in (5, "ab", None, ["a"], ("ab", [1.0, 2.0]), (5, [1.0]))),
        ({"1": (np.array("ab"), [1.0, 2.0])}, SHAPE_OF_RUNS),
        ({"1": (np.array([["a"]]), [1.0])}, SHAPE_OF_RUNS),
        ({"a": 1.0, "b": 2.0}, rf"{SHAPE_OF_RUNS}.* topic a has 1\.0 instead\."),  # runs of pytrec_eval have no name
        ({"1": "x" * 100}, "topic 1 has 'x{59}… instead"),
    ],
)
def test_values_that_cannot_be_a_run_are_refused(run: object, sentence: str) -> None:
    with pytest.raises(InvalidValueError, match=sentence):
        metrics.evaluate(QRELS, {"run": run}, ["AP"])  # type: ignore[dict-item]  # wrong on purpose


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"relevant_from": 0}, "from grade 1 on, not from 0"),
        ({"relevant_from": 1.5}, "must be a whole number, not 1.5"),
        ({"relevant_from": True}, "must be a whole number, not True"),
        ({"relevant_from": "1"}, "must be a whole number, not '1'"),
        *(({"workers": workers}, "a whole number from 1, not") for workers in (0, "2", None, True)),
        ({"compat": "8"}, "9 or 10, not “8”"),
        ({"runs": []}, "no run to score"),
        ({"qrels": {}}, "no topic"),
        ({"compat": 8}, "9 or 10, not “8”"),
        ({"measures": ["APP"]}, "no measure “APP”"),
        ({"measures": []}, "no measure to score by; name at least one"),
        ({"measures": ""}, "There is no measure “”"),
        ({"runs": {}}, "no run to score"),
        ({"runs": [ALPHA]}, "A file is given by its path, .* Neither is dict."),
        ({"runs": {"alpha": 5}}, "A file is given by its path, .* Neither is int."),
        ({"qrels": b"1 0 a 1"}, "A file is given by its path, .* Neither is bytes."),
        *(({"runs": runs}, "A file is given by its path, .* Neither is ") for runs in (b"a.run", [b"a.run"], None, 5)),
        *(
            ({door: path}, "cannot be the path of a file")
            for door in ("qrels", "runs")
            for path in ("a\0b", "a\ud800", Path("a\0b"))
        ),
        ({"runs": [("name", Path("a\0b"))]}, "cannot be the path of a file"),
        ({"runs": {1: ALPHA}}, "{name: {topic: {docno: score}}}. 1 is no name."),
        ({"runs": {"t\ud800": ALPHA}}, r"'t\\ud800' is no name"),
        ({"runs": {"t\ud800": "a.run"}}, r"'t\\ud800' is no name"),
        *(
            ({"measures": given}, "A measure is given by its name")
            for given in (None, [None], 5, b"AP", ["AP", b"P@1"])
        ),
        ({"qrels": {"1": 5}}, "Qrels are {topic: {docno: grade}}, .*; topic 1 has 5 instead."),
        ({"qrels": {"1": ["a"]}}, r"Qrels are {topic: {docno: grade}}, .*; topic 1 has \['a'\] instead."),
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


def test_one_run_and_one_measure_need_no_list(files: tuple[Path, list[Path]]) -> None:
    qrels, [alpha, _] = files
    expected = metrics.evaluate(qrels, [alpha], ["AP"])
    inputs: list[RunsInput] = [alpha, str(alpha), ("alpha", alpha.read_bytes())]
    for run in inputs:
        for measure in ("AP", metrics.parse_measure("AP")):
            evaluation = metrics.evaluate(qrels, run, measure)
            assert evaluation.runs == ("alpha",)
            np.testing.assert_array_equal(evaluation.scores.values, expected.scores.values)


def test_two_paths_are_two_runs_in_a_tuple_too(files: tuple[Path, list[Path]]) -> None:
    qrels, [alpha, beta] = files
    assert metrics.evaluate(qrels, (str(alpha), beta), "AP").runs == ("alpha", "beta")


@pytest.mark.parametrize("lenient", [False, True])
def test_files_and_values_may_stand_together_under_names(files: tuple[Path, list[Path]], *, lenient: bool) -> None:
    qrels, [alpha, beta] = files
    runs: RunsInput = {"x": str(beta), "alpha": ALPHA, "y": ("beta.run", beta.read_bytes()), "z": alpha}
    evaluation = metrics.evaluate(qrels, runs, "AP", lenient=lenient)
    assert evaluation.runs == ("x", "alpha", "y", "z")  # the file of x and y has the tag beta
    # As in the first test: alpha 5/6, 0, 0; beta 1/2, 0, 1/2.
    assert evaluation.scores.means[:, 0].tolist() == [1 / 3, (1 + 2 / 3) / 2 / 3, 1 / 3, (1 + 2 / 3) / 2 / 3]


def test_a_file_under_a_name_is_refused_by_its_path(tmp_path: Path) -> None:
    with pytest.raises(FileRefusedError) as refusal:
        metrics.evaluate(QRELS, {"x": str(tmp_path / "missing"), "alpha": ALPHA}, "AP")
    assert [problem.file for problem in refusal.value.problems] == [str(tmp_path / "missing")]


def test_the_trec_eval_to_follow_may_be_a_number() -> None:
    close = {"close": {"1": {"a": 1.00000002, "c": 1.00000001}}}
    # Equal in single precision, so c goes first.
    assert [metrics.evaluate({"1": {"a": 1}}, close, "RR", compat=compat).scores.means[0, 0] for compat in (10, 9)] == [
        1,
        1 / 2,
    ]


def test_workers_share_the_reading(files: tuple[Path, list[Path]], monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, paths = files
    monkeypatch.setattr(files_module, "LEAST_BYTES", 0)
    before = os.times().children_user
    alone = metrics.evaluate(qrels, paths, "AP")
    assert os.times().children_user == before
    shared = metrics.evaluate(qrels, paths, "AP", workers=2)
    assert os.times().children_user > before  # another process has worked and ended
    np.testing.assert_array_equal(shared.scores.values, alone.scores.values)


def test_what_was_read_leniently_is_told_of_qrels_and_of_runs() -> None:
    qrels, run = ("q", b"1 0 a 1.9\n"), ("r", b"1 Q0 a 1 1,5 t\n")
    evaluation = metrics.evaluate(qrels, [run], "AP", lenient=True)
    assert [(notice.file, notice.line) for notice in evaluation.notices] == [("q", 1), ("r", 1)]
    assert evaluation.scores.means[0, 0] == 1


def test_a_document_twice_in_a_topic_that_the_qrels_lack_is_told_leniently() -> None:
    run = ("r", b"x Q0 a 1 2 t\nx Q0 a 2 1 t\n1 Q0 a 1 1 t\n")
    evaluation = metrics.evaluate(QRELS, [run], "RR", lenient=True)
    assert [(notice.file, notice.line) for notice in evaluation.notices] == [("r", 2)]
    assert evaluation.other_topics == (1,)
    assert evaluation.scores.values[0, :, 0].tolist() == [1, 0, 0]
    with pytest.raises(FileRefusedError, match="Problems found: 1"):
        metrics.evaluate({"x": {}}, [run], "RR", lenient=True)


@pytest.mark.parametrize("lenient", [False, True])
def test_qrels_and_runs_in_the_wrong_order_are_told_once(files: tuple[Path, list[Path]], *, lenient: bool) -> None:
    qrels, [alpha, beta] = files
    with pytest.raises(FileRefusedError) as refusal:
        metrics.evaluate(alpha, [qrels], "AP", lenient=lenient)
    assert [str(problem) for problem in refusal.value.problems] == [
        (
            f"{alpha}: This is a run, not qrels: every line has six columns, the fifth a score. "
            "Where both are asked for, the qrels come first."
        )
    ]
    with pytest.raises(FileRefusedError) as refusal:
        metrics.evaluate(qrels, [qrels, beta], "AP", lenient=lenient)
    assert [str(problem) for problem in refusal.value.problems] == [
        (
            f"{qrels}: This is a file of qrels, not a run: every line has four columns, or five of a sample, the last "
            "a grade. Where both are asked for, the qrels come first."
        )
    ]


@pytest.mark.parametrize("lenient", [False, True])
def test_columns_between_commas_are_told_once(*, lenient: bool) -> None:
    told = (
        "The columns are separated by “,”. Name them in the first line, as in {}, or separate them by blanks or tabs."
    )
    run = ("r.csv", b"1,Q0,a,1,1,t\n1,Q0,b,2,0,t\n")
    with pytest.raises(FileRefusedError) as refusal:
        metrics.evaluate(QRELS, [run, ("s", b"1 Q0 a 1\n1,Q0,a,1,1,t\n")], "AP", lenient=lenient)
    assert [str(problem) for problem in refusal.value.problems[:1]] == ["r.csv: " + told.format("qid,docno,score")]
    assert [problem.line for problem in refusal.value.problems[1:]] == [1, 2]  # not every line of s is so
    with pytest.raises(FileRefusedError) as refusal:
        metrics.evaluate(("q.csv", b"1,0,a,1\n1,0,b,0\n"), [run], "AP", lenient=lenient)
    assert [str(problem) for problem in refusal.value.problems] == ["q.csv: " + told.format("qid,docno,grade")]


def test_a_hundred_problems_of_one_file_do_not_hide_the_next() -> None:
    many = ("many", b"".join(b"1 Q0 d%d 1 x%d t\n" % (number, number) for number in range(130)))
    with pytest.raises(FileRefusedError, match="Problems found: 131") as refusal:
        metrics.evaluate(QRELS, [many, ("next", b"1 Q0 a 1 y t\n")], "AP")
    assert [str(problem) for problem in refusal.value.problems[-2:]] == [
        "many: Further problems of this file: 30.",
        "next:1: The score y is not a finite decimal number such as 12.5 or -3.1e-7.",
    ]


def test_five_columns_of_qrels_are_a_stratified_sample() -> None:
    # One stratum of four documents, two judged, one of them relevant: R is estimated as 4 * 1/2 = 2.
    qrels = b"1 0 a 1 1\n1 0 b 1 0\n1 0 c 1 -1\n1 0 d 1 -1\n"
    scores = metrics.evaluate(("q", qrels), {"run": {"1": {"a": 1.0}}}, ["xinfAP"]).scores
    # (1 / R) * (N / n) * E[PC at rank 1] = 1/2 * 4/2 * 1
    assert scores.means[0, 0] == 1


def test_where_trec_eval_prints_nan_without_unjudged_documents_is_warned_of() -> None:
    runs = {"good": {"1": {"a": 2.0, "z": 1.0}}, "none": {"1": {"y": 2.0, "z": 1.0}, "9": {"e": 1.0}}}
    condensed = metrics.evaluate(QRELS, runs, ["IPrec@0", "11ptAvg"], judged_only=True)
    [warning] = map(str, condensed.warnings)
    assert warning.startswith("For these topics run none returned no judged document")
    assert ": 1. trec_eval divides by zero there and prints NaN" in warning
    assert condensed.scores.by_topic(1)["1"] == (0.0, 0.0)
    assert metrics.evaluate(QRELS, runs, ["11ptAvg(judged_only=True)"]).warnings == condensed.warnings
    # Nothing is divided without -J, and other measures do not divide.
    assert metrics.evaluate(QRELS, runs, ["11ptAvg"]).warnings == ()
    assert metrics.evaluate(QRELS, runs, ["AP", "11ptAvg(judged_only=False)"], judged_only=True).warnings == ()


def test_measures_of_a_scale_name_the_best_grade_they_take() -> None:
    written = ["ERR@20", "nERR", "ERR(max=4)@20", "RBP", "RBP(gain=exp)", "AP"]
    scores = metrics.evaluate(QRELS, {"alpha": ALPHA}, written).scores
    assert [str(measure) for measure in scores.measures] == [
        "ERR(max=2)@20", "nERR(max=2)", "ERR(max=4)@20", "RBP", "RBP(gain=exp,max=2)", "AP",
    ]  # fmt: skip
    # One document of grade 2 at rank 1 and one of grade 1 at rank 3.
    of_two, of_four = scores.by_topic(0)["1"][0], scores.by_topic(0)["1"][2]
    assert of_two == pytest.approx(3 / 4 + 1 / 4 * 1 / 4 / 3)
    assert of_four == pytest.approx(3 / 16 + 13 / 16 * 1 / 16 / 3)


def test_only_what_is_the_same_measure_elsewhere_is_named_so() -> None:
    accuracy, err = (" ".join(metrics.parse_measure(name).help.split()) for name in ("Accuracy(docs=9)", "ERR"))
    assert "The Accuracy of ir_measures is another measure" in accuracy
    assert "ERR(max=4)@20 is the ERR@20 of ir_measures" in err


def test_files_in_the_layouts_of_other_tools_are_scored() -> None:
    qrels = ("q.tsv", b"query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t0\n")
    runs = [("r.csv", b"qid,docno,score\n1,a,2\n1,b,1\n"), ("s.json", b'{"1": {"b": 2.5, "a": 1}}')]
    assert metrics.evaluate(qrels, runs, "AP").scores.means.tolist() == [[1.0], [0.5]]
