"""From values per topic to one value a run, added in trec_eval's order so that the last digit agrees."""

import math
from collections.abc import Mapping

import numpy as np

from annotator.errors import InvalidValueError
from annotator.evaluation.metrics.setting import Values

LEAST = 0.00001  # what the geometric mean takes for 0


def mean_over_topics(values_by_topic: Mapping[str, float]) -> float:
    """Average one run's values over all topics of the mapping, given by topic number.

    As trec_eval -c: a topic for which the run returned nothing stands in the mapping with its 0. The values are added
    one after the other in the order of the topic numbers' bytes, then divided once. Raises `InvalidValueError` when
    there is no topic.
    """
    # Text compares by code point, which for UTF-8 is the order of the bytes, which is strcmp's.
    return float(means(np.array([values_by_topic[number] for number in sorted(values_by_topic)])))


def means(values: Values) -> Values:
    """Average along the last axis, one entry a topic, in the order of the topic numbers' bytes.

    Raises `InvalidValueError` when there is no topic.
    """
    topics: int = values.shape[-1]
    return totals(values) / topics


def geometric_means(values: Values) -> Values:
    """Average along the last axis geometrically, values below 0.00001 raised to that (trec_eval's gm_map).

    Logarithms and powers are the C library's, not NumPy's, so that the last digit agrees. Raises `InvalidValueError`
    when there is no topic.
    """
    logarithms = np.array([math.log(max(value, LEAST)) for value in values.ravel()]).reshape(values.shape)
    averages = means(logarithms)
    return np.array([math.exp(average) for average in averages.ravel()]).reshape(averages.shape)


def totals(values: Values) -> Values:
    """Add along the last axis, one entry a topic, in the order of the topic numbers' bytes.

    Raises `InvalidValueError` when there is no topic.
    """
    if values.shape[-1] == 0:
        raise InvalidValueError("There is no topic to average over.")
    # np.sum adds in pairs; accumulating adds from left to right, as trec_eval does.
    total: Values = np.add.accumulate(values, axis=-1)[..., -1]
    return total
