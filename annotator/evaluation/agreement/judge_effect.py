"""Whether it matters that judges differ: how the runs would rank if other judges had judged (Voorhees 2000)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, RegradedRuns, Scoring
from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.significance.rank_correlation import Similarity, places, similarity_of

Grades = NDArray[np.int16]  # one an entry, `NOT_GRADED` where there is none


@dataclass(frozen=True, eq=False)
class GivenGrades:
    """What the judges say of entries (a document of a topic each), one an opinion; each judge at most once of each."""

    entry: NDArray[np.intp]
    judge: NDArray[np.intp]  # place in `judges`
    grade: NDArray[np.int16]
    judges: tuple[str, ...]
    entries: int  # how many there are

    @classmethod
    def of_columns(
        cls, items: Sequence[int], judges: Sequence[str], grades: Sequence[int], place: Mapping[int, int]
    ) -> "GivenGrades":
        """Take them from columns, one value an opinion; `place` says which entry an item is, and has no other items."""
        names = tuple(sorted(set(judges)))
        number = {name: place for place, name in enumerate(names)}
        return cls(
            np.array([place[item] for item in items], np.intp),
            np.array([number[name] for name in judges], np.intp),
            np.array(grades, np.int16),
            names,
            len(place),
        )

    def of(self, judge: int) -> Grades:
        """One judge's grades, one an entry."""
        own = self.judge == judge
        return self.as_grades(self.entry[own], self.grade[own])

    def of_name(self, name: str) -> Grades:
        """The grades of a judge by name, who may have graded nothing."""
        return self.of(self.judges.index(name) if name in self.judges else -1)

    def count(self, name: str) -> int:
        """How many documents a judge graded."""
        return int(np.count_nonzero(self.of_name(name) > NOT_GRADED))

    def as_grades(self, entry: NDArray[np.intp], grade: NDArray[np.int16]) -> Grades:
        """These grades, `NOT_GRADED` for all other entries."""
        grades = np.full(self.entries, NOT_GRADED, np.int16)
        grades[entry] = grade
        return grades

    @property
    def is_shared(self) -> NDArray[np.bool_]:
        """Of each opinion: whether two judges or more have one of its entry."""
        return np.bincount(self.entry, minlength=self.entries)[self.entry] > 1


@dataclass(frozen=True)
class Swap:
    """Neighbours in one ranking that are swapped in another, and how often; 1 is always."""

    upper: str
    lower: str
    share: float = 1.0


@dataclass(frozen=True)
class Comparison:
    """The runs' values and places, from 1, under two sets of grades of the same documents, in the order of the runs."""

    documents: int
    topics: int
    first: tuple[float, ...]
    second: tuple[float, ...]
    first_places: tuple[int, ...]
    second_places: tuple[int, ...]
    similarity: Similarity
    swaps: tuple[Swap, ...]  # neighbours in the first

    def by_place(self, tags: Sequence[str]) -> list[tuple[str, float, float, int, int]]:
        """Each run's tag, its two values and its two places, by its place in the first."""
        rows = zip(tags, self.first, self.second, self.first_places, self.second_places, strict=True)
        return sorted(rows, key=lambda row: (row[3], natural_order(row[0])))


def grades_of_items(settled: Mapping[int, int], place: Mapping[int, int]) -> Grades:
    """Turn grades by item into grades by entry; `place` says which entry each item is."""
    grades = np.full(len(place), NOT_GRADED, np.int16)
    grades[[place[item] for item in settled]] = list(settled.values())
    return grades


def count_differing(first: Grades, second: Grades) -> int:
    """Count the entries that have another grade, or one in one of the two alone."""
    return int(np.count_nonzero(first != second))


def compare(
    tags: Sequence[str],
    runs: RegradedRuns,
    first: Grades,
    second: Grades,
    scoring: Scoring,
    *,
    same_documents: bool = True,
    first_values: Values | None = None,
) -> Comparison | None:
    """Score the runs by two judges' grades, one an entry, alone; None when they have no document in common.

    Only documents that both graded count, unless they may differ in what they grade: then the values by the first,
    which stay the same, may be given.
    """
    common = (first > NOT_GRADED) & (second > NOT_GRADED)
    if not common.any():
        return None
    if same_documents:
        first, second = (np.where(common, grades, np.int16(NOT_GRADED)) for grades in (first, second))
    values = [runs.means(first, scoring) if first_values is None else first_values, runs.means(second, scoring)]
    in_order = [scoring.order(of_one) for of_one in values]
    return Comparison(
        documents=int(np.count_nonzero(common)),
        topics=np.unique(runs.entry_topic[common]).size,
        first=tuple(values[0].tolist()),
        second=tuple(values[1].tolist()),
        first_places=tuple(places(in_order[0]).tolist()),
        second_places=tuple(places(in_order[1]).tolist()),
        similarity=similarity_of(in_order[0].tolist(), in_order[1].tolist()),
        swaps=tuple(swap for swap in neighbours(tags, in_order[0], in_order[1][np.newaxis]) if swap.share),
    )


def judges_in_common(given: GivenGrades) -> list[tuple[int, int, int]]:
    """Every two judges with documents in common and how many, those with most first."""
    size = len(given.judges)
    has = np.zeros((given.entries, size), np.float32)  # so that the counting is a product of matrices
    has[given.entry, given.judge] = 1
    counts = (has.T @ has).astype(np.int64)
    pairs = [(first, second, int(counts[first, second])) for first in range(size) for second in range(first + 1, size)]
    return sorted((pair for pair in pairs if pair[2]), key=lambda pair: (-pair[2], pair[0], pair[1]))


def neighbours(tags: Sequence[str], values: Values, others: Values) -> Iterator[Swap]:
    """Every two neighbours by some values, with the share of others, (others, runs), that turn them round."""
    for upper, lower in pairwise(best_first(tags, values)):
        if values[upper] > values[lower]:
            yield Swap(tags[upper], tags[lower], float(np.mean(others[:, upper] < others[:, lower])))


def best_first(tags: Sequence[str], values: Values) -> list[int]:
    """The places of the runs in `tags`, best first, equals by name."""
    return sorted(range(len(tags)), key=lambda place: (-values[place], natural_order(tags[place])))
