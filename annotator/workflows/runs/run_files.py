"""Checks files of runs against a file of topics, without any database: at home, before they are sent."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.errors import Problems, Sentence
from annotator.evaluation.formats.topic_formats import parse_topics
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.runs.run_intake import ReadRun, RunIntake, RunRules
from annotator.files import InputFile


@dataclass(frozen=True)
class ReadFiles:
    """The runs that were read without a problem, and what is wrong with the other files."""

    runs: list[ReadRun]
    problems: Problems


def check_run_files(
    files: Sequence[InputFile],
    topics: InputFile,
    *,
    most_documents: int,
    tag_from_file: bool = False,
    unpacked_limit: int,
) -> ReadFiles:
    """Read runs as `check_each_run` does for a collection with these topics and without a corpus.

    Raises `FileRefusedError` with everything wrong with the topics.
    """
    problems = Problems()
    text = unpack_into(problems, topics.name, topics.content, unpacked_limit)
    parsed = None if text is None else parse_topics(topics.name, text, problems)
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
        )
    )
    read = [intake.read(file.name, file.content) for file in files]
    return ReadFiles([run for run in read if run is not None], intake.problems)
