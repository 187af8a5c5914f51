"""A machine's labels of the documents of one topic as arrays: packed into bytes for the database, and read again.

Labels come in parts, one for each import. Documents are little-endian 32-bit integers, grades 16-bit integers,
confidences and probabilities 32-bit floating-point numbers; probabilities have a row for each document and a column
for each grade of the scale.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotator.errors import InvalidValueError

DOCUMENT, GRADE, SHARE = np.dtype("<i4"), np.dtype("<i2"), np.dtype("<f4")
NO_GRADE = np.iinfo(np.int16).min  # of a label that is not a grade of the scale
GREATEST_DOCUMENT = np.iinfo(np.int32).max
NO_LABEL = NO_GRADE - 1  # of a document without one
MATRIX = 2  # dimensions

Given = ArrayLike  # an array or a sequence of numbers, or of rows of them
Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
NOTHING_OUTSIDE: Mapping[int, str] = MappingProxyType({})


class PackedPart(NamedTuple):
    """Labels of one topic, packed; `outside` has position and text of those that are not grades."""

    documents: bytes
    grades: bytes
    confidences: bytes | None
    probabilities: bytes | None
    outside: list[list[Any]]


class StoredPart(Protocol):
    """Packed labels as they are stored."""

    @property
    def documents(self) -> bytes:
        """Ids of the documents."""

    @property
    def grades(self) -> bytes:
        """A grade for each document, `NO_GRADE` for a label that is none."""

    @property
    def confidences(self) -> bytes | None:
        """The machine's confidence in each label, NaN if unknown; None if it gave none."""

    @property
    def probabilities(self) -> bytes | None:
        """The probability of each grade, NaN if unknown; None if the machine gave none."""

    @property
    def outside(self) -> Sequence[Sequence[Any]]:
        """Position and text of the labels that are not grades."""


class Judged(NamedTuple):
    """A machine's judgement of a pooled document; without a grade, `label` has the label that is not on the scale."""

    document_id: int
    grade: int | None
    label: str = ""


@dataclass(frozen=True, eq=False)
class PackedLabels:
    """The labels that count, of one topic and machine; the arrays are parallel, in the order of document ids.

    `probabilities` has shape (documents, grades of the scale). Confidences and probabilities are None where the machine
    gave none, and NaN for single documents without them. `outside` maps the documents whose label is not a grade of the
    scale to its text; they are not in the arrays.
    """

    document_ids: Ids
    grades: Ids
    confidences: Floats | None = None
    probabilities: Floats | None = None
    outside: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of grades."""
        return self.document_ids.size


def pack_labels(
    document_ids: Given,
    grades: Given,
    *,
    confidences: Given | None = None,
    probabilities: Given | None = None,
    outside: Mapping[int, str] = NOTHING_OUTSIDE,
) -> PackedPart:
    """Pack labels, in the order of document ids; `outside` maps further documents to labels that are not grades.

    Confidences and probabilities are those of `document_ids`. Raises `InvalidValueError` for arrays of unlike lengths,
    a document with two labels, a grade that 16 bits cannot hold, and what is no probability.
    """
    further = np.fromiter(outside, np.int64, len(outside))
    documents = np.concatenate([np.asarray(document_ids, np.int64).ravel(), further])
    given = np.asarray(grades, np.int64).ravel()
    if given.size + further.size != documents.size:
        raise InvalidValueError(
            "There are %(documents)d documents and %(grades)d grades.",
            documents=documents.size - further.size,
            grades=given.size,
        )
    if given.size and (given.max() > np.iinfo(np.int16).max or given.min() <= NO_GRADE):
        raise InvalidValueError("A grade is too large: %(grade)d.", grade=int(given[np.argmax(np.abs(given))]))
    order = np.argsort(documents, kind="stable")
    documents = documents[order]
    twice = np.flatnonzero(documents[1:] == documents[:-1])
    if twice.size:
        raise InvalidValueError("The document with the id %(id)d has two labels.", id=int(documents[twice[0]]))
    if documents.size and (documents[-1] > GREATEST_DOCUMENT or documents[0] < 0):
        raise InvalidValueError("There is no document with the id %(id)d.", id=int(documents[-1]))
    texts = list(outside.values())
    positions = np.flatnonzero(order >= given.size).tolist()
    return PackedPart(
        documents.astype(DOCUMENT).tobytes(),
        np.append(given, np.full(further.size, NO_GRADE))[order].astype(GRADE).tobytes(),
        _packed_shares(confidences, given.size, order, columns=None),
        _packed_shares(probabilities, given.size, order, columns=MATRIX),
        [[place, texts[int(order[place]) - given.size]] for place in positions],
    )


def _packed_shares(shares: Given | None, count: int, order: NDArray[np.intp], columns: int | None) -> bytes | None:
    """Numbers from 0 to 1 or NaN, one or one row for each of `count` labels, packed in this order."""
    if shares is None:
        return None
    values = np.asarray(shares, np.float64)
    values = values if columns else values.ravel()
    if values.ndim != (columns or 1) or values.shape[0] != count:
        raise InvalidValueError(
            "There are %(labels)d labels and %(shares)d probabilities.", labels=count, shares=len(np.atleast_1d(values))
        )
    if np.any((values < 0) | (values > 1)):
        raise InvalidValueError("A confidence or probability is a number from 0 to 1.")
    further = np.full((order.size - count, *values.shape[1:]), np.nan)
    packed: bytes = np.concatenate([values, further])[order].astype(SHARE).tobytes()
    return packed


def unpack_labels(parts: Iterable[StoredPart], judged: Sequence[Judged] = ()) -> PackedLabels:
    """The labels that count of one topic: of several of a document the one of the last part.

    `judged` are the machine's judgements of pooled documents, which come after all parts. One that equals the label
    before it leaves that with its confidence and probabilities.
    """
    read = [_Part.of(part) for part in parts]
    if judged:
        read.append(_Part.of_judgements(judged))
    if not read:
        return PackedLabels(np.zeros(0, np.int64), np.zeros(0, np.int64))
    sizes = [part.documents.size for part in read]
    documents = np.concatenate([part.documents for part in read])
    grades = np.concatenate([part.grades for part in read])
    confidences = _joined([part.confidences for part in read], sizes)
    probabilities = _joined([part.probabilities for part in read], sizes)
    kept = _last_of_each(documents, grades, len(judged))
    has_grade = grades[kept] != NO_GRADE
    texts = _texts(read)
    chosen = kept[has_grade]
    return PackedLabels(
        documents[chosen],
        grades[chosen],
        None if confidences is None else confidences[chosen],
        None if probabilities is None else probabilities[chosen],
        {int(documents[place]): texts[place] for place in kept[~has_grade].tolist() if place in texts},
    )


def _last_of_each(documents: Ids, grades: Ids, judgements: int) -> NDArray[np.intp]:
    """The places of the labels that count, by document; the last `judgements` entries are judgements."""
    if np.all(documents[1:] > documents[:-1]):  # as of a single part
        return np.arange(documents.size)
    order = np.argsort(documents, kind="stable")
    is_last = np.append(documents[order][1:] != documents[order][:-1], True)
    kept: NDArray[np.intp] = order[is_last]
    if not judgements:
        return kept
    before = order[np.flatnonzero(is_last) - 1]
    repeats = (kept >= documents.size - judgements) & (documents[before] == documents[kept])
    repeats &= (grades[before] == grades[kept]) & (before != kept)
    places: NDArray[np.intp] = np.where(repeats, before, kept)
    return places


@dataclass(frozen=True, eq=False)
class _Part:
    """A part as arrays."""

    documents: Ids
    grades: Ids
    confidences: Floats | None
    probabilities: Floats | None
    outside: Sequence[Sequence[Any]]

    @classmethod
    def of(cls, part: StoredPart) -> "_Part":
        documents = np.frombuffer(part.documents, DOCUMENT).astype(np.int64)
        size = documents.size
        return cls(
            documents,
            np.frombuffer(part.grades, GRADE).astype(np.int64),
            None if part.confidences is None else np.frombuffer(part.confidences, SHARE).astype(np.float64),
            None
            if part.probabilities is None or not size
            else np.frombuffer(part.probabilities, SHARE).astype(np.float64).reshape(size, -1),
            part.outside,
        )

    @classmethod
    def of_judgements(cls, judged: Sequence[Judged]) -> "_Part":
        grades = np.array([NO_GRADE if one.grade is None else one.grade for one in judged], np.int64)
        outside = [(place, one.label) for place, one in enumerate(judged) if one.label]
        return cls(np.array([one.document_id for one in judged], np.int64), grades, None, None, outside)


def _joined(columns: Sequence[Floats | None], sizes: Sequence[int]) -> Floats | None:
    """Columns of all parts, NaN where a part has none or fewer; None when no part has any."""
    shapes = [column.shape[1:] for column in columns if column is not None]
    if not shapes:
        return None
    joined = np.full((sum(sizes), *max(shapes)), np.nan)
    start = 0
    for column, size in zip(columns, sizes, strict=True):
        if column is not None:
            joined[(slice(start, start + size), *map(slice, column.shape[1:]))] = column
        start += size
    return joined


def _texts(read: Sequence[_Part]) -> dict[int, str]:
    """Place among all entries → the text of the label there that is not a grade."""
    texts: dict[int, str] = {}
    start = 0
    for part in read:
        texts |= {start + int(place): str(text) for place, text in part.outside}
        start += part.documents.size
    return texts


def confidences_of(
    parts: Iterable[StoredPart], document_ids: Sequence[int], grades: Sequence[int], scale: Sequence[int]
) -> Floats:
    """The machine's confidence in these grades of documents, NaN where there is none or its last label is another.

    Without a confidence it is the probability of the grade. Probabilities are of the grades of `scale`, ascending.
    """
    wanted = np.asarray(document_ids, np.int64)
    last = np.full(wanted.size, NO_GRADE, np.int64)
    found = np.full(wanted.size, np.nan)
    for part in parts:
        has_label, places = _found_in(part, wanted)
        last[has_label] = np.frombuffer(part.grades, GRADE)[places]
        found[has_label] = _confidences_at(part, places, last[has_label], np.asarray(scale))
    return np.where(last == np.asarray(grades), found, np.nan)


def _confidences_at(part: StoredPart, places: NDArray[np.intp], grades: Ids, scale: NDArray[np.int64]) -> Floats:
    confidences = np.full(places.size, np.nan)
    if part.confidences is not None:
        confidences = np.frombuffer(part.confidences, SHARE)[places].astype(np.float64)
    if part.probabilities is not None:
        rows = np.frombuffer(part.probabilities, SHARE).reshape(len(part.grades) // GRADE.itemsize, -1)
        column = np.minimum(np.searchsorted(scale, grades), rows.shape[1] - 1)
        confidences = np.where(np.isnan(confidences), rows[places, column], confidences)
    return confidences


@dataclass(frozen=True)
class LabelChanges:
    """What labels of a topic are to those that counted before; without documents in the pool.

    `pooled` are the places of the labels of pooled documents.
    """

    added: int
    changed: int
    known: int
    pooled: tuple[int, ...]


def changes_of(before: Iterable[StoredPart], part: StoredPart, pooled: Collection[int]) -> LabelChanges:
    """Compare packed labels with the earlier parts; of several earlier labels of a document the last one counts."""
    new = _Part.of(part)
    is_pooled = np.isin(new.documents, np.fromiter(pooled, np.int64, len(pooled)))
    others = np.flatnonzero(~is_pooled)
    documents, grades = new.documents[others], new.grades[others]
    last = np.full(documents.size, NO_LABEL, np.int64)
    old_texts: dict[int, str] = {}
    for earlier in before:
        there, places = _found_in(earlier, documents)
        last[there] = np.frombuffer(earlier.grades, GRADE)[places]
        texts = {int(place): str(text) for place, text in earlier.outside}
        placed = zip(there.tolist(), places.tolist(), strict=True) if texts else ()
        old_texts |= {one: texts[place] for one, place in placed if place in texts}
    is_known = last == grades
    texts = {int(place): str(text) for place, text in part.outside}
    for one in np.flatnonzero(is_known & (grades == NO_GRADE)).tolist():
        is_known[one] = old_texts.get(one) == texts.get(int(others[one]))
    known, had = int(is_known.sum()), int(np.count_nonzero(last != NO_LABEL))
    return LabelChanges(documents.size - had, had - known, known, tuple(np.flatnonzero(is_pooled).tolist()))


def _found_in(part: StoredPart, documents: Ids) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of these documents a part has, as indexes into them, and their places in it."""
    ids = np.frombuffer(part.documents, DOCUMENT)
    if not ids.size:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    # Ascending, unless they were numbered again in another database.
    order = None if np.all(ids[1:] > ids[:-1]) else np.argsort(ids)
    places = np.minimum(np.searchsorted(ids, documents, sorter=order), ids.size - 1)
    places = places if order is None else order[places]
    there = np.flatnonzero(ids[places] == documents)
    return there, places[there]


def labels_at(part: StoredPart, places: Sequence[int]) -> Iterator[Judged]:
    """Some labels of a part, by their places."""
    new, texts = _Part.of(part), {int(place): str(text) for place, text in part.outside}
    for place, document, grade in zip(
        places, new.documents[list(places)].tolist(), new.grades[list(places)].tolist(), strict=True
    ):
        yield Judged(document, None, texts[place]) if place in texts else Judged(document, grade)


def label_rows(labels: PackedLabels, docnos: Mapping[int, str]) -> list[tuple[str, str, float]]:
    """Docno, label and confidence (NaN for none) of each label, by docno in byte order."""
    confidences = np.full(labels.document_ids.size, np.nan) if labels.confidences is None else labels.confidences
    columns = (labels.document_ids.tolist(), labels.grades.tolist(), confidences.tolist())
    rows = [(docnos[id_], str(grade), confidence) for id_, grade, confidence in zip(*columns, strict=True)]
    return sorted([*rows, *((docnos[id_], label, np.nan) for id_, label in labels.outside.items())])


def is_damaged(part: StoredPart) -> bool:
    """Whether the arrays of a packed part do not fit together."""
    count, rest = divmod(len(part.documents), DOCUMENT.itemsize)
    shares = [len(one) for one in (part.confidences,) if one is not None]
    rows = len(part.probabilities or b"")
    positions = {place for place, *_ in part.outside}
    return (
        rest > 0
        or len(part.grades) != count * GRADE.itemsize
        or any(length != count * SHARE.itemsize for length in shares)
        or rows % max(1, count * SHARE.itemsize) > 0
        or not positions <= set(range(count))
    )
