"""Judgements as tasks of Label Studio, and the labelling configuration that they fit.

The form is that of https://labelstud.io/guide/task_format and of https://labelstud.io/tags.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.formats.topic_formats import ParsedTopic
from annotator.evaluation.outputs.judgement_outputs import JudgementRow

TEXT, GRADE, CANNOT_JUDGE, EVIDENCE, NOTE, JUDGE = "text", "grade", "cannot_judge", "evidence", "note", "judge"
PASSAGE = "Evidence"  # the only label


def labelling_configuration(grades: Iterable[tuple[int, str]], reasons: Iterable[str]) -> bytes:
    """The configuration for a scale of grades, each with its name; the exported choice is the grade itself."""
    view = ET.Element("View")
    ET.SubElement(view, "Header", value="$query")
    for name in ("description", "narrative"):
        ET.SubElement(view, "Text", name=name, value=f"${name}")
    ET.SubElement(view, "Header", value="$title")
    labels = ET.SubElement(view, "Labels", name=EVIDENCE, toName=TEXT)
    ET.SubElement(labels, "Label", value=PASSAGE)
    ET.SubElement(view, "Text", name=TEXT, value="$text")
    choices = ET.SubElement(view, "Choices", name=GRADE, toName=TEXT, choice="single", showInline="true")
    for grade, name in grades:
        ET.SubElement(choices, "Choice", value=f"{grade} {name}", alias=str(grade))
    choices = ET.SubElement(view, "Choices", name=CANNOT_JUDGE, toName=TEXT, choice="single", showInline="true")
    for reason in reasons:
        ET.SubElement(choices, "Choice", value=reason)
    for name in (NOTE, JUDGE):
        ET.SubElement(view, "TextArea", name=name, toName=TEXT, maxSubmissions="1", placeholder=name)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode").encode() + b"\n"


def task(
    topic: ParsedTopic, document: ParsedDocument, by_people: Sequence[JudgementRow], by_machines: Sequence[JudgementRow]
) -> dict[str, Any]:
    """A document of a topic with its judgements; line ends are single, as positions of evidence count them."""
    text = document.body.replace("\r\n", "\n").replace("\r", "\n")
    data = {
        "topic": topic.number,
        "query": topic.title,
        "description": topic.description,
        "narrative": topic.narrative,
        "docno": document.docno,
        "title": document.title,
        TEXT: text,
    }
    return {
        "data": data,
        "annotations": [_annotation(row, text) for row in by_people],
        "predictions": [{"model_version": row.judge, "result": _result(row, text)} for row in by_machines],
    }


def _annotation(row: JudgementRow, text: str) -> Mapping[str, object]:
    judge = _region(JUDGE, "textarea", {"text": [row.judge]})
    times = {"created_at": row.judged_at} | ({} if row.seconds is None else {"lead_time": row.seconds})
    return {"result": [*_result(row, text), judge], "was_cancelled": False, "ground_truth": False, **times}


def _result(row: JudgementRow, text: str) -> list[Mapping[str, object]]:
    regions = []
    if row.grade is not None:
        regions.append(_region(GRADE, "choices", {"choices": [str(row.grade)]}))
    if row.cannot_judge is not None:
        regions.append(_region(CANNOT_JUDGE, "choices", {"choices": [row.cannot_judge]}))
    if row.note:
        regions.append(_region(NOTE, "textarea", {"text": [row.note]}))
    # Passages of documents that are shown as pages count the characters of the page.
    for number, passage in enumerate(row.evidence):
        if text[passage.start : passage.end] == passage.text:
            regions.append(_region(EVIDENCE, "labels", {**vars(passage), "labels": [PASSAGE]}, number))
    return regions


def _region(name: str, kind: str, value: Mapping[str, object], number: int = 0) -> Mapping[str, object]:
    return {"id": f"{name}-{number}", "from_name": name, "to_name": TEXT, "type": kind, "value": value}
