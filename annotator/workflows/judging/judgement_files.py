"""All judgements as a file in any format, with names or pseudonyms."""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError
from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.formats.judge_files import judge_lines
from annotator.evaluation.formats.pseudonyms import pseudonyms_of, without_names
from annotator.evaluation.formats.topic_formats import ParsedTopic
from annotator.evaluation.outputs.judgement_outputs import (
    CSV,
    JUDGE_FILE,
    JUDGEMENT_OUTPUTS,
    LABEL_STUDIO_CONFIG,
    OF_ROWS,
    JudgementRow,
    JudgementsFormat,
)
from annotator.evaluation.outputs.label_studio import labelling_configuration, task
from annotator.evaluation.outputs.output_formats import named
from annotator.evaluation.qrels.machine_labels import label_rows
from annotator.storage import Topic, User, UserKind
from annotator.storage.agreement.machines import machines_of
from annotator.storage.collections.bundles import people_in
from annotator.storage.collections.collection import find_collection, scale_of, topic_ids
from annotator.storage.documents.documents import corpus, docnos_of
from annotator.storage.people.accounts import find_user
from annotator.storage.tables.judging import REASONS
from annotator.workflows.judging.judgement_export import export_judgements, judgements_csv
from annotator.workflows.judging.machine_labels import machine_labels

WRITERS = {**OF_ROWS, CSV: judgements_csv}
NO_LINE = 0


@dataclass
class JudgementFile:
    """The file in pieces, to be read within the transaction; then `without_text` counts the documents left out."""

    format: JudgementsFormat
    pieces: Iterator[bytes]
    without_text: int = 0


def judgement_file(
    session: Session, slug: str, format_name: str, *, secret: str | None = None, judge: str | None = None
) -> JudgementFile:
    """The judgements of a collection in the format of this name; with a secret, people have pseudonyms made from it.

    Names in notes are replaced too. `judge` is whose labels are written in the format of labels with confidence, by
    default the only machine's. Raises `NotFoundError` for an unknown collection or judge, `InvalidValueError` for an
    unknown format and for a judge that a format needs or does not take, and `ConflictError` for tasks of Label Studio
    when no judged document has a text.
    """
    format_ = named(JUDGEMENT_OUTPUTS, format_name)
    collection = find_collection(session, slug)
    if format_.name == JUDGE_FILE:
        return JudgementFile(format_, _labels(session, collection.id, _judge(session, collection.id, judge), secret))
    if judge:
        raise InvalidValueError("Only labels with confidence are of one judge: leave the judge out.")
    if format_.name == LABEL_STUDIO_CONFIG:
        grades = [(grade.value, grade.name) for grade in scale_of(session, collection.id)]
        return JudgementFile(format_, iter([labelling_configuration(grades, REASONS)]))
    rows, machines = export_judgements(session, slug), set[str]()
    if secret is not None or format_.name not in WRITERS:
        people = people_in(session, collection.id)
        machines = {row["name"] for row in people if row["kind"] == UserKind.MACHINE}
        persons = [row["name"] for row in people if row["name"] not in machines]
        names = {} if secret is None else pseudonyms_of(persons, secret)
        rows = (_renamed(row, names) for row in rows)
    if format_.name in WRITERS:
        return JudgementFile(format_, WRITERS[format_.name](rows))
    made = JudgementFile(format_, iter(()))
    made.pieces = _tasks(session, collection.id, rows, machines, made)
    return made


def _judge(session: Session, collection_id: int, name: str | None) -> User:
    """The judge of this name, or the only machine."""
    if name:
        return find_user(session, name)
    machines = [one.name for one in machines_of(session, collection_id)]
    if len(machines) != 1:
        raise InvalidValueError(
            "Name the judge whose labels are to be written; machine judges: %(names)s.",
            names=", ".join(machines) or "-",
        )
    return find_user(session, machines[0])


def _labels(session: Session, collection_id: int, judge: User, secret: str | None) -> Iterator[bytes]:
    """The labels of a judge that count, topic by topic, in the order of docnos."""
    persons = [row["name"] for row in people_in(session, collection_id) if row["kind"] == UserKind.PERSON]
    name = judge.name if secret is None else pseudonyms_of(persons, secret).get(judge.name, judge.name)
    topics = topic_ids(session, collection_id)
    for number in sorted(topics, key=natural_order):
        for labels in machine_labels(session, judge.id, [topics[number]]).values():
            docnos = docnos_of(session, [*labels.document_ids.tolist(), *labels.outside])
            yield judge_lines(name, number, label_rows(labels, docnos))


def _renamed(row: JudgementRow, names: dict[str, str]) -> JudgementRow:
    if not names:
        return row
    return row._replace(judge=names.get(row.judge, row.judge), note=str(without_names(row.note, names)))


def _tasks(
    session: Session, collection_id: int, rows: Iterator[JudgementRow], machines: set[str], made: JudgementFile
) -> Iterator[bytes]:
    """One JSON list, with a task on each line, topic by topic."""
    judged: dict[str, dict[str, list[JudgementRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.current:
            judged[row.topic][row.docno].append(row)
    topics = session.scalars(select(Topic).where(Topic.collection_id == collection_id)).all()
    before = b"["
    for topic in sorted(topics, key=lambda topic: natural_order(topic.number)):
        by_docno = judged[topic.number]
        about = ParsedTopic(topic.number, topic.title, topic.description, topic.narrative, topic.language, NO_LINE)
        made.without_text += len(by_docno)
        for text in corpus(session, collection_id, by_docno):
            several = by_docno[text.docno]
            by_machines = [row for row in several if row.judge in machines]
            by_people = [row for row in several if row.judge not in machines]
            written = task(about, ParsedDocument(*text, NO_LINE), by_people, by_machines)
            yield before + b"\n" + json.dumps(written, ensure_ascii=False).encode()
            before, made.without_text = b",", made.without_text - 1
    if before == b"[":
        raise ConflictError("No judged document has a text, and Label Studio shows texts: import the documents first.")
    yield b"\n]\n"
