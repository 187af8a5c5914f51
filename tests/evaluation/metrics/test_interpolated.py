"""Interpolated precision, the eleven-point average, and precision-recall curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measuring import batch, value, value_of_pattern

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.interpolated import (
    LEVELS,
    eleven_points,
    mean_eleven_points,
    precision_recall_points,
)
from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.setting import Compat

RANKINGS = st.lists(st.integers(0, 20), unique=True, max_size=15)
QRELS = st.dictionaries(st.integers(0, 20), st.integers(-1, 2))

# Relevant documents at ranks 1, 3, 4, 7 and 9: precision 1, 2/3, 3/4, 4/7, 5/9.
FIVE_OF_TEN = "R N R R N N R N R N"


@pytest.mark.parametrize(
    ("level", "missed", "ten", "nine"),
    [
        # 5 relevant. Version 10 rounds halves up, version 9 adds 0.9 and drops the decimals.
        (0.0, 0, 1, 1),
        (0.1, 0, 1, 1),  # 0.5 to 1; 1.4 to 1
        (0.15, 0, 1, 1),  # 0.75 to 1; 1.65 to 1
        (0.25, 0, 1, 3 / 4),  # 1.25 to 1; 2.15 to 2
        (0.4, 0, 3 / 4, 3 / 4),
        (0.5, 0, 3 / 4, 3 / 4),  # 2.5 to 3; 3.4 to 3
        (0.65, 0, 3 / 4, 4 / 7),  # 3.25 to 3; 4.15 to 4
        (0.7, 0, 4 / 7, 4 / 7),  # 3.5 to 4; 4.4 to 4
        (1.0, 0, 5 / 9, 5 / 9),
        # 8 relevant, of which 3 were not retrieved.
        (0.6, 3, 5 / 9, 5 / 9),  # 4.8 to 5; 5.7 to 5
        (0.65, 3, 5 / 9, 0),  # 5.2 to 5; 6.1 to 6
        (0.7, 3, 0, 0),
        (1.0, 3, 0, 0),
    ],
)
def test_levels_of_recall_are_rounded_as_either_trec_eval_does(
    level: float, missed: int, ten: float, nine: float
) -> None:
    relevant = [rank for rank, letter in enumerate(FIVE_OF_TEN.split()) if letter == "R"]
    qrels = dict.fromkeys([*relevant, *range(100, 100 + missed)], 1)
    measure = Measure("IPrec", level)
    assert value(measure, range(10), qrels, compat=Compat.TREC_EVAL_10) == ten
    assert value(measure, range(10), qrels, compat=Compat.TREC_EVAL_9) == nine


def test_the_eleven_points_are_averaged() -> None:
    # Recall 0 to 0.2: 1; 0.3 to 0.6: 3/4; 0.7 and 0.8: 4/7; 0.9 and 1: 5/9.
    expected = (3 * 1 + 4 * 3 / 4 + 2 * 4 / 7 + 2 * 5 / 9) / 11
    assert value_of_pattern("11ptAvg", FIVE_OF_TEN) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("measure", ["IPrec@0", "11ptAvg"])
def test_where_trec_eval_prints_nan_the_value_is_0(measure: str) -> None:
    # trec_eval -J with nothing judged retrieved, and topics with negative grades only.
    assert value(measure, [9, 8], {1: 1}, judged_only=True) == 0
    assert value(measure, [1, 2], {1: -1, 2: -2}) == 0
    assert value(measure, [1, 2], {1: -1, 2: -2}, judged_only=True) == 0


@given(st.lists(RANKINGS, max_size=4), QRELS, st.sampled_from([0.0, 0.1, 0.35, 0.5, 1.0]))
def test_interpolated_precision_is_the_best_from_there_on(
    rankings: list[list[int]], qrels: dict[int, int], level: float
) -> None:
    values = Measure("IPrec", level).values(batch(*rankings, qrels=qrels), 1).tolist()
    existing = sum(grade >= 1 for grade in qrels.values())
    wanted = max(int(level * existing + 0.5), 1)
    for ranking, found in zip(rankings, values, strict=True):
        ranks = [rank for rank, number in enumerate(ranking, 1) if qrels.get(number, 0) >= 1]
        precisions = [nth / rank for nth, rank in enumerate(ranks, 1)]
        assert found == max(precisions[wanted - 1 :], default=0)


def test_a_curve_has_a_point_for_each_relevant_document_retrieved() -> None:
    judged = batch([9, 1, 2], [], [1, 8, 7, 2], qrels={1: 1, 2: 2, 3: 1, 4: 1, 9: 0})
    points = precision_recall_points(judged, 1)
    assert points.ranking.tolist() == [0, 0, 2, 2]
    assert points.recall.tolist() == [1 / 4, 2 / 4, 1 / 4, 2 / 4]
    assert points.precision.tolist() == [1 / 2, 2 / 3, 1, 1 / 2]
    assert points.interpolated.tolist() == [2 / 3, 2 / 3, 1, 1 / 2]
    first, second, third = (points.of(ranking) for ranking in range(3))
    assert (first.precision.tolist(), second.precision.tolist(), third.precision.tolist()) == (
        [1 / 2, 2 / 3],
        [],
        [1, 1 / 2],
    )
    assert third.recall.tolist() == [1 / 4, 2 / 4]
    assert precision_recall_points(judged, 2).recall.tolist() == [1, 1]


@given(st.lists(RANKINGS, max_size=4), QRELS)
def test_a_curves_interpolated_precision_is_that_at_its_recall(
    rankings: list[list[int]], qrels: dict[int, int]
) -> None:
    judged = batch(*rankings, qrels=qrels)
    points = precision_recall_points(judged, 1)
    for place, level in enumerate(points.recall.tolist()):
        at_level = Measure("IPrec", level).values(judged, 1)
        assert points.interpolated[place] == at_level[points.ranking[place]]
    for place in range(len(rankings)):
        curve = points.of(place)
        assert (np.diff(curve.recall) > 0).all()
        assert (np.diff(curve.interpolated) <= 0).all()
        assert (curve.interpolated >= curve.precision).all()


def test_eleven_points_of_rankings_and_of_runs() -> None:
    lists = {1: [1], 2: [9, 1]}
    judged = judge_rankings(
        [(topic, np.array(lists[best], np.int32)) for best in (1, 2) for topic in (1, 2)], {1: {1: 1}, 2: {1: 1, 2: 1}}
    )
    # Of the second topic, recall 0.8 and more is both documents, of which the second was not retrieved; 1.4 is 1.
    points = eleven_points(judged, 1)
    assert points.shape == (4, len(LEVELS))
    assert points[0].tolist() == [1] * 11
    assert points[1].tolist() == [1] * 8 + [0] * 3
    assert points[2].tolist() == [1 / 2] * 11
    assert points[3].tolist() == [1 / 2] * 8 + [0] * 3
    means = mean_eleven_points(judged, 2, 1)
    assert means.tolist() == [[1] * 8 + [1 / 2] * 3, [1 / 2] * 8 + [1 / 4] * 3]
    # For version 9, 0.6 of two documents is 2.
    assert mean_eleven_points(judged, 2, 1, compat=Compat.TREC_EVAL_9)[0].tolist() == [1] * 6 + [1 / 2] * 5


def test_there_is_no_mean_curve_without_a_topic() -> None:
    with pytest.raises(InvalidValueError, match="no topic"):
        mean_eleven_points(judge_rankings([], {}), 1, 1)
