"""The order of topics and runs in a matrix of scores."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from annotator.evaluation.inspection.one_topic import difficulties
from annotator.evaluation.inspection.topic_matrix import hardest_first
from annotator.evaluation.metrics.measures import Better


def test_topics_are_sorted_by_their_median_and_ties_by_number() -> None:
    values = np.array([[0.5, 0.1, 0.5], [0.7, 0.3, 0.7]])
    every = difficulties(["10", "3", "9"], values, Better.MORE)
    assert [one.topic for one in hardest_first(every)] == ["3", "9", "10"]
    assert [one.topic for one in hardest_first(difficulties(["10", "3", "9"], values, Better.LESS))] == ["9", "10", "3"]


def test_without_a_direction_topics_are_in_natural_order() -> None:
    every = difficulties(["10", "9"], np.array([[0.1, 0.9]]), Better.NEITHER)
    assert [one.topic for one in hardest_first(every)] == ["9", "10"]


@given(arrays(float, (3, 5), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
def test_medians_never_fall_from_the_hardest_to_the_easiest(values: np.ndarray) -> None:
    medians = [one.median.value for one in hardest_first(difficulties(["1", "2", "3", "4", "5"], values, Better.MORE))]
    assert medians == sorted(np.median(values, axis=0).tolist())
