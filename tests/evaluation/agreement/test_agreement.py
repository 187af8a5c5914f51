"""Coefficients of two judges against published and recomputed tables."""

import numpy as np
import pytest

from annotator.evaluation.agreement.kappa import (
    Weighting,
    Weights,
    coefficients,
    cohen_kappa,
    gwet_chance,
    kappa_of_confusion,
    scott_chance,
    uniform_chance,
)

Table = list[list[int]]

FLEISS_COHEN_EVERITT = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]
COHEN_1968 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
FLEISS_BOOK = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
MEDICAL = [[0, 4, 1], [0, 8, 0], [0, 1, 5]]
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
DIAGNOSIS = [[40, 6, 4, 15], [4, 25, 1, 5], [4, 2, 21, 9], [17, 13, 12, 45]]


# Observed and expected agreement, kappa, its standard error, and that when kappa is truly 0; then Scott's pi, Gwet's AC
# and the coefficient of uniform chance (PABAK). The sources print kappa to two to four digits; the rest was recomputed
# from the formulas of Fleiss, Cohen and Everitt (1969), Scott (1955), Gwet (2008) and Brennan and Prediger (1981) by
# statsmodels and irrCAC.
NOMINAL: list[tuple[str, Table, tuple[float, ...]]] = [
    ("Wikipedia, 0.40", [[20, 5], [10, 15]], (0.70, 0.50, 0.40000, 0.12700, 0.13856, 0.39394, 0.40594, 0.40)),
    ("Wikipedia, 0.1304", [[45, 15], [25, 15]], (0.60, 0.54, 0.13043, 0.09866, 0.09761, 0.12088, 0.26606, 0.20)),
    ("Wikipedia, 0.2593", [[25, 35], [5, 35]], (0.60, 0.46, 0.25926, 0.07716, 0.08315, 0.19192, 0.20792, 0.20)),
    ("Manning et al.", [[300, 20], [10, 70]], (0.925, 0.665, 0.77612, 0.03889, 0.04986, 0.77591, 0.88727, 0.85)),
    ("Artstein and Poesio", [[20, 20], [10, 50]], (0.70, 0.54, 0.34783, 0.09501, 0.09761, 0.34066, 0.44954, 0.40)),
    ("Cicchetti, 0.70", [[40, 9], [6, 45]], (0.85, 0.5008, 0.69952, 0.07139, 0.09982, 0.69925, 0.70075, 0.70)),
    ("Cicchetti, 0.32", [[80, 10], [5, 5]], (0.85, 0.78, 0.31818, 0.13346, 0.09738, 0.31429, 0.80800, 0.70)),
    ("below chance", [[118, 5], [2, 0]], (0.944, 0.94528, -0.02339, 0.01229, 0.08038, -0.02881, 0.94078, 0.888)),
    ("Cohen 1968", COHEN_1968, (0.70, 0.41, 0.49153, 0.05100, 0.05198, 0.48718, 0.57597, 0.55)),
    ("Fleiss et al.", FLEISS_COHEN_EVERITT, (0.70, 0.475, 0.42857, 0.05371, 0.05551, 0.42721, 0.59356, 0.55)),
    ("Fleiss's book", FLEISS_BOOK, (0.89, 0.66, 0.67647, 0.08770, 0.07619, 0.67528, 0.86757, 0.835)),
    ("SAS manual", MEDICAL, (0.68421, 0.38781, 0.48416, 0.13801, 0.14840, 0.45324, 0.55599, 0.52632)),
    ("Gwet's abstractors", ABSTRACTORS, (0.89, 0.4597, 0.79641, 0.05891, 0.07601, 0.79624, 0.84933, 0.835)),
    ("Gwet's diagnosis", DIAGNOSIS, (0.58744, 0.27431, 0.43150, 0.04597, 0.03976, 0.43034, 0.45616, 0.44993)),
]
# The same columns; None is what the source does not tell.
WEIGHTED: list[tuple[str, Table, Weights, tuple[float | None, ...]]] = [
    (
        "Cohen 1968, disagreement of 0 to 6",
        COHEN_1968,
        Weights(np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]]) / 6, 1),
        (0.85, 0.77, 0.34783, 0.07550, 0.05972, None, None, None),
    ),
    (
        "Fleiss, Cohen and Everitt, their weights",
        FLEISS_COHEN_EVERITT,
        Weights(1 - np.array([[1, 0, 0.4444], [0, 1, 0.6667], [0.4444, 0.6667, 1]]), 1),
        (0.78667, 0.56722, 0.50707, 0.05699, 0.06534, None, None, None),
    ),
    (
        "Fleiss, Cohen and Everitt, linear",
        FLEISS_COHEN_EVERITT,
        Weighting.LINEAR.of(3),
        (0.835, 0.675, 0.49231, 0.05072, 0.05777, 0.49133, 0.70721, 0.62875),
    ),
    (
        "Fleiss, Cohen and Everitt, quadratic",
        FLEISS_COHEN_EVERITT,
        Weighting.QUADRATIC.of(3),
        (0.9025, 0.775, 0.56667, 0.05567, 0.07051, 0.56606, 0.79528, 0.7075),
    ),
    (
        "SAS manual, linear",
        MEDICAL,
        Weighting.LINEAR.of(3),
        (0.81579, 0.65235, 0.47012, 0.14575, 0.14259, None, None, None),
    ),
    (
        "Gwet's abstractors, linear",
        ABSTRACTORS,
        Weighting.LINEAR.of(3),
        (0.945, 0.6499, 0.84290, 0.04787, None, 0.84280, 0.90002, 0.87625),
    ),
    (
        "Gwet's abstractors, quadratic",
        ABSTRACTORS,
        Weighting.QUADRATIC.of(3),
        (0.9725, 0.745, 0.89216, 0.03535, None, 0.89211, 0.94024, 0.9175),
    ),
    (
        "Gwet's diagnosis, linear",
        DIAGNOSIS,
        Weighting.LINEAR.of(4),
        (0.72795, 0.54138, 0.40681, 0.05339, None, 0.40555, 0.37707, 0.34709),
    ),
    (
        "Gwet's diagnosis, quadratic",
        DIAGNOSIS,
        Weighting.QUADRATIC.of(4),
        (0.78774, 0.65588, 0.38319, 0.06579, None, 0.38203, 0.29857, 0.23587),
    ),
]


def measured(table: Table, weights: Weights) -> tuple[float | None, ...]:
    kappa = kappa_of_confusion(np.array(table), weights)
    others = [
        coefficients(np.array([table]), weights, chance)[0].value
        for chance in (scott_chance, gwet_chance, uniform_chance)
    ]
    errors = (kappa.standard_error, kappa.standard_error_by_chance)
    return (kappa.observed, kappa.expected, kappa.value, *errors, *others)


@pytest.mark.parametrize(("table", "expected"), [case[1:] for case in NOMINAL], ids=[case[0] for case in NOMINAL])
def test_coefficients_of_two_judges_agree_with_the_literature(table: Table, expected: tuple[float, ...]) -> None:
    assert measured(table, Weighting.NONE.of(len(table))) == pytest.approx(expected, abs=5.1e-6)


@pytest.mark.parametrize(
    ("table", "weights", "expected"), [case[1:] for case in WEIGHTED], ids=[case[0] for case in WEIGHTED]
)
def test_weighted_coefficients_agree_with_the_literature(
    table: Table, weights: Weights, expected: tuple[float | None, ...]
) -> None:
    for found, printed in zip(measured(table, weights), expected, strict=True):
        assert printed is None or found == pytest.approx(printed, abs=5.1e-6)


def test_the_textbook_s_agreement_chance_and_kappa_come_out() -> None:
    # The 94 applications for scholarships: (61 + 25) / 94 = 0.915; (63 x 67 + 31 x 27) / 94^2 = 0.572.
    kappa = kappa_of_confusion(np.array([[61, 2], [6, 25]]))
    assert (kappa.observed, kappa.expected) == pytest.approx((0.915, 0.572), abs=5e-4)
    assert kappa.value == pytest.approx(0.80, abs=5e-3)


def test_manning_s_chance_is_that_of_scott() -> None:
    # Table 8.2 pools the judges: ((320 + 310) / 800)^2 + ((80 + 90) / 800)^2 = 0.665 and kappa 0.776.
    (pi,) = coefficients(np.array([[[300, 20], [10, 70]]]), Weighting.NONE.of(2), scott_chance)
    assert pi.expected == pytest.approx(0.6653125)
    assert pi.value == pytest.approx(0.77591, abs=5e-6)


def test_gwet_s_interval_follows_from_our_standard_error() -> None:
    # irrCAC prints .680 to .913 for the abstractors, with the quantile of t for 99 degrees of freedom, 1.984217.
    kappa = kappa_of_confusion(np.array(ABSTRACTORS))
    assert kappa.value is not None
    assert kappa.standard_error is not None
    interval = [kappa.value - 1.984217 * kappa.standard_error, kappa.value + 1.984217 * kappa.standard_error]
    assert interval == pytest.approx([0.680, 0.913], abs=5e-4)


@pytest.mark.parametrize(
    ("second", "weighting", "expected"),
    [
        ((52, 32, 16), Weighting.NONE, 0.8013),
        ((50, 40, 10), Weighting.NONE, 0.9315),
        ((50, 40, 10), Weighting.LINEAR, 0.9412),
        ((50, 40, 10), Weighting.QUADRATIC, 0.9541),
    ],
)
def test_kappa_from_two_lists_of_grades(second: tuple[int, ...], weighting: Weighting, expected: float) -> None:
    # scikit-learn's tests: 46 zeros, 44 ones and 10 twos against so many zeros, ones and twos.
    first = np.repeat([0, 1, 2], (46, 44, 10))
    kappa = cohen_kappa(first, np.repeat([0, 1, 2], second), [0, 1, 2], weighting.of(3))
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
