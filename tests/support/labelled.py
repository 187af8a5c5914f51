"""Labels from plain lists, and alpha of the counts of their grades, to compare the statistics of agreement with."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.labels import Labels, places_in_scale
from annotator.evaluation.agreement.many_judges import Level, alphas_of_coincidences, coincidences_by_place
from annotator.evaluation.agreement.results import Coefficient

Name = TypeVar("Name", bound=Hashable)


def code_labels(
    items: Sequence[int],
    topics: Sequence[str],
    judges: Sequence[str],
    given: Sequence[int],
    grades: Sequence[int],
    *,
    own_time: Sequence[bool] | None = None,
) -> Labels:
    """Encode columns, one entry per judgement, earliest first, as numbers; `grades` is the scale in order.

    A judge's last judgement of an item counts. Without `own_time` every judgement has a time of its own. Raises
    `InvalidValueError` for grades outside the scale.
    """
    _, item = np.unique(np.array(items, np.int64), return_inverse=True)
    judge_names = tuple(sorted(set(judges)))
    judge, topic_names = _places(judges, judge_names), tuple(dict.fromkeys(topics))
    columns = (item, judge, _places(topics, topic_names), places_in_scale(np.array(given, np.int64), grades))
    order = np.lexsort((judge, item))  # stable: several judgements of a judge stay in their order
    sorted_item, sorted_judge = item[order], judge[order]
    last = np.append((sorted_item[1:] != sorted_item[:-1]) | (sorted_judge[1:] != sorted_judge[:-1]), True)
    order = order[last[: order.size]]
    item, judge, topic, grade = (column[order] for column in columns)
    has_own_time = np.ones(len(items), np.bool_) if own_time is None else np.array(own_time, np.bool_)
    return Labels(item, judge, topic, grade, order, has_own_time[order], judge_names, topic_names, tuple(grades))


def _places(names: Sequence[Name], known: Sequence[Name]) -> NDArray[np.intp]:
    place = {name: index for index, name in enumerate(known)}
    return np.fromiter((place[name] for name in names), np.intp, len(names))


def krippendorff_alpha(counts: NDArray[np.int64], grades: Sequence[int], level: Level) -> Coefficient:
    """Compute alpha from `counts`, (items, grades), the number of judges who gave each item each grade.

    Items with fewer than two grades do not count. Krippendorff 2011, "Computing Krippendorff's alpha-reliability".
    `observed` and `expected` are shares of agreement for nominal grades, and None otherwise: distances have no scale.
    """
    coincidences = coincidences_by_place(counts, np.zeros(len(counts), np.intp), 1)
    return alphas_of_coincidences(coincidences, grades, level)[0]
