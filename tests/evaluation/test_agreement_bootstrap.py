"""Intervals by drawing topics and documents anew, against formulas and where there are none."""

import numpy as np
import pytest
from numpy.typing import NDArray

from annotator.evaluation.agreement import (
    BootstrapInterval,
    Level,
    Undefined,
    Weighting,
    alpha_interval,
    kappa_interval,
    kappa_of_confusion,
)

Table = list[list[int]]
FLEISS_COHEN_EVERITT = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]


def pairs_of(table: Table) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places in the scale of both judges, one entry a document."""
    confusion = np.array(table)
    first, second = np.indices(confusion.shape).reshape(2, -1)
    return np.repeat(first, confusion.ravel()), np.repeat(second, confusion.ravel())


def of_one_topic(table: Table, *, seed: int = 1, draws: int = 2_000) -> BootstrapInterval:
    first, second = pairs_of(table)
    topic = np.zeros(first.size, np.intp)
    return kappa_interval(first, second, topic, Weighting.NONE.of(len(table)), seed=seed, draws=draws)


@pytest.mark.parametrize(
    ("table", "expected"),
    [(FLEISS_COHEN_EVERITT, 0.0538), ([[300, 20], [10, 70]], 0.0391), ([[80, 10], [5, 5]], 0.1344)],
)
def test_within_one_topic_the_error_is_that_of_documents_drawn_anew(table: Table, expected: float) -> None:
    # Computed by drawing documents one by one; the formula gives 0.0537, 0.0389 and 0.1335. With 20,000 draws an
    # error is known to 1 / sqrt(2 x 20,000) = 0.5 %; three times that is allowed.
    assert of_one_topic(table, draws=20_000).standard_error == pytest.approx(expected, rel=0.015)


def test_the_interval_is_near_that_of_the_formula_where_documents_are_independent() -> None:
    found, formula = of_one_topic(FLEISS_COHEN_EVERITT), kappa_of_confusion(np.array(FLEISS_COHEN_EVERITT))
    assert found.interval == pytest.approx(formula.interval, abs=0.015)
    assert (found.draws, found.undefined_draws, found.reason) == (2_000, 0, None)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    assert of_one_topic(FLEISS_COHEN_EVERITT) == of_one_topic(FLEISS_COHEN_EVERITT)
    assert of_one_topic(FLEISS_COHEN_EVERITT) != of_one_topic(FLEISS_COHEN_EVERITT, seed=2)


def test_topics_that_differ_widen_the_interval() -> None:
    # Half of the topics are agreed on entirely, half not at all: drawing topics, not documents, is what varies.
    first = np.tile([0, 1], 400)
    topic = np.repeat(np.arange(8), 100)
    second = np.where(topic % 2 == 0, first, 1 - first)
    by_topic = kappa_interval(first, second, topic, Weighting.NONE.of(2), seed=1)
    at_once = kappa_interval(first, second, np.zeros_like(topic), Weighting.NONE.of(2), seed=1)
    assert by_topic.standard_error is not None
    assert at_once.standard_error is not None
    # Of 8 topics with kappa 1 or -1: 1 / sqrt(8) = 0.354; of 800 documents: 1 / sqrt(800) = 0.035.
    assert by_topic.standard_error == pytest.approx(0.354, rel=0.1)
    assert at_once.standard_error == pytest.approx(0.035, rel=0.1)


def test_resamples_without_a_value_are_left_out_and_counted() -> None:
    # A resample lacks the only document of another grade with probability (1 - 1/20)^20 = 0.358; then only one grade
    # is left, and there is no kappa.
    interval = of_one_topic([[19, 0], [0, 1]])
    assert interval.undefined_draws == pytest.approx(0.358 * 2_000, rel=0.1)
    assert (interval.interval, interval.reason) == (None, Undefined.NO_SPREAD)  # where there is one, kappa is 1


def test_a_value_that_no_resample_has_gives_no_interval() -> None:
    interval = of_one_topic([[9, 0], [0, 0]])
    assert (interval.interval, interval.standard_error, interval.reason) == (None, None, Undefined.NO_RESAMPLE)
    assert interval.undefined_draws == 2_000


def test_without_a_shared_document_there_is_no_interval() -> None:
    nothing = np.zeros(0, np.intp)
    assert (
        kappa_interval(nothing, nothing, nothing, Weighting.NONE.of(2), seed=1).reason is Undefined.NO_SHARED_DOCUMENT
    )
    singles = np.array([[1, 0], [0, 1]])
    interval = alpha_interval(singles, np.array([0, 1]), [0, 1], Level.ORDINAL, seed=1)
    assert (interval.interval, interval.reason) == (None, Undefined.NO_SHARED_DOCUMENT)


@pytest.mark.parametrize("level", [Level.NOMINAL, Level.ORDINAL, Level.INTERVAL])
def test_of_two_judges_and_two_grades_alpha_s_interval_is_nearly_kappa_s(level: Level) -> None:
    # Of two grades every level is the same, and alpha is Scott's pi but for 1 / 800: table 8.2 of Manning et al.
    first, second = pairs_of([[300, 20], [10, 70]])
    topic = np.arange(first.size) % 40
    counts = np.stack([(first == grade).astype(int) + (second == grade) for grade in (0, 1)], axis=1)
    of_alpha = alpha_interval(counts, topic, [0, 1], level, seed=1)
    of_kappa = kappa_interval(first, second, topic, Weighting.NONE.of(2), seed=1)
    assert of_alpha.standard_error == pytest.approx(of_kappa.standard_error, rel=0.05)
    assert of_alpha.interval == pytest.approx(of_kappa.interval, abs=0.01)
