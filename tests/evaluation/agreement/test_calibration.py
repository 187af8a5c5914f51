"""Calibration of a machine's confidence, and its bias by grade of people; the values are worked out by hand."""

import numpy as np
import pytest

from annotator.evaluation.agreement.calibration import Undefined, bias_by_grade, calibration

PEOPLE = np.array([0, 1, 2, -1, 2, 1], np.int16)
MACHINE = np.array([0, 1, 1, 1, 2, -1], np.int16)


def test_confidence_is_compared_with_the_share_that_is_right() -> None:
    """0.95 and 0.9 right: |1.85 - 2|; 0.85 wrong: 0.85; 0.3 right: 0.7; of documents with both grades."""
    confidences = {0: 0.95, 1: 0.9, 2: 0.85, 3: 0.1, 4: float(np.float32(0.3)), 5: 0.2}
    found = calibration(MACHINE, PEOPLE, confidences)
    assert found.labels == 4
    assert [(one.low, one.labels, one.right) for one in found.bins] == [(0.3, 1, 1), (0.8, 1, 0), (0.9, 2, 1)]
    assert [one.confidence for one in found.bins] == pytest.approx([0.3, 0.85, 0.925], abs=1e-6)
    assert found.error.value == pytest.approx((0.15 + 0.85 + 0.7) / 4, abs=1e-6)


def test_certainty_is_in_the_highest_bin() -> None:
    [highest] = calibration(MACHINE, PEOPLE, {0: 1.0}).bins
    assert (highest.low, highest.high, highest.confidence) == (0.9, 1, 1)


def test_without_confidences_there_is_no_error() -> None:
    for none in ({}, {3: 0.5}):
        found = calibration(MACHINE, PEOPLE, none)
        assert (found.labels, found.bins, found.error.reason) == (0, (), Undefined.NO_CONFIDENCE)


def test_bias_is_by_the_grade_of_people() -> None:
    # Rows are the machine's grades, columns those of people.
    confusion = np.array([[3, 1, 0], [1, 2, 0], [0, 1, 0]])
    first, second, third = bias_by_grade(confusion, (0, 1, 3))
    assert (first.grade, first.documents, first.bias.value) == (0, 4, 0.25)
    assert (second.documents, second.bias.value) == (4, (-1 + 2) / 4)
    assert (third.grade, third.documents, third.bias.reason) == (3, 0, Undefined.GRADE_NOT_GIVEN)
