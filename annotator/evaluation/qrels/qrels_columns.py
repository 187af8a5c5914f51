"""Vectorised parser of qrels: the same result as `qrels_format`, or None for unusual files."""

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.file_kinds import QRELS_COLUMNS, SAMPLED_COLUMNS
from annotator.evaluation.formats.table_stream import chunks_of
from annotator.evaluation.formats.table_tokens import (
    Bytes,
    Offsets,
    UnusualError,
    beginnings_of,
    has_equals,
    hashes_of,
    texts_of,
    tokens_of,
    words_of_docnos,
)

TOPIC, DOCNO, STRATUM = 0, 2, 3  # column indices; the grade is the last
MAX_GRADE_DIGITS = 4  # as `file_kinds.WHOLE_GRADE` has it
PLUS, MINUS, ZERO = b"+-0"
FIRST_DATA_LINE = re.compile(rb"^[^\S\n]*[^\s#].*", re.MULTILINE)

Texts = NDArray[np.bytes_]
Grades = NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class QrelsColumns:
    """Qrels in the file's order; every array has shape (lines,)."""

    topics: tuple[bytes, ...]  # unique, in byte order
    topic: NDArray[np.intp]  # index into `topics`
    docnos: Texts
    grades: Grades
    strata: Texts | None  # as written in the file


@dataclass
class _Pieces:
    """The data read from the chunks so far."""

    columns: int
    topics: list[bytes] = field(default_factory=list)  # of each run of lines with one topic
    lengths: list[int] = field(default_factory=list)  # of each of these runs
    docnos: list[Texts] = field(default_factory=list)
    grades: list[Grades] = field(default_factory=list)
    strata: list[Texts] = field(default_factory=list)

    def take(self, chunk: bytes) -> None:
        tokens = tokens_of(chunk, self.columns)
        lines = len(tokens.starts)
        if not lines:
            return
        topics, begins = beginnings_of(tokens, TOPIC)
        self.topics += topics
        self.lengths += np.diff(begins, append=lines).tolist()
        self.docnos.append(texts_of(tokens.data, *tokens.column(DOCNO)))
        self.grades.append(_grades(tokens.data, *tokens.column(-1)))
        if self.columns == SAMPLED_COLUMNS:
            self.strata.append(texts_of(tokens.data, *tokens.column(STRATUM)))

    def joined(self) -> QrelsColumns:
        topics = tuple(sorted(set(self.topics)))
        places = {topic: place for place, topic in enumerate(topics)}
        topic = np.repeat(np.array([places[name] for name in self.topics], np.intp), self.lengths)
        docnos = np.concatenate(self.docnos)
        if _may_have_duplicates(topic, docnos):
            raise UnusualError
        strata = np.concatenate(self.strata) if self.strata else None
        return QrelsColumns(topics, topic, docnos, np.concatenate(self.grades), strata)


def read_qrels_columns(text: bytes) -> QrelsColumns | None:
    """Return qrels of four or five columns, or None when the file is unusual in any way."""
    first_line = FIRST_DATA_LINE.search(text)
    columns = len(first_line[0].split()) if first_line else 0
    if columns not in {QRELS_COLUMNS, SAMPLED_COLUMNS}:
        return None
    pieces = _Pieces(columns)
    try:
        for chunk in chunks_of(text):
            pieces.take(chunk)
        return pieces.joined()
    except UnusualError:
        return None


def _grades(data: Bytes, starts: Offsets, ends: Offsets) -> Grades:
    """Parse whole numbers of at most four digits, with or without a sign."""
    signs = data[starts]
    digits = ends - starts - ((signs == MINUS) | (signs == PLUS))
    if digits.min() < 1 or digits.max() > MAX_GRADE_DIGITS:
        raise UnusualError
    values = np.zeros(starts.size, np.int16)
    for place in range(int(digits.max())):
        digit = data[ends - 1 - place] - ZERO  # a byte below "0" wraps around to a large number
        there = digits > place
        if np.any(there & (digit > 9)):  # noqa: PLR2004  # the largest digit
            raise UnusualError
        values += np.int16(10**place) * np.where(there, digit, 0).astype(np.int16)
    return np.where(signs == MINUS, -values, values)


def _may_have_duplicates(topic: NDArray[np.intp], docnos: Texts) -> bool:
    """Whether two lines have equal hashes; sorting hashes is ten times as fast as sorting the ids."""
    return has_equals(hashes_of(np.column_stack((words_of_docnos(docnos), topic.astype(np.uint64)))))
