"""The grades of one topic as arrays with its lines of a qrels file, about twenty bytes a document.

Changing grades takes time in proportion to the changes, not to the size of the topic.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.qrels.qrels_format import WHOLE_TOPIC
from annotator.evaluation.qrels.samples import TopicSample

GRADES = np.iinfo(np.int16)
ABSENT = GRADES.min  # of documents that the qrels do not list
LINE_END = ord("\n")
DOCNO = 2  # the column of a line

NOBODY: frozenset[int] = frozenset()


class GradesInArrays(Mapping[int, int]):
    """{document: grade} as two arrays; look-ups by document build a temporary dictionary."""

    def __init__(self, documents: NDArray[np.int32], grades: NDArray[np.int16]) -> None:
        """Take parallel arrays of distinct documents and their grades."""
        self.documents, self.grades = documents, grades

    @cached_property
    def _as_dict(self) -> dict[int, int]:
        return dict(zip(self.documents.tolist(), self.grades.tolist(), strict=True))

    def __getitem__(self, document: int) -> int:
        return self._as_dict[document]

    def __iter__(self) -> Iterator[int]:
        return iter(self.documents.tolist())

    def __len__(self) -> int:
        return self.documents.size


@dataclass(frozen=True)
class NewGrade:
    """The new grade of a document; None if it no longer has one."""

    document: int
    docno: bytes
    grade: int | None


@dataclass(frozen=True, eq=False)
class GradedTopic:
    """The grades of one topic, with its lines of a qrels file and its judges."""

    documents: NDArray[np.int32]
    grades: NDArray[np.int16]
    lines: bytes = b""
    judges: frozenset[int] = NOBODY
    disputed: frozenset[int] = NOBODY  # disputed documents that are left out
    sample: TopicSample | None = None  # the sample that estimates are computed from

    @classmethod
    def of(cls, grades: Mapping[int, int], lines: bytes = b"", *, sample: TopicSample | None = None) -> "GradedTopic":
        """Take {document: grade}; raises `InvalidValueError` for a grade that 16 bits cannot hold."""
        return cls(*arrays_of(grades), lines, sample=sample)

    @classmethod
    def named(cls, number: str, grades: Mapping[int, int], docnos: Mapping[int, bytes]) -> "GradedTopic":
        """Build the topic `number` from {document: grade}, in the order of the docnos, with its lines."""
        documents = sorted(grades, key=docnos.__getitem__)
        in_order = {document: grades[document] for document in documents}
        head = f"{number} 0 ".encode()
        lines = [b"%s%s %d\n" % (head, docnos[document], grade) for document, grade in in_order.items()]
        return cls.of(in_order, b"".join(lines))

    @property
    def by_document(self) -> GradesInArrays:
        """The grades by document."""
        return GradesInArrays(self.documents, self.grades)

    @cached_property
    def counts(self) -> Mapping[int, int]:
        """The number of documents with each grade."""
        grades, counts = np.unique(self.grades, return_counts=True)
        return dict(zip(grades.tolist(), counts.tolist(), strict=True))

    @property
    def judged(self) -> int:
        """The number of judged documents; negative grades are unjudged."""
        return self.relevant(0)

    def relevant(self, relevant_from: int) -> int:
        """The number of documents with at least this grade."""
        return sum(count for grade, count in self.counts.items() if grade >= relevant_from)

    def docnos(self) -> dict[int, bytes]:
        """The docno of each document, in the order of the lines."""
        names = [line.split(b" ", DOCNO + 1)[DOCNO] for line in self.lines.splitlines()]
        return dict(zip(self.documents.tolist(), names, strict=True))

    def changed(
        self, number: str, changes: Sequence[NewGrade], *, judges: Collection[int], disputed: Collection[int]
    ) -> "GradedTopic":
        """Return the topic with new grades of these documents, which are in the order of the lines.

        `judges` are added to the existing ones, and `disputed` are the changed documents that are left out.
        """
        text, ends = self.lines, np.flatnonzero(np.frombuffer(self.lines, np.uint8) == LINE_END) + 1
        starts = [0, *ends.tolist()]

        def docno_at(place: int) -> bytes:
            return text[starts[place] : starts[place + 1]].split(b" ", DOCNO + 1)[DOCNO]

        done = 0
        lines: list[bytes] = []
        documents, grades = [self.documents[:0]], [self.grades[:0]]
        for change in sorted(changes, key=lambda change: change.docno):
            place = bisect_left(range(ends.size), change.docno, lo=done, key=docno_at)
            lines.append(text[starts[done] : starts[place]])
            documents.append(self.documents[done:place])
            grades.append(self.grades[done:place])
            done = place + (place < ends.size and docno_at(place) == change.docno)
            if change.grade is not None:
                lines.append(b"%s 0 %s %d\n" % (number.encode(), change.docno, change.grade))
                of_change = arrays_of({change.document: change.grade})
                documents.append(of_change[0])
                grades.append(of_change[1])
        return replace(
            self,
            documents=np.concatenate([*documents, self.documents[done:]]),
            grades=np.concatenate([*grades, self.grades[done:]]),
            lines=b"".join([*lines, text[starts[done] :]]),
            judges=self.judges.union(judges),
            disputed=self.disputed.difference(change.document for change in changes).union(disputed),
        )

    def without(self, documents: Mapping[int, str]) -> "GradedTopic":
        """Return the topic without these documents, {document: docno}, and their lines."""
        docnos = {docno.encode() for docno in documents.values()}
        lines = [line for line in self.lines.splitlines(keepends=True) if line.split()[DOCNO] not in docnos]
        left = ~np.isin(self.documents, list(documents))
        sample = None if self.sample is None else self.sample.without(documents)
        return replace(
            self, documents=self.documents[left], grades=self.grades[left], lines=b"".join(lines), sample=sample
        )


def arrays_of(grades: Mapping[int, int]) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """Documents and grades; raises `InvalidValueError` for a grade that 16 bits cannot hold."""
    if isinstance(grades, GradesInArrays):
        return grades.documents, grades.grades
    values = np.fromiter(grades.values(), np.int64, len(grades))
    return np.fromiter(grades.keys(), np.int32, len(grades)), grades_of_16_bits(values)


def grades_of_16_bits(values: NDArray[np.int64]) -> NDArray[np.int16]:
    """Grades in fewer bits; raises `InvalidValueError` for one that does not fit."""
    if values.size and not ABSENT < values.min() <= values.max() <= GRADES.max:
        raise InvalidValueError("Grades must lie between %(low)d and %(high)d.", low=ABSENT + 1, high=GRADES.max)
    return values.astype(np.int16)


def topic_lines(number: str, grades: Iterable[tuple[str, int]]) -> bytes:
    """Write one topic's docnos and grades as `format_qrels` does."""
    in_order = sorted(grades, key=itemgetter(0))
    return "".join([f"{number} 0 {docno} {grade}\n" for docno, grade in in_order]).encode()


def qrels_bytes(topics: Mapping[str, GradedTopic]) -> bytes:
    """Join the lines of topics in the order of `format_qrels`."""
    return b"".join(topics[number].lines for number in in_file_order([one for one in topics if topics[one].lines]))


def in_file_order(numbers: Iterable[str]) -> list[str]:
    """Topics in the order of qrels files: by number when all are whole numbers, else by their bytes."""
    in_order = sorted(numbers)
    if all(WHOLE_TOPIC.fullmatch(number) for number in in_order):
        in_order.sort(key=int)
    return in_order
