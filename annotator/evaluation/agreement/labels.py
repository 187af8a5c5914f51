"""Judgements as arrays, and the confusion matrices of pairs of judges."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError


def confusion_matrix(
    first: NDArray[np.integer], second: NDArray[np.integer], grades: Sequence[int]
) -> NDArray[np.int64]:
    """Count the first judge's grades (row) against the second's (column), in the order of the scale.

    Raises `InvalidValueError` for a grade outside the scale or judges with different numbers of documents.
    """
    confusion: NDArray[np.int64] = confusions_by_place(first, second, np.zeros(first.size, np.intp), 1, grades)[0]
    return confusion


def confusions_by_place(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    place: NDArray[np.intp],
    places: int,
    grades: Sequence[int],
) -> NDArray[np.int64]:
    """Do as `confusion_matrix` for the documents of each place, such as a topic: (places, grades, grades)."""
    if first.size != second.size:
        raise InvalidValueError(
            "Two judges can be compared only on the same documents; the first has %(first)d and the second %(second)d.",
            first=first.size,
            second=second.size,
        )
    size = len(grades)
    cells = (place * size + places_in_scale(first, grades)) * size + places_in_scale(second, grades)
    return np.bincount(cells, minlength=places * size**2).reshape(places, size, size)


def places_in_scale(given: NDArray[np.integer], grades: Sequence[int]) -> NDArray[np.intp]:
    """The index of each grade in the scale.

    Raises `InvalidValueError` for grades outside the scale.
    """
    scale = np.array(grades, np.int64)
    order = np.argsort(scale)
    ranks = np.minimum(np.searchsorted(scale[order], given), scale.size - 1) if scale.size else np.zeros(0, np.intp)
    places: NDArray[np.intp] = order[ranks]
    outside = np.unique(given[scale[places] != given] if scale.size else given).tolist()
    if len(outside) == 1:
        raise InvalidValueError("The grade %(grade)d is not in the scale.", grade=outside[0])
    if outside:
        raise InvalidValueError("The grades %(grades)s are not in the scale.", grades=", ".join(map(str, outside)))
    return places


def binary_confusions(confusions: NDArray[np.int64], first_relevant: int) -> NDArray[np.int64]:
    """Fold matrices, (..., grades, grades), into (..., 2, 2): not relevant, then relevant.

    `first_relevant` is the index in the scale of the least relevant grade.
    """
    rows = np.split(confusions, [first_relevant], axis=-2)
    folded = np.stack([part.sum(axis=-2) for part in rows], axis=-2)
    columns = np.split(folded, [first_relevant], axis=-1)
    return np.stack([part.sum(axis=-1) for part in columns], axis=-1)


MOST_IN_INT64 = 2**63 - 1
FEW_ROWS = 1_000


@dataclass(frozen=True, eq=False)
class Labels:
    """Judgements as parallel arrays; each judge has at most one on an item.

    Entries are in the order of items and, within an item, of judges.
    """

    item: NDArray[np.intp]  # from 0, in the order of the items' ids
    judge: NDArray[np.intp]  # index into `judges`
    topic: NDArray[np.intp]  # index into `topics`
    grade: NDArray[np.intp]  # index into `grades`
    moment: NDArray[np.intp]  # position in the order in which the judgements were stored
    own_time: NDArray[np.bool_]  # whether `moment` is the time of judging, and not the order of a file
    judges: tuple[str, ...]  # by name
    topics: tuple[str, ...]  # in order of first occurrence
    grades: tuple[int, ...]  # the whole scale in order, used or not

    @property
    def items(self) -> int:
        """The number of graded items."""
        return int(self.item[-1]) + 1 if self.item.size else 0

    @cached_property
    def grade_counts(self) -> NDArray[np.int64]:
        """The number of judges for each item and grade, (items, grades)."""
        size = len(self.grades)
        cells = self.item * size + self.grade
        return np.bincount(cells, minlength=self.items * size).reshape(self.items, size)

    @cached_property
    def pair_confusions(self) -> NDArray[np.int64]:
        """The confusion matrix of every two judges, (pairs, grades, grades), in the order of `combinations`."""
        return pair_confusions_of(self.item, self.judge, self.grade, len(self.judges), len(self.grades))


def with_own_time(labels: Labels) -> Labels:
    """Drop judgements that have only the order of a file. Items that lose all judgements stay, ungraded."""
    kept = labels.own_time
    return replace(
        labels,
        item=labels.item[kept],
        judge=labels.judge[kept],
        topic=labels.topic[kept],
        grade=labels.grade[kept],
        moment=labels.moment[kept],
        own_time=kept[kept],
    )


def judges_by_item(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of judges of each item, from the numbers by grade, (items, grades)."""
    return np.asarray(np.einsum("ij->i", counts))  # a fifth of the time of `sum`


def pair_confusions_of(
    item: NDArray[np.intp], judge: NDArray[np.intp], grade: NDArray[np.intp], judges: int, grades: int
) -> NDArray[np.int64]:
    """Count the grades of every two judges of the same items, (pairs, grades, grades); entries are as in `Labels`."""
    cells = judges * (judges - 1) // 2 * grades**2
    confusions = np.zeros(cells, np.int64)
    for start, other in entries_that_meet(item):
        pair = _place_of_pair(judge[start], judge[other], judges)
        confusions += np.bincount((pair * grades + grade[start]) * grades + grade[other], minlength=cells)
    return confusions.reshape(-1, grades, grades)


def pair_confusions_by_topic(
    labels: Labels, pairs: Sequence[int]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
    """Count the grades of some pairs, by their index in `pair_confusions`, topic by topic.

    Returns the topic, the index in `pairs`, and the confusion matrix, for every topic and pair with an item in common,
    ordered by topic and pair.
    """
    judges, size = len(labels.judges), len(labels.grades)
    wanted = np.full(judges * (judges - 1) // 2, -1)
    wanted[pairs] = np.arange(len(pairs))
    found = [np.zeros((2, 0), np.int64)]
    for start, other in entries_that_meet(labels.item):
        place = wanted[_place_of_pair(labels.judge[start], labels.judge[other], judges)]
        key = labels.topic[start] * len(pairs) + place
        cells = ((key * size + labels.grade[start]) * size + labels.grade[other])[place >= 0]
        found.append(np.stack(np.unique(cells, return_counts=True)))
    cells, counts = np.concatenate(found, axis=1)
    keys, row = np.unique(cells // size**2, return_inverse=True)
    confusions = np.zeros((keys.size, size**2), np.int64)
    np.add.at(confusions, (row, cells % size**2), counts)
    return keys // max(len(pairs), 1), keys % max(len(pairs), 1), confusions.reshape(-1, size, size)


def entries_that_meet(item: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """All two entries of the same item, which stand together, by their distance: the earlier and the later ones."""
    start, distance = np.arange(item.size), 1
    # While any item has two entries so far apart.
    while (start := start[: np.searchsorted(start, item.size - distance)]).size:
        start = start[item[start] == item[start + distance]]
        yield start, start + distance
        distance += 1


def kinds_of(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The distinct rows of `counts`, and the index of the row of every item.

    Items are many and distinct rows are few, so statistics of the counts are computed once a row. Equal to
    NumPy's `unique` of rows in a tenth of its time: a row is read as the digits of one whole number.
    """
    base = int(counts.max(initial=0)) + 1
    row, highest = np.zeros(len(counts), np.int64), 0
    for column in counts.T:
        if highest > (MOST_IN_INT64 - base) // base:
            row = np.unique(row, return_inverse=True)[1]
            highest = len(counts)
        row = row * base + column
        highest = highest * base + base
    if highest <= max(len(counts), FEW_ROWS):  # without sorting
        first = np.full(highest + 1, -1)
        first[row[::-1]] = np.arange(len(counts))[::-1]
        present = first >= 0
        return counts[first[present]], (np.cumsum(present) - 1)[row]
    _, first, kind = np.unique(row, return_index=True, return_inverse=True)
    return counts[first], kind


def topic_of_items(labels: Labels) -> NDArray[np.intp]:
    """The index in `topics` of every item's topic."""
    topic = np.zeros(labels.items, np.intp)
    topic[labels.item] = labels.topic
    return topic


def _place_of_pair(first: NDArray[np.intp], second: NDArray[np.intp], judges: int) -> NDArray[np.intp]:
    """The index of a pair in `itertools.combinations` of the judges, the first before the second."""
    return first * (2 * judges - first - 1) // 2 + second - first - 1
