"""Labels from columns of judgements; and how often adjudication upheld each judge."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.kappa import same_grade
from annotator.evaluation.agreement.labels import Labels, places_in_scale
from annotator.evaluation.agreement.results import Undefined
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.qrels.topic_judgements import (
    ADJUDICATES,
    CARRIED,
    CURRENT,
    OWN_TIME,
    JudgementColumns,
    begins_of,
)


def code_columns(
    judgements: JudgementColumns, judges: Mapping[int, str], topics: Mapping[int, str], grades: tuple[int, ...]
) -> Labels:
    """Code the independent grades of judges on topics, both id → name, as labels.

    The order in time is that of the ids. Raises `InvalidValueError` for grades outside the scale; `grades` is in
    ascending order.
    """
    given = independent_grades(judgements, judges, topics)
    by_name = sorted(np.unique(given.judge).tolist(), key=judges.__getitem__)
    judge = _places(given.judge, by_name)
    item = np.cumsum(begins_of(given.item)) - 1
    order = np.arange(item.size)
    several = np.flatnonzero(np.bincount(item)[item] > 1)
    order[several] = several[np.lexsort((judge[several], item[several]))]
    ids = given.id[order]
    moment = np.empty(ids.size, np.intp)
    moment[np.argsort(ids, kind="stable")] = np.arange(ids.size)
    known = list(topics)
    return Labels(
        item=item,
        judge=judge[order],
        topic=_places(given.topic, known),
        grade=places_in_scale(given.grade[order], grades),
        moment=moment,
        own_time=given.have(OWN_TIME)[order],
        judges=tuple(judges[id_] for id_ in by_name),
        topics=tuple(topics[id_] for id_ in known),
        grades=grades,
    )


def independent_grades(
    judgements: JudgementColumns, judges: Mapping[int, str], topics: Mapping[int, str]
) -> JudgementColumns:
    """Select the current grades of these judges on these topics.

    Left out are grades by adjudicators, who saw the other grades, and grades carried over from a document with the same
    text.
    """
    counts = judgements.have(CURRENT) & judgements.is_graded & ~judgements.have(CARRIED) & ~judgements.have(ADJUDICATES)
    return judgements.where(counts & judgements.by(list(judges)) & np.isin(judgements.topic, list(topics)))


def same_grade_of_any_two(labels: Labels) -> Figure:
    """The share of all pairs of grades of one document, over all pairs of judges, that are equal."""
    everybody = labels.pair_confusions.sum(axis=0, keepdims=True)
    [same] = same_grade(everybody)
    return same if same.value is not None else Figure(None, Undefined.NO_SHARED_DOCUMENT)


def documents_in_common(labels: Labels) -> dict[tuple[str, str], int]:
    """Map every two judges, in the order of their names, to the number of documents both graded."""
    counts = labels.pair_confusions.sum(axis=(1, 2)).tolist()
    return dict(zip(combinations(labels.judges, 2), counts, strict=True))


def _places(ids: NDArray[np.int64], known: list[int]) -> NDArray[np.intp]:
    """Return the index in `known` of every id."""
    order = np.argsort(known).astype(np.intp)
    places: NDArray[np.intp] = order[np.searchsorted(known, ids, sorter=order)] if known else ids.astype(np.intp)
    return places


@dataclass(frozen=True)
class Upheld:
    """The adjudicated documents that a judge graded, and in how many of them the adjudicated grade was the judge's."""

    judge: str
    decided: int
    upheld: int

    @property
    def share(self) -> float:
        """The upheld share, from 0 to 1."""
        return self.upheld / self.decided


def upheld(
    judgements: JudgementColumns, judges: Mapping[int, str], topics: Mapping[int, str], decided: Mapping[int, int]
) -> list[Upheld]:
    """Count upheld grades for every judge with a decided document (item id → grade), by name.

    Other arguments as in `code_columns`.
    """
    if not decided:
        return []
    met = independent_grades(judgements.where(np.isin(judgements.item, list(decided))), judges, topics)
    rows = zip(met.judge.tolist(), met.item.tolist(), met.grade.tolist(), strict=True)
    return count_upheld((judges[judge], decided[item] == grade) for judge, item, grade in rows)


def count_upheld(words: Iterable[tuple[str, bool]]) -> list[Upheld]:
    """Count the judges' grades of decided documents, given with whether each was upheld; by name."""
    all_, same = Counter[str](), Counter[str]()
    for judge, is_same in words:
        all_[judge] += 1
        same[judge] += is_same
    return [Upheld(judge, all_[judge], same[judge]) for judge in sorted(all_)]
