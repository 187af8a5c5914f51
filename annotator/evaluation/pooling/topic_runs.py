"""All runs of one topic as the input of pooling strategies: documents by place, runs in a canonical order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.pooling.ordering import judging_order

Places = NDArray[np.int32]
Weights = NDArray[np.float64]
Value = TypeVar("Value", np.int32, np.float64)

MOST_OF_TABLE = 16  # largest range of numbers, per number given
LEAST_TABLE = 1 << 12
RRF_OFFSET = 60  # Cormack, Clarke and Büttcher chose it in a pilot and found results little sensitive to it


class Ties(Enum):
    """Tie-breaking among documents, or runs, that a strategy finds equally good."""

    RRF = "rrf"  # the document with the greatest RRF weight, then the one whose docno is least in byte order
    FIRST_RUN = "first-run"  # the run given first; of documents, the one in the run given first, then by docno
    RANDOM = "random"  # drawn by the seed of the pool; MaxMean draws again for every choice


@dataclass(frozen=True, eq=False)
class Entries:
    """Every retrieved document of every run: by rank, and within a rank by row."""

    place: Places
    row: NDArray[np.intp]
    rank: NDArray[np.int32]  # from 1


@dataclass(frozen=True, eq=False)
class TopicRuns:
    """The runs of one topic, with n candidate documents. Built by `topic_runs`.

    A document is known by its *place*, 0 to n - 1 in the byte order of the docnos, and a run by its *row*; rows are
    ordered by what the runs contain. So choices depend neither on the database's document numbers nor on the order in
    which runs were uploaded, not even through the order of floating-point additions.
    """

    topic: str
    documents: NDArray[np.int32]  # for each place: the document's number
    docnos: tuple[str, ...]  # for each place
    given: NDArray[np.intp]  # for each row: index of the run among those given
    lists: Places  # one row a run, best first, filled up with n; the last column is always n
    scores: Weights | None  # same shape: each list's scores scaled to 0..1

    @property
    def candidates(self) -> int:
        """How many documents the runs retrieve."""
        return self.documents.size

    @cached_property
    def lengths(self) -> NDArray[np.intp]:
        """The number of documents of each row."""
        ends: NDArray[np.intp] = np.argmax(self.lists == self.candidates, axis=1)
        return ends

    @cached_property
    def place_of(self) -> Mapping[int, int]:
        """The places of document numbers."""
        return {number: place for place, number in enumerate(self.documents.tolist())}

    @cached_property
    def row_of(self) -> Mapping[int, int]:
        """The rows of runs by their index among those given."""
        return {run: row for row, run in enumerate(self.given.tolist())}

    @cached_property
    def entries(self) -> Entries:
        """Every retrieved document once for each run.

        Sums over them add each document's terms from its best rank to its worst, so that documents with the same ranks
        in different runs get bitwise equal sums.
        """
        by_rank = self.lists.T.ravel()
        at = np.flatnonzero(by_rank < self.candidates)
        rank, row = np.divmod(at, max(self.given.size, 1))
        return Entries(by_rank[at], row, (rank + 1).astype(np.int32))

    @cached_property
    def _by_place(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The entries' indices by place, and where those of each place begin."""
        counts = np.bincount(self.entries.place, minlength=self.candidates)
        return np.argsort(self.entries.place, kind="stable"), np.append(0, np.cumsum(counts))

    def holders(self, place: int) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The rows that have a document, with its rank in each, best rank first."""
        order, begins = self._by_place
        at = order[begins[place] : begins[place + 1]]
        return self.entries.row[at], self.entries.rank[at]

    def sums(self, terms: Weights) -> Weights:
        """Add up terms, one an entry, for each place."""
        return np.bincount(self.entries.place, terms, self.candidates).astype(np.float64, copy=False)

    @cached_property
    def rrf(self) -> Weights:
        """For each place, the document's weight by reciprocal rank fusion."""
        return self.sums(1 / (RRF_OFFSET + self.entries.rank))

    @cached_property
    def best_rank(self) -> NDArray[np.int32]:
        """For each place, the best rank of the document in any run."""
        best = np.zeros(self.candidates, np.int32)
        # NumPy keeps the last of several values for one index; in reverse, the entries end with the best ranks.
        best[self.entries.place[::-1]] = self.entries.rank[::-1]
        return best

    @cached_property
    def _first_given(self) -> NDArray[np.intp]:
        """For each place, the first of the given runs that has the document."""
        first = np.zeros(self.candidates, np.intp)
        late_first = np.argsort(-self.given[self.entries.row], kind="stable")
        first[self.entries.place[late_first]] = self.given[self.entries.row[late_first]]
        return first

    def preference(self, ties: Ties, seed: int) -> NDArray[np.intp]:
        """Return the position of each place in the tie-breaking order, 0 for the first.

        The seed is used for random ties only.
        """
        first: NDArray[np.float64] | NDArray[np.int64]
        match ties:
            case Ties.RRF:
                first = -self.rrf
            case Ties.FIRST_RUN:
                first = self._first_given
            case Ties.RANDOM:
                first = judging_order(self.docnos, seed, f"{self.topic}\0ties")
        position = np.empty(self.candidates, np.intp)
        position[np.argsort(first, kind="stable")] = np.arange(self.candidates)
        return position


def topic_runs(
    topic: str,
    rankings: Sequence[NDArray[np.int32]],
    docnos: Mapping[int, str],
    *,
    scores: Sequence[Weights] | None = None,
    depth: int | None = None,
) -> TopicRuns:
    """Build `TopicRuns` from one topic's document numbers per run, best first, and, for CombMNZ, the runs' scores.

    `docnos` has at least the docno of every document number. With `depth`, documents below that rank are not
    candidates; scores are scaled to 0..1 before the cut.
    """
    tops = [ranking[:depth] for ranking in rankings]
    retrieved = np.concatenate([np.empty(0, np.int32), *tops])
    numbers, index_of = distinct(retrieved)
    names = [docnos[number] for number in numbers.tolist()]
    # Code points order strings as their UTF-8 bytes do.
    by_docno = np.array(sorted(range(len(names)), key=names.__getitem__), np.intp)
    place_of = np.empty(numbers.size, np.int32)
    place_of[by_docno] = np.arange(numbers.size)
    places = place_of[index_of]
    lengths = np.array([top.size for top in tops], np.intp)
    lists = _in_rows(places, lengths, numbers.size)
    levels = None if scores is None else _in_rows(_levels(scores, depth), lengths, 0)
    given = _in_own_order(lists, levels)
    return TopicRuns(
        topic,
        numbers[by_docno],
        tuple(names[index] for index in by_docno.tolist()),
        given,
        lists[given],
        None if levels is None else levels[given],
    )


def distinct(numbers: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """Return each number once, in ascending order, and the index of every given one among them.

    Documents of a collection mostly have numbers close together: a table of all between the least and the greatest
    takes a tenth of the time of sorting.
    """
    least = int(numbers.min()) if numbers.size else 0
    span = int(numbers.max(initial=least)) - least + 1
    if span > MOST_OF_TABLE * max(numbers.size, LEAST_TABLE):
        several, index_of = np.unique(numbers, return_inverse=True)
        return several, index_of.astype(np.intp, copy=False)
    offsets = numbers - least
    is_there = np.zeros(span, np.bool_)
    is_there[offsets] = True
    found = np.flatnonzero(is_there)
    index = np.zeros(span, np.intp)
    index[found] = np.arange(found.size)
    return (found + least).astype(np.int32), index[offsets]


def _in_rows(values: NDArray[Value], lengths: NDArray[np.intp], filling: float) -> NDArray[Value]:
    """Arrange values listed run after run as a matrix, with at least one column of `filling` at the end."""
    columns = np.arange(lengths.max(initial=0) + 1)
    rows = np.full((lengths.size, columns.size), filling, values.dtype)
    rows[columns < lengths[:, None]] = values
    return rows


def _levels(scores: Sequence[Weights], depth: int | None) -> Weights:
    """Scale each list's scores to 0..1; they are halved first, because the greatest difference would overflow."""
    levels = [np.empty(0)]
    for half in (each / 2 for each in scores):
        span = np.ptp(half) if half.size else 0
        levels.append(((half - half.min()) / span if span > 0 else np.ones(half.size))[:depth])
    return np.concatenate(levels)


def _in_own_order(lists: Places, levels: Weights | None) -> NDArray[np.intp]:
    """Order rows by what they contain; equal rows, which are interchangeable, keep the given order."""
    contents = [row.tobytes() for row in lists.astype(">i4")]
    if levels is not None:
        contents = [places + row.tobytes() for places, row in zip(contents, levels.astype(">f8"), strict=True)]
    return np.array(sorted(range(len(contents)), key=contents.__getitem__), np.intp)
