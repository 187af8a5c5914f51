"""The registry: every format has an example that is detected as itself and read, and a file with its tests."""

from pathlib import Path

import pytest
from cli.command_line import every_command

from annotator.errors import Problems
from annotator.evaluation.formats.document_formats import parse_documents
from annotator.evaluation.formats.input_formats import Format, Holds, choose
from annotator.evaluation.formats.registry import FORMATS, format_of, read_as
from annotator.evaluation.formats.topic_formats import parse_topics
from annotator.evaluation.outputs.output_formats import OutputFormat, Writes
from annotator.evaluation.outputs.registry import OUTPUTS, WRITTEN_BY
from annotator.evaluation.qrels.qrels_format import readable_rows
from annotator.evaluation.runs.docno_lists import read_docnos
from annotator.evaluation.runs.run_format import parse_run
from annotator.files import InputFile

ROOT = Path(__file__).parents[3]
EVERY = [one for formats in FORMATS.values() for one in formats]


def read(one: Format, text: bytes, problems: Problems, name: str | None) -> object:
    match one.holds:
        case Holds.RUNS:
            return parse_run("f", text, problems, input_format=name)
        case Holds.LABELS:
            return readable_rows("f", text, problems, input_format=name, titles={"black dress": "1"})
        case Holds.TOPICS:
            return parse_topics("f", text, problems, name)
        case Holds.DOCUMENTS:
            return list(parse_documents("f", text, problems, input_format=name) or ())
        case Holds.DOCNOS:
            return read_docnos([InputFile("f", text, name)], unpacked_limit=len(text)).count


@pytest.mark.parametrize("one", EVERY, ids=[f"{one.holds.value} {one.name}" for one in EVERY])
def test_the_example_of_a_format_is_detected_and_read(one: Format) -> None:
    assert (ROOT / one.test).is_file()
    if not one.example:
        assert one.name == "parquet"
        return
    text = one.example.encode()
    assert choose(FORMATS[one.holds], text) is one
    assert format_of(one.holds, InputFile("f", text)) is one
    for name in (None, one.name):
        problems = Problems()
        assert read(one, text, problems, name)
        assert problems.total == 0


WRITTEN = [one for formats in OUTPUTS.values() for one in formats]


@pytest.mark.parametrize("one", WRITTEN, ids=[f"{one.writes.value} {one.name}" for one in WRITTEN])
def test_a_format_that_is_written_names_its_command_and_its_test(one: OutputFormat) -> None:
    assert (ROOT / one.test).is_file()
    assert one.commands
    for command in one.commands:
        options = {option for parameter in every_command()[command].params for option in parameter.opts}
        assert "--format" in options
        assert WRITTEN_BY[command][one.name] is one


def test_scores_are_written_in_the_same_formats_by_every_command() -> None:
    """Only the script's output has figures of its own, computed from the strata in the file of qrels."""
    of_files = {name: one for name, one in WRITTEN_BY["evaluate"].items() if name != "sample_eval"}
    assert of_files == WRITTEN_BY["leaderboard show"]


@pytest.mark.parametrize("writes", OUTPUTS)
def test_names_are_unique_among_files_that_are_written(writes: Writes) -> None:
    names = [one.name for one in OUTPUTS[writes]]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("holds", FORMATS)
def test_names_are_unique_among_files_of_one_kind(holds: Holds) -> None:
    names = [one.name for one in FORMATS[holds]]
    assert len(names) == len(set(names))
    assert str(read_as(holds, InputFile("a.csv", b"", names[0]))).startswith("a.csv: read as ")
