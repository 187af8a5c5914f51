"""Reads the files of a submission one after another: content, problems and warnings."""

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError, Problems, Sentence
from annotator.evaluation.formats.input_formats import choose
from annotator.evaluation.formats.row_formats import RUN_FORMATS, TREC
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.runs.docno_lists import are_listed
from annotator.evaluation.runs.docno_numbers import DocnoNumbers, Numbers
from annotator.evaluation.runs.foreign_runs import as_trec_run
from annotator.evaluation.runs.ir_metadata import BrokenMetadataError, IrMetadata, read_ir_metadata
from annotator.evaluation.runs.numbered_runs import read_numbered_run
from annotator.evaluation.runs.parsed_runs import NumberedRun
from annotator.evaluation.runs.rankings import encode_documents, encode_scores
from annotator.evaluation.runs.run_format import UNKNOWN_TOPIC, first_tag_of
from annotator.evaluation.runs.run_tags import SortedTags
from annotator.evaluation.runs.run_tasks import TaskRules, choose_task
from annotator.evaluation.runs.run_warnings import warnings_of, warnings_of_corpus, warnings_of_list
from annotator.evaluation.runs.tag_rules import GREATEST_TAG_LENGTH, composed

DOCUMENTS_AT_ONCE = 50_000
# The API's addresses of a run end in its tag, which may have slashes, or in one of these after it.
PARTS_OF_ADDRESSES = ("/file", "/costs", "/restore", "/answers")
NO_TAGS = SortedTags()


@dataclass(frozen=True)
class RunRules:
    """The rules for runs of a collection: permitted and expected topics, and the maximum length of lists.

    `unknown_topic` is the problem for any other topic. Where there are `tasks`, by key, the rules for a run are those
    of its task.
    """

    topics: frozenset[str]
    wanted_topics: frozenset[str]
    most_documents: int
    unpacked_limit: int
    tag_from_file: bool = False
    unknown_topic: Sentence = UNKNOWN_TOPIC
    titles: Mapping[str, str] = field(
        default_factory=dict
    )  # numbers of topics by their queries, as `query_key` writes them
    tasks: Mapping[str, TaskRules] = field(default_factory=dict)

    def of_task(self, task: TaskRules | None) -> "RunRules":
        """The rules for runs of this task; for None these."""
        if task is None:
            return self
        return replace(
            self,
            topics=task.topics,
            wanted_topics=task.wanted_topics,
            most_documents=task.most_documents,
            unknown_topic=task.unknown_topic,
        )


@dataclass(frozen=True, eq=False)
class ReadRun:
    """A run read without a problem, its warnings, the key of its task and the name of the format it was read as."""

    file_name: str
    parsed: NumberedRun
    warnings: tuple[Sentence, ...]
    metadata: IrMetadata
    task: str | None
    read_as: str


class RunIntake:
    """Reads runs that are to be stored together; `problems` collects the problems of all."""

    def __init__(self, rules: RunRules) -> None:
        self.rules = rules
        self.problems = Problems()
        self.documents = DocnoNumbers()
        self._files: dict[str, str] = {}  # by tag with composed letters
        self._new: Counter[str | None] = Counter()  # runs that replace none of the same task, by task

    def read(
        self,
        name: str,
        content: bytes,
        *,
        tag: str | None = None,
        tags: SortedTags = NO_TAGS,
        input_format: str | None = None,
        task: str | None = None,
    ) -> ReadRun | None:
        """Read one file; None with its problems noted.

        `tag` is used in place of that in the file; `tags` are those in use, sorted for the sender of this file; `task`
        is the key of the task that is named for it. Without `input_format` the format is detected.
        """
        text = unpack_into(self.problems, name, content, self.rules.unpacked_limit)
        if text is None:
            return None
        before = self.problems.total
        converted = as_trec_run(name, text, self.problems, input_format=input_format, titles=self.rules.titles)
        if converted is None:
            return self._read(name, content, text, self.problems, tag=tag, tags=tags, task=task)
        if not converted.lines and self.problems.total > before:
            return None  # beside what is wrong with all of its rows, that there is no line says nothing
        found = Problems()
        read_as = choose(RUN_FORMATS, text, input_format).name
        run = self._read(
            name,
            content,
            converted.text,
            found,
            tag=tag,
            tags=tags,
            task=task,
            read_as=read_as,
            lines=converted.lines,
        )
        converted.add_problems(found, self.problems)
        return run if self.problems.total == before else None

    def _read(
        self,
        name: str,
        content: bytes,
        text: bytes,
        problems: Problems,
        *,
        tag: str | None,
        tags: SortedTags,
        task: str | None,
        read_as: str = TREC,
        lines: "array[int] | None" = None,
    ) -> ReadRun | None:
        given = tag or (tag_of(name) if self.rules.tag_from_file else None)
        line, first_tag = first_tag_of(text)
        before, stored_tag = problems.total, tags.stored(given or first_tag)
        of_task = self._task_of(name, stored_tag, task, tags, read_as, problems)
        rules, of_its_task = self.rules.of_task(of_task), _for_task(tags, of_task)
        self._note_tag(name, content, line, stored_tag, of_its_task, problems)
        is_free = problems.total == before
        run = read_numbered_run(
            name,
            text,
            problems,
            self.documents,
            topics=rules.topics,
            tag=given,
            unknown_topic=rules.unknown_topic,
        )
        if run is None or not is_free:
            return None
        run = replace(run, tag=stored_tag)
        if lines is not None:
            run = replace(run, origin=replace(run.origin, lines=np.array(lines, np.int32)[run.origin.lines - 1]))
        warnings = warnings_of(run, topics=rules.wanted_topics, most_documents=rules.most_documents)
        metadata, broken = _metadata_of(text)
        return ReadRun(name, run, (*warnings, *broken), metadata, of_task.key if of_task else None, read_as)

    def _task_of(
        self, name: str, tag: str, named: str | None, tags: SortedTags, read_as: str, problems: Problems
    ) -> TaskRules | None:
        """The task of a run; notes why it cannot be sent to one, if so."""
        try:
            task = choose_task(self.rules.tasks, named, tag, tags)
        except InvalidValueError as error:
            problems.add(name, None, error.sentence.template, **error.sentence.values)
            return None
        refusal = task.refusal_of_format(read_as) if task is not None else None
        if refusal is not None:
            problems.add(name, None, refusal.template, **refusal.values)
        return task

    def _note_tag(self, name: str, content: bytes, line: int, tag: str, tags: SortedTags, problems: Problems) -> None:
        """Note a tag that the run cannot have, or that another of these files has."""
        if not tag:
            return  # a line too short to have a tag, which the parser notes
        refusal = refusal_of_any(tag) or _refusal(content, tag, tags)
        letters = composed(tag)
        if refusal is None and letters in self._files:
            other = self._files[letters]
            refusal = Sentence("The tag %(tag)s is also the tag of %(other)s.", {"tag": tag, "other": other})
        if refusal is not None:
            problems.add(name, line, refusal.template, **refusal.values)
        elif tags.joins(tag) or (tag not in tags.corrected and not (self.rules.tasks and tags.task is None)):
            self._note_too_many(name, tags, problems)
        self._files.setdefault(letters, name)

    def _note_too_many(self, name: str, tags: SortedTags, problems: Problems) -> None:
        """Count a run that is new, for its task at least, and note when its team has no more of them.

        The files are of one team where that is so.
        """
        self._new[tags.task] += 1
        refusal = tags.refusal_of_new(self._new[tags.task])
        if refusal is not None:
            problems.add(name, None, refusal.template, **refusal.values)


def _for_task(tags: SortedTags, task: TaskRules | None) -> SortedTags:
    return tags if task is None else tags.for_task(task.key, task.most_runs)


def refusal_of_any(tag: str) -> Sentence | None:
    """Return why no run can have the tag, if so, whatever tags are in use."""
    if len(tag) > GREATEST_TAG_LENGTH or not tag.isprintable() or any(map(str.isspace, tag)):
        return Sentence("A tag has at most %(most)d printable characters and no blanks.", {"most": GREATEST_TAG_LENGTH})
    ending = next(filter(tag.endswith, PARTS_OF_ADDRESSES), None)
    if ending is None:
        return None
    return Sentence("A tag cannot end in %(ending)s, which addresses of the API use.", {"ending": ending})


def _metadata_of(text: bytes) -> tuple[IrMetadata, list[Sentence]]:
    """The metadata in the header of a run, and a warning about a header that cannot be read."""
    try:
        return read_ir_metadata(text) or IrMetadata(), []
    except BrokenMetadataError as error:
        template = "The header of ir_metadata is broken at line %(line)d and not used: %(reason)s."
        return IrMetadata(), [Sentence(template, {"line": error.line, "reason": error.reason})]


class DocumentIds:
    """The database id of each document of an intake, and whether the corpus has it."""

    def __init__(
        self,
        documents: DocnoNumbers,
        *,
        corpus_is_loaded: bool,
        list_parts: Iterable[bytes] | None = None,
        index: Callable[[Sequence[str]], NDArray[np.bool_]] | None = None,
    ) -> None:
        """Start without ids; documents that the corpus does not have are reported if it is known.

        The packed parts of a list of valid docnos say what the corpus has, else an index, which tells for docnos
        whether it has them; without both the texts do, if the corpus is loaded.
        """
        self._listed = None
        if list_parts is not None:
            self._listed = are_listed(documents, list_parts)
        elif index is not None:
            self._listed = _indexed(documents, index)
        self.corpus_is_loaded = corpus_is_loaded and self._listed is None
        self._documents = documents
        self._ids: Numbers = np.zeros(documents.count, np.int32)
        self._has_text = np.zeros(documents.count, np.bool_)

    def copy(self) -> "DocumentIds":
        """Return an independent copy."""
        other = copy(self)
        other._ids, other._has_text = self._ids.copy(), self._has_text.copy()  # noqa: SLF001 - it is of this class
        return other

    def take(self, rows: Sequence[tuple[str, int, bool]]) -> None:
        """Add docno, row id and whether there is a text; documents in no run are skipped."""
        docnos, ids, has_text = zip(*rows, strict=True) if rows else ((), (), ())
        numbers = self._documents.find(docnos)
        known = numbers >= 0
        self._ids[numbers[known]] = np.array(ids, np.int32)[known]
        self._has_text[numbers[known]] = np.array(has_text, np.bool_)[known]

    @property
    def missing_count(self) -> int:
        """The number of documents without a row."""
        return int(np.count_nonzero(self._ids == 0))

    def missing(self) -> Iterator[tuple[Numbers, list[str]]]:
        """Yield the documents without a row in batches, with their docnos.

        They are roughly in byte order, as tables and indexes then grow at one end.
        """
        numbers = self._documents.in_byte_order(np.flatnonzero(self._ids == 0).astype(np.int32))
        for start in range(0, numbers.size, DOCUMENTS_AT_ONCE):
            some = numbers[start : start + DOCUMENTS_AT_ONCE]
            yield some, self._documents.docnos_of(some)

    def give(self, numbers: Numbers, ids: Sequence[int]) -> None:
        """Add the row ids of newly inserted documents, without a text."""
        self._ids[numbers] = ids

    def ids_of(self, numbers: Numbers) -> Numbers:
        """Return the row ids of documents, 0 without one."""
        ids: Numbers = self._ids[numbers]
        return ids

    def warnings_of(self, run: NumberedRun) -> list[Sentence]:
        """Return warnings about the run's documents that the corpus does not have."""
        if self._listed is not None:
            return warnings_of_list(run, self._listed, self._documents)
        return warnings_of_corpus(run, self._has_text) if self.corpus_is_loaded else []

    def packed_lists(self, run: NumberedRun) -> Iterator[tuple[str, bytes, bytes]]:
        """Yield topic number, row ids and scores of each list, packed as ranked lists are stored."""
        ids = self._ids[run.documents]
        bounds = run.begins.tolist()
        for topic, begin, end in zip(run.topics, bounds, bounds[1:], strict=False):
            yield topic, encode_documents(ids[begin:end]), encode_scores(run.scores[begin:end])


def _indexed(documents: DocnoNumbers, index: Callable[[Sequence[str]], NDArray[np.bool_]]) -> NDArray[np.bool_]:
    listed = np.zeros(documents.count, np.bool_)
    for start in range(0, documents.count, DOCUMENTS_AT_ONCE):
        some = np.arange(start, min(start + DOCUMENTS_AT_ONCE, documents.count), dtype=np.int32)
        listed[some] = index(documents.docnos_of(some))
    return listed


def _refusal(content: bytes, tag: str, tags: SortedTags) -> Sentence | None:
    """Return why the tag cannot be used, if so; a file that is already stored is reported first."""
    checksum = tags.checksums.get(tag)
    if checksum is not None and checksum == checksum_of(content):
        return Sentence("This file is stored already, as the run %(tag)s.", {"tag": tag})
    return tags.refusal(tag)


def checksum_of(content: bytes) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def tag_of(file_name: str) -> str:
    """Return the tag from a file name: without folder, `.gz` and `.txt`, and with composed letters."""
    name = composed(PurePath(file_name).name)
    for ending in (".gz", ".txt"):
        name = name.removesuffix(ending)
    return name
