"""Agreement of two judges where a coefficient has no value, no interval, or one that is known exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.errors import InvalidValueError
from annotator.evaluation.agreement.kappa import (
    Chance,
    Weighting,
    Weights,
    coefficients,
    cohen_chance,
    cohen_kappa,
    gwet_chance,
    kappa_of_confusion,
    kappa_of_grades,
    kappas_of_confusions,
    scott_chance,
    uniform_chance,
)
from annotator.evaluation.agreement.labels import confusion_matrix
from annotator.evaluation.agreement.results import BANDS_ARE_CONVENTIONS, Band, Coefficient, Undefined, band

at_leisure = settings(max_examples=examples(60))

Table = list[list[int]]

GRADES = (0, 1, 2)
FLEISS_COHEN_EVERITT = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]
COHEN_1968 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]


def test_without_a_document_in_common_there_is_no_kappa() -> None:
    kappa = cohen_kappa(np.array([], np.int64), np.array([], np.int64), [0, 1])
    assert (kappa.n, kappa.observed, kappa.value, kappa.reason) == (0, None, None, Undefined.NO_OVERLAP)
    assert (kappa.interval, kappa.interval_reason) == (None, Undefined.NO_OVERLAP)


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
    assert kappa.interval_reason is Undefined.NO_SPREAD


def test_one_grade_given_by_both_is_full_agreement_where_chance_comes_from_the_scale() -> None:
    # Of three grades, all given is one: Gwet's chance is 0, and uniform chance 1/3 whatever was given.
    tables = np.array([[[9, 0, 0], [0, 0, 0], [0, 0, 0]]])
    nominal = Weighting.NONE.of(3)
    (gwet,), (uniform,) = (coefficients(tables, nominal, chance) for chance in (gwet_chance, uniform_chance))
    assert (gwet.value, gwet.expected, uniform.value) == (1, 0, 1)
    assert uniform.expected == pytest.approx(1 / 3)
    (scott,) = coefficients(tables, nominal, scott_chance)
    assert (scott.value, scott.reason, scott.observed, scott.expected) == (None, Undefined.SINGLE_GRADE, 1, 1)


def test_a_judge_with_a_single_grade_agrees_as_chance_would_unless_chance_is_gwet_s_or_uniform() -> None:
    # [[45, 5], [0, 0]]: the shares of the two together are 0.95 and 0.05, so Gwet's chance is 2 x 0.95 x 0.05 = 0.095
    # and AC1 = (0.9 - 0.095) / 0.905 = 0.8895; PABAK = 2 x 0.9 - 1 = 0.8.
    table = np.array([[[45, 5], [0, 0]]])
    (gwet,), (uniform,) = (
        coefficients(table, Weighting.NONE.of(2), chance) for chance in (gwet_chance, uniform_chance)
    )
    assert kappa_of_confusion(table[0]).observed == 0.9
    assert gwet.value == pytest.approx(0.8895, abs=5e-5)
    assert uniform.value == pytest.approx(0.8)


@pytest.mark.parametrize("chance", [scott_chance, gwet_chance, uniform_chance])
def test_without_a_document_in_common_no_coefficient_exists(chance: Chance) -> None:
    (coefficient,) = coefficients(np.zeros((1, 3, 3), np.int64), Weighting.LINEAR.of(3), chance)
    assert coefficient == Coefficient(None, Undefined.NO_OVERLAP)


@pytest.mark.parametrize("chance", [cohen_chance, scott_chance, gwet_chance, uniform_chance])
def test_a_scale_of_a_single_grade_leaves_nothing_to_agree_on(chance: Chance) -> None:
    (coefficient,) = coefficients(np.array([[[7]]]), Weighting.QUADRATIC.of(1), chance)
    assert (coefficient.value, coefficient.reason) == (None, Undefined.SHORT_SCALE)


@pytest.mark.parametrize("chance", [cohen_chance, scott_chance, uniform_chance])
def test_weights_that_take_all_grades_as_the_same_leave_nothing_to_measure(chance: Chance) -> None:
    (coefficient,) = coefficients(np.array([[[3, 1], [2, 4]]]), Weights(np.zeros((2, 2)), 1), chance)
    assert (coefficient.value, coefficient.reason, coefficient.observed) == (None, Undefined.WEIGHTS_ALIKE, 1)


@pytest.mark.parametrize("weighting", Weighting)
def test_a_judge_with_a_single_grade_has_a_kappa_of_exactly_0_by_any_weights(weighting: Weighting) -> None:
    kappa = kappa_of_confusion(np.array([[0, 0, 0, 0], [7, 3, 5, 1], [0, 0, 0, 0], [0, 0, 0, 0]]), weighting.of(4))
    assert (kappa.value, kappa.reason, kappa.interval_reason) == (0, None, Undefined.NO_SPREAD)


def test_pairs_together_are_measured_as_each_alone() -> None:
    tables = np.array([COHEN_1968, np.zeros((3, 3)), FLEISS_COHEN_EVERITT, np.diag([4, 0, 0])], np.int64)
    weights = Weighting.LINEAR.of(3)
    for together, table in zip(kappas_of_confusions(tables, weights), tables, strict=True):
        alone = kappa_of_confusion(table, weights)
        assert repr(together) == repr(alone)


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
    with pytest.raises(InvalidValueError, match="The grades -1, 3 are not in the scale"):
        confusion_matrix(np.array([0, 3, -1, 3]), np.array([0, 1, 0, 1]), [0, 1])


def test_judges_of_different_documents_are_not_compared() -> None:
    with pytest.raises(InvalidValueError, match="the first has 2 and the second 1"):
        confusion_matrix(np.array([0, 1]), np.array([0]), [0, 1])


TABLES = st.integers(2, 4).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 30), min_size=size, max_size=size), min_size=size, max_size=size)
)


@at_leisure
@given(TABLES)
def test_kappa_is_symmetric_and_between_minus_1_and_1(table: Table) -> None:
    one, other = kappa_of_confusion(np.array(table)), kappa_of_confusion(np.array(table).T)
    assert one.value == other.value
    assert one.value is None or -1 <= one.value <= 1
    assert (one.value is None) == (one.reason is not None)


@at_leisure
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
        # Kappa of 0.2, 0.6 and 0 as they may come out of a calculation.
        (0.2 + 3e-16, Band.SLIGHT),
        (0.6000000000000001, Band.MODERATE),
        (-1e-17, Band.SLIGHT),
    ],
)
def test_bands_are_those_of_landis_and_koch(value: float, name: Band) -> None:
    assert band(value) is name


def test_reasons_and_bands_are_sentences_that_can_be_translated() -> None:
    assert str(Undefined.NO_OVERLAP.sentence) == "The two judges have graded no document in common."
    assert str(Band.ALMOST_PERFECT.sentence) == "almost perfect"
    assert "conventions" in str(BANDS_ARE_CONVENTIONS)


@at_leisure
@given(st.lists(st.tuples(st.sampled_from(GRADES), st.sampled_from(GRADES)), min_size=1), st.permutations(GRADES))
def test_unweighted_kappa_does_not_care_what_grades_are_called(graded: list[tuple[int, int]], names: list[int]) -> None:
    first, second = np.array(graded).T
    renamed = cohen_kappa(np.array(names)[first], np.array(names)[second], GRADES)
    assert renamed.value == cohen_kappa(first, second, GRADES).value


@at_leisure
@given(st.lists(st.tuples(st.sampled_from(GRADES), st.sampled_from(GRADES)), min_size=1), st.sampled_from(Weighting))
def test_weighted_kappa_does_not_care_which_end_of_the_scale_is_best(
    graded: list[tuple[int, int]], weighting: Weighting
) -> None:
    first, second = np.array(graded).T
    there, back = (
        cohen_kappa(one, other, GRADES, weighting.of(3)).value
        for one, other in ((first, second), (2 - first, 2 - second))
    )
    assert there == back
