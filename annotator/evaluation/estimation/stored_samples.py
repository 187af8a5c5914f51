"""A topic's stored strata, joined with people's and a machine's grades of their documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.estimation.sampled_topic import UNKNOWN, FrameRanks, SampledTopic
from annotator.evaluation.runs.rankings import decode_documents

Grades = NDArray[np.int16]
Marks = NDArray[np.bool_]
EMPTY = np.empty(0, np.int32)


class PackedStratum(Protocol):
    """A stratum of one topic, its documents packed in the order in which they were drawn."""

    @property
    def number(self) -> int:
        """Its number, which means alike strata in all topics."""

    @property
    def drawn(self) -> int:
        """How many of its documents, from the first, were drawn."""

    @property
    def documents(self) -> bytes:
        """All its documents."""


class GradedDocuments(Protocol):
    """Some documents of a topic, each once, in any order, with a grade for each."""

    @property
    def documents(self) -> NDArray[np.signedinteger]:
        """The numbers of the documents."""

    @property
    def grades(self) -> NDArray[np.signedinteger]:
        """The grade of each."""


@dataclass(frozen=True, eq=False)
class SampleFrame:
    """The documents of a topic that could be drawn, each with the number of its stratum and whether it was drawn."""

    documents: NDArray[np.int32]
    strata: NDArray[np.intp]
    is_drawn: Marks

    @classmethod
    def of(cls, strata: Sequence[PackedStratum]) -> "SampleFrame":
        """Unpack the strata of a topic."""
        documents = [decode_documents(one.documents) for one in strata]
        drawn = [np.arange(some.size) < one.drawn for one, some in zip(strata, documents, strict=True)]
        return cls(
            np.concatenate([EMPTY, *documents]),
            np.repeat(np.array([one.number for one in strata], np.intp), [some.size for some in documents]),
            np.concatenate([np.empty(0, np.bool_), *drawn]),
        )

    @classmethod
    def judged_whole(cls, graded: GradedDocuments) -> "SampleFrame":
        """One stratum of all documents of a topic that are judged."""
        documents = graded.documents[graded.grades >= 0].astype(np.int32)
        return cls(documents, np.ones(documents.size, np.intp), np.ones(documents.size, np.bool_))

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self.documents, kind="stable")

    def look_up(self, graded: GradedDocuments | None) -> Grades:
        """Look up the grade of each document of the frame, `UNKNOWN` for those that have none."""
        found = np.full(self.documents.size, UNKNOWN)
        if graded is not None and self.documents.size:
            in_order = self.documents[self._order]
            place = np.minimum(np.searchsorted(in_order, graded.documents), in_order.size - 1)
            is_inside = (in_order[place] == graded.documents) & (graded.grades >= 0)
            found[self._order[place[is_inside]]] = graded.grades[is_inside]
        return found


def unpack_rankings(rankings: Sequence[bytes | None], depth: int | None) -> list[NDArray[np.int32]]:
    """Decode the packed list of each run to a depth; empty for a run without the topic."""
    return [EMPTY if packed is None else decode_documents(packed)[:depth] for packed in rankings]


@dataclass(frozen=True, eq=False)
class JudgedFrame:
    """The frame of a topic with people's grades and, where there is one, a machine's; `UNKNOWN` where there is none."""

    frame: SampleFrame
    people: Grades
    machine: Grades | None

    @cached_property
    def counts(self) -> Marks:
        """Whether people's grade of a document counts: of one that was drawn, or of a stratum that is graded whole.

        A document graded without being drawn was not chosen at random, as estimates require. Where a whole stratum is
        graded nothing is left to chance.
        """
        is_graded = self.people != UNKNOWN
        ungraded = np.unique(self.frame.strata[~is_graded])
        marks: Marks = is_graded & (self.frame.is_drawn | ~np.isin(self.frame.strata, ungraded))
        return marks

    @property
    def judged(self) -> int:
        """The number of documents whose grade counts."""
        return int(self.counts.sum())

    @property
    def not_judged(self) -> int:
        """The number of documents that were drawn and have no grade."""
        return int((self.frame.is_drawn & (self.people == UNKNOWN)).sum())

    @property
    def not_drawn(self) -> int:
        """The number of graded documents that do not count, as they were not drawn."""
        return int((self.people != UNKNOWN).sum()) - self.judged

    @property
    def unlabelled(self) -> int:
        """The number of documents without a grade of the machine."""
        return 0 if self.machine is None else int((self.machine == UNKNOWN).sum())

    def sampled(self, rankings: Sequence[bytes | None], depth: int | None) -> tuple[SampledTopic, list[float]]:
        """Rank the documents in the packed list of each run, None for a run without the topic.

        Also the share of each run's documents, to the depth, outside the frame. Without a label the machine is taken to
        give the grade 0, which is worth nothing in every measure: there people's grades count alone.
        """
        lists = unpack_rankings(rankings, depth)
        ranks = FrameRanks.of(self.frame.documents, lists, depth)
        machine = None if self.machine is None else np.where(self.machine == UNKNOWN, np.int16(0), self.machine)
        people = np.where(self.counts, self.people, UNKNOWN)
        return SampledTopic(self.frame.strata, ranks.ranks, people, machine), ranks.outside.tolist()
