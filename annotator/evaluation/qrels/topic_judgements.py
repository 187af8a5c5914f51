"""The judgements of topics as columns: packed into bytes topic by topic, and unpacked for many topics at once.

The judgements of a topic are in the order of their docnos, and those of an item in the order in which its judges first
judged it. A packed topic has three strings of bytes: a row of seven little-endian 32-bit integers for each judgement
(ids of judgement, pool item, document, judge and assignment, the grade, and flags); its seconds as a 64-bit float, NaN
where unknown; and the docnos of the judged items, one a line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

NO_GRADE = np.iinfo(np.int32).min  # of a judge who could not judge the document
CURRENT, ADJUDICATES, CARRIED, OWN_TIME, SHOWN_AGAIN, REPLACES = (1 << bit for bit in range(6))
NUMBER, SECONDS = np.dtype("<i4"), np.dtype("<f8")
NUMBERS = 7
LINE_END = b"\n"

Flags = NDArray[np.bool_]
Ids = NDArray[np.int64]


class TopicJudgement(Protocol):
    """A judgement of a topic's document that was not withdrawn, as it is stored."""

    @property
    def id(self) -> int:
        """The id of the judgement."""

    @property
    def item(self) -> int:
        """The id of the pool item."""

    @property
    def document(self) -> int:
        """The id of the document."""

    @property
    def docno(self) -> str:
        """The docno of the document."""

    @property
    def judge(self) -> int:
        """The id of the judge."""

    @property
    def assignment(self) -> int:
        """The id of the assignment."""

    @property
    def grade(self) -> int | None:
        """The grade; None from a judge who could not judge the document."""

    @property
    def seconds(self) -> float | None:
        """The time it took, None if unknown."""

    @property
    def first(self) -> int:
        """The id of the judge's first judgement of the item."""

    @property
    def is_current(self) -> bool:
        """Whether it is the judge's present one; no second showing is."""

    @property
    def adjudicates(self) -> bool:
        """Whether it, or the one that it was carried over from, is an adjudication."""

    @property
    def is_carried(self) -> bool:
        """Whether it was carried over from a document with the same text."""

    @property
    def has_own_time(self) -> bool:
        """Whether it was given by itself, not imported with a file of labels."""

    @property
    def is_shown_again(self) -> bool:
        """Whether it is of a second showing."""

    @property
    def replaces_another(self) -> bool:
        """Whether it changed an earlier one."""


class PackedTopic(NamedTuple):
    """The judgements of one topic, packed."""

    judgements: bytes
    seconds: bytes
    docnos: bytes


def pack_topic(judgements: Sequence[TopicJudgement]) -> PackedTopic:
    """Pack all judgements of a topic; equal judgements give equal bytes.

    Raises `OverflowError` for a number that 32 bits cannot hold.
    """
    in_order = sorted(judgements, key=lambda one: (one.docno, one.first, one.id))
    numbers = [
        (
            *(one.id, one.item, one.document, one.judge, one.assignment),
            NO_GRADE if one.grade is None else one.grade,
            one.is_current * CURRENT
            | one.adjudicates * ADJUDICATES
            | one.is_carried * CARRIED
            | one.has_own_time * OWN_TIME
            | one.is_shown_again * SHOWN_AGAIN
            | one.replaces_another * REPLACES,
        )
        for one in in_order
    ]
    seconds = [np.nan if one.seconds is None else one.seconds for one in in_order]
    docnos = dict.fromkeys(one.docno for one in in_order)
    return PackedTopic(
        np.array(numbers, NUMBER).tobytes(), np.array(seconds, SECONDS).tobytes(), "\n".join(docnos).encode()
    )


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
        if which.all():
            return self
        columns = {one.name: getattr(self, one.name)[which] for one in fields(self) if one.name != "docnos"}
        return replace(self, **columns)

    def have(self, flag: int) -> Flags:
        """Which judgements have this flag."""
        return np.asarray((self.flags & flag) != 0, np.bool_)

    def by(self, judges: Sequence[int]) -> Flags:
        """Which judgements are by one of these judges."""
        return np.isin(self.judge, judges)

    @cached_property
    def is_graded(self) -> Flags:
        """Which judgements give a grade."""
        return np.asarray(self.grade != NO_GRADE, np.bool_)


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
