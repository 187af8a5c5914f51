"""How many labels of people tell a machine's kappa: the plan, and the estimate from a sample by its grades."""

import numpy as np
import pytest

from annotator.evaluation.agreement.kappa import kappa_of_confusion
from annotator.evaluation.agreement.labels_needed import Z, labels_needed, stratified_kappa

UNLIKE = 1 - np.eye(2)
CONFUSION = np.array([[400, 100], [50, 450]])


def test_the_plan_is_that_of_the_formula() -> None:
    """By hand for two grades of 500 documents, 80 and 90 % right: kappa is .7, and h is 2 for a right grade, 0 else.

    D = .15, E = .5, c = (.5, .5): h = (.5 * .3 - v) / .5, which is .3 where they agree and -1.7 where not. Their
    standard deviations are 2 * .4 and 2 * .3, so that n is .49 / ((e / z)^2 + .5 / 1000) without what is added.
    """
    [plan] = labels_needed([500, 500], CONFUSION * 1_000_000, UNLIKE, [0.05])
    exact = 0.49 / ((0.05 / Z) ** 2 + 0.0005)
    assert plan.margin == 0.05
    assert exact <= plan.total <= exact + 2
    assert plan.by_grade[0] / plan.by_grade[1] == pytest.approx(0.8 / 0.6, rel=0.02)


def test_a_smaller_margin_takes_more_up_to_all_documents() -> None:
    plans = labels_needed([30, 3000], CONFUSION, UNLIKE, [0.2, 0.05, 0.01, 1e-9])
    totals = [plan.total for plan in plans]
    assert totals == sorted(totals)
    assert totals[-1] == 3030
    assert all(plan.by_grade[0] <= 30 for plan in plans)
    assert min(plans[0].by_grade) >= 2


def test_nothing_is_planned_without_documents_or_disagreement() -> None:
    assert labels_needed([0, 0], CONFUSION, UNLIKE, [0.1]) == []
    assert labels_needed([5, 5], CONFUSION, np.zeros((2, 2)), [0.1]) == []


def test_a_sample_of_everything_gives_kappa_without_error() -> None:
    found = stratified_kappa([500, 500], CONFUSION, UNLIKE)
    assert found is not None
    assert found.value == pytest.approx(kappa_of_confusion(CONFUSION).value)
    assert found.standard_error == pytest.approx(0, abs=1e-9)


def test_a_sample_by_grade_is_weighted_to_all_documents() -> None:
    """Of the second grade ten times as many were drawn: what is known of it must not count ten times."""
    found = stratified_kappa([500, 500], np.array([[40, 10], [50, 450]]), UNLIKE)
    assert found is not None
    assert found.value == pytest.approx(0.7)
    # sqrt(.5^2 (2 * .4)^2 50 / 49 (1 / 50 - 1 / 500)), and nothing of the grade that was judged whole.
    assert found.standard_error == pytest.approx(0.5 * 0.8 * (50 / 49 * (1 / 50 - 1 / 500)) ** 0.5)


@pytest.mark.parametrize("sample", [[[1, 0], [50, 450]], [[0, 0], [50, 450]]])
def test_a_grade_without_two_labels_gives_no_kappa(sample: list[list[int]]) -> None:
    assert stratified_kappa([500, 500], np.array(sample), UNLIKE) is None


def test_a_single_grade_gives_no_kappa() -> None:
    assert stratified_kappa([10, 0], np.array([[10, 0], [0, 0]]), UNLIKE) is None
    assert stratified_kappa([0, 0], np.zeros((2, 2), np.int64), UNLIKE) is None


def test_intervals_contain_kappa_nineteen_times_in_twenty() -> None:
    random = np.random.default_rng(7)
    counts = CONFUSION.sum(axis=1)
    [plan] = labels_needed(counts.tolist(), CONFUSION, UNLIKE, [0.08])
    errors = []
    for _ in range(400):
        rows = zip(CONFUSION, plan.by_grade, strict=True)
        drawn = [random.multivariate_hypergeometric(row, size) for row, size in rows]
        found = stratified_kappa(counts.tolist(), np.array(drawn), UNLIKE)
        assert found is not None
        errors.append((abs(found.value - 0.7), Z * found.standard_error))
    assert 0.91 < np.mean([error <= 0.08 for error, _ in errors]) < 0.99
    assert 0.91 < np.mean([error <= half for error, half in errors]) < 0.99
