"""Documents that two run files have at different ranks, by their docnos."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.inspection.pair_look import MovedInTopic
from annotator.evaluation.inspection.two_runs import moved_documents
from annotator.evaluation.qrels.qrels_table import QrelsTable

NO_DOCNOS = np.empty(0, np.bytes_)


@dataclass(frozen=True, eq=False)
class RankedFile:
    """A run's docnos by topic, best first."""

    lists: Mapping[str, NDArray[np.bytes_]]

    def of(self, topic: str) -> list[bytes]:
        """A topic's, none where the run has no list."""
        docnos: list[bytes] = self.lists.get(topic, NO_DOCNOS).tolist()
        return docnos


def moved_by_docno(
    table: QrelsTable, first: RankedFile, second: RankedFile, topics: Sequence[str], *, top: int
) -> tuple[tuple[MovedInTopic, ...], dict[int, str]]:
    """List what stands in the top of either of two runs and elsewhere in the other, with the docnos of the numbers.

    Documents are numbered in the order of their bytes, so that equal gaps stand in it.
    """
    every = sorted({docno for run in (first, second) for topic in topics for docno in run.of(topic)})
    numbers = {docno: number for number, docno in enumerate(every)}
    moved = tuple(
        MovedInTopic(
            topic,
            moved_documents(
                _numbered(first.of(topic), numbers),
                _numbered(second.of(topic), numbers),
                _grades(table, topic, numbers),
                top=top,
            ),
        )
        for topic in topics
    )
    return moved, {number: docno.decode() for docno, number in numbers.items()}


def _numbered(docnos: Sequence[bytes], numbers: Mapping[bytes, int]) -> NDArray[np.int32]:
    return np.array([numbers[docno] for docno in docnos], np.int32)


def _grades(table: QrelsTable, topic: str, numbers: Mapping[bytes, int]) -> dict[int, int]:
    place = table.topics.index(topic)
    some = slice(int(table.first[place]), int(table.first[place + 1]))
    rows = zip(table.docnos[some].tolist(), table.grades[some].tolist(), strict=True)
    return {numbers[docno]: grade for docno, grade in rows if docno in numbers}
