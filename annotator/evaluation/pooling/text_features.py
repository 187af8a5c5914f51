"""Texts as rows of weighted terms, for a classifier: hashed counts of terms, and TF-IDF of them.

A million passages of forty different terms take 210 MB: five bytes for a term of a text. Weights are computed from the
counts whenever they are used, since as numbers of their own they would take as much again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.search.search_text import words_of

COLUMNS = 2**20  # terms with the same hash share a column: 4 % of 100,000 different ones do so with an earlier one
MOST_COUNTED = 255  # of a term in a text
WORDS_AT_ONCE = 200_000
MOST_REMEMBERED = 200_000  # words whose columns are kept while texts are counted
ROWS_AT_ONCE = 50_000
# English endings that a term loses, the first that fits, where enough of the word is left.
SUFFIXES = (
    *("ational", "ization", "ations", "ation", "ingly", "ments", "ment", "ings", "ing", "ies", "ers", "ed", "es"),
    *("er", "ly", "s"),
)
LEAST_STEM = 4  # letters

Rows = NDArray[np.intp]
Floats = NDArray[np.float32]
# Less than 1: the last relevant documents have few of a topic's rare words.
IDF_POWER = 0.6
FIRST = 0.8  # what the first of several occurrences adds to the logarithm of their number
TERM_WEIGHTS: Floats = np.append(0, FIRST + np.log(np.arange(1, MOST_COUNTED + 1))).astype(np.float32)


@dataclass(frozen=True, eq=False)
class TermCounts:
    """How often each text has each of its terms, a row for each text, end to end.

    A term is its column, from 0 to `COLUMNS` - 1, ascending within a row. `begins` has where each row begins, and the
    end of the last. A term that a text has more than 255 times counts 255 times.
    """

    columns: NDArray[np.int32]
    counts: NDArray[np.uint8]
    begins: NDArray[np.int64]

    def __len__(self) -> int:
        """The number of texts."""
        return self.begins.size - 1

    @staticmethod
    def join(parts: Sequence["TermCounts"]) -> "TermCounts":
        """The rows of all parts, in their order."""
        lengths = [np.diff(part.begins) for part in parts]
        return TermCounts(
            np.concatenate([np.empty(0, np.int32), *(part.columns for part in parts)]),
            np.concatenate([np.empty(0, np.uint8), *(part.counts for part in parts)]),
            np.append(0, np.cumsum(np.concatenate([np.empty(0, np.int64), *lengths]))),
        )

    def select(self, rows: Rows) -> "TermCounts":
        """These rows, in this order; a row may come several times."""
        begins, lengths = self.begins[rows], np.diff(self.begins)[rows]
        ends = np.cumsum(lengths)
        # Of each term of the result: its place here, counted on from where its row begins.
        places = np.arange(ends[-1] if ends.size else 0) + np.repeat(begins - ends + lengths, lengths)
        return TermCounts(self.columns[places], self.counts[places], np.append(0, ends))

    def slices(self) -> Iterator[tuple[int, "TermCounts"]]:
        """All rows in parts, each with its first row, so that what is computed of a part takes little memory."""
        for first in range(0, len(self), ROWS_AT_ONCE):
            begins = self.begins[first : first + ROWS_AT_ONCE + 1]
            within = slice(int(begins[0]), int(begins[-1]))
            yield first, TermCounts(self.columns[within], self.counts[within], begins - begins[0])


class _Columns(dict[str, int]):
    """The columns of words, without their endings; the same in every process, unlike Python's own hashes."""

    def __missing__(self, word: str) -> int:
        column = self[word] = crc32(_stem(word).encode(errors="replace")) % COLUMNS
        return column


def _stem(word: str) -> str:
    """A word without its ending, so that “trial” and “trials” are one term for the classifier."""
    ending = next((one for one in SUFFIXES if word.endswith(one) and len(word) - len(one) >= LEAST_STEM), "")
    return word.removesuffix(ending)


def count_terms(texts: Iterable[str]) -> TermCounts:
    """Count the terms of texts, those of search: words, and bigrams of characters in Korean, Chinese and Japanese.

    Words lose English endings (`SUFFIXES`), by which rare words come together: measured, docs/performance.md. Texts are
    taken one after the other, and only a part of them is in memory at once.
    """
    remembered = _Columns()
    columns, counts, lengths = bytearray(), bytearray(), bytearray()
    for words in _in_parts(texts):
        part = _counted([[remembered[word] for word in of_text] for of_text in words])
        # Bytes that grow in place need half the memory of arrays that are joined in the end.
        columns += part.columns.tobytes()
        counts += part.counts.tobytes()
        lengths += np.diff(part.begins).tobytes()
        if len(remembered) > MOST_REMEMBERED:
            remembered.clear()
    begins = np.append(0, np.cumsum(np.frombuffer(lengths, np.int64)))
    return TermCounts(np.frombuffer(columns, np.int32), np.frombuffer(counts, np.uint8), begins)


def _in_parts(texts: Iterable[str]) -> Iterator[list[list[str]]]:
    part: list[list[str]] = []
    words = 0
    for text in texts:
        part.append(words_of(text))
        words += len(part[-1]) + 1
        if words >= WORDS_AT_ONCE:
            yield part
            part, words = [], 0
    if part:
        yield part


def _counted(columns: Sequence[Sequence[int]]) -> TermCounts:
    """Count the columns of each text, given with repetitions."""
    lengths = [len(one) for one in columns]
    flat = np.fromiter((column for one in columns for column in one), np.int64, sum(lengths))
    terms, counts = np.unique(np.repeat(np.arange(len(lengths)), lengths) * COLUMNS + flat, return_counts=True)
    rows, different = np.divmod(terms, COLUMNS)
    return TermCounts(
        different.astype(np.int32),
        np.minimum(counts, MOST_COUNTED).astype(np.uint8),
        np.searchsorted(rows, np.arange(len(lengths) + 1)).astype(np.int64),
    )


@dataclass(frozen=True, eq=False)
class TextFeatures:
    """Rows of TF-IDF of length 1: (0.8 + ln count) idf^0.6, with idf = ln((N + 1) / (df + 0.5)).

    N is the number of texts, and df that of those with the term; terms that no text has weigh nothing. Salton and
    Buckley, Information Processing and Management 24(5), 1988, but for 0.8 and 0.6 in place of 1, which were measured
    (docs/performance.md).
    """

    counts: TermCounts
    idf: Floats  # of each column, to its power

    def __len__(self) -> int:
        """The number of texts."""
        return len(self.counts)

    @cached_property
    def is_empty(self) -> NDArray[np.bool_]:
        """Which rows have no term."""
        is_empty: NDArray[np.bool_] = self._scales == 0
        return is_empty

    def of_text(self, text: str) -> "TextFeatures":
        """A row for another text, with the weights that terms have here."""
        return TextFeatures(count_terms([text]), self.idf)

    def select(self, rows: Rows) -> "TextFeatures":
        """These rows, in this order, with the same weights."""
        return TextFeatures(self.counts.select(rows), self.idf)

    def matrix(self) -> Any:  # noqa: ANN401 - SciPy ships no types
        """The rows as a sparse matrix of SciPy (rows by `COLUMNS`, float32)."""
        weights = TERM_WEIGHTS[self.counts.counts] * self.idf[self.counts.columns]
        weights *= np.repeat(self._scales, np.diff(self.counts.begins))
        return _sparse(weights, self.counts)

    def scores(self, weights: Floats) -> Floats:
        """The product of each row with a weight of each column."""
        return self._sums(weights * self.idf, TERM_WEIGHTS) * self._scales

    @cached_property
    def _scales(self) -> Floats:
        """What makes each row's length 1; 0 where a row has no term."""
        lengths = np.sqrt(self._sums(self.idf**2, TERM_WEIGHTS**2))
        return np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def _sums(self, of_column: Floats, of_count: Floats) -> Floats:
        """Of each row: the sum over its terms of the value of the column times that of the count."""
        sums = np.zeros(len(self), np.float32)
        for first, part in self.counts.slices():
            sums[first : first + len(part)] = _sparse(of_count[part.counts], part) @ of_column
        return sums


def weighted(counts: TermCounts) -> TextFeatures:
    """The features of texts, with weights by how many of them have each term."""
    having = np.zeros(COLUMNS, np.int64)
    for _, part in counts.slices():
        having += np.bincount(part.columns, minlength=COLUMNS)
    idf = np.where(having > 0, np.log((len(counts) + 1) / (having + 0.5)), 0)
    return TextFeatures(counts, (idf**IDF_POWER).astype(np.float32))


def _sparse(values: Floats, counts: TermCounts) -> Any:  # noqa: ANN401 - SciPy ships no types
    indices = counts.begins.astype(np.int32)  # of the type of the columns, which are copied otherwise
    return learning_library("scipy.sparse").csr_matrix((values, counts.columns, indices), (len(counts), COLUMNS))


def can_learn() -> bool:
    """Whether scikit-learn is installed."""
    return find_spec("sklearn") is not None


def learning_library(name: str) -> Any:  # noqa: ANN401 - neither library ships types
    """A module of SciPy or scikit-learn, which only those who learn from texts load: 1.5 s and 200 MB.

    Raises `InvalidValueError` where it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise InvalidValueError(
            "Active learning needs scikit-learn, which is not installed here: install relevance-annotator[learning]."
        ) from None
