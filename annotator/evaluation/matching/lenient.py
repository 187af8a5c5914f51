"""Parses runs and qrels as trec_eval 10.0 does, with notices of likely mistakes."""

import math
import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np

from annotator.errors import Problems, Sentence
from annotator.evaluation.formats.file_kinds import COLUMNS, DECIMAL_NUMBER, note_no_run
from annotator.evaluation.formats.table_lines import check_words, data_lines, shown
from annotator.evaluation.qrels.qrels_format import GradeReader, parse_sampled_qrels, whole_grade
from annotator.evaluation.qrels.qrels_table import (
    LEAST_GRADE,
    MOST_GRADE,
    QrelsTable,
    columns_of,
    read_qrels,
    table_of_columns,
)
from annotator.evaluation.runs.parsed_runs import ParsedList, ParsedRun
from annotator.evaluation.runs.run_format import note_columns, note_duplicate, parse_run

# A hexadecimal number without digits, as in "0x", is the 0 before the x; an exponent without digits is left out.
HEXADECIMAL = re.compile(rb"[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)([pP][+-]?[0-9]+)?")
DECIMAL = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
INFINITY = re.compile(rb"[+-]?inf", re.IGNORECASE)
NOT_A_NUMBER = re.compile(rb"[+-]?nan", re.IGNORECASE)
WHOLE = re.compile(rb"[+-]?[0-9]+")
MOST = 2**63 - 1  # of C's long with 64 bits
LEAST = -(2**63)
DIGITS_OF_MOST = 19


def leading_float(word: bytes) -> float:
    """Parse like strtod and atof in the C locale (C17, 7.22.1.3), which trec_eval uses for scores.

    "1,5" is 1.0, "0x1p3" is 8.0, "1e999" and "infinite" are infinite, "nancy" is NaN, "xyz" is 0.0. Decimals are
    rounded to the nearest double, as glibc has it.
    """
    if match := HEXADECIMAL.match(word):
        return _hexadecimal(match[0].decode())
    if match := DECIMAL.match(word) or INFINITY.match(word):
        return float(match[0])
    return math.nan if NOT_A_NUMBER.match(word) else 0.0


def leading_whole(word: bytes) -> int:
    """Parse like strtol to base 10 and glibc's atol (C17, 7.22.1.4), which trec_eval uses for grades.

    "1.9" is 1, "xyz" is 0, and numbers beyond 64 bits are the largest or least 64-bit number.
    """
    match = WHOLE.match(word)
    if not match:
        return 0
    # One digit beyond the largest number suffices; int() refuses thousands of them.
    digits = match[0].lstrip(b"+-").lstrip(b"0")[: DIGITS_OF_MOST + 1] or b"0"
    value = int(digits)
    return max(-value, LEAST) if word.startswith(b"-") else min(value, MOST)


def _hexadecimal(word: str) -> float:
    try:
        return float.fromhex(word)
    except OverflowError:
        return -math.inf if word.startswith("-") else math.inf


@dataclass(frozen=True)
class Notice:
    """Input that was read in a way its author may not have meant; `line`, from 1, is its first occurrence."""

    file: str
    line: int
    sentence: Sentence

    def __str__(self) -> str:
        """Format it as compilers do: `FILE:LINE: what was read how`."""
        return f"{self.file}:{self.line}: {self.sentence}"


@dataclass
class _Tally:
    """The number of occurrences, and the first of them."""

    count: int = 0
    line: int = 0
    written: bytes = b""
    read: float = 0

    def note(self, line: int, written: bytes, read: float = 0) -> None:
        self.count += 1
        if self.count == 1:
            self.line, self.written, self.read = line, written, read

    def notice(self, name: str, sentence: Sentence) -> list[Notice]:
        return [Notice(name, self.line, sentence)] if self.count else []


def read_run_leniently(
    name: str, text: bytes, problems: Problems, *, topics: AbstractSet[bytes] | None = None
) -> tuple[ParsedRun, list[Notice]] | None:
    """Read a run and its notices, or return None and note every problem of the file with its line.

    `text` is what `unpack` returns. What `parse_run` takes is read as there, with nothing to tell. Else scores are read
    by `leading_float`, columns past the sixth are ignored, and the tag is that of the last line. An infinite score
    ranks as a number. A NaN ranks below every number, minus infinity too, and documents with NaN stand by id (bytes)
    descending; with NaN the order that trec_eval's qsort leaves is undefined. `topics` are those of the qrels, in
    UTF-8: where they are given, a document may come twice in another topic, at which trec_eval does not look either;
    only its first line counts.

    Refused, as by trec_eval, are lines of fewer columns and a document twice in a topic; and, unlike there, text that
    is not UTF-8 (by `unpack`), control characters, lines of more than 64 KiB, and topics and documents that are no
    identifiers.
    """
    strict = parse_run(name, text, Problems())
    if strict is not None:
        return strict, []
    if note_no_run(name, text, problems):
        return None
    before = problems.total
    reading = _RunReading(name, problems, topics)
    for line, columns in data_lines(name, text, problems):
        reading.take(line, columns)
    if reading.tag:
        check_words(name, reading.tags[reading.tag], (reading.tag,), problems)
    if not reading.lines and problems.total == before:
        problems.add(name, None, "The file has no line of data.")
    return None if problems.total > before else (reading.run(), reading.notices())


def read_qrels_leniently(name: str, text: bytes, problems: Problems) -> tuple[QrelsTable, list[Notice]] | None:
    """Read qrels and their notices, or return None and note every problem of the file with its line.

    What `read_qrels` takes is read as there, with nothing to tell. Else grades are read by `leading_whole`; refused are
    those outside -32767 to 32767 and what `read_qrels` and `unpack` refuse otherwise, text that is not UTF-8 too,
    which trec_eval takes. Blank lines count for nothing, though trec_eval refuses them.
    """
    strict = read_qrels(name, text, Problems())
    if strict is not None:
        return strict, []
    odd_grades = _Tally()

    def grade_of(line: int, written: bytes) -> int | None:
        value = whole_grade(line, written)
        if value is None:
            value = leading_whole(written)
            odd_grades.note(line, written, value)
        return value if LEAST_GRADE <= value <= MOST_GRADE else None

    refusal = Sentence(
        "The grade %(grade)s is not from %(least)d to %(most)d.", {"least": LEAST_GRADE, "most": MOST_GRADE}
    )
    parsed = parse_sampled_qrels(name, text, problems, GradeReader(grade_of, refusal))
    if parsed is None:
        return None
    return table_of_columns(columns_of(parsed.rows)), odd_grades.notice(name, _about_grades(odd_grades))


@dataclass
class _RunReading:
    """The data read from the lines so far."""

    name: str
    problems: Problems
    topics: AbstractSet[bytes] | None  # topics of the qrels, if known
    lists: dict[bytes, dict[bytes, tuple[float, int]]] = field(default_factory=dict)  # score and line of each document
    tags: dict[bytes, int] = field(default_factory=dict)  # with the line of its first occurrence
    tag: bytes = b""
    lines: int = 0
    odd_scores: _Tally = field(default_factory=_Tally)
    nan_scores: _Tally = field(default_factory=_Tally)
    long_lines: _Tally = field(default_factory=_Tally)
    twice_elsewhere: _Tally = field(default_factory=_Tally)

    def take(self, line: int, columns: list[bytes]) -> None:
        self.lines += 1
        if len(columns) < COLUMNS:
            note_columns(self.problems, self.name, line, len(columns))
            return
        topic, _, docno, _, score, self.tag = columns[:COLUMNS]
        self.tags.setdefault(self.tag, line)
        if len(columns) > COLUMNS:
            self.long_lines.note(line, b" ".join(columns[COLUMNS:]))
        if check_words(self.name, line, (topic, docno), self.problems):
            self._take_document(line, topic, docno, self._score(line, score))

    def _score(self, line: int, written: bytes) -> float:
        value = leading_float(written)
        if math.isnan(value):
            self.nan_scores.note(line, written)
        elif not DECIMAL_NUMBER.fullmatch(written) or math.isinf(value):
            self.odd_scores.note(line, written, value)
        return value

    def _take_document(self, line: int, topic: bytes, docno: bytes, score: float) -> None:
        _, first_line = self.lists.setdefault(topic, {}).setdefault(docno, (score, line))
        if first_line == line:
            return
        if self.topics is None or topic in self.topics:
            note_duplicate(self.problems, self.name, line, topic, docno, first_line)
        else:
            self.twice_elsewhere.note(line, docno)

    def run(self) -> ParsedRun:
        lists = {topic.decode(): _ranked(documents) for topic, documents in self.lists.items()}
        return ParsedRun(self.tag.decode(), lists, self.lines)

    def notices(self) -> list[Notice]:
        found = [
            *self.odd_scores.notice(self.name, _about_scores(self.odd_scores)),
            *self.nan_scores.notice(self.name, _about_nan(self.nan_scores)),
            *self.long_lines.notice(self.name, _about_long_lines(self.long_lines)),
            *self.twice_elsewhere.notice(self.name, _about_twice_elsewhere(self.twice_elsewhere)),
            *self._about_tags(),
        ]
        return sorted(found, key=lambda notice: notice.line)

    def _about_tags(self) -> list[Notice]:
        if len(self.tags) == 1:
            return []
        first_tag, second_tag = list(self.tags)[:2]
        sentence = Sentence(
            "Different tags in the file: %(count)d. Line %(first_line)d has “%(first_tag)s”; "
            "the run is called “%(tag)s”, as on the last line.",
            {
                "count": len(self.tags),
                "first_line": self.tags[first_tag],
                "first_tag": shown(first_tag),
                "tag": shown(self.tag),
            },
        )
        return [Notice(self.name, self.tags[second_tag], sentence)]


def _ranked(documents: dict[bytes, tuple[float, int]]) -> ParsedList:
    """Rank by document descending, then stably by score descending, where NumPy's sorting puts NaN last."""
    docnos = np.array(sorted(documents, reverse=True), np.bytes_)
    scores = np.array([documents[docno][0] for docno in docnos.tolist()], np.float64)
    order = np.argsort(-scores, kind="stable")
    return ParsedList(docnos[order], scores[order])


def _about_scores(odd: _Tally) -> Sentence:
    return Sentence(
        "Scores that are no finite decimal numbers: %(count)d. They are read as trec_eval reads them; "
        "the first, “%(written)s”, counts as %(read)s.",
        {"count": odd.count, "written": shown(odd.written), "read": repr(odd.read)},
    )


def _about_nan(odd: _Tally) -> Sentence:
    return Sentence(
        "Scores that are NaN, not a number: %(count)d, the first “%(written)s”. Their documents are ranked last; "
        "trec_eval may rank them anywhere.",
        {"count": odd.count, "written": shown(odd.written)},
    )


def _about_long_lines(odd: _Tally) -> Sentence:
    return Sentence(
        "Lines with more than six columns: %(count)d. What follows the sixth is ignored, on the first “%(written)s”.",
        {"count": odd.count, "written": shown(odd.written)},
    )


def _about_twice_elsewhere(odd: _Tally) -> Sentence:
    return Sentence(
        "Lines that repeat a document of their topic, in topics that the qrels do not have: %(count)d, the first with "
        "“%(written)s”. These topics are ignored.",
        {"count": odd.count, "written": shown(odd.written)},
    )


def _about_grades(odd: _Tally) -> Sentence:
    return Sentence(
        "Grades that are no whole numbers of at most four digits: %(count)d. They are read as trec_eval reads them; "
        "the first, “%(written)s”, counts as %(read)d.",
        {"count": odd.count, "written": shown(odd.written), "read": odd.read},
    )
