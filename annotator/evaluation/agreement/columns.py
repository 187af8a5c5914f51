"""Labels from integer columns of judgements; and how often adjudication upheld each judge."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.agreement.kappa import same_grade
from annotator.evaluation.agreement.labels import Labels, places_in_scale
from annotator.evaluation.agreement.results import Undefined
from annotator.evaluation.metrics.figures import Figure

# One entry a judgement, at most one a judge and item: ids of judgements, judges, items and topics, grades, and 1
# if the judgement has a time of its own, 0 if it has only the order of a file.
# Arrays hold integers of 64 bits (`array("q")`), which NumPy takes without a copy.
Columns = tuple["array[int]", "array[int]", "array[int]", "array[int]", "array[int]", "array[int]"]
COLUMNS = 6
JUDGE, ITEM, TOPIC, GRADE = 1, 2, 3, 4


def code_columns(
    pieces: Iterable[tuple[AbstractSet[int], Columns]],
    judges: Mapping[int, str],
    topics: Mapping[int, str],
    grades: tuple[int, ...],
) -> Labels:
    """Code columns as labels; each piece comes with the columns of its judges.

    `judges` and `topics`, id → name, select the judgements that count; others are left out. The order in time is
    that of the ids. Raises `InvalidValueError` for grades outside the scale; `grades` is in ascending order.
    """
    together = counting_entries(pieces, judges, topics)
    by_name = sorted(np.unique(together[JUDGE]).tolist(), key=judges.__getitem__)
    judge = _places(together[JUDGE], by_name)
    order = np.lexsort((judge, together[ITEM]))
    ids, _, items, topic_ids, given, own_time = together[:, order]
    begins = np.append(True, items[1:] != items[:-1])[: items.size]
    moment = np.empty(ids.size, np.intp)
    moment[np.argsort(ids)] = np.arange(ids.size)
    known = list(topics)
    return Labels(
        item=np.cumsum(begins) - 1,
        judge=judge[order],
        topic=_places(topic_ids, known),
        grade=places_in_scale(given, grades),
        moment=moment,
        own_time=own_time == 1,
        judges=tuple(judges[id_] for id_ in by_name),
        topics=tuple(topics[id_] for id_ in known),
        grades=grades,
    )


def same_grade_of_any_two(labels: Labels) -> Figure:
    """The share of all pairs of grades of one document, over all pairs of judges, that are equal."""
    everybody = labels.pair_confusions.sum(axis=0, keepdims=True)
    [same] = same_grade(everybody)
    return same if same.value is not None else Figure(None, Undefined.NO_SHARED_DOCUMENT)


def documents_in_common(labels: Labels) -> dict[tuple[str, str], int]:
    """Map every two judges, in the order of their names, to the number of documents both graded."""
    counts = labels.pair_confusions.sum(axis=(1, 2)).tolist()
    return dict(zip(combinations(labels.judges, 2), counts, strict=True))


def counting_entries(
    pieces: Iterable[tuple[AbstractSet[int], Columns]], judges: Mapping[int, str], topics: Mapping[int, str]
) -> NDArray[np.int64]:
    """Select the entries of these judges and topics, (columns, entries); arguments as in `code_columns`."""
    counting = [np.zeros((COLUMNS, 0), np.int64)]
    for whose, columns in pieces:
        table = np.array([np.asarray(column) for column in columns], np.int64)
        counts = np.isin(table[JUDGE], list(whose & judges.keys())) & np.isin(table[TOPIC], list(topics))
        counting.append(table[:, counts])
    return np.concatenate(counting, axis=1)


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
    pieces: Iterable[tuple[AbstractSet[int], Columns]],
    judges: Mapping[int, str],
    topics: Mapping[int, str],
    decided: Mapping[int, int],
) -> list[Upheld]:
    """Count upheld grades for every judge with a decided document (item id → grade), by name.

    Other arguments as in `code_columns`.
    """
    if not decided:
        return []
    entries = counting_entries(pieces, judges, topics)
    met = entries[:, np.isin(entries[ITEM], list(decided))]
    rows = met[[JUDGE, ITEM, GRADE]].T.tolist()
    return count_upheld((judges[judge], decided[item] == grade) for judge, item, grade in rows)


def count_upheld(words: Iterable[tuple[str, bool]]) -> list[Upheld]:
    """Count the judges' grades of decided documents, given with whether each was upheld; by name."""
    all_, same = Counter[str](), Counter[str]()
    for judge, is_same in words:
        all_[judge] += 1
        same[judge] += is_same
    return [Upheld(judge, all_[judge], same[judge]) for judge in sorted(all_)]
