"""The files of a finished task, sent together: which are topics, which are qrels and which are runs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum, auto

from annotator.errors import Problems
from annotator.evaluation.formats.file_kinds import (
    COLUMNS,
    DECIMAL_NUMBER,
    ITERATION,
    QRELS_COLUMNS,
    SAMPLED_COLUMNS,
    WHOLE_GRADE,
)
from annotator.evaluation.formats.table_lines import first_line_of, is_json
from annotator.evaluation.formats.topic_formats import is_topic_table
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.formats.zip_archives import is_zip, unzip
from annotator.evaluation.runs.result_lists import is_result_list
from annotator.files import InputFile

COMMENT = re.compile(rb"\s*#[^\n]*(\n|\Z)")
GREATEST_GRADE = 9  # grades are keys of the keyboard


class TaskFileKind(StrEnum):
    """What a file of a task holds."""

    TOPICS = auto()
    QRELS = auto()
    RUN = auto()


@dataclass
class TaskFiles:
    """The files of a task, sorted; topic numbers and the greatest grade are those in the qrels and the runs."""

    topics: list[InputFile] = field(default_factory=list)
    qrels: list[InputFile] = field(default_factory=list)
    runs: list[InputFile] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    greatest_grade: int = 0


def sort_task_files(given: Sequence[InputFile], problems: Problems, *, unpacked_limit: int) -> TaskFiles:
    """Open zip archives and sort all files by their content; notes files that are none of these."""
    files: list[InputFile] = []
    for file in given:
        files += unzip(file, [one.name for one in files], problems, unpacked_limit) if is_zip(file.content) else [file]
    sorted_, numbers = TaskFiles(), dict[str, None]()
    for file in files:
        text = unpack_into(problems, file.name, file.content, unpacked_limit)
        kind = None if text is None else kind_of_task_file(text)
        if text is None:
            continue
        if kind is None:
            problems.add(
                file.name,
                None,
                "The file is neither topics nor qrels (topic, iteration, docno, grade) nor a run (topic, Q0, docno, "
                "rank, score, tag).",
            )
        elif kind is TaskFileKind.TOPICS:
            sorted_.topics.append(file)
        else:
            (sorted_.qrels if kind is TaskFileKind.QRELS else sorted_.runs).append(file)
            numbers |= dict.fromkeys([] if is_result_list(text) else _first_words(text))
            if kind is TaskFileKind.QRELS:
                sorted_.greatest_grade = max(sorted_.greatest_grade, _greatest_grade(text))
    sorted_.numbers = list(numbers)
    return sorted_


def kind_of_task_file(text: bytes) -> TaskFileKind | None:
    """What a file holds, by its first line of data; `text` is what `unpack` returns."""
    while comment := COMMENT.match(text):
        text = text[comment.end() :]
    if is_result_list(text):
        return TaskFileKind.RUN
    first = first_line_of(text)
    words = first.split()
    if first.startswith(b"<") or is_json(first) or is_topic_table(text):
        return TaskFileKind.TOPICS
    if len(words) == COLUMNS and DECIMAL_NUMBER.fullmatch(words[-2]):
        return TaskFileKind.RUN
    is_graded = len(words) in {QRELS_COLUMNS, SAMPLED_COLUMNS} and WHOLE_GRADE.fullmatch(words[-1])
    if is_graded and DECIMAL_NUMBER.fullmatch(words[ITERATION]):
        return TaskFileKind.QRELS
    return TaskFileKind.TOPICS if b"\t" in first else None


def _first_words(text: bytes) -> list[str]:
    """The topic numbers of qrels or a run, each once, in the order of the file."""
    found = dict.fromkeys(line.split(None, 1)[0] for line in text.splitlines() if line.strip()[:1] not in {b"", b"#"})
    return [word.decode() for word in found]


def _greatest_grade(text: bytes) -> int:
    """The greatest grade of qrels that a scale can have; lines that are none are refused elsewhere."""
    last = {line.rsplit(None, 1)[-1] for line in text.splitlines() if line.strip()}
    return max((int(word) for word in last if word.isdigit() and int(word) <= GREATEST_GRADE), default=0)
