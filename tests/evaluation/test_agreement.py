"""Cohen's kappa against published and recomputed tables, and the cases in which there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.agreement import (
    Band,
    Undefined,
    band,
    cohen_kappa,
    confusion_matrix,
    kappa_of_confusion,
    kappa_of_grades,
)

Table = list[list[int]]

FLEISS_COHEN_EVERITT = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]
COHEN_1968 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
MEDICAL = [[0, 4, 1], [0, 8, 0], [0, 1, 5]]
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
DIAGNOSIS = [[40, 6, 4, 15], [4, 25, 1, 5], [4, 2, 21, 9], [17, 13, 12, 45]]


def linear(size: int) -> NDArray[np.float64]:
    return 1 - np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / (size - 1)


def quadratic(size: int) -> NDArray[np.float64]:
    return 1 - (1 - linear(size)) ** 2


# Observed and expected agreement, kappa, its standard error, and that when kappa is truly 0. The sources print kappa
# to two to four digits; the rest was recomputed from the formulas of Fleiss, Cohen and Everitt by other software.
NOMINAL: list[tuple[str, Table, tuple[float, float, float, float, float]]] = [
    ("Wikipedia, 0.40", [[20, 5], [10, 15]], (0.70, 0.50, 0.40000, 0.12700, 0.13856)),
    ("Wikipedia, 0.1304", [[45, 15], [25, 15]], (0.60, 0.54, 0.13043, 0.09866, 0.09761)),
    ("Wikipedia, 0.2593", [[25, 35], [5, 35]], (0.60, 0.46, 0.25926, 0.07716, 0.08315)),
    ("Manning et al., table 8.2", [[300, 20], [10, 70]], (0.925, 0.665, 0.77612, 0.03889, 0.04986)),
    ("Artstein and Poesio", [[20, 20], [10, 50]], (0.70, 0.54, 0.34783, 0.09501, 0.09761)),
    ("Feinstein and Cicchetti, 0.70", [[40, 9], [6, 45]], (0.85, 0.5008, 0.69952, 0.07139, 0.09982)),
    ("Feinstein and Cicchetti, 0.32", [[80, 10], [5, 5]], (0.85, 0.78, 0.31818, 0.13346, 0.09738)),
    ("below chance", [[118, 5], [2, 0]], (0.944, 0.94528, -0.02339, 0.01229, 0.08038)),
    ("Cohen 1968", COHEN_1968, (0.70, 0.41, 0.49153, 0.05100, 0.05198)),
    ("Fleiss, Cohen and Everitt", FLEISS_COHEN_EVERITT, (0.70, 0.475, 0.42857, 0.05371, 0.05551)),
    ("Fleiss's book", [[75, 1, 4], [5, 4, 1], [0, 0, 10]], (0.89, 0.66, 0.67647, 0.08770, 0.07619)),
    ("SAS manual", MEDICAL, (0.68421, 0.38781, 0.48416, 0.13801, 0.14840)),
    ("Gwet's abstractors", ABSTRACTORS, (0.89, 0.4597, 0.79641, 0.05891, 0.07601)),
    ("Gwet's diagnosis", DIAGNOSIS, (0.58744, 0.27431, 0.43150, 0.04597, 0.03976)),
]
WEIGHTED: list[tuple[str, Table, NDArray[np.float64], tuple[float | None, ...]]] = [
    (
        "Cohen 1968, disagreement of 0 to 6",
        COHEN_1968,
        1 - np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]]) / 6,
        (0.85, 0.77, 0.34783, 0.07550, 0.05972),
    ),
    (
        "Fleiss, Cohen and Everitt, their weights",
        FLEISS_COHEN_EVERITT,
        np.array([[1, 0, 0.4444], [0, 1, 0.6667], [0.4444, 0.6667, 1]]),
        (0.78667, 0.56722, 0.50707, 0.05699, 0.06534),
    ),
    ("the same, linear", FLEISS_COHEN_EVERITT, linear(3), (0.835, 0.675, 0.49231, 0.05072, 0.05777)),
    ("the same, quadratic", FLEISS_COHEN_EVERITT, quadratic(3), (0.9025, 0.775, 0.56667, 0.05567, 0.07051)),
    ("SAS manual, linear", MEDICAL, linear(3), (0.81579, 0.65235, 0.47012, 0.14575, 0.14259)),
    ("Gwet's abstractors, linear", ABSTRACTORS, linear(3), (0.945, 0.6499, 0.84290, 0.04787, None)),
    ("Gwet's abstractors, quadratic", ABSTRACTORS, quadratic(3), (0.9725, 0.745, 0.89216, 0.03535, None)),
    ("Gwet's diagnosis, linear", DIAGNOSIS, linear(4), (0.72795, 0.54138, 0.40681, 0.05339, None)),
    ("Gwet's diagnosis, quadratic", DIAGNOSIS, quadratic(4), (0.78774, 0.65588, 0.38319, 0.06579, None)),
]


def kappa_of(table: Table, weights: NDArray[np.float64] | None = None) -> tuple[float | None, ...]:
    kappa = kappa_of_confusion(np.array(table), weights)
    return (kappa.observed, kappa.expected, kappa.value, kappa.standard_error, kappa.standard_error_by_chance)


@pytest.mark.parametrize(("table", "expected"), [case[1:] for case in NOMINAL], ids=[case[0] for case in NOMINAL])
def test_kappa_and_its_errors_agree_with_the_literature(table: Table, expected: tuple[float, ...]) -> None:
    assert kappa_of(table) == pytest.approx(expected, abs=5.1e-6)


@pytest.mark.parametrize(
    ("table", "weights", "expected"), [case[1:] for case in WEIGHTED], ids=[case[0] for case in WEIGHTED]
)
def test_weighted_kappa_agrees_with_the_literature(
    table: Table, weights: NDArray[np.float64], expected: tuple[float | None, ...]
) -> None:
    for found, printed in zip(kappa_of(table, weights), expected, strict=True):
        assert printed is None or found == pytest.approx(printed, abs=5.1e-6)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # scikit-learn's tests: 46 zeros, 44 ones, 10 twos against 52, 32, 16 and against 50, 40, 10.
        ((46, 44, 10), (52, 32, 16), 0.8013),
        ((46, 44, 10), (50, 40, 10), 0.9315),
    ],
)
def test_kappa_from_two_lists_of_grades(first: tuple[int, ...], second: tuple[int, ...], expected: float) -> None:
    kappa = cohen_kappa(np.repeat([0, 1, 2], first), np.repeat([0, 1, 2], second), [0, 1, 2])
    assert kappa.value == pytest.approx(expected, abs=5.1e-5)


def test_the_interval_is_1_96_standard_errors_to_either_side() -> None:
    # Wikipedia's 0.40: 0.40 -+ 1.959964 x 0.1269961 = 0.1510922 and 0.6489078, where
    # 0.1269961 = sqrt([0.4 (1 - 1.1 x 0.6)^2 + 0.1 (0.9 x 0.6)^2 + 0.2 (1.1 x 0.6)^2 + 0.3 (1 - 0.9 x 0.6)^2
    #                   - (0.4 - 0.5 x 0.6)^2] / 50) / 0.5 = sqrt(0.2016 / 50) / 0.5.
    interval = kappa_of_confusion(np.array([[20, 5], [10, 15]])).interval
    assert interval == pytest.approx((0.1510922, 0.6489078), abs=1e-7)


def test_the_interval_ends_at_1() -> None:
    # n = 10, p_o = 0.9, p_e = 0.6 x 0.5 + 0.4 x 0.5 = 0.5, so kappa = 0.8; a margin of 0.2 would pass 1.
    kappa = kappa_of_confusion(np.array([[5, 1], [0, 4]]))
    assert kappa.value == pytest.approx(0.8)
    assert kappa.interval is not None
    assert kappa.interval[1] == 1


def test_without_a_document_in_common_there_is_no_kappa() -> None:
    kappa = cohen_kappa(np.array([], np.int64), np.array([], np.int64), [0, 1])
    assert (kappa.n, kappa.observed, kappa.value, kappa.reason) == (0, None, None, Undefined.NO_OVERLAP)
    assert kappa.interval is None


def test_one_grade_given_by_both_leaves_agreement_but_no_kappa() -> None:
    kappa = cohen_kappa(np.array([1, 1, 1]), np.array([1, 1, 1]), [0, 1])
    assert (kappa.observed, kappa.expected, kappa.value, kappa.reason) == (1, 1, None, Undefined.SINGLE_GRADE)
    assert kappa.interval is None


@pytest.mark.parametrize(
    ("table", "value"),
    [
        ([[45, 5], [0, 0]], 0),  # one judge gave a single grade: exactly chance
        ([[45, 0], [5, 0]], 0),
        ([[1, 5], [0, 0]], 0),  # in floating point its variance is not 0 but 1e-18
        ([[30, 0], [0, 20]], 1),
        ([[0, 50], [50, 0]], -1),
    ],
)
def test_a_kappa_without_spread_has_no_interval(table: Table, value: float) -> None:
    kappa = kappa_of_confusion(np.array(table))
    assert (kappa.value, kappa.reason) == (value, None)
    assert (kappa.standard_error, kappa.interval) == (None, None)


def test_an_unused_grade_keeps_its_row_and_column_and_changes_nothing() -> None:
    first, second = np.array([0, 0, 2, 2]), np.array([0, 2, 2, 2])
    with_unused = cohen_kappa(first, second, [0, 1, 2])
    assert with_unused.confusion.tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 2]]
    assert with_unused.value == cohen_kappa(first, second, [0, 2]).value == 0.5  # (0.75 - 0.5) / (1 - 0.5)


def test_plain_grades_are_compared_as_arrays_are() -> None:
    kappa = kappa_of_grades([0, 0, 2, 2], [0, 2, 2, 2], [0, 2])
    assert (kappa.confusion.tolist(), kappa.value) == ([[1, 1], [0, 2]], 0.5)
    assert kappa_of_grades([], [], [0, 2]).reason is Undefined.NO_OVERLAP


def test_a_grade_outside_the_scale_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="The grade 3 is not in the scale"):
        confusion_matrix(np.array([0, 3]), np.array([0, 1]), [0, 1])


def test_judges_of_different_documents_are_not_compared() -> None:
    with pytest.raises(InvalidValueError, match="the first has 2 and the second 1"):
        confusion_matrix(np.array([0, 1]), np.array([0]), [0, 1])


TABLES = st.integers(2, 4).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 30), min_size=size, max_size=size), min_size=size, max_size=size)
)


@given(TABLES)
def test_kappa_is_symmetric_and_between_minus_1_and_1(table: Table) -> None:
    one, other = kappa_of_confusion(np.array(table)), kappa_of_confusion(np.array(table).T)
    assert one.value == other.value
    assert one.value is None or -1 <= one.value <= 1
    assert (one.value is None) == (one.reason is not None)


@given(st.lists(st.sampled_from([0, 1, 3]), min_size=2).filter(lambda grades: len(set(grades)) > 1))
def test_a_judge_who_used_two_grades_agrees_with_herself_with_kappa_1(grades: list[int]) -> None:
    assert cohen_kappa(np.array(grades), np.array(grades), [0, 1, 3]).value == 1


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (-0.01, Band.POOR),
        (0.0, Band.SLIGHT),
        (0.20, Band.SLIGHT),
        (0.21, Band.FAIR),
        (0.40, Band.FAIR),
        (0.41, Band.MODERATE),
        (0.60, Band.MODERATE),
        (0.61, Band.SUBSTANTIAL),
        (0.80, Band.SUBSTANTIAL),
        (0.81, Band.ALMOST_PERFECT),
        (1.0, Band.ALMOST_PERFECT),
    ],
)
def test_bands_are_those_of_landis_and_koch(value: float, name: Band) -> None:
    assert band(value) is name


def test_reasons_and_bands_are_sentences_that_can_be_translated() -> None:
    assert str(Undefined.NO_OVERLAP.sentence) == "The two judges have graded no document in common."
    assert str(Band.ALMOST_PERFECT.sentence) == "almost perfect"
