"""Coefficients of many judges against published tables, against direct formulas, and where there are none."""

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled import code_labels, krippendorff_alpha
from numpy.typing import NDArray
from thorough import examples

from annotator.evaluation.agreement.kappa import (
    Chance,
    Weighting,
    coefficients,
    cohen_chance,
    gwet_chance,
    scott_chance,
    uniform_chance,
)
from annotator.evaluation.agreement.labels import Labels
from annotator.evaluation.agreement.many_judges import (
    Level,
    conger_kappa,
    fleiss_kappa,
    fleiss_kappa_of_unequal,
    gwet_ac,
    overlap_of_all,
    uniform_kappa,
)
from annotator.evaluation.agreement.results import Coefficient, Undefined

at_leisure = settings(max_examples=examples(60))

# A judge a row, a document a column, * where the judge gave no grade.
KRIPPENDORFF = ["123321412***", "1233224125*3", "*3332342251*", "12332441251*"]
WIKIPEDIA_ALPHA = ["*****34121133*3", "1*213343*******", "**21344*21133*4"]
FLEISS_WIKIPEDIA = """
    0 0 0 0 14   0 2 6 4 2   0 0 3 5 6   0 3 9 2 0   2 2 8 1 1
    7 7 0 0 0    3 2 6 3 0   2 5 3 2 2   6 5 2 1 0   0 2 2 3 7
"""
# Fleiss 1971, table 1, as statsmodels and R's irr have it: of each patient, six diagnoses.
FLEISS_1971 = """
    444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445
    333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555
"""


def labels_of(judges: list[str]) -> Labels:
    rows = [
        (item, f"judge {place}", int(grade))
        for place, given in enumerate(judges)
        for item, grade in enumerate(given)
        if grade != "*"
    ]
    items, names, grades = zip(*rows, strict=True)
    return code_labels(items, ["1"] * len(rows), names, grades, sorted(set(grades)))


def counts_of(rows: str, size: int) -> NDArray[np.int64]:
    return np.array(rows.split(), np.int64).reshape(-1, size)


def alpha(judges: list[str], level: Level) -> float | None:
    labels = labels_of(judges)
    return krippendorff_alpha(labels.grade_counts, labels.grades, level).value


@pytest.mark.parametrize(
    ("judges", "level", "expected"),
    [
        # Krippendorff 2011, section E: .743, .815, .849 and .797; more digits by the library krippendorff.
        (KRIPPENDORFF, Level.NOMINAL, 0.743421),
        (KRIPPENDORFF, Level.ORDINAL, 0.815388),
        (KRIPPENDORFF, Level.INTERVAL, 0.849107),
        (KRIPPENDORFF, Level.RATIO, 0.797403),
        # Wikipedia, "Krippendorff's alpha": nominal 0.691 and interval 0.811.
        (WIKIPEDIA_ALPHA, Level.NOMINAL, 0.691358),
        (WIKIPEDIA_ALPHA, Level.ORDINAL, 0.806721),
        (WIKIPEDIA_ALPHA, Level.INTERVAL, 0.810845),
        (WIKIPEDIA_ALPHA, Level.RATIO, 0.808944),
        # Krippendorff 2011, sections A and B; a to e are 1 to 5.
        (["0100000010", "1110010000"], Level.NOMINAL, 0.095238),
        (["112243335441", "212223335444"], Level.NOMINAL, 0.691964),
    ],
)
def test_alpha_agrees_with_the_literature(judges: list[str], level: Level, expected: float) -> None:
    assert alpha(judges, level) == pytest.approx(expected, abs=5.1e-7)


@pytest.mark.parametrize(
    ("counts", "expected", "uniform"),
    [
        (counts_of(FLEISS_WIKIPEDIA, 5), 0.20993, None),
        (
            np.array(
                [np.bincount([int(given) for given in patient], minlength=6)[1:] for patient in FLEISS_1971.split()]
            ),
            0.43024,
            None,
        ),
        # statsmodels' tests; the last is Randolph's kappa.
        (np.array([[7, 1], [3, 5]]), 0.161905, 0.214286),
        (np.array([[6, 1, 0], [0, 7, 0]]), 0.708333, 0.785714),
    ],
)
def test_fleiss_kappa_agrees_with_the_literature(
    counts: NDArray[np.int64], expected: float, uniform: float | None
) -> None:
    assert fleiss_kappa(counts).value == pytest.approx(expected, abs=5.1e-6)
    assert uniform is None or uniform_kappa(counts).value == pytest.approx(uniform, abs=5.1e-7)


@pytest.mark.parametrize(
    ("weighting", "gwet", "fleiss", "conger", "uniform"),
    [(Weighting.NONE, 0.7754, 0.7612, 0.7628, 0.7727), (Weighting.QUADRATIC, 0.9140, 0.8649, 0.8577, 0.9015)],
)
def test_coefficients_of_many_judges_agree_with_gwet_s(
    weighting: Weighting, gwet: float, fleiss: float, conger: float, uniform: float
) -> None:
    # irrCAC's raw_4raters is Krippendorff's data, but that the single grade of document 12 is the third judge's.
    labels = labels_of([KRIPPENDORFF[0], KRIPPENDORFF[1][:11] + "*", KRIPPENDORFF[2][:11] + "3", KRIPPENDORFF[3]])
    counts, weights = labels.grade_counts, weighting.of(5)
    found = [
        gwet_ac(counts, weights),
        fleiss_kappa_of_unequal(counts, weights),
        conger_kappa(labels, weights),
        uniform_kappa(counts, weights),
    ]
    assert [coefficient.value for coefficient in found] == pytest.approx([gwet, fleiss, conger, uniform], abs=5.1e-5)


def test_a_document_with_one_grade_changes_no_alpha() -> None:
    moved = [KRIPPENDORFF[0], KRIPPENDORFF[1][:11] + "*", KRIPPENDORFF[2][:11] + "3", KRIPPENDORFF[3]]
    assert alpha(moved, Level.ORDINAL) == alpha(KRIPPENDORFF, Level.ORDINAL)


def test_the_overlap_of_three_judges_is_what_all_find_relevant_of_what_any_does() -> None:
    # All three graded documents 1 to 5; relevant is 2 or 3. All find 1 and 4 so, one judge 2 and one 3, and nobody 5.
    judges = ["21231*", "33121*", "211312"]
    assert overlap_of_all(labels_of(judges), 1).value == 2 / 4


def test_an_overlap_needs_documents_that_all_graded_and_one_that_is_relevant() -> None:
    assert overlap_of_all(labels_of(["12*", "*21"]), 1).value == 1
    assert overlap_of_all(labels_of(["12**", "**12"]), 1).reason is Undefined.NO_DOCUMENT_OF_ALL
    assert overlap_of_all(labels_of(["111*", "1112"]), 1).reason is Undefined.NOTHING_RELEVANT


def test_fleiss_kappa_refuses_different_numbers_of_judges_and_passes_over_single_ones() -> None:
    assert fleiss_kappa(np.array([[2, 0], [1, 2]])) == Coefficient(None, Undefined.UNEQUAL_NUMBERS)
    assert fleiss_kappa(np.array([[2, 0], [1, 1], [0, 1]])) == fleiss_kappa(np.array([[2, 0], [1, 1]]))


@pytest.mark.parametrize("counts", [np.zeros((0, 3), np.int64), np.array([[1, 0, 0], [0, 0, 1]])])
def test_without_a_document_of_two_judges_nothing_is_defined(counts: NDArray[np.int64]) -> None:
    nothing = Coefficient(None, Undefined.NO_SHARED_DOCUMENT)
    assert [krippendorff_alpha(counts, [0, 1, 2], level) for level in Level] == [nothing] * 4
    assert [fleiss_kappa(counts), gwet_ac(counts), uniform_kappa(counts)] == [nothing] * 3


def test_one_grade_given_by_all_leaves_only_what_takes_chance_from_the_scale() -> None:
    counts = np.array([[0, 3, 0], [0, 2, 0]])
    for level in Level:
        coefficient = krippendorff_alpha(counts, [0, 1, 2], level)
        assert (coefficient.value, coefficient.reason) == (None, Undefined.SINGLE_GRADE_OF_ALL)
    fleiss = fleiss_kappa(counts[:1])
    assert (fleiss.value, fleiss.reason, fleiss.observed) == (None, Undefined.SINGLE_GRADE_OF_ALL, 1)
    assert (gwet_ac(counts).value, uniform_kappa(counts).value) == (1, 1)


def test_a_scale_of_one_grade_leaves_many_judges_nothing_to_agree_on() -> None:
    counts = np.array([[3], [2]])
    assert [gwet_ac(counts).reason, uniform_kappa(counts).reason] == [Undefined.SHORT_SCALE] * 2


JUDGES = (
    st.integers(2, 5)
    .flatmap(lambda judges: st.lists(st.text("*0123", min_size=6, max_size=6), min_size=judges, max_size=judges))
    .filter(lambda judges: any(given != "******" for given in judges))
)
COMPLETE = st.lists(st.text("0123", min_size=8, max_size=8), min_size=2, max_size=2)


def slow_alpha(judges: list[str], distance: dict[tuple[str, str], float]) -> float | None:
    """One less the mean distance within documents, divided by that of any two grades of all shared documents."""
    documents = [[grade for grade in column if grade != "*"] for column in zip(*judges, strict=True)]
    documents = [grades for grades in documents if len(grades) > 1]
    every = [grade for grades in documents for grade in grades]
    if len(set(every)) < 2:
        return None
    within = sum(
        2 * distance[min(one, other), max(one, other)] / (len(grades) - 1)
        for grades in documents
        for one, other in combinations(grades, 2)
    )
    by_chance = sum(2 * distance[min(one, other), max(one, other)] for one, other in combinations(every, 2))
    return 1 - within / len(every) / (by_chance / (len(every) * (len(every) - 1)))


def distances(judges: list[str], level: Level) -> dict[tuple[str, str], float]:
    shared = [column for column in zip(*judges, strict=True) if sum(grade != "*" for grade in column) > 1]
    times = {grade: sum(column.count(grade) for column in shared) for grade in "0123"}
    found = {}
    for low, high in [(low, high) for low in "0123" for high in "0123" if low <= high]:
        between = sum(times[grade] for grade in "0123" if low <= grade <= high) - (times[low] + times[high]) / 2
        distance = {
            Level.NOMINAL: float(low != high),
            Level.ORDINAL: between if low != high else 0,
            Level.INTERVAL: int(high) - int(low),
            Level.RATIO: (int(high) - int(low)) / max(int(high) + int(low), 1),
        }
        found[low, high] = distance[level] ** 2
    return found


@at_leisure
@given(JUDGES, st.sampled_from(Level))
def test_alpha_is_what_the_direct_formula_gives(judges: list[str], level: Level) -> None:
    expected = slow_alpha(judges, distances(judges, level))
    assert alpha(judges, level) == (None if expected is None else pytest.approx(expected, abs=1e-9))


@at_leisure
@given(JUDGES, st.randoms(use_true_random=False))
def test_coefficients_of_many_know_neither_the_order_of_judges_nor_of_documents(
    judges: list[str], random: Random
) -> None:
    columns = list(zip(*judges, strict=True))
    random.shuffle(columns)
    shuffled = ["".join(given) for given in zip(*columns, strict=True)]
    random.shuffle(shuffled)
    for level in Level:
        one, other = alpha(judges, level), alpha(shuffled, level)
        assert one == (None if other is None else pytest.approx(other, abs=1e-9))


@at_leisure
@given(JUDGES, st.permutations("0123"))
def test_nominal_coefficients_do_not_care_what_grades_are_called(judges: list[str], names: list[str]) -> None:
    renamed = ["".join(dict(zip("0123*", [*names, "*"], strict=True))[grade] for grade in given) for given in judges]
    for coefficient in (fleiss_kappa_of_unequal, gwet_ac, uniform_kappa):
        one, other = (coefficient(labels_of(rows).grade_counts).value for rows in (judges, renamed))
        assert one == (None if other is None else pytest.approx(other, abs=1e-9))
    one, other = alpha(judges, Level.NOMINAL), alpha(renamed, Level.NOMINAL)
    assert one == (None if other is None else pytest.approx(other, abs=1e-9))


@at_leisure
@given(JUDGES)
def test_no_coefficient_of_many_exceeds_1_and_none_comes_without_value_or_reason(judges: list[str]) -> None:
    labels = labels_of(judges)
    counts = labels.grade_counts
    found = [krippendorff_alpha(counts, labels.grades, level) for level in Level]
    found += [fleiss_kappa(counts), gwet_ac(counts), uniform_kappa(counts), conger_kappa(labels)]
    for coefficient in found:
        assert (coefficient.value is None) == (coefficient.reason is not None)
        assert coefficient.value is None or coefficient.value <= 1


@at_leisure
@given(COMPLETE, st.sampled_from(Weighting))
def test_of_two_judges_each_coefficient_of_many_is_its_kin_of_two(judges: list[str], weighting: Weighting) -> None:
    labels = labels_of(judges)
    size = len(labels.grades)
    first, second = ([labels.grades.index(int(grade)) for grade in given] for given in judges)
    confusion = np.zeros((1, size, size), np.int64)
    np.add.at(confusion[0], (first, second), 1)
    counts, weights = labels.grade_counts, weighting.of(size)
    kin: list[tuple[Coefficient, Chance]] = [
        (fleiss_kappa(counts, weights), scott_chance),
        (gwet_ac(counts, weights), gwet_chance),
        (uniform_kappa(counts, weights), uniform_chance),
        (conger_kappa(labels, weights), cohen_chance),
    ]
    for of_many, chance in kin:
        (of_two,) = coefficients(confusion, weights, chance)
        assert (of_many.value is None) == (of_two.value is None)
        assert of_two.value is None or of_many.value == pytest.approx(of_two.value, abs=1e-9)


@at_leisure
@given(COMPLETE)
def test_alpha_of_two_judges_is_scott_s_pi_corrected_for_few_documents(judges: list[str]) -> None:
    # With n grades in all, alpha = pi + (1 - pi) / n (Krippendorff 2004, "Reliability in content analysis").
    pi = fleiss_kappa(labels_of(judges).grade_counts).value
    expected = None if pi is None else pytest.approx(pi + (1 - pi) / 16, abs=1e-9)
    assert alpha(judges, Level.NOMINAL) == expected
