"""Checks of run files against a file of topics, without a collection."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotator.errors import Problems, Sentence
from annotator.evaluation.formats.foreign_rows import query_key
from annotator.evaluation.formats.topic_formats import parse_topics
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.runs.docno_lists import ReadDocnos
from annotator.evaluation.runs.run_intake import DocumentIds, ReadRun, RunIntake, RunRules
from annotator.files import InputFile


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
    checked = [
        replace(run, warnings=(*run.warnings, *documents.warnings_of(run.parsed))) for run in read if run is not None
    ]
    return ReadFiles(checked, intake.problems)
