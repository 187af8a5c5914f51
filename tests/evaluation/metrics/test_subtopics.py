"""Measures by subtopic: the values of ndeval, as ir_measures has them, what follows of their form, and which qrels."""

from pathlib import Path

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as some
from ir_measures import (
    AP_IA,
    ERR_IA,
    NRBP,
    P_IA,
    Measure,
    Qrel,
    StRecall,
    alpha_DCG,
    alpha_nDCG,
    nERR_IA,
    nNRBP,
)

from annotator.errors import FileRefusedError, InvalidValueError, Problems
from annotator.evaluation.metrics.evaluating import evaluate
from annotator.evaluation.metrics.measures import MEASURES, Cutoff
from annotator.evaluation.metrics.names import measure_on_scale, measures_on_scale, parse_measure
from annotator.evaluation.qrels.subtopic_qrels import has_subtopics, read_subtopic_qrels, subtopic_table

# ndeval stops at rank 20; at rank 1 it does not divide alpha-DCG and ERR-IA.
IN_IR_MEASURES = [
    *(alpha_DCG @ 2, alpha_DCG @ 20, alpha_DCG(alpha=0.3) @ 5, alpha_nDCG @ 1, alpha_nDCG @ 10, alpha_nDCG(rel=2) @ 5),
    *(alpha_nDCG(alpha=0.3) @ 20, alpha_nDCG(alpha=0.0) @ 5, alpha_nDCG(alpha=1.0) @ 5, ERR_IA @ 2, ERR_IA @ 20),
    *(nERR_IA @ 1, nERR_IA @ 10, NRBP, NRBP(alpha=0.2, beta=0.9), nNRBP, nNRBP(alpha=0.2, beta=0.9), NRBP(rel=2)),
    *(P_IA @ 3, P_IA(rel=2) @ 20, AP_IA, AP_IA(rel=2), StRecall @ 1, StRecall(rel=2) @ 10),
]
BY_SUBTOPIC = [
    name + ("@3" if definition.cutoff is Cutoff.NEEDED else "")
    for name, definition in MEASURES.items()
    if definition.by_subtopic
]
DOCUMENTS = [f"d{number:02}" for number in range(16)]
runs = some.lists(some.sampled_from(DOCUMENTS), unique=True, min_size=1)
graded = some.dictionaries(
    some.tuples(some.sampled_from("abcd"), some.sampled_from(DOCUMENTS)), some.integers(0, 3), min_size=1, max_size=30
)
Graded = dict[tuple[str, str], int]


def scored(measure: str, ranking: list[str], grades: Graded) -> float:
    """Score one topic's ranking by grades of (subtopic, document)."""
    subtopics, docnos = zip(*grades, strict=True)
    table = subtopic_table(["1"] * len(grades), subtopics, docnos, list(grades.values()))
    scores = {docno: float(len(ranking) - place) for place, docno in enumerate(ranking)}
    return float(evaluate(table, {"run": {"1": scores}}, measure).scores.values[0, 0, 0])


@pytest.mark.parametrize("measure", IN_IR_MEASURES, ids=map(str, IN_IR_MEASURES))
@given(runs, graded)
def test_values_are_those_of_ndeval(measure: Measure, ranking: list[str], grades: Graded) -> None:
    run = {"1": {docno: float(len(ranking) - place) for place, docno in enumerate(ranking)}}
    qrels = [Qrel("1", docno, grade, subtopic) for (subtopic, docno), grade in grades.items()]
    [theirs] = ir_measures.iter_calc([measure], qrels, run)
    # It divides by the 0 of a topic without anything relevant.
    expected = theirs.value if theirs.value == theirs.value else 0.0
    assert scored(str(measure), ranking, grades) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_names_are_read_as_ir_measures_writes_them() -> None:
    assert [str(parse_measure(str(measure))) for measure in IN_IR_MEASURES] == [
        str(measure).replace(".0)", ")") for measure in IN_IR_MEASURES
    ]
    assert str(parse_measure("\N{GREEK SMALL LETTER ALPHA}_nDCG@5")) == "alpha_nDCG@5"
    assert str(parse_measure("MAP_IA")) == "AP_IA"


@given(runs, graded)
def test_values_are_shares(ranking: list[str], grades: Graded) -> None:
    for name in BY_SUBTOPIC:
        # Choosing what adds most, one after the other, gains 1 - 1/e of the best or more.
        most = 1.59 if name.startswith(("alpha_nDCG", "nERR", "nNRBP")) else 1
        assert 0 <= scored(name, ranking, grades) <= most + 1e-12, name


@given(runs, graded)
def test_at_most_as_many_subtopics_are_found_as_deeper(ranking: list[str], grades: Graded) -> None:
    found = [scored(f"StRecall@{depth}", ranking, grades) for depth in (1, 2, 5, 20)]
    assert found == sorted(found)


@given(runs, graded)
def test_with_one_subtopic_they_are_the_measures_without(ranking: list[str], grades: Graded) -> None:
    one = {("a", docno): grade for (_, docno), grade in grades.items()}
    for name, plain in [("P_IA@3", "P@3"), ("AP_IA", "AP"), ("StRecall@3", "Success@3")]:
        expected = scored(plain, ranking, one)
        assert scored(name, ranking, one) == pytest.approx(expected), name
    # Without redundancy to avoid, what is left is the discount of nDCG.
    binary = {key: min(grade, 1) for key, grade in one.items()}
    assert scored("alpha_nDCG(alpha=0)@5", ranking, binary) == pytest.approx(scored("nDCG@5", ranking, binary))


@given(runs, graded)
def test_a_condensed_list_is_the_ranking_without_documents_that_no_subtopic_grades(
    ranking: list[str], grades: Graded
) -> None:
    judged = {docno for _, docno in grades}
    condensed = [docno for docno in ranking if docno in judged] or ["other"]
    for name in BY_SUBTOPIC:
        measure = parse_measure(f"{name.partition('@')[0]}(judged_only=True)@{name.partition('@')[2]}".rstrip("@"))
        assert scored(str(measure), ranking, grades) == scored(name, condensed, grades), name


def test_equal_scores_are_ordered_by_docno_descending() -> None:
    table = subtopic_table(["1", "1"], ["a", "b"], ["d1", "d2"], [1, 0])
    scores = evaluate(table, {"run": {"1": {"d1": 1.0, "d2": 1.0}}}, ["StRecall@1", "P@1"]).scores
    assert scores.values.tolist() == [[[0.0, 0.0]]]


QRELS = "1 a d1 1\n1 b d1 0\n1 b d2 2\n2 a d3 1\n"
RUN = "1 Q0 d2 1 2 run\n1 Q0 d1 2 1 run\n2 Q0 d3 1 1 run\n"


def test_measures_without_subtopics_take_the_best_grade_of_a_document() -> None:
    found = evaluate(("qrels", QRELS.encode()), ("run", RUN.encode()), ["StRecall@1", "nDCG", "P(rel=2)@1"])
    plain = evaluate({"1": {"d1": 1, "d2": 2}, "2": {"d3": 1}}, ("run", RUN.encode()), ["nDCG", "P(rel=2)@1"])
    assert found.scores.means[0].tolist() == [0.75, *plain.scores.means[0].tolist()]
    [warning] = found.warnings
    assert str(warning).startswith(
        "The qrels grade documents for several subtopics; for measures without subtopics (nDCG,"
    )
    assert not evaluate(("qrels", QRELS.encode()), ("run", RUN.encode()), "StRecall@1").warnings


def test_qrels_with_subtopics_are_read_for_measures_without_as_well() -> None:
    found = evaluate(("qrels", QRELS.encode()), ("run", RUN.encode()), "nDCG")
    assert found.scores.means[0, 0] == 1
    assert len(found.warnings) == 1
    many = "".join(f"1 {subtopic} d{number} 1\n" for number in range(12_000) for subtopic in "abc")
    assert evaluate(("qrels", many.encode()), ("run", RUN.encode()), "P@2").scores.means[0, 0] == 1


@pytest.mark.parametrize("qrels", [b"1 0 d1 1\n1 0 d2 0\n", b"1 0 d1 1\n2 1 d1 0\n", b"1 0 d1 s 1\n"])
def test_qrels_without_subtopics_are_refused_for_measures_that_need_them(qrels: bytes) -> None:
    assert not has_subtopics(qrels)
    with pytest.raises(InvalidValueError, match="alpha_nDCG@5 needs qrels with subtopics, whose second column"):
        evaluate(("qrels", qrels), ("run", RUN.encode()), ["AP", "alpha_nDCG@5"])


def test_a_collection_has_no_subtopics() -> None:
    with pytest.raises(InvalidValueError, match="StRecall@5 needs grades by subtopic, which judgements of"):
        measures_on_scale(["nDCG@10", "StRecall@5"], 3)
    with pytest.raises(InvalidValueError, match="StRecall@5 needs grades by subtopic, which judgements of"):
        measure_on_scale("StRecall@5", 3)


def test_every_problem_of_the_qrels_is_listed_with_its_line() -> None:
    qrels = b"1 a d1 1\n1 b d1 1\n1 a d1 0\n1 a d2\n1 a d3 good\n"
    with pytest.raises(FileRefusedError) as refused:
        evaluate(("qrels", qrels), ("run", RUN.encode()), "StRecall@1")
    assert [str(problem) for problem in refused.value.problems] == [
        "qrels:3: Document d1 is graded twice for subtopic a of topic 1; it is on line 1 already.",
        "qrels:4: The line has 3 columns; qrels with subtopics have four: topic, subtopic, document, grade.",
        "qrels:5: The grade good is not a whole number of at most four digits.",
    ]


def test_a_file_without_lines_is_a_problem() -> None:
    problems = Problems()
    assert read_subtopic_qrels("qrels", b"# nothing\n", problems) is None
    assert [str(problem) for problem in problems.by_file()] == ["qrels: The file has no line of data."]


def test_other_problems_of_qrels_without_subtopics_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 d1 1\n1 0 d1 1\n")
    with pytest.raises(FileRefusedError) as refused:
        evaluate(tmp_path / "qrels", ("run", RUN.encode()), "StRecall@1")
    assert "graded twice; it is on line 1 already" in str(refused.value.problems[0])


def test_a_document_graded_twice_for_a_subtopic_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="d1 is graded twice for subtopic a of topic 1"):
        subtopic_table(["1", "1"], ["a", "a"], ["d1", "d1"], [1, 1])


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("NRBP(beta=1)", "The beta of NRBP must be below 1, not 1."),
        ("alpha_nDCG(alpha=1.1)@5", "The alpha of alpha_nDCG must be a number from 0 to 1, not “1.1”."),
        ("alpha_nDCG", "alpha_nDCG needs a cutoff, such as alpha_nDCG@10."),
        ("andcg@10", "There is no measure “andcg@10”; perhaps alpha_nDCG@10 is meant."),
        ("strec@10", "There is no measure “strec@10”; perhaps StRecall@10 is meant."),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(written: str, sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        parse_measure(written)
    assert str(refused.value) == sentence
