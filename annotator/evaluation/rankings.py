"""Ranked lists as arrays: trec_eval's order, their bytes in the database, and their join with the qrels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError

UNJUDGED = -1
DOCUMENT_BYTES = 4  # of a document number in a packed ranked list
GRADES = np.iinfo(np.int16)

Number = TypeVar("Number", bound=np.generic)


def trec_order(docnos: NDArray[np.bytes_], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give the positions of one ranked list's rows, best first: trec_eval's order.

    Score descending; documents of equal score by docno descending, compared byte by byte. trec_eval 10 compares
    scores in double precision and never reads the rank column.
    """
    order = np.argsort(-scores, kind="stable")
    descending = scores[order]
    equals_next = descending[:-1] == descending[1:]
    if not equals_next.any():
        return order
    # Only rows inside a tie are sorted by docno: comparing bytes costs far more than comparing numbers.
    tied = np.flatnonzero(np.append(equals_next, False) | np.append(False, equals_next))
    rows = order[tied]
    rows = rows[np.argsort(docnos[rows], kind="stable")[::-1]]
    order[tied] = rows[np.argsort(-scores[rows], kind="stable")]
    return order


def encode_documents(documents: NDArray[np.int32]) -> bytes:
    """Pack document numbers as little-endian int32, as ranked lists are stored."""
    return documents.astype("<i4", copy=False).tobytes()


def decode_documents(packed: bytes) -> NDArray[np.int32]:
    """Unpack document numbers; a read-only view of the bytes where the machine is little-endian."""
    return np.frombuffer(packed, "<i4").astype(np.int32, copy=False)


def encode_scores(scores: NDArray[np.float64]) -> bytes:
    """Pack scores as little-endian float64, so that no score loses a digit."""
    return scores.astype("<f8", copy=False).tobytes()


def decode_scores(packed: bytes) -> NDArray[np.float64]:
    """Unpack scores; a read-only view of the bytes where the machine is little-endian."""
    return np.frombuffer(packed, "<f8").astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class RelevantRows:
    """The retrieved documents of a batch with at least some grade: what binary measures are made of.

    A row is a document; rows stand by ranking, then by rank.
    """

    ranking: NDArray[np.intp]
    rank: NDArray[np.int32]  # from 1
    grade: NDArray[np.int16]
    nth: NDArray[np.intp]  # the how many-th relevant document of its ranking this is, from 1
    nonrelevant_above: NDArray[np.intp]  # judged documents above it that are not relevant
    retrieved: NDArray[np.intp]  # of each ranking: relevant documents in it
    existing: NDArray[np.intp]  # of each ranking: relevant documents of its topic, in it or not


@dataclass(frozen=True, eq=False)
class JudgedRankings:
    """A batch of rankings joined with the qrels; only what is both retrieved and judged takes room.

    A row is a document with a grade of 0 or more; rows stand by ranking, then by rank. A negative grade in the qrels
    means pooled but unjudged, as for trec_eval, and leaves no row.
    """

    ranking: NDArray[np.intp]  # of each row: its ranking, ascending
    rank: NDArray[np.int32]  # of each row: from 1, counted over judged and unjudged documents
    grade: NDArray[np.int16]
    first_row: NDArray[np.intp]  # where each ranking's rows begin; one longer than there are rankings
    retrieved: NDArray[np.intp]  # of each ranking: how many documents, judged or not
    topic: NDArray[np.intp]  # of each ranking: index into topics
    topics: tuple[int, ...]  # keys, in order of first appearance
    topic_grade: NDArray[np.int16]  # every judged document's grade, by topic, best first; retrieved or not
    topic_first: NDArray[np.intp]  # where each topic's grades begin; one longer than there are topics
    _relevant: dict[int, RelevantRows] = field(default_factory=dict, init=False, repr=False)

    def at_least(self, grade: int) -> RelevantRows:
        """Pick the rows with this grade or a better one; worked out once, for measures share it."""
        if grade not in self._relevant:
            self._relevant[grade] = self._pick(grade)
        return self._relevant[grade]

    def _pick(self, grade: int) -> RelevantRows:
        rows = np.flatnonzero(self.grade >= grade)
        ranking = self.ranking[rows]
        retrieved = np.bincount(ranking, minlength=self.retrieved.size)
        nth = np.arange(1, rows.size + 1) - (np.cumsum(retrieved) - retrieved)[ranking]
        judged_above = rows - self.first_row[ranking]
        good_enough = np.concatenate(([0], np.cumsum(self.topic_grade >= grade)))
        existing = np.diff(good_enough[self.topic_first])[self.topic]
        return RelevantRows(
            ranking, self.rank[rows], self.grade[rows], nth, judged_above - (nth - 1), retrieved, existing
        )


@dataclass(frozen=True, eq=False)
class _TopicQrels:
    """One topic's qrels as parallel arrays; negative grades are left out."""

    documents: NDArray[np.int32]
    grades: NDArray[np.int16]

    @classmethod
    def of(cls, qrels: Mapping[int, int]) -> "_TopicQrels":
        grades = np.fromiter(qrels.values(), np.int64, len(qrels))
        if grades.size and not GRADES.min <= grades.min() <= grades.max() <= GRADES.max:
            raise InvalidValueError("Grades must lie between %(low)d and %(high)d.", low=GRADES.min, high=GRADES.max)
        documents = np.fromiter(qrels.keys(), np.int32, len(qrels))
        judged = grades >= 0
        return cls(documents[judged], grades[judged].astype(np.int16))


@dataclass(frozen=True, eq=False)
class _Rows:
    """The judged rows of one topic's rankings, and where each ranking's rows end."""

    rank: NDArray[np.int32]
    grade: NDArray[np.int16]
    ends: NDArray[np.intp]


def judge_rankings(
    rankings: Sequence[tuple[int, NDArray[np.int32]]], qrels: Mapping[int, Mapping[int, int]]
) -> JudgedRankings:
    """Join rankings, each a topic's key and document numbers best first, with `{topic: {document: grade}}`.

    A topic without qrels has nothing judged. An empty ranking stands for a run that returned nothing for the topic,
    which trec_eval -c counts as 0. Document numbers are 0 or more, each once in a ranking. Raises
    `InvalidValueError` for a grade that 16 bits cannot hold.
    """
    members: dict[int, list[int]] = {}
    for index, (topic, _) in enumerate(rankings):
        members.setdefault(topic, []).append(index)
    judged = [_TopicQrels.of(qrels.get(topic, {})) for topic in members]
    # One slot more than the highest judged document: every higher number is clipped to it and so is unjudged.
    table = np.full(max((int(one.documents.max(initial=0)) for one in judged), default=0) + 2, UNJUDGED, np.int16)
    joined = [
        _join(table, one, [rankings[index][1] for index in indexes])
        for one, indexes in zip(judged, members.values(), strict=True)
    ]
    lengths = np.fromiter((documents.size for _, documents in rankings), np.intp, len(rankings))
    return _assemble(members, judged, joined, lengths)


def _join(table: NDArray[np.int16], qrels: _TopicQrels, rankings: Sequence[NDArray[np.int32]]) -> _Rows:
    """Look up the grades of one topic's rankings, all together; the table is left as it was found."""
    table[qrels.documents] = qrels.grades
    grades = table.take(np.concatenate(rankings), mode="clip")
    table[qrels.documents] = UNJUDGED
    rows = np.flatnonzero(grades >= 0)
    sizes = np.fromiter((documents.size for documents in rankings), np.intp, len(rankings))
    after = np.cumsum(sizes)
    ends = np.searchsorted(rows, after)
    rank = rows - np.repeat(after - sizes, np.diff(ends, prepend=0)) + 1
    return _Rows(rank.astype(np.int32), grades[rows], ends)


def _assemble(
    members: Mapping[int, Sequence[int]],
    judged: Sequence[_TopicQrels],
    joined: Sequence[_Rows],
    lengths: NDArray[np.intp],
) -> JudgedRankings:
    """Bring the rows, which stand by topic, into the order of the rankings."""
    topic = np.zeros(lengths.size, np.intp)
    ranks: list[NDArray[np.int32]] = [np.empty(0, np.int32)] * lengths.size
    grades: list[NDArray[np.int16]] = [np.empty(0, np.int16)] * lengths.size
    for number, (indexes, rows) in enumerate(zip(members.values(), joined, strict=True)):
        topic[indexes] = number
        begin = 0
        for index, end in zip(indexes, rows.ends.tolist(), strict=True):
            ranks[index] = rows.rank[begin:end]
            grades[index] = rows.grade[begin:end]
            begin = end
    counts = np.fromiter(map(len, ranks), np.intp, lengths.size)
    ideals = [np.sort(one.grades)[::-1] for one in judged]
    return JudgedRankings(
        ranking=np.repeat(np.arange(lengths.size), counts),
        rank=_concatenate(ranks, np.int32),
        grade=_concatenate(grades, np.int16),
        first_row=_starts(counts),
        retrieved=lengths,
        topic=topic,
        topics=tuple(members),
        topic_grade=_concatenate(ideals, np.int16),
        topic_first=_starts(np.fromiter(map(len, ideals), np.intp, len(ideals))),
    )


def _concatenate(pieces: Sequence[NDArray[Number]], kind: type[Number]) -> NDArray[Number]:
    return np.concatenate([np.empty(0, kind), *pieces])


def _starts(counts: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate(([0], np.cumsum(counts)))
