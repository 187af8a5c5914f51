"""The judgements of topics as columns: packed into bytes topic by topic, and unpacked for many topics at once.

The judgements of a topic are in the order of their docnos, and those of an item in the order in which its judges first
judged it. A packed topic has three strings of bytes: a row of seven little-endian 32-bit integers for each judgement
(ids of judgement, pool item, document, judge and assignment, the grade, and flags); its seconds as a 64-bit float, NaN
where unknown; and the docnos of the judged items, one a line.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

NUMBERS_UP_TO = np.iinfo(np.int32).max
GREATEST_ID = np.iinfo(np.int64).max
NO_GRADE = np.iinfo(np.int32).min  # of a judge who could not judge the document
CURRENT, ADJUDICATES, CARRIED, OWN_TIME, SHOWN_AGAIN, REPLACES = (1 << bit for bit in range(6))
NUMBER, SECONDS = np.dtype("<i4"), np.dtype("<f8")
NUMBERS = 7
LINE_END = b"\n"

Flags = NDArray[np.bool_]
Ids = NDArray[np.int64]


class StoredJudgements(Protocol):
    """All judgements of some topics as they are stored, one element each, in any order."""

    @property
    def id(self) -> Sequence[int]:
        """Ids of the judgements."""

    @property
    def topic(self) -> Sequence[int]:
        """Ids of the topics."""

    @property
    def item(self) -> Sequence[int]:
        """Ids of the pool items."""

    @property
    def document(self) -> Sequence[int]:
        """Ids of the documents."""

    @property
    def docno(self) -> Sequence[str]:
        """Docnos of the documents."""

    @property
    def judge(self) -> Sequence[int]:
        """Ids of the judges."""

    @property
    def assignment(self) -> Sequence[int]:
        """Ids of the assignments."""

    @property
    def grade(self) -> Sequence[int | None]:
        """Grades; None from a judge who could not judge the document."""

    @property
    def seconds(self) -> Sequence[float | None]:
        """The time each took, None if unknown."""

    @property
    def current(self) -> Sequence[int]:
        """Whether each is the judge's present one; no second showing is."""

    @property
    def withdraws(self) -> Sequence[int]:
        """Whether each withdraws the one that it replaces."""

    @property
    def own_time(self) -> Sequence[int]:
        """Whether each was given by itself, not imported with a file of labels."""

    @property
    def replaces(self) -> Sequence[int]:
        """Id of the earlier judgement that each replaces, or 0."""

    @property
    def carried_from(self) -> Sequence[int]:
        """Id of the judgement that each was carried over from, of a document with the same text, or 0."""

    @property
    def adjudications(self) -> Collection[int]:
        """Ids of the assignments of adjudicators in these topics."""

    @property
    def second_showings(self) -> Collection[int]:
        """Ids of the assignments of second showings in these topics."""


class PackedTopic(NamedTuple):
    """The judgements of one topic, packed."""

    judgements: bytes
    seconds: bytes
    docnos: bytes


@dataclass(frozen=True, eq=False)
class JudgementColumns:
    """Judgements of several topics, one array element each, in the order of topics, docnos and judges' first judgement.

    `place` is the index of the document's docno in `docnos`, which has those of left-out judgements, too; a document
    that is judged for two topics has two places.
    """

    id: Ids
    topic: Ids
    item: Ids
    document: Ids
    judge: Ids
    assignment: Ids
    grade: Ids
    flags: Ids
    place: Ids
    seconds: NDArray[np.float64]
    docnos: Sequence[bytes]

    def where(self, which: Flags) -> "JudgementColumns":
        """Some of the judgements."""
        return self if which.all() else self.take(np.flatnonzero(which))

    def take(self, order: NDArray[np.intp] | slice) -> "JudgementColumns":
        """The judgements with these indexes, in this order."""
        columns = {one.name: getattr(self, one.name)[order] for one in fields(self) if one.name != "docnos"}
        return replace(self, **columns)

    def part(self, start: int, end: int) -> "JudgementColumns":
        """The judgements from one index up to before another, as views."""
        return self.take(slice(start, end))

    def have(self, flag: int) -> Flags:
        """Which judgements have this flag."""
        return np.asarray((self.flags & flag) != 0, np.bool_)

    def by(self, judges: Sequence[int]) -> Flags:
        """Which judgements are by one of these judges."""
        return np.isin(self.judge, judges)

    def judges(self) -> list[int]:
        """The ids of the judges."""
        ids: list[int] = np.unique(self.judge).tolist()
        return ids

    def graders_by_topic(self) -> dict[int, frozenset[int]]:
        """Topic → the ids of the judges with current grades in it, for the topics that have any."""
        counts = self.have(CURRENT) & self.is_graded
        pairs = np.unique(np.stack([self.topic[counts], self.judge[counts]]), axis=1)
        found: dict[int, set[int]] = {}
        for topic, judge in pairs.T.tolist():
            found.setdefault(topic, set()).add(judge)
        return {topic: frozenset(judges) for topic, judges in found.items()}

    def judged_by_topic(self) -> dict[int, int]:
        """Topic → the number of documents with a present judgement, a grade or not; only topics that have any."""
        current = self.where(self.have(CURRENT))
        topics, counts = np.unique(current.topic[begins_of(current.item)], return_counts=True)
        return dict(zip(topics.tolist(), counts.tolist(), strict=True))

    def are_of(self, documents: Mapping[int, Collection[int]]) -> Flags:
        """Which judgements are of these documents, {topic: documents}."""
        found = np.zeros(self.id.size, np.bool_)
        for topic, of_topic in documents.items():
            start, end = np.searchsorted(self.topic, [topic, topic + 1])
            found[start:end] = np.isin(self.document[start:end], list(of_topic))
        return found

    @cached_property
    def is_graded(self) -> Flags:
        """Which judgements give a grade."""
        return np.asarray(self.grade != NO_GRADE, np.bool_)


def columns_of(stored: StoredJudgements) -> JudgementColumns:
    """Put the judgements in order, without withdrawn ones."""
    id_, topic, item, document, judge, assignment, replaces, carried_from = (
        np.array(column, np.int64)
        for column in (
            *(stored.id, stored.topic, stored.item, stored.document, stored.judge, stored.assignment),
            *(stored.replaces, stored.carried_from),
        )
    )
    withdraws = np.array(stored.withdraws, np.bool_)
    adjudicates = np.isin(assignment, list(stored.adjudications))
    flags = (
        np.array(stored.current, np.bool_) * CURRENT
        | (adjudicates | np.isin(carried_from, id_[adjudicates])) * ADJUDICATES
        | (carried_from > 0) * CARRIED
        | np.array(stored.own_time, np.bool_) * OWN_TIME
        | np.isin(assignment, list(stored.second_showings)) * SHOWN_AGAIN
        | (replaces > 0) * REPLACES
    )
    docnos = sorted(set(stored.docno))
    rank = dict(zip(docnos, range(len(docnos)), strict=True))
    of_docno = np.array([rank[docno] for docno in stored.docno], np.int64)
    grade = np.array(stored.grade, np.float64)  # None becomes NaN
    grade[np.isnan(grade)] = NO_GRADE
    order = np.lexsort((id_, _firsts(id_, item, judge, replaces), of_docno, topic))
    order = order[~(withdraws | np.isin(id_, replaces[withdraws]))[order]]
    item = item[order]
    begins = begins_of(item)
    return JudgementColumns(
        id=id_[order],
        topic=topic[order],
        item=item,
        document=document[order],
        judge=judge[order],
        assignment=assignment[order],
        grade=grade[order].astype(np.int64),
        flags=flags[order],
        place=np.cumsum(begins) - 1,
        seconds=np.array(stored.seconds, np.float64)[order],
        docnos=[docnos[place].encode() for place in of_docno[order][begins].tolist()],
    )


def _firsts(ids: Ids, items: Ids, judges: Ids, replaces: Ids) -> Ids:
    """For each judgement the id of the judge's first judgement of the item, or its own if it replaces none."""
    firsts = ids.copy()
    if replaces.any():
        order = np.lexsort((ids, judges, items))
        begins = begins_of(items[order]) | begins_of(judges[order])
        of_judge = np.empty_like(ids)
        of_judge[order] = ids[order][begins][np.cumsum(begins) - 1]
        firsts[replaces > 0] = of_judge[replaces > 0]
    return firsts


def pack_topics(columns: JudgementColumns, topics: Sequence[int]) -> dict[int, PackedTopic]:
    """Pack all judgements of these topics, in ascending order; equal judgements give equal bytes.

    Raises `OverflowError` for a number that 32 bits cannot hold.
    """
    numbers = np.stack(
        [
            *(columns.id, columns.item, columns.document, columns.judge, columns.assignment),
            *(columns.grade, columns.flags),
        ],
        axis=1,
    )
    if numbers.size and (numbers.max() > NUMBERS_UP_TO or numbers.min() < NO_GRADE):
        raise OverflowError("Ids and grades of 32 bits can be packed.")
    rows, seconds = numbers.astype(NUMBER), columns.seconds.astype(SECONDS)
    starts = np.searchsorted(columns.topic, np.array([*topics, GREATEST_ID]))
    first_docnos = np.append(columns.place, len(columns.docnos))[starts]
    pieces = zip(topics, pairwise(starts.tolist()), pairwise(first_docnos.tolist()), strict=True)
    return {
        topic: PackedTopic(
            rows[start:end].tobytes(), seconds[start:end].tobytes(), LINE_END.join(columns.docnos[first:last])
        )
        for topic, (start, end), (first, last) in pieces
    }


def unpack_topics(packed: Mapping[int, PackedTopic]) -> JudgementColumns:
    """Unpack {topic id: its judgements}, in the order of the mapping.

    Docnos and seconds may be left empty for all topics that nobody asks for them.
    """
    rows = np.frombuffer(b"".join([one.judgements for one in packed.values()]), NUMBER).reshape(-1, NUMBERS)
    columns = np.ascontiguousarray(rows.T, np.int64)
    sizes = np.array([len(one.judgements) for one in packed.values()], np.int64) // (NUMBERS * NUMBER.itemsize)
    seconds = np.frombuffer(b"".join([one.seconds for one in packed.values()]), SECONDS)
    id_, item, document, judge, assignment, grade, flags = columns
    docnos = LINE_END.join([one.docnos for one in packed.values() if one.docnos])
    return JudgementColumns(
        id=id_,
        topic=np.repeat(np.array(list(packed), np.int64), sizes),
        item=item,
        document=document,
        judge=judge,
        assignment=assignment,
        grade=grade,
        flags=flags,
        place=np.cumsum(begins_of(item)) - 1,
        seconds=seconds if seconds.size else np.full(id_.size, np.nan),
        docnos=docnos.split(LINE_END) if docnos else [],
    )


def begins_of(groups: Ids) -> Flags:
    """Which elements differ from the one before."""
    return np.append(True, groups[1:] != groups[:-1])[: groups.size]
