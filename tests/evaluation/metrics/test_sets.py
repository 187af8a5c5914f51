"""Counts, set measures and the confusion table: worked examples, how they hang together, and a corpus too small."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measuring import batch, value

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import parse_measure

RANKINGS = st.lists(st.integers(0, 20), unique=True, max_size=15)
QRELS = st.dictionaries(st.integers(0, 20), st.integers(-1, 3))


def test_one_relevant_of_10000_and_everything_retrieved_has_an_f1_of_0_0002() -> None:
    # P 1/10000 and R 1: 2 * 0.0001 * 1 / 1.0001.
    assert f"{value('SetF', range(10_000), {5: 1}):.4f}" == "0.0002"


@pytest.mark.parametrize(
    ("measure", "ranking", "qrels", "expected"),
    [
        ("SetR", [9, 1], {1: 1, 2: 1}, 1 / 2),
        ("SetF", [9, 1], {1: 1}, 2 / 3),  # P 1/2, R 1: 2 * 1/2 / (3/2)
        ("SetF(beta=3)", [9, 1], {1: 1}, 10 / 11),  # 10 * 1/2 / (9/2 + 1)
        ("SetF", [9], {1: 1}, 0),
        ("set_map", [9, 1], {1: 1, 2: 1}, 1 / 4),
        ("set_relative_P", [9, 1, 8], {1: 1, 2: 1}, 1 / 2),  # at most 2
        ("set_relative_P", [9, 1], {1: 1, 2: 1, 3: 1}, 1 / 2),  # at most the 2 retrieved
        ("utility", [9, 8, 1], {1: 1, 8: 0}, -1),
        ("NumQ", [], {}, 1),
        ("NumRet", [9, 1], {1: 1, 2: 1}, 2),
        ("NumRel", [9, 1], {1: 1, 2: 1}, 2),
        ("NumRel", [], {1: 1, 2: -1}, 1),
        ("NumRelRet", [9, 1], {1: 1, 2: 1}, 1),
        ("num_nonrel_judged_ret", [9, 1, 8, 7], {1: 1, 2: 0, 8: 0, 7: -1}, 1),
        ("num_nonrel_judged_ret(rel=2)", [9, 1, 8], {1: 1, 8: 0}, 2),
        ("Accuracy(docs=10)", [], {1: 1}, 9 / 10),  # leaving everything out is right for 9 of 10
        ("Accuracy(docs=10)", [9], {}, 9 / 10),
        ("TN(docs=10)", [9, 1], {1: 1, 2: 1}, 7),
        ("TN(docs=3)", [9, 1], {1: 1, 2: 1}, 0),  # 9, 1 and 2 are all there are
    ],
)
def test_measures_at_their_edges(measure: str, ranking: list[int], qrels: dict[int, int], expected: float) -> None:
    assert value(measure, ranking, qrels) == pytest.approx(expected, rel=1e-15)


@given(RANKINGS, QRELS, st.floats(0.01, 100))
def test_f_is_the_weighted_harmonic_mean(ranking: list[int], qrels: dict[int, int], beta: float) -> None:
    found = value(Measure("SetF", None, (("beta", beta),)), ranking, qrels)
    precision, recall = value("SetP", ranking, qrels), value("SetR", ranking, qrels)
    a = 1 / (beta**2 + 1)
    expected = 1 / (a / precision + (1 - a) / recall) if precision else 0
    assert found == pytest.approx(expected)


@given(RANKINGS, QRELS, st.integers(1, 3))
def test_the_four_counts_are_the_corpus(ranking: list[int], qrels: dict[int, int], relevant_from: int) -> None:
    tp, fp, fn, tn, accuracy = (
        value(name, ranking, qrels, relevant_from) for name in ("TP", "FP", "FN", "TN(docs=21)", "Accuracy(docs=21)")
    )
    relevant = {number for number, grade in qrels.items() if grade >= relevant_from}
    assert (tp, fp) == (len(relevant & set(ranking)), len(set(ranking) - relevant))
    assert (fn, tn) == (len(relevant - set(ranking)), len(set(range(21)) - relevant - set(ranking)))
    assert accuracy == (tp + tn) / 21


@pytest.mark.parametrize(
    ("ranking", "qrels", "judged_only", "least"),
    [
        ([1, 2, 9], {1: 1, 3: 0, 4: -1}, False, 5),
        ([1, 2, 4], {1: 1, 3: 0, 4: -1}, False, 4),  # 4 stands in both
        ([1, 2, 9], {1: 1, 3: 0, 4: -1}, True, 3),  # the condensed list is without 2 and 9
        ([], {}, False, 0),
    ],
)
@pytest.mark.parametrize("name", ["TN", "Accuracy"])
def test_a_corpus_smaller_than_what_is_listed_is_refused(
    name: str, ranking: list[int], qrels: dict[int, int], least: int, *, judged_only: bool
) -> None:
    enough = Measure(name, None, (("docs", max(least, 1)),))
    assert value(enough, ranking, qrels, judged_only=judged_only) >= 0
    if least > 1:
        too_few = Measure(name, None, (("docs", least - 1),))
        with pytest.raises(InvalidValueError, match=f"docs={least - 1} is too few: .* list {least} documents"):
            value(too_few, ranking, qrels, judged_only=judged_only)


def test_each_topics_list_is_held_against_the_corpus_by_itself() -> None:
    rankings = [(1, np.array([1, 2], np.int32)), (2, np.array([3, 4], np.int32))]
    judged = judge_rankings(rankings, {1: {1: 1}, 2: {5: 1}})
    assert parse_measure("TN(docs=3)").values(judged, 1).tolist() == [1, 0]


def test_without_the_number_of_documents_there_are_no_true_negatives() -> None:
    with pytest.raises(ValueError, match="needs the number of documents"):
        Measure("TN").values(batch([1], qrels={1: 1}), 1)
