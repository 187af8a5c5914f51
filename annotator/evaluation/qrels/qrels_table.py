"""Qrels as arrays, to be joined with runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.formats.identifiers import (
    MAX_IDENTIFIER_BYTES,
    is_one_word,
    natural_order,
    require_identifier,
)
from annotator.evaluation.qrels.qrels_columns import QrelsColumns, read_qrels_columns
from annotator.evaluation.qrels.qrels_format import QrelsRow, parse_sampled_qrels

MOST_GRADE = int(np.iinfo(np.int16).max)
LEAST_GRADE = -MOST_GRADE  # the value below marks documents of joined runs that the qrels do not list
MAX_UTF8_BYTES = 4  # of a character


@dataclass(frozen=True, eq=False)
class SubtopicGrades:
    """Grades by subtopic, those of an entry together, in the order of the entries.

    Subtopics are numbered over all topics together.
    """

    first: NDArray[np.intp]  # where each entry's grades begin; one longer than there are entries
    subtopic: NDArray[np.intp]
    grade: NDArray[np.int16]
    topic: NDArray[np.intp]  # of each subtopic, ascending


@dataclass(frozen=True, eq=False)
class QrelsTable:
    """The qrels of some topics; an entry is a document of a topic, entries are sorted by topic.

    Topics are sorted by the bytes of their numbers, the order in which trec_eval sums its means.
    """

    topics: tuple[str, ...]
    first: NDArray[np.intp]  # where each topic's entries begin; one longer than there are topics
    docnos: NDArray[np.bytes_]  # UTF-8, dtype S
    grades: NDArray[np.int16]  # negative: pooled, but not judged
    # For each entry of five-column qrels: the stratum it was sampled from, the file's strata numbered from 0 in
    # natural order.
    strata: NDArray[np.int32] | None = None
    subtopics: SubtopicGrades | None = None  # of qrels that have them; an entry's grade is then its best one

    def graded(self) -> dict[str, dict[str, int]]:
        """The grades as {topic: {docno: grade}}, without documents that were not judged (-1)."""
        docnos = [bytes(docno).decode() for docno in self.docnos]
        grades, first = self.grades.tolist(), self.first.tolist()
        return {
            topic: {docnos[row]: grades[row] for row in range(first[place], first[place + 1]) if grades[row] >= 0}
            for place, topic in enumerate(self.topics)
        }


def read_qrels(name: str, text: bytes, problems: Problems, input_format: str | None = None) -> QrelsTable | None:
    """Read qrels of four or five columns, or return None and note every problem of the file with its line.

    `text` is what `unpack` returns. The format is that of `qrels_format.parse_sampled_qrels`. Within a topic the
    entries are in file order. Other formats are detected, or named by `input_format`.
    """
    columns = read_qrels_columns(text) if input_format is None else None
    if columns is None:
        parsed = parse_sampled_qrels(name, text, problems, input_format=input_format)
        if parsed is None:
            return None
        columns = columns_of(parsed.rows)
    return table_of_columns(columns)


def table_of(qrels: Mapping[str, Mapping[str, int]]) -> QrelsTable:
    """Make the table of grades by topic and docno, as `{"401": {"FT911-3": 1}}`; a topic may have no document.

    Raises `InvalidValueError` when a topic or docno is not a valid TREC identifier, or when a grade is not a whole
    number (of any integer type but bool) or is outside -32767 to 32767.
    """
    for topic, grades in qrels.items():
        require_identifier(topic)
        if not isinstance(grades, Mapping):
            raise InvalidValueError(
                "Qrels are {topic: {docno: grade}}, as {'401': {'FT911-3': 1}}; topic %(topic)s has %(given)s instead.",
                topic=topic,
                given=repr(grades),
            )
        if not _is_plain(grades):
            _refuse_unfit(topic, grades)
    topics = sorted(qrels)
    sizes = np.array([len(qrels[topic]) for topic in topics], np.intp)
    docnos = np.array([docno.encode() for topic in topics for docno in qrels[topic]], np.bytes_)
    grades_of_all = np.array([grade for topic in topics for grade in qrels[topic].values()], np.int16)
    return QrelsTable(tuple(topics), _first(sizes), docnos, grades_of_all)


def columns_of(rows: Iterable[QrelsRow]) -> QrelsColumns:
    """Convert rows to columns; either all of them have a stratum or none."""
    listed = list(rows)
    topics = sorted({row.topic for row in listed})
    places = {topic: place for place, topic in enumerate(topics)}
    strata = [row.stratum.encode() for row in listed if row.stratum is not None]
    return QrelsColumns(
        tuple(topic.encode() for topic in topics),
        np.array([places[row.topic] for row in listed], np.intp),
        np.array([row.docno.encode() for row in listed], np.bytes_),
        np.array([row.grade for row in listed], np.int16),
        np.array(strata, np.bytes_) if strata else None,
    )


def table_of_columns(columns: QrelsColumns) -> QrelsTable:
    """Group the lines by topic, in file order within each topic."""
    docnos, grades = columns.docnos, columns.grades
    strata = None if columns.strata is None else _numbered(columns.strata)
    if np.any(columns.topic[1:] < columns.topic[:-1]):
        order = np.argsort(columns.topic, kind="stable")
        docnos, grades = docnos[order], grades[order]
        strata = None if strata is None else strata[order]
    first = _first(np.bincount(columns.topic, minlength=len(columns.topics)))
    return QrelsTable(tuple(topic.decode() for topic in columns.topics), first, docnos, grades, strata)


def _first(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.append(0, np.cumsum(sizes)).astype(np.intp)


def _numbered(strata: NDArray[np.bytes_]) -> NDArray[np.int32]:
    names, name = np.unique(strata, return_inverse=True)
    by_nature = sorted(range(names.size), key=lambda place: natural_order(bytes(names[place]).decode()))
    numbers = np.empty(names.size, np.int32)
    numbers[by_nature] = np.arange(names.size)
    return numbers[name]


def _is_plain(grades: Mapping[str, int]) -> bool:
    """Quick check of all grades at once that they are valid; False also for unusual valid values."""
    if not grades:
        return True
    if set(map(type, grades)) != {str} or set(map(type, grades.values())) != {int}:
        return False
    in_range = min(grades.values()) >= LEAST_GRADE and max(grades.values()) <= MOST_GRADE
    short = max(map(len, grades)) * MAX_UTF8_BYTES <= MAX_IDENTIFIER_BYTES
    return in_range and short and "" not in grades and is_one_word("".join(grades))


def _refuse_unfit(topic: str, grades: Mapping[str, int]) -> None:
    for docno, grade in grades.items():
        require_identifier(docno)
        if isinstance(grade, bool | np.bool) or not isinstance(grade, int | np.integer):
            raise InvalidValueError(
                "The grade of document %(docno)s of topic %(topic)s is %(grade)s, which is no whole number.",
                docno=docno,
                topic=topic,
                grade=repr(grade),
            )
        if not LEAST_GRADE <= grade <= MOST_GRADE:
            raise InvalidValueError(
                "The grade of document %(docno)s of topic %(topic)s, %(grade)d, is not from %(least)d to %(most)d.",
                docno=docno,
                topic=topic,
                grade=int(grade),
                least=LEAST_GRADE,
                most=MOST_GRADE,
            )
