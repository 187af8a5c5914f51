"""Qrels with subtopics: documents are graded for several subtopics of a topic, as in TREC's diversity tasks."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.formats.file_kinds import QRELS_COLUMNS, QRELS_HEADINGS, lines_below_heading, note_no_qrels
from annotator.evaluation.formats.table_lines import check_words, counted_columns, data_lines, shown
from annotator.evaluation.qrels.qrels_format import WHOLE_GRADES
from annotator.evaluation.qrels.qrels_table import QrelsTable, SubtopicGrades, table_of


def has_subtopics(text: bytes) -> bool:
    """Whether the second column of qrels of four columns names several things for some topic.

    In qrels without subtopics it is the same on every line, and ignored.
    """
    first: dict[bytes, bytes] = {}
    lines = data_lines("", text, Problems())
    in_four = (columns for _, columns in lines if len(columns) == QRELS_COLUMNS)
    return any(first.setdefault(topic, subtopic) != subtopic for topic, subtopic, *_ in in_four)


def read_subtopic_qrels(name: str, text: bytes, problems: Problems) -> QrelsTable | None:
    """Read lines of topic, subtopic, docno and grade, or return None and note every problem of the file with its line.

    `text` is what `unpack` returns.
    """
    if note_no_qrels(name, text, problems):
        return None
    before = problems.total
    reading = _Reading(name, problems)
    for line, columns in lines_below_heading(name, text, problems, QRELS_HEADINGS):
        reading.take(line, columns)
    if not reading.rows and problems.total == before:
        problems.add(name, None, "The file has no line of data.")
    return None if problems.total > before else subtopic_table(*zip(*reading.rows, strict=True))


def subtopic_table(
    topics: Sequence[str], subtopics: Sequence[str], docnos: Sequence[str], grades: Sequence[int]
) -> QrelsTable:
    """Make the table of grades by subtopic, all of one length; the grade of a document is its best one.

    Raises `InvalidValueError` as `table_of` does, and when a document is graded twice for a subtopic.
    """
    best: dict[str, dict[str, int]] = {}
    by_subtopic: dict[tuple[str, str], dict[str, int]] = {}
    for topic, subtopic, docno, grade in zip(topics, subtopics, docnos, grades, strict=True):
        of_document = by_subtopic.setdefault((topic, docno), {})
        if subtopic in of_document:
            raise InvalidValueError(
                "Document %(docno)s is graded twice for subtopic %(subtopic)s of topic %(topic)s.",
                docno=docno,
                subtopic=subtopic,
                topic=topic,
            )
        of_document[subtopic] = grade
        of_topic = best.setdefault(topic, {})
        of_topic[docno] = max(grade, of_topic.get(docno, grade))
    table = table_of(best)
    entries = [by_subtopic[topic, docno] for topic in table.topics for docno in best[topic]]
    numbers = {subtopic: number for number, subtopic in enumerate(dict.fromkeys(subtopics))}
    place = np.repeat(np.arange(len(table.topics)), np.diff(table.first))
    sizes = np.array([len(of_document) for of_document in entries], np.intp)
    named = np.array([numbers[subtopic] for of_document in entries for subtopic in of_document], np.intp)
    # One number for a subtopic of a topic; the subtopics of a topic in the order in which the file names them.
    keys, number = np.unique(np.repeat(place, sizes) * len(numbers) + named, return_inverse=True)
    return QrelsTable(
        table.topics,
        table.first,
        table.docnos,
        table.grades,
        subtopics=SubtopicGrades(
            first=np.append(0, np.cumsum(sizes)).astype(np.intp),
            subtopic=number,
            grade=np.array([grade for of_document in entries for grade in of_document.values()], np.int16),
            topic=keys // max(len(numbers), 1),
        ),
    )


@dataclass
class _Reading:
    """The state of the reader after some lines."""

    name: str
    problems: Problems
    rows: list[tuple[str, str, str, int]] = field(default_factory=list)
    first_lines: dict[tuple[bytes, bytes, bytes], int] = field(default_factory=dict)

    def take(self, line: int, columns: list[bytes]) -> None:
        if len(columns) != QRELS_COLUMNS:
            self.problems.add(
                self.name,
                line,
                "The line has %(columns)s; qrels with subtopics have four: topic, subtopic, document, grade.",
                columns=counted_columns(len(columns)),
            )
            return
        topic, subtopic, docno, written = columns
        if not check_words(self.name, line, (topic, subtopic, docno), self.problems):
            return
        first_line = self.first_lines.setdefault((topic, subtopic, docno), line)
        if first_line != line:
            self.problems.add(
                self.name,
                line,
                "Document %(docno)s is graded twice for subtopic %(subtopic)s of topic %(topic)s; it is on line "
                "%(first_line)d already.",
                docno=shown(docno),
                subtopic=shown(subtopic),
                topic=shown(topic),
                first_line=first_line,
            )
        grade = WHOLE_GRADES.read(line, written)
        if grade is None:
            self.problems.add(self.name, line, WHOLE_GRADES.refusal.template, grade=shown(written))
        else:
            self.rows.append((topic.decode(), subtopic.decode(), docno.decode(), grade))
