"""Tasks and labelling configuration of Label Studio, read by its own converter."""

import csv
import io
import json
from pathlib import Path

import pytest
from label_studio_converter import Converter
from label_studio_tools.core.label_config import parse_config

from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.formats.topic_formats import ParsedTopic
from annotator.evaluation.outputs.judgement_outputs import JudgementRow, Passage
from annotator.evaluation.outputs.label_studio import labelling_configuration, task

TOPIC = ParsedTopic("7", "black & white", "What?", "", None, 1)
DOCUMENT = ParsedDocument("d1", "A <dress>", "One\r\ntwo three", None, None, 1)
CONFIGURATION = labelling_configuration([(0, "Not relevant"), (2, 'Very "good"')], ["broken", "no-text"])


def judgement(judge: str, grade: int | None, *, cannot: str | None = None, note: str = "") -> JudgementRow:
    at = "2026-03-01T09:00:00+00:00"
    evidence = (Passage(4, 7, "two"), Passage(0, 3, "of the page"))
    return JudgementRow(
        topic="7",
        docno="d1",
        judge=judge,
        grade=grade,
        cannot_judge=cannot,
        note=note,
        seconds=2.5,
        judged_at=at,
        guidelines=1,
        late=False,
        current=True,
        received_at=at,
        tab="",
        sequence=None,
        purpose="first",
        carried_from=None,
        evidence=evidence,
    )


@pytest.fixture
def converted(tmp_path: Path) -> Path:
    """The folder with what the converter makes of two people's judgements and a machine's."""
    people = [judgement("jo", 2, note="Both\ncolours"), judgement("kim", None, cannot="no-text")]
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps([{"id": 1, **task(TOPIC, DOCUMENT, people, [judgement("gpt", 0)])}]))
    converter = Converter(CONFIGURATION.decode(), str(tmp_path))
    for name in ("JSON_MIN", "CSV"):
        converter.convert(str(tasks), str(tmp_path / name), name, is_dir=False)
    return tmp_path


def test_the_converter_reads_grades_notes_evidence_and_judges(converted: Path) -> None:
    first, second = json.loads((converted / "JSON_MIN" / "result.json").read_text())
    assert (first["topic"], first["query"], first["docno"]) == ("7", "black & white", "d1")
    assert (first["grade"], first["note"], first["judge"], first["lead_time"]) == ("2", "Both\ncolours", "jo", 2.5)
    # Only the passage that is found at its place in the text.
    assert first["evidence"] == [{"start": 4, "end": 7, "text": "two", "labels": ["Evidence"]}]
    assert first["text"][4:7] == "two"
    assert ("grade" in second, second["cannot_judge"], second["judge"]) == (False, "no-text", "kim")


def test_the_converter_makes_a_table(converted: Path) -> None:
    rows = csv.DictReader(io.StringIO((converted / "CSV" / "result.csv").read_text()))
    assert [(row["docno"], row["grade"], row["judge"]) for row in rows] == [("d1", "2", "jo"), ("d1", "", "kim")]


def test_labels_of_machines_are_predictions() -> None:
    [prediction] = task(TOPIC, DOCUMENT, [], [judgement("gpt", 0)])["predictions"]
    assert prediction["model_version"] == "gpt"
    assert prediction["result"][0]["value"] == {"choices": ["0"]}


def test_the_configuration_offers_the_scale() -> None:
    fields = parse_config(CONFIGURATION.decode())
    assert fields["grade"]["to_name"] == ["text"]
    assert fields["grade"]["labels"] == ["0", "2"]
    assert fields["cannot_judge"]["labels"] == ["broken", "no-text"]
    assert {name: one["type"] for name, one in fields.items()} == {
        "evidence": "Labels",
        "grade": "Choices",
        "cannot_judge": "Choices",
        "note": "TextArea",
        "judge": "TextArea",
    }
    assert fields["grade"]["inputs"] == [{"type": "Text", "value": "text"}]
