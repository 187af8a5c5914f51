"""A machine's labels from files with millions of lines, read by columns, with documents as numbers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotator.errors import Problems
from annotator.evaluation.formats.file_kinds import DOCNO, QRELS_COLUMNS, TOPIC
from annotator.evaluation.formats.foreign_rows import NO_TITLES, whole
from annotator.evaluation.formats.input_formats import Holds
from annotator.evaluation.formats.judge_files import (
    CONFIDENCE,
    GRADE,
    JUDGE,
    JUDGE_COLUMNS,
    NO_CONFIDENCE,
    confidence_of,
)
from annotator.evaluation.formats.registry import format_of
from annotator.evaluation.formats.row_formats import JUDGE_FILE, TREC
from annotator.evaluation.formats.table_lines import data_lines, shown
from annotator.evaluation.formats.table_stream import chunks_of
from annotator.evaluation.formats.table_tokens import (
    Tokens,
    UnusualError,
    beginnings_of,
    has_equals,
    one_text,
    tokens_of,
    words_of,
    words_of_docnos,
)
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.qrels.label_refusals import note_drafts
from annotator.evaluation.qrels.machine_labels import PackedPart, pack_labels
from annotator.evaluation.qrels.qrels_format import UNJUDGED, QrelsRow, readable_rows, whole_grade
from annotator.evaluation.runs.docno_numbers import DocnoNumbers, Numbers
from annotator.evaluation.runs.run_scores import scores_of, whole_numbers_of
from annotator.files import InputFile

COLUMNS_OF = {TREC: QRELS_COLUMNS, JUDGE_FILE: JUDGE_COLUMNS}
MOST_PIECES = 1 << 18  # as when topics alternate line by line; each costs 300 bytes
# Of a label that is not a grade of the scale, and of a line with -1; grades of a scale have one digit.
NO_GRADE, NOT_JUDGED = -2, -1

Grades = NDArray[np.int8]
Confidences = NDArray[np.float32]
Piece = tuple[Numbers, Grades, Confidences | None]


class TopicLabels(NamedTuple):
    """The labels of one topic as parallel arrays; `grades` are `NO_GRADE` for a label that is not a grade.

    `outside` maps the documents of those labels to their texts.
    """

    topic: str
    documents: Numbers  # numbers of `LabelFileColumns.documents`
    grades: Grades
    confidences: Confidences | None
    outside: Mapping[int, str]


@dataclass(eq=False)
class LabelFileColumns:
    """The labels of a file by topic; `outside` are those that are not grades, with their lines."""

    documents: DocnoNumbers
    pieces: dict[str, list[Piece]] = field(default_factory=dict)
    outside: list[QrelsRow] = field(default_factory=list)
    unjudged: int = 0
    count: int = 0  # of labels, without those that are -1

    def grades(self) -> list[int]:
        """The grades that there are, ascending."""
        every = {grade for pieces in self.pieces.values() for one in pieces for grade in np.unique(one[1]).tolist()}
        return sorted(every - {NO_GRADE, NOT_JUDGED})

    def of_topics(self) -> Iterator[TopicLabels]:
        """The labels topic by topic."""
        numbers = self.documents.find(row.docno for row in self.outside).tolist()
        outside: dict[str, dict[int, str]] = {}
        for row, number in zip(self.outside, numbers, strict=True):
            outside.setdefault(row.topic, {})[number] = row.label or ""
        for topic in self.pieces:
            documents, grades, confidences = _labels_of(_joined(self.pieces[topic]))
            if documents.size:
                yield TopicLabels(topic, documents, grades, confidences, outside.get(topic, {}))


def read_labels(
    file: InputFile,
    problems: Problems,
    *,
    topics: Collection[str],
    drafts: Collection[str],
    grades: Collection[int],
    unpacked_limit: int,
    titles: Mapping[str, str] = NO_TITLES,
) -> LabelFileColumns | None:
    """Read a machine's labels in any format, or return None and note every problem with its line.

    Labels of other topics than `topics` are refused, those of `drafts` with the reason. Labels that are not among
    `grades`, the scale, are kept apart. Files in TREC's columns and with a confidence are read in chunks, in about ten
    bytes of memory for each line.
    """
    format_ = format_of(Holds.LABELS, file)
    if format_.name in COLUMNS_OF:
        try:
            return _Reading(frozenset(topics), frozenset(grades), COLUMNS_OF[format_.name]).read(file, unpacked_limit)
        except UnusualError:
            pass
    text = unpack_into(problems, file.name, file.content, unpacked_limit)
    if text is None:
        return None
    before = problems.total
    rows = readable_rows(
        file.name,
        text,
        problems,
        topics={*topics, *drafts},
        grades=grades,
        takes_labels=True,
        input_format=file.input_format,
        titles=titles,
    )
    note_drafts(file.name, rows, drafts, problems)
    if problems.total > before:
        return None
    return columns_of_rows(rows, _confidences_by_line(file.name, text) if format_.name == JUDGE_FILE else None)


@dataclass
class _Reading:
    """The state of reading by columns."""

    topics: AbstractSet[str]
    scale: AbstractSet[int]
    columns: int
    judge: bytes | None = None
    lines_before: int = 0
    piece_count: int = 0
    made: LabelFileColumns = field(default_factory=lambda: LabelFileColumns(DocnoNumbers()))

    def read(self, file: InputFile, limit: int) -> LabelFileColumns:
        """Read a file; raises `UnusualError` for anything that is wrong or rare."""
        size = 0
        for chunk in chunks_of(file.content):
            size += len(chunk)
            if size > limit:
                raise UnusualError
            self._take(chunk)
        if not self.made.pieces:
            raise UnusualError
        for topic in self.made.pieces:
            documents = np.concatenate([piece[0] for piece in self.made.pieces[topic]])
            if has_equals(documents.astype(np.uint64)):
                raise UnusualError
        return self.made

    def _take(self, chunk: bytes) -> None:
        tokens = tokens_of(chunk, self.columns)
        count = len(tokens.starts)
        if count:
            if self.columns == JUDGE_COLUMNS:
                self.judge = one_text(tokens, JUDGE, self.judge)
            documents = self.made.documents.numbers_of(words_of(tokens.data, *tokens.column(DOCNO)))
            grades = self._grades(tokens)
            confidences = _confidences(tokens) if self.columns == JUDGE_COLUMNS else None
            self._put(tokens, documents, grades, confidences)
            self.made.unjudged += int(np.count_nonzero(grades == NOT_JUDGED))
            self.made.count += int(np.count_nonzero(grades != NOT_JUDGED))
        self.lines_before += count if tokens.places is None else chunk.count(b"\n")

    def _put(self, tokens: Tokens, documents: Numbers, grades: Grades, confidences: Confidences | None) -> None:
        names, begins = beginnings_of(tokens, TOPIC)
        self.piece_count += len(names)
        if self.piece_count > MOST_PIECES:
            raise UnusualError
        for name, begin, end in zip(names, begins.tolist(), [*begins[1:].tolist(), len(tokens.starts)], strict=True):
            topic = name.decode()
            if topic not in self.topics:
                raise UnusualError
            rows = slice(begin, end)
            piece = documents[rows], grades[rows], None if confidences is None else confidences[rows]
            if topic not in self.made.pieces:
                self._join_last()
            self.made.pieces.setdefault(topic, []).append(piece)

    def _join_last(self) -> None:
        """Join the pieces of the last topic that began, mostly complete: many small arrays fragment the memory."""
        last = next(reversed(self.made.pieces), None)
        if last is not None:
            self.made.pieces[last] = [_joined(self.made.pieces[last])]

    def _grades(self, tokens: Tokens) -> Grades:
        """The grade on each line, `NO_GRADE` for other labels, which are kept with their lines."""
        starts, ends = tokens.column(GRADE)
        numbers = whole_numbers_of(tokens.data, starts, ends)
        in_scale = np.isin(numbers, list(self.scale)) & (ends - starts == 1)
        grades = np.where(in_scale, numbers, NO_GRADE).astype(np.int8)
        for place in np.flatnonzero(~in_scale).tolist():
            written = tokens.data[starts[place] : ends[place]].tobytes()
            # Tables of floating-point numbers have grades such as 2.0.
            value = whole_grade(0, whole(written.decode()).encode() if self.columns == JUDGE_COLUMNS else written)
            if value == UNJUDGED:
                grades[place] = NOT_JUDGED
            elif value is not None and value in self.scale:
                grades[place] = value
            else:
                self._keep_apart(tokens, place, written)
        return grades

    def _keep_apart(self, tokens: Tokens, place: int, written: bytes) -> None:
        line = self.lines_before + 1 + (place if tokens.places is None else int(tokens.places[place]))
        topic, docno = (
            tokens.data[tokens.starts[place, column] : tokens.ends[place, column]].tobytes().decode()
            for column in (TOPIC, DOCNO)
        )
        self.made.outside.append(QrelsRow(topic, docno, NO_GRADE, line, label=shown(written)))


def _joined(pieces: Sequence[Piece]) -> Piece:
    """Join pieces, all with or all without confidences."""
    given = [one[2] for one in pieces if one[2] is not None]
    return (
        np.concatenate([one[0] for one in pieces]),
        np.concatenate([one[1] for one in pieces]),
        np.concatenate(given) if given else None,
    )


def _labels_of(piece: Piece) -> Piece:
    """A piece without its lines that are -1."""
    documents, grades, confidences = piece
    is_label = grades != NOT_JUDGED
    if is_label.all():
        return piece
    return documents[is_label], grades[is_label], None if confidences is None else confidences[is_label]


def _confidences(tokens: Tokens) -> Confidences:
    """The confidence on each line, NaN for a dash; raises `UnusualError` for anything else."""
    starts, ends = tokens.column(CONFIDENCE)
    is_given = (ends - starts > 1) | (tokens.data[starts] != NO_CONFIDENCE[0])
    confidences = np.full(starts.size, np.nan, np.float32)
    if is_given.any():
        values = scores_of(tokens.data, starts[is_given], ends[is_given])
        if values.min() < 0 or values.max() > 1:
            raise UnusualError
        confidences[is_given] = values
    return confidences


def columns_of_rows(rows: Sequence[QrelsRow], confidences: Mapping[int, float] | None = None) -> LabelFileColumns:
    """The columns of rows without problems; `confidences` are by line."""
    kept = [row for row in rows if row.grade != UNJUDGED]
    made = LabelFileColumns(DocnoNumbers(), count=len(kept), unjudged=len(rows) - len(kept))
    made.outside = [row for row in kept if row.label is not None]
    if not kept:
        return made
    numbers = made.documents.numbers_of(words_of_docnos(np.array([row.docno.encode() for row in kept], np.bytes_)))
    given = np.array([row.grade if row.label is None else NO_GRADE for row in kept], np.int8)
    shares = None if confidences is None else np.array([confidences[row.line] for row in kept], np.float32)
    by_topic: dict[str, list[int]] = {}
    for place, row in enumerate(kept):
        by_topic.setdefault(row.topic, []).append(place)
    for topic, places in by_topic.items():
        made.pieces[topic] = [(numbers[places], given[places], None if shares is None else shares[places])]
    return made


def packed_topic(labels: TopicLabels, document_ids: Numbers) -> PackedPart:
    """Pack the labels of a topic; `document_ids` are the row ids of its documents, in their order."""
    has_grade = labels.grades != NO_GRADE
    ids = dict(zip(labels.documents[~has_grade].tolist(), document_ids[~has_grade].tolist(), strict=True))
    return pack_labels(
        document_ids[has_grade],
        labels.grades[has_grade],
        confidences=None if labels.confidences is None else labels.confidences[has_grade],
        outside={ids[number]: text for number, text in labels.outside.items()},
    )


def _confidences_by_line(name: str, text: bytes) -> dict[int, float]:
    """Line → confidence, of a file without problems."""
    lines = data_lines(name, text, Problems())
    return {line: confidence_of(words[CONFIDENCE]) or 0.0 for line, words in lines}
