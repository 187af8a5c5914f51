"""The quantile binomial confidence bound of a target set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.stopping.target_set import least_positives, needed_positives

# Lewis, Yang and Frieder, CIKM 2021: whole numbers that follow from the binomial distribution, alpha .05.
ORACLE = {
    0.8: {14: 14, 20: 20, 29: 28, 50: 45, 100: 87, 158: 135},
    0.9: {29: 29, 50: 49, 100: 96},
    0.95: {59: 59, 100: 99},
}


@pytest.mark.parametrize(
    ("target", "positives", "needed"), [(t, r, j) for t, pairs in ORACLE.items() for r, j in pairs.items()]
)
def test_as_many_of_the_sample_must_be_found_as_published(target: float, positives: int, needed: int) -> None:
    assert needed_positives(positives, target) == needed


@pytest.mark.parametrize(("target", "least"), [(0.8, 14), (0.9, 29), (0.95, 59)])
def test_fewer_positives_certify_nothing(target: float, least: int) -> None:
    assert least_positives(target) == least
    assert needed_positives(least - 1, target) is None


@given(st.integers(1, 400), st.sampled_from([0.5, 0.8, 0.9, 0.95]), st.sampled_from([0.01, 0.05, 0.2]))
def test_more_positives_never_ask_for_fewer_to_be_found(positives: int, target: float, alpha: float) -> None:
    needed, more = needed_positives(positives, target, alpha), needed_positives(positives + 1, target, alpha)
    assert needed is None or (more is not None and needed <= more <= needed + 1 <= positives + 1)


def test_a_sample_without_positives_certifies_nothing() -> None:
    assert needed_positives(0, 0.8) is None


def test_recall_is_below_the_target_no_more_often_than_alpha() -> None:
    """Simulation: 40 positives drawn of 500; recall when the needed one is reached, 4,000 times."""
    generator = np.random.default_rng(11)
    needed = needed_positives(40, 0.8)
    assert needed is not None
    draws = np.sort(generator.permuted(np.tile(np.arange(1, 501), (4_000, 1)), axis=1)[:, :40], axis=1)
    recall = draws[:, needed - 1] / 500
    assert np.mean(recall < 0.8) <= 0.05
