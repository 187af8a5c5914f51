"""CG, DCG and nDCG: worked examples, every gain against a plain loop, and what no gain can be."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics import graded
from annotator.evaluation.metrics.gains import EXPONENTIAL, LINEAR, Gain
from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.setting import Setting, Values

BEST_GRADE = 4
DOCUMENTS = st.integers(0, 12)
RANKING = st.lists(DOCUMENTS, unique=True, max_size=10)
BATCH = st.lists(st.tuples(st.integers(0, 2), RANKING), max_size=5)  # topics and rankings
QRELS = st.dictionaries(st.integers(0, 1), st.dictionaries(DOCUMENTS, st.integers(-1, BEST_GRADE), max_size=12))
GAINS = st.one_of(
    st.just(LINEAR),
    st.just(EXPONENTIAL),
    st.dictionaries(st.integers(0, 5), st.floats(0, 100, allow_subnormal=False), min_size=1).map(
        lambda gains: Gain(custom=tuple(sorted(gains.items())))
    ),
)
CUTOFF = st.one_of(st.none(), st.integers(1, 11))

# The sample that NTCIREVAL comes with: documents 1 to 3 of level 3, 4 to 6 of level 2, 7 to 10 of level 1, 11 of 0.
NTCIREVAL = {**dict.fromkeys((1, 2, 3), 3), **dict.fromkeys((4, 5, 6), 2), **dict.fromkeys((7, 8, 9, 10), 1), 11: 0}


def value(measure: str, ranking: Sequence[int], qrels: Mapping[int, int]) -> float:
    """Take a measure of one ranking."""
    judged = judge_rankings([(1, np.array(ranking, np.int32))], {1: qrels})
    return float(parse_measure(measure).values(judged, 1)[0])


def of_grades(measure: str, grades: Sequence[int]) -> float:
    """Take a measure of a ranking whose documents have these grades; there are no others."""
    return value(measure, range(len(grades)), dict(enumerate(grades)))


def worth(gain: Gain, grade: int) -> float:
    """The gain of a grade, by definition; negative grades are unjudged."""
    if grade < 0:
        return 0
    if gain.is_exponential:
        return 2.0**grade - 1
    return dict(gain.custom).get(grade, grade)


def discounted(gains: Sequence[float], cutoff: int | None) -> float:
    total = 0.0
    for rank, gain in enumerate(gains[:cutoff], start=1):
        total += gain / math.log2(rank + 1)
    return total


@pytest.mark.parametrize(
    ("grades", "dcg", "ideal", "ndcg"),
    [
        # 3 + 2 / 1.5850 + 3 / 2 + 0 + 1 / 2.5850 against 3 3 2 1 0.
        ([3, 2, 3, 0, 1], "6.1487", "6.3235", "0.9724"),
        # 2 + 3 / 1.5850 + 3 / 2 + 1 / 2.3219 + 2 / 2.5850; a well-known text prints 6.64 and 0.93, a slip in adding.
        ([2, 3, 3, 1, 2], "6.5972", "7.1410", "0.9238"),
    ],
)
def test_the_examples_that_the_field_teaches_with(grades: list[int], dcg: str, ideal: str, ndcg: str) -> None:
    assert f"{of_grades('DCG@5', grades):.4f}" == dcg
    assert f"{of_grades('DCG@5', sorted(grades, reverse=True)):.4f}" == ideal
    assert f"{of_grades('nDCG@5', grades):.4f}" == ndcg


@pytest.mark.parametrize(
    ("measure", "ranking", "expected"),
    [
        # NTCIREVAL's MSnDCG, that is with log2(rank + 1), as printed for its sample, in which 12 is unjudged.
        ("nDCG", [11, 1, 12, 4], "0.2760"),
        ("nDCG@2", [11, 1, 12, 4], "0.3869"),
        ("nDCG(gain={1:1,2:4,3:9})", [11, 1, 12, 4], "0.2947"),
        ("nDCG(judged_only=True)", [11, 1, 12, 4], "0.2899"),
    ],
)
def test_values_are_those_of_ntcireval(measure: str, ranking: list[int], expected: str) -> None:
    assert f"{value(measure, ranking, NTCIREVAL):.4f}" == expected


@pytest.mark.parametrize(
    ("measure", "grades", "expected"),
    [
        ("CG", [3, 2, 3, 0, 1], 9),
        ("CG@2", [3, 2, 3, 0, 1], 5),
        ("CG(gain=exp)@3", [3, 2, 3, 0, 1], 7 + 3 + 7),
        ("DCG@1", [3, 2], 3),
        ("DCG(gain=exp)", [1, 2], 1 + 3 / math.log2(3)),
        ("nDCG(gain=exp)", [1, 2], (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))),
        ("DCG(gain={1:3,2:9})", [1, 2, 3], 3 + 9 / math.log2(3) + 3 / 2),  # grade 3, of which nothing is said: 3
        ("CG(gain={0:0.5})", [0, 1, -1], 1.5),  # not relevant but judged can be worth something; unjudged cannot
        ("nDCG(gain={1:3,2:1})", [1, 2], 1.0),  # grade 1 is worth more here, and its document belongs first
        ("nDCG(gain={1:3,2:1})", [2, 1], (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))),
        ("nDCG(gain={1:0,2:0})", [2, 1], 0),  # nothing is worth anything
    ],
)
def test_gains_by_hand(measure: str, grades: list[int], expected: float) -> None:
    assert of_grades(measure, grades) == expected


def test_an_ideal_of_custom_gains_is_cut_off_after_sorting_by_gain() -> None:
    # Worth 1.9 and 1.2: sorted by whole numbers they would stand as they are graded, and the cutoff take the wrong one.
    assert value("nDCG(gain={1:1.9,2:1.2})@1", [1], {1: 1, 2: 2}) == 1
    assert value("nDCG(gain={1:1.9,2:1.2})@1", [2], {1: 1, 2: 2}) == 1.2 / 1.9


@given(BATCH, QRELS, GAINS, CUTOFF)
def test_every_ranking_of_a_batch_agrees_with_a_plain_loop(
    batch: list[tuple[int, list[int]]], qrels: dict[int, dict[int, int]], gain: Gain, cutoff: int | None
) -> None:
    judged = judge_rankings([(topic, np.array(ranking, np.int32)) for topic, ranking in batch], qrels)
    setting = Setting(gain=gain, cutoff=cutoff)
    gains = [[worth(gain, qrels.get(topic, {}).get(one, -1)) for one in ranking] for topic, ranking in batch]
    ideals = [
        sorted((worth(gain, grade) for grade in qrels.get(topic, {}).values()), reverse=True) for topic, _ in batch
    ]
    best = [discounted(ideal, cutoff) for ideal in ideals]
    expected = [discounted(one, cutoff) for one in gains]
    assert graded.cg(judged, setting).tolist() == pytest.approx([sum(one[:cutoff]) for one in gains])
    assert graded.dcg(judged, setting).tolist() == expected
    assert graded.ndcg(judged, setting).tolist() == [
        one / most if most > 0 else 0 for one, most in zip(expected, best, strict=True)
    ]


@given(RANKING, st.dictionaries(DOCUMENTS, st.integers(-1, 1)), CUTOFF)
def test_on_binary_grades_linear_and_exponential_gain_agree(
    ranking: list[int], qrels: dict[int, int], cutoff: int | None
) -> None:
    judged = judge_rankings([(1, np.array(ranking, np.int32))], {1: qrels})
    for measure in (graded.cg, graded.dcg, graded.ndcg):
        linear, exponential = (measure(judged, Setting(gain=gain, cutoff=cutoff)) for gain in (LINEAR, EXPONENTIAL))
        assert np.array_equal(linear, exponential)


@given(st.dictionaries(DOCUMENTS, st.integers(0, BEST_GRADE), min_size=1), GAINS, CUTOFF)
def test_the_best_ranking_has_an_ndcg_of_1(qrels: dict[int, int], gain: Gain, cutoff: int | None) -> None:
    ranking = sorted(qrels, key=lambda document: worth(gain, qrels[document]), reverse=True)
    judged = judge_rankings([(1, np.array(ranking, np.int32))], {1: qrels})
    is_worthless = all(worth(gain, grade) == 0 for grade in qrels.values())
    assert graded.ndcg(judged, Setting(gain=gain, cutoff=cutoff)) == [0 if is_worthless else 1]


@pytest.mark.parametrize("measure", [graded.cg, graded.dcg, graded.ndcg])
def test_an_exponential_gain_that_is_no_number_is_refused(measure: Callable[[JudgedRankings, Setting], Values]) -> None:
    judged = judge_rankings([(1, np.array([1, 2], np.int32))], {1: {1: 1, 2: 1001}})
    with pytest.raises(InvalidValueError, match="for grades up to 1000; the qrels have the grade 1001"):
        measure(judged, Setting(gain=EXPONENTIAL))


def test_the_largest_exponential_gain_is_a_number() -> None:
    assert of_grades("nDCG(gain=exp)", [1, 1000]) == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize("gain", ["{1:-1}", "{-1:1}", "{1:inf}", "{1:1e300}", "{1}", "cubic"])
def test_a_gain_that_cannot_be_is_refused(gain: str) -> None:
    with pytest.raises(InvalidValueError, match="The gain of nDCG must be"):
        parse_measure(f"nDCG(gain={gain})")


@given(GAINS)
def test_a_gain_is_read_as_it_is_written(gain: Gain) -> None:
    measure = parse_measure(f"nDCG(gain={gain})")
    assert dict(measure.parameters).get("gain", LINEAR) == gain
    assert parse_measure(str(measure)) == measure
