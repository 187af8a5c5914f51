"""Run files in TREC's format: six columns per line, topic, Q0, document, rank, score and tag."""

import io
import math
import re
from array import array
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from annotator.errors import Problems, Sentence
from annotator.evaluation.formats.file_kinds import (
    COLUMNS,
    DECIMAL_NUMBER,
    RUN_COLUMNS,
    is_heading,
    lines_below_heading,
    note_no_run,
)
from annotator.evaluation.formats.table_lines import check_words, counted_columns, first_data_line, shown
from annotator.evaluation.runs.foreign_runs import as_trec_run
from annotator.evaluation.runs.parsed_runs import Origin
from annotator.evaluation.runs.parsed_runs import ParsedList as ParsedList
from annotator.evaluation.runs.parsed_runs import ParsedRun as ParsedRun
from annotator.evaluation.runs.run_columns import read_columns
from annotator.evaluation.runs.run_scores import NO_NUMBER

# float() would also take 1_000, nan and infinity, trec_eval's strtod 0x1p3, and "1,5" as 1.
WHOLE_NUMBER = re.compile(rb"[0-9]{1,8}")  # as `whole_numbers_of` reads ranks

# The problem of a topic that is not in the collection.
UNKNOWN_TOPIC = Sentence("The collection has no topic %(topic)s.")


@dataclass
class _Entries:
    """A topic's lines in file order, packed, because runs of millions of lines may take this path too."""

    docnos: bytearray = field(default_factory=bytearray)  # each followed by a newline, which no id contains
    scores: "array[float]" = field(default_factory=lambda: array("d"))
    ranks: "array[int]" = field(default_factory=lambda: array("q"))
    lines: "array[int]" = field(default_factory=lambda: array("q"))


@dataclass
class _Reading:
    """The state of a reader after some lines."""

    name: str
    problems: Problems
    topics: AbstractSet[str] | None
    tag: str | None
    unknown_topic: Sentence
    tags: dict[bytes, int] = field(default_factory=dict)  # with the first line that has it
    entries: dict[bytes, _Entries] = field(default_factory=dict)
    lines: int = 0

    def take(self, line: int, columns: list[bytes]) -> None:
        self.lines += 1
        if len(columns) != COLUMNS:
            note_columns(self.problems, self.name, line, len(columns))
            return
        topic, _, docno, rank, score, tag = columns
        self._take_tag(line, tag)
        value = self._score(line, score)
        if check_words(self.name, line, (topic, docno), self.problems):
            self._greet(line, topic)
            entries = self.entries[topic]
            entries.docnos += docno + b"\n"
            entries.scores.append(value)
            entries.ranks.append(int(rank) if WHOLE_NUMBER.fullmatch(rank) else NO_NUMBER)
            entries.lines.append(line)

    def _take_tag(self, line: int, tag: bytes) -> None:
        if self.tag is not None or tag in self.tags:
            return
        self.tags[tag] = line
        check_words(self.name, line, (tag,), self.problems)
        if len(self.tags) > 1:
            first_tag, first_line = next(iter(self.tags.items()))
            self.problems.add(
                self.name,
                line,
                "The tag is %(tag)s, but line %(first_line)d has %(first_tag)s; a file is one run and has one tag.",
                tag=shown(tag),
                first_line=first_line,
                first_tag=shown(first_tag),
            )

    def _score(self, line: int, score: bytes) -> float:
        value = float(score) if DECIMAL_NUMBER.fullmatch(score) else math.nan
        if not math.isfinite(value):
            self.problems.add(
                self.name,
                line,
                "The score %(score)s is not a finite decimal number such as 12.5 or -3.1e-7.",
                score=shown(score),
            )
        return value

    def _greet(self, line: int, topic: bytes) -> None:
        """Note an unknown topic once, not on each of its lines."""
        if topic not in self.entries:
            self.entries[topic] = _Entries()
            if self.topics is not None and topic.decode() not in self.topics:
                unknown = self.unknown_topic
                self.problems.add(self.name, line, unknown.template, **unknown.values, topic=shown(topic))

    def note_duplicates(self) -> None:
        for topic, entries in self.entries.items():
            first_lines: dict[bytes, int] = {}
            for docno, line in zip(bytes(entries.docnos).split(), entries.lines, strict=True):
                first_line = first_lines.setdefault(docno, line)
                if first_line != line:
                    note_duplicate(self.problems, self.name, line, topic, docno, first_line)

    def run(self) -> ParsedRun:
        tag = self.tag if self.tag is not None else next(iter(self.tags)).decode()
        return ParsedRun(tag, {topic.decode(): _ranked(entries) for topic, entries in self.entries.items()}, self.lines)


def note_columns(problems: Problems, name: str, line: int, columns: int) -> None:
    """Note that a line does not have six columns."""
    problems.add(
        name,
        line,
        "The line has %(columns)s; a run has six: topic, Q0, document, rank, score, tag.",
        columns=counted_columns(columns),
    )


def note_duplicate(problems: Problems, name: str, line: int, topic: bytes, docno: bytes, first_line: int) -> None:
    """Note that a document is repeated in a topic's list."""
    problems.add(
        name,
        line,
        "Document %(docno)s is in topic %(topic)s twice; it is on line %(first_line)d already.",
        docno=shown(docno),
        topic=shown(topic),
        first_line=first_line,
    )


def read_lines(
    name: str,
    text: bytes,
    problems: Problems,
    topics: AbstractSet[str] | None,
    tag: str | None,
    unknown_topic: Sentence = UNKNOWN_TOPIC,
) -> ParsedRun | None:
    """Return the run, or None after noting problems: first those of single lines, then duplicate documents."""
    before = problems.total
    reading = _Reading(name, problems, topics, tag, unknown_topic)
    for line, columns in lines_below_heading(name, text, problems, RUN_COLUMNS):
        reading.take(line, columns)
    reading.note_duplicates()
    if not reading.lines and problems.total == before:
        problems.add(name, None, "The file has no line of data.")
    return None if problems.total > before else reading.run()


def _ranked(entries: _Entries) -> ParsedList:
    docnos = bytes(entries.docnos).split()
    order = sorted(range(len(docnos)), key=lambda row: (entries.scores[row], docnos[row]), reverse=True)
    return ParsedList(
        np.array([docnos[row] for row in order]),
        np.array(entries.scores, np.float64)[order],
        Origin(np.array(entries.lines, np.int32)[order], np.array(entries.ranks, np.int32)[order]),
    )


TAG = 5  # which column it is, from 0


def parse_run(
    name: str,
    text: bytes,
    problems: Problems,
    *,
    topics: Collection[str] | None = None,
    tag: str | None = None,
    input_format: str | None = None,
) -> ParsedRun | None:
    """Read a run, or return None and note every problem of the file with its line.

    `text` is what `unpack` returns. Columns are separated by blanks or tabs; blank lines and lines that begin with
    `#` are ignored, and so is the rank column, as in trec_eval. With `topics`, others are refused;
    `tag` overrides the tags in the file. Other formats (`row_formats`) are detected, or named by `input_format`; their
    lists have no `origin`.
    """
    known = None if topics is None else frozenset(topics)
    before = problems.total
    converted = as_trec_run(name, text, problems, input_format=input_format)
    if converted is None:
        return read_columns(text, known, tag) or read_carefully(name, text, problems, known, tag)
    if not converted.lines and problems.total > before:
        return None
    found = Problems()
    run = read_columns(converted.text, known, tag) or read_carefully(name, converted.text, found, known, tag)
    converted.add_problems(found, problems)
    return run if problems.total == before else None


def read_carefully(
    name: str,
    text: bytes,
    problems: Problems,
    topics: AbstractSet[str] | None,
    tag: str | None,
    unknown_topic: Sentence = UNKNOWN_TOPIC,
) -> ParsedRun | None:
    """Read like `read_lines`, but first note whether the whole file is of another kind."""
    if note_no_run(name, text, problems):
        return None
    return read_lines(name, text, problems, topics, tag, unknown_topic)


def first_tag_of(text: bytes) -> tuple[int, str]:
    """Return the number of a run's first data line and its tag; `(1, "")` when there is none."""
    line = first_data_line(text)
    content = next(islice(io.BytesIO(text), line - 1, line), b"").split()
    words = [word.decode() for word in content]
    return line, words[TAG] if len(words) > TAG and not is_heading(words, RUN_COLUMNS) else ""
