"""infAP, infNDCG and the output of NIST's sample_eval.pl: against plain loops by its rules, and by hand."""

from collections import Counter
from math import floor, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics import evaluate, parse_measure
from annotator.evaluation.metrics.sample_eval import LARGEST_RESULT, sample_eval_report, sampled_rankings
from annotator.evaluation.qrels.qrels_format import QrelsRow
from annotator.evaluation.qrels.qrels_table import QrelsTable, columns_of, table_of_columns

AP, NDCG = "infAP(compat=sample_eval)", "infNDCG(compat=sample_eval)"
Sample = dict[str, tuple[int, int]]  # stratum and grade by docno; -1: not drawn
DOCNOS = st.sampled_from([f"d{number}" for number in range(14)])
SAMPLES = st.dictionaries(DOCNOS, st.tuples(st.integers(1, 3), st.sampled_from([-1, -1, 0, 1])), min_size=1)


def table_of(topics: dict[str, Sample]) -> QrelsTable:
    rows = [
        QrelsRow(topic, docno, grade, 1, str(stratum))
        for topic, sample in topics.items()
        for docno, (stratum, grade) in sample.items()
    ]
    return table_of_columns(columns_of(rows))


def values_of(topics: dict[str, Sample], run: dict[str, list[str]]) -> list[list[float]]:
    """Score each topic by infAP and infNDCG; the documents of the run are best first."""
    lists = {topic: {docno: -float(rank) for rank, docno in enumerate(docnos)} for topic, docnos in run.items()}
    values: list[list[float]] = evaluate(table_of(topics), {"run": lists}, [AP, NDCG]).scores.values[0].tolist()
    return values


def by_loops(sample: Sample, ranking: list[str]) -> list[float]:
    """The script's rules, one document after another, for binary grades."""
    pooled, drawn, good = Counter[int](), Counter[int](), Counter[int]()
    for stratum, grade in sample.values():
        pooled[stratum] += 1
        drawn[stratum] += grade >= 0
        good[stratum] += grade > 0
    relevant = sum(pooled[one] * good[one] / drawn[one] for one in pooled if drawn[one])
    above, drawn_above, good_above, gain = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
    precision = 0.0
    for rank, docno in enumerate(ranking[:LARGEST_RESULT], 1):
        if docno not in sample:
            continue
        stratum, grade = sample[docno]
        if grade > 0:
            expected = sum(above[one] * (good_above[one] + 1e-5) / (drawn_above[one] + 3e-5) for one in above)
            precision += pooled[stratum] / drawn[stratum] * (1 + expected) / rank
            gain[stratum] += 1 / log2(rank + 1)  # type: ignore[assignment]  # a counter of fractions
        above[stratum] += 1
        drawn_above[stratum] += grade >= 0
        good_above[stratum] += grade > 0
    ideal = sum(1 / log2(rank + 1) for rank in range(1, floor(relevant + 1e-9) + 1))
    gained = sum(above[one] / drawn_above[one] * gain[one] for one in gain)
    return [precision / relevant if relevant else 0.0, gained / ideal if ideal else 0.0]


@given(SAMPLES, st.lists(DOCNOS, unique=True, min_size=1))
def test_the_values_are_those_of_the_scripts_loops(sample: Sample, ranking: list[str]) -> None:
    [values] = values_of({"1": sample}, {"1": ranking})
    assert values == pytest.approx(by_loops(sample, ranking))


def test_more_relevant_documents_than_a_run_may_return_do_not_lower_the_value() -> None:
    """1500 relevant documents are estimated; a run of 1000 with the relevant ones only has an AP of 1."""
    sample = {f"d{number}": (1, 1 if number % 3 else -1) for number in range(1500)}
    [[precision, gained]] = values_of({"1": sample}, {"1": [f"d{number}" for number in range(1500)]})
    assert precision == pytest.approx(1, abs=2e-3)
    assert gained == pytest.approx(1, abs=0.01)


def test_a_better_grade_begins_the_ideal_ranking_and_the_next_at_a_rank_that_need_not_be_whole() -> None:
    sample = {"a": (1, 2), "b": (1, 0), "c": (1, -1), "d": (2, 1)}
    [[_, gained]] = values_of({"1": sample}, {"1": ["a", "b", "d"]})
    # 1.5 documents of grade 2, of which one fits; that of grade 1 is at rank 2.5.
    ideal = 2 / log2(2) + 1 / log2(3.5)
    assert gained == pytest.approx((2 / log2(2) * 2 / 2 + 1 / log2(4)) / ideal)


SAMPLE = {"a": (1, 1), "b": (1, 0), "c": (2, 1), "d": (2, -1), "e": (2, 0), "f": (2, -1)}


def test_the_report_has_the_lines_of_the_script() -> None:
    topics = {"10": SAMPLE, "2": SAMPLE, "3": SAMPLE}
    lists = {topic: {docno: -float(rank) for rank, docno in enumerate("acdb")} for topic in ("10", "2")}
    scores = evaluate(table_of(topics), {"run": lists}, [AP]).scores
    lines = sample_eval_report(scores, 0, list(sampled_rankings(scores.judged, 1))).splitlines()
    of_topic = [line.split("\t")[0] for line in lines[:14]]
    assert of_topic == ["infAP", "infNDCG", *(f"iP{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)), *COUNTS]
    assert [line.split("\t")[2] for line in lines[:28:14]] == ["2", "10"]
    assert lines[13] == "num_ret\t\t2\t        4"
    expected = by_loops(SAMPLE, list("acdb"))
    assert lines[28:30] == [f"infAP\t\tall\t\t{expected[0]:6.4f}", f"infNDCG\t\tall\t\t{expected[1]:6.4f}"]
    # Three topics are in the qrels, and the run has two: the means are over two, the relevant documents of three.
    assert f"inum_rel\tall\t{3 * (2 / 2 + 4 / 2):14.4f}" in lines
    assert "num_ret\t\tall\t        8" in lines
    assert [line.split("\t")[0] for line in lines[30:41]] == [f"iprec@rec{level / 10:.2f}" for level in range(11)]


COUNTS = ["inum_rel_ret", "inum_rel", "num_ret"]


def test_interpolated_precision_goes_one_recall_level_up_for_each_rank_as_in_the_script() -> None:
    """Two levels lie between ranks 2 and 1; the second is passed at rank 1, whose precision it gets."""
    topics = {"1": {"a": (1, 1), "b": (1, 0), "c": (1, 1), "d": (1, 0)}}
    scores = evaluate(table_of(topics), {"run": {"1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}}, [AP]).scores
    [ranking] = sampled_rankings(scores.judged, 1)
    assert ranking is not None
    assert ranking.interpolated() == pytest.approx([*[1] * 9, 2 / 3, 0], abs=1e-4)


def test_a_topic_that_a_run_lacks_has_no_ranking_and_counts_as_zero() -> None:
    scores = evaluate(table_of({"1": SAMPLE, "2": SAMPLE}), {"run": {"1": {"a": 1.0}}}, [AP, NDCG]).scores
    assert list(sampled_rankings(scores.judged, 1))[1] is None
    assert scores.values[0, 1].tolist() == [0, 0]


def test_the_parameter_takes_no_other_value_and_no_cutoff() -> None:
    with pytest.raises(InvalidValueError, match="compat of infAP can only be sample_eval"):
        parse_measure("infAP(compat=10)")
    with pytest.raises(InvalidValueError, match="infNDCG takes no cutoff with compat"):
        parse_measure("infNDCG(compat=sample_eval)@20")
