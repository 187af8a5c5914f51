"""Qrels files in TREC's format, and samples."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from annotator.errors import Problems, Sentence
from annotator.evaluation.formats.file_kinds import (
    QRELS_COLUMNS,
    QRELS_HEADINGS,
    SAMPLED_COLUMNS,
    WHOLE_GRADE,
    lines_below_heading,
    note_no_qrels,
)
from annotator.evaluation.formats.foreign_rows import NO_TITLES
from annotator.evaluation.formats.table_lines import check_words, counted_columns, data_lines, shown
from annotator.evaluation.qrels.foreign_qrels import as_trec_qrels, note_scores
from annotator.evaluation.qrels.scale import note_outside_scale

UNJUDGED = -1  # pooled but unjudged, or sampled out; nothing else
NO_GRADE = -2  # for a row whose label is not a grade of the scale
WHOLE_TOPIC = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class QrelsRow:
    """One line of a qrels file; `line` counts from 1."""

    topic: str
    docno: str
    grade: int
    line: int
    stratum: str | None = None  # from which the document was sampled, in qrels of five columns
    label: str | None = None  # the text in place of a grade that is not one, where labels are accepted


@dataclass(frozen=True)
class ParsedQrels:
    """The rows of a qrels file in file order, without duplicate pairs of topic and document."""

    rows: list[QrelsRow]


def whole_grade(_line: int, written: bytes) -> int | None:
    """Read a whole number of at most four digits, with or without a sign."""
    return int(written) if WHOLE_GRADE.fullmatch(written) else None


@dataclass(frozen=True)
class GradeReader:
    """How grades are read."""

    read: Callable[[int, bytes], int | None]  # from the line number and the text; None refuses it
    refusal: Sentence  # its template has %(grade)s for the text


WHOLE_GRADES = GradeReader(whole_grade, Sentence("The grade %(grade)s is not a whole number of at most four digits."))


@dataclass
class _Reading:
    """The state of a reader after some lines."""

    name: str
    problems: Problems
    topics: AbstractSet[str] | None
    grades: Collection[int] | None
    takes_labels: bool = False
    grade_reader: GradeReader = WHOLE_GRADES
    rows: list[QrelsRow] = field(default_factory=list)
    first_lines: dict[tuple[bytes, bytes], int] = field(default_factory=dict)
    seen_topics: set[bytes] = field(default_factory=set)

    def take(self, line: int, columns: list[bytes]) -> None:
        if len(columns) != QRELS_COLUMNS:
            self.problems.add(
                self.name,
                line,
                "The line has %(columns)s; qrels have four: topic, iteration, document, grade.",
                columns=counted_columns(len(columns)),
            )
            return
        topic, _, docno, grade = columns
        self.take_grade(line, topic, docno, grade)

    def take_grade(self, line: int, topic: bytes, docno: bytes, grade: bytes, stratum: bytes | None = None) -> None:
        words = (topic, docno) if stratum is None else (topic, docno, stratum)
        if not check_words(self.name, line, words, self.problems):
            return
        self._note_unknown_topic(line, topic)
        self._note_duplicate(line, topic, docno)
        named = None if stratum is None else stratum.decode()
        if self.takes_labels and self._is_label(line, grade):
            self.rows.append(QrelsRow(topic.decode(), docno.decode(), NO_GRADE, line, named, shown(grade)))
            return
        value = self._grade(line, grade)
        if value is not None:
            self.rows.append(QrelsRow(topic.decode(), docno.decode(), value, line, named))

    def _note_unknown_topic(self, line: int, topic: bytes) -> None:
        """Note an unknown topic once, not on each of its lines."""
        if topic in self.seen_topics:
            return
        self.seen_topics.add(topic)
        if self.topics is not None and topic.decode() not in self.topics:
            self.problems.add(self.name, line, "The collection has no topic %(topic)s.", topic=shown(topic))

    def _note_duplicate(self, line: int, topic: bytes, docno: bytes) -> None:
        first_line = self.first_lines.setdefault((topic, docno), line)
        if first_line != line:
            self.problems.add(
                self.name,
                line,
                "Document %(docno)s of topic %(topic)s is graded twice; it is on line %(first_line)d already.",
                docno=shown(docno),
                topic=shown(topic),
                first_line=first_line,
            )

    def _is_label(self, line: int, grade: bytes) -> bool:
        value = self.grade_reader.read(line, grade)
        return value != UNJUDGED and (value is None or (self.grades is not None and value not in self.grades))

    def _grade(self, line: int, grade: bytes) -> int | None:
        value = self.grade_reader.read(line, grade)
        if value is None:
            refusal = self.grade_reader.refusal
            self.problems.add(self.name, line, refusal.template, grade=shown(grade), **refusal.values)
            return None
        if self.grades is not None and value not in self.grades and value != UNJUDGED:
            note_outside_scale(self.name, line, value, self.grades, self.problems)
            return None
        return value


@dataclass
class _SampledReading(_Reading):
    """Reading for files that may have five columns; the first line with four or five decides."""

    columns: int | None = None
    columns_line: int = 0
    mixed: bool = False

    def take(self, line: int, columns: list[bytes]) -> None:
        if len(columns) in {QRELS_COLUMNS, SAMPLED_COLUMNS}:
            self._take_whole_line(line, columns)
        elif self.columns == SAMPLED_COLUMNS:
            self.problems.add(
                self.name,
                line,
                "The line has %(columns)s; these qrels have five: topic, iteration, document, stratum, grade.",
                columns=counted_columns(len(columns)),
            )
        else:
            super().take(line, columns)

    def _take_whole_line(self, line: int, columns: list[bytes]) -> None:
        if self.columns is None:
            self.columns, self.columns_line = len(columns), line
        if len(columns) != self.columns:
            self._note_mixture(line, len(columns))
        elif self.columns == QRELS_COLUMNS:
            super().take(line, columns)
        else:
            topic, _, docno, stratum, grade = columns
            self.take_grade(line, topic, docno, grade, stratum)

    def _note_mixture(self, line: int, columns: int) -> None:
        """Note mixed numbers of columns once, not on each line."""
        if self.mixed:
            return
        self.mixed = True
        self.problems.add(
            self.name,
            line,
            "The line has %(columns)s, but line %(first_line)d has %(first_columns)d; "
            "a file of qrels has four on every line or, with a stratum before the grade, five on every line.",
            columns=counted_columns(columns),
            first_line=self.columns_line,
            first_columns=self.columns,
        )


def parse_qrels(
    name: str,
    text: bytes,
    problems: Problems,
    *,
    topics: Collection[str] | None = None,
    grades: Collection[int] | None = None,
) -> ParsedQrels | None:
    """Read qrels, or return None and note every problem of the file with its line; as `readable_rows` otherwise."""
    before = problems.total
    rows = readable_rows(name, text, problems, topics=topics, grades=grades)
    return None if problems.total > before else ParsedQrels(rows)


def readable_rows(
    name: str,
    text: bytes,
    problems: Problems,
    *,
    topics: Collection[str] | None = None,
    grades: Collection[int] | None = None,
    takes_labels: bool = False,
    input_format: str | None = None,
    titles: Mapping[str, str] = NO_TITLES,
) -> list[QrelsRow]:
    """Read the rows that can be read and note every problem, so that more can be checked of the others at once.

    `text` is what `unpack` returns. Columns are separated by blanks or tabs; blank lines, lines that begin with `#` and
    the second column are ignored. With `topics` or `grades` (the scale), others are a problem; -1 never is, because it
    means pooled and unjudged. With `takes_labels`, any one word may replace the grade: a word that is not a grade gets
    the grade `NO_GRADE` and is kept as the label, truncated if long. A file that is a run is one
    problem. Other formats (`row_formats`) are detected, or named by `input_format`; `titles` maps the queries of topics
    to their numbers, for files that have these.
    """
    known = None if topics is None else frozenset(topics)
    return _rows(_Reading(name, problems, known, grades, takes_labels), text, input_format, titles)


def parse_sampled_qrels(
    name: str,
    text: bytes,
    problems: Problems,
    grade_reader: GradeReader = WHOLE_GRADES,
    *,
    topics: Collection[str] | None = None,
    input_format: str | None = None,
) -> ParsedQrels | None:
    """Read qrels as `parse_qrels` does, and also those of five columns, in which each row has its stratum.

    They are the "prels" of NIST's sample_eval.pl: topic, iteration, document, stratum, grade. The grade -1 means that
    the document is in the pool and was not sampled. A file has four columns on every line or five on every line. With
    `topics`, others are a problem.
    """
    before = problems.total
    known = None if topics is None else frozenset(topics)
    rows = _rows(_SampledReading(name, problems, known, None, grade_reader=grade_reader), text, input_format)
    return None if problems.total > before else ParsedQrels(rows)


def _rows(
    reading: _Reading, text: bytes, input_format: str | None = None, titles: Mapping[str, str] = NO_TITLES
) -> list[QrelsRow]:
    """Read qrels in any format; the rows of another one than TREC's have the lines of the file."""
    problems = reading.problems
    before = problems.total
    converted = None
    if reading.grade_reader is WHOLE_GRADES or input_format is not None:  # others may take any word for a grade
        converted = as_trec_qrels(reading.name, text, problems, input_format=input_format, titles=titles)
    if converted is None:
        return _trec_rows(reading, text)
    if not converted.lines and problems.total > before:
        return []
    if reading.grade_reader is WHOLE_GRADES and note_scores(reading.name, converted, problems):
        return []
    reading.problems = Problems()
    rows = [replace(row, line=converted.lines[row.line - 1]) for row in _trec_rows(reading, converted.text)]
    converted.add_problems(reading.problems, problems)
    return rows


def _trec_rows(reading: _Reading, text: bytes) -> list[QrelsRow]:
    if note_no_qrels(reading.name, text, reading.problems):
        return []
    before = reading.problems.total
    lines = data_lines(reading.name, text, reading.problems)
    if reading.grade_reader is WHOLE_GRADES:  # other readers may take any word for a grade
        lines = lines_below_heading(reading.name, text, reading.problems, QRELS_HEADINGS)
    for line, columns in lines:
        reading.take(line, columns)
    if not reading.rows and reading.problems.total == before:
        reading.problems.add(reading.name, None, "The file has no line of data.")
    return reading.rows


def format_qrels(rows: Iterable[tuple[str, str, int]]) -> bytes:
    """Format rows of topic, docno and grade; the output does not depend on the order of the rows.

    Topics are sorted by number when all of them are whole numbers, else by their bytes; documents by their bytes.
    No comment lines: trec_eval 9 refuses them and 10 crashes on one at the end.
    """
    graded = list(rows)
    if all(WHOLE_TOPIC.fullmatch(topic) for topic, _, _ in graded):
        graded.sort(key=lambda row: (int(row[0]), row[0], row[1]))
    else:
        graded.sort()  # Python compares text by code points, which is the order of its UTF-8 bytes
    return "".join(f"{topic} 0 {docno} {grade}\n" for topic, docno, grade in graded).encode()
