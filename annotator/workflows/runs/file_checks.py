"""Checks of run files without a database: against a file of topics, or by the rules of a collection elsewhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from annotator.errors import Problems, Sentence
from annotator.evaluation.formats.foreign_rows import query_key
from annotator.evaluation.formats.topic_formats import parse_topics
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.runs.checking_rules import CheckingRules, ComparedWith
from annotator.evaluation.runs.checking_rules import read_rules as read_rules
from annotator.evaluation.runs.docno_lists import ReadDocnos, lines_of
from annotator.evaluation.runs.run_intake import DocumentIds, ReadRun, RunIntake, RunRules
from annotator.evaluation.runs.run_tags import Sender, sort_tags
from annotator.files import InputFile
from annotator.storage.runs.runs import RunDetails
from annotator.workflows.runs.run_files import open_files
from annotator.workflows.runs.run_upload import merge_details, sender_of


@dataclass(frozen=True)
class ReadFiles:
    """The valid runs, and the problems of the other files."""

    runs: list[ReadRun]
    problems: Problems


def check_run_files(
    files: Sequence[InputFile],
    topics: InputFile,
    *,
    most_documents: int,
    tag_from_file: bool = False,
    unpacked_limit: int,
    docnos: ReadDocnos | None = None,
) -> ReadFiles:
    """Validate runs as `check_each_run`, for a collection with these topics, whose corpus has these `docnos` if given.

    Raises `FileRefusedError` with every problem of the topics.
    """
    problems = Problems()
    text = unpack_into(problems, topics.name, topics.content, unpacked_limit)
    parsed = None if text is None else parse_topics(topics.name, text, problems, topics.input_format)
    problems.report_if_any()
    numbers = frozenset(topic.number for topic in parsed or ())
    intake = RunIntake(
        RunRules(
            topics=numbers,
            wanted_topics=numbers,
            most_documents=most_documents,
            unpacked_limit=unpacked_limit,
            tag_from_file=tag_from_file,
            unknown_topic=Sentence("The file of topics has no topic %(topic)s."),
            titles={query_key(topic.title): topic.number for topic in parsed or ()},
        )
    )
    read = [intake.read(file.name, file.content, input_format=file.input_format) for file in files]
    documents = DocumentIds(
        intake.documents, corpus_is_loaded=False, list_parts=None if docnos is None else docnos.packed_lines
    )
    return _with_warnings(intake, read, documents)


def check_by_rules(
    files: Sequence[InputFile],
    rules: CheckingRules,
    *,
    task: str | None = None,
    replaces: bool = False,
    tag_from_file: bool = False,
    unpacked_limit: int,
    docnos: ReadDocnos | None = None,
) -> ReadFiles:
    """Validate runs as `check_each_run` of the collection with these rules; `task` is the key of their task.

    Not known here are the tags of other teams and, without `docnos`, the documents of the corpus.
    """
    opened = open_files(files, unpacked_limit=unpacked_limit)
    intake = RunIntake(rules.for_intake(unpacked_limit=unpacked_limit, tag_from_file=tag_from_file))
    intake.problems.add_all(opened.problems)
    sender = Sender(rules.team, organises=rules.organises, replaces=replaces)
    read = []
    for file, entry in zip(opened.files, opened.entries, strict=True):
        details = merge_details(sender, RunDetails(task=task), entry.details)
        tags = sort_tags(sender_of(sender, details), rules.runs, rules.of_team, scores_released=rules.scores_released)
        read.append(
            intake.read(
                file.name,
                file.content,
                tag=entry.tag,
                tags=tags,
                input_format=file.input_format,
                task=details.task,
            )
        )
    return _with_warnings(intake, read, _documents_by(rules, intake, docnos))


def _documents_by(rules: CheckingRules, intake: RunIntake, docnos: ReadDocnos | None) -> DocumentIds:
    """The documents of the runs, compared with `docnos` as the collection compares them with what it has."""
    parts = [] if docnos is None else docnos.packed_lines
    has_texts = rules.compared_with is ComparedWith.TEXTS and docnos is not None
    documents = DocumentIds(
        intake.documents, corpus_is_loaded=has_texts, list_parts=None if has_texts or docnos is None else parts
    )
    for part in parts if has_texts else ():
        documents.take([(docno, 1, True) for docno in lines_of(part).decode().splitlines()])
    return documents


def _with_warnings(intake: RunIntake, read: Iterable[ReadRun | None], documents: DocumentIds) -> ReadFiles:
    checked = [
        replace(run, warnings=(*run.warnings, *documents.warnings_of(run.parsed))) for run in read if run is not None
    ]
    return ReadFiles(checked, intake.problems)
