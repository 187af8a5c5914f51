"""Labels of machines, packed by topic and import; those of pooled documents are judgements, too.

A document that joins the pool after it was labelled gets its judgement then.
"""

import sys
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Select, String, Table, exists, func, insert, or_, select
from sqlalchemy.orm import Session

from annotator.storage.judging.imported_judgements import OUTSIDE_SCALE, NewLabel, append_labels
from annotator.storage.site.bulk_insert import chunks, fetch_rows
from annotator.storage.tables.judging import HAS_IT, OF_A_FILE, Assignment, Judgement, LabelFile, MachineLabels
from annotator.storage.tables.people import MACHINES
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

MACHINE_LABELS = cast("Table", MachineLabels.__table__)
ROWS_AT_ONCE = 8  # each may have megabytes
DIGITS_OF_CHECKSUM = 24  # in the client id of an imported label


class LabelsOfTopic(NamedTuple):
    """Packed labels of one topic, as `annotator.evaluation.qrels.machine_labels` packs them."""

    topic_id: int
    documents: bytes
    grades: bytes
    confidences: bytes | None
    probabilities: bytes | None
    outside: list[list[Any]]


class JudgedByMachine(NamedTuple):
    """A machine's current judgement of a pooled document; `label` is its text when it is not a grade."""

    document_id: int
    grade: int | None
    label: str


def append_machine_labels(
    session: Session, judge_id: int, labels: Iterable[LabelsOfTopic], *, label_file_id: int | None, at: datetime
) -> list[int]:
    """Add packed labels of a machine, and return the ids of the rows."""
    ids = []
    for one in labels:  # one by one: the rows of an import have hundreds of megabytes
        values = {**one._asdict(), "judge_id": judge_id, "label_file_id": label_file_id, "labelled_at": at}
        ids.append(session.execute(insert(MachineLabels).returning(MachineLabels.id), [values]).scalar_one())
    return ids


def stored_labels(session: Session, judge_id: int, topic_ids: Collection[int]) -> dict[int, list[LabelsOfTopic]]:
    """Topic id → the packed labels of a machine, the oldest first."""
    found: dict[int, list[LabelsOfTopic]] = {}
    statement = select(*(getattr(MachineLabels, name) for name in LabelsOfTopic._fields)).order_by(MachineLabels.id)
    for some in chunks(sorted(topic_ids)):
        of_judge = statement.where(MachineLabels.judge_id == judge_id, MachineLabels.topic_id.in_(some))
        for row in session.execute(of_judge):
            found.setdefault(row.topic_id, []).append(LabelsOfTopic._make(row))
    return found


def topics_with_labels_outside(session: Session, collection_id: int) -> dict[int, list[int]]:
    """Machine → the topics of a collection with a packed label, of any time, that is not a grade of the scale."""
    pairs = (
        select(MachineLabels.judge_id, MachineLabels.topic_id)
        .join(Topic, Topic.id == MachineLabels.topic_id)
        .where(
            Topic.collection_id == collection_id,
            MachineLabels.judge_id.in_(MACHINES),
            func.length(MachineLabels.outside.cast(String)) > len("[]"),
        )
        .distinct()
    )
    found: dict[int, list[int]] = {}
    for judge_id, topic_id in session.execute(pairs):
        found.setdefault(judge_id, []).append(topic_id)
    return found


def has_confidences(session: Session, collection_id: int, judge_id: int) -> bool:
    """Whether any of a machine's labels in a collection has a confidence or probabilities."""
    given = or_(MachineLabels.confidences.is_not(None), MachineLabels.probabilities.is_not(None))
    row = select(MachineLabels.id).join(Topic, Topic.id == MachineLabels.topic_id)
    of_judge = row.where(Topic.collection_id == collection_id, MachineLabels.judge_id == judge_id, given)
    return session.scalar(of_judge.limit(1)) is not None


def judged_by_machine(session: Session, judge_id: int, topic_ids: Collection[int]) -> dict[int, list[JudgedByMachine]]:
    """Topic id → the machine's current judgements."""
    found: dict[int, list[JudgedByMachine]] = {}
    statement = (
        select(PoolItem.topic_id, PoolItem.document_id, Judgement.grade, Judgement.note)
        .join(Judgement, Judgement.pool_item_id == PoolItem.id)
        .where(Judgement.judge_id == judge_id, Judgement.current)
    )
    for some in chunks(sorted(topic_ids)):
        for topic_id, document_id, grade, note in fetch_rows(session, statement.where(PoolItem.topic_id.in_(some))):
            label = "" if grade is not None else note.removeprefix(OUTSIDE_SCALE)
            found.setdefault(topic_id, []).append(JudgedByMachine(document_id, grade, label))
    return found


def items_of_topic(session: Session, topic_id: int) -> dict[int, int]:
    """Document id → id of the pool item, of a topic."""
    items = select(PoolItem.document_id, PoolItem.id).where(PoolItem.topic_id == topic_id)
    return dict(fetch_rows(session, items))


def client_ids_of(collection_id: int, judge_id: int, origin: str) -> str:
    """What the client ids of labels begin with; `origin` is the checksum of their file, or names their row."""
    return f"{OF_A_FILE}{collection_id}-{judge_id}-{origin[:DIGITS_OF_CHECKSUM]}"


def judge_pooled(session: Session, collection_id: int, topic_ids: Sequence[int], judge_id: int | None = None) -> None:
    """Append the judgements that pooled documents of these topics lack for labels of machines, or of this one.

    A document that the machine was given or has judged keeps what it has.
    """
    machines = select(MachineLabels.judge_id).where(MachineLabels.judge_id.in_(MACHINES)).distinct()
    machines = machines.order_by(MachineLabels.judge_id)
    if judge_id is not None:
        machines = machines.where(MachineLabels.judge_id == judge_id)
    for some in chunks(list(topic_ids)):
        for machine in session.scalars(machines.where(MachineLabels.topic_id.in_(some))).all():
            for at, labels in _missing(session, collection_id, machine, some).items():
                append_labels(session, collection_id, machine, labels, {}, at, takes_place=False)


def unjudged_labels(session: Session) -> int:
    """How many pooled documents have a label of a machine that is no judgement, in all collections."""
    pairs = select(MachineLabels.judge_id, MachineLabels.topic_id).where(MachineLabels.judge_id.in_(MACHINES))
    of_topics = (_newest(session, machine, [topic_id]) for machine, topic_id in session.execute(pairs.distinct()).all())
    return sum(len(found) for of_rows in of_topics for _, found in of_rows)


def stored_rows(session: Session) -> Iterator[LabelsOfTopic]:
    """All packed labels, a few in memory at once."""
    columns = select(*(getattr(MachineLabels, name) for name in LabelsOfTopic._fields)).order_by(MachineLabels.id)
    for row in session.execute(columns, execution_options={"yield_per": ROWS_AT_ONCE}):
        yield LabelsOfTopic._make(row)


def _missing(
    session: Session, collection_id: int, judge_id: int, topic_ids: Sequence[int]
) -> dict[datetime, dict[int, NewLabel]]:
    """When labels were given → item → the label of an item without a judgement."""
    missing: dict[datetime, dict[int, NewLabel]] = {}
    for row, found in _newest(session, judge_id, topic_ids):
        begin = client_ids_of(collection_id, judge_id, row.checksum or f"labels{row.id}")
        grades, texts = _numbers("h", row.grades), dict(row.outside)
        of_moment = missing.setdefault(row.labelled_at, {})
        for item_id, position, document_id in found:
            client_id = f"{begin}-{row.topic_id}.{document_id}"
            if position in texts:
                of_moment[item_id] = NewLabel(client_id, None, f"{OUTSIDE_SCALE}{texts[position]}")
            else:
                of_moment[item_id] = NewLabel(client_id, grades[position])
    return missing


def _newest(
    session: Session, judge_id: int, topic_ids: Sequence[int]
) -> Iterator[tuple[Any, list[tuple[int, int, int]]]]:
    """Rows of labels, and what counts of them for items without a judgement: item, position in the row, document."""
    items: dict[int, dict[int, int]] = {}
    for item_id, topic_id, document_id in fetch_rows(session, _without_judgement(judge_id, topic_ids)):
        items.setdefault(topic_id, {})[document_id] = item_id
    if not items:
        return
    statement = (
        select(
            *(MachineLabels.id, MachineLabels.topic_id, MachineLabels.labelled_at, MachineLabels.documents),
            *(MachineLabels.grades, MachineLabels.outside, LabelFile.checksum),
        )
        .outerjoin(LabelFile, LabelFile.id == MachineLabels.label_file_id)
        .where(MachineLabels.judge_id == judge_id, MachineLabels.topic_id.in_(list(items)))
        .order_by(MachineLabels.topic_id, MachineLabels.id.desc())
    )
    # The newest row first: what it labels, earlier ones do not.
    for row in session.execute(statement, execution_options={"yield_per": ROWS_AT_ONCE}):
        of_topic = items[row.topic_id]
        numbers = _numbers("i", row.documents) if of_topic else ()
        labelled = [(place, document) for place, document in enumerate(numbers) if document in of_topic]
        if labelled:
            yield row, [(of_topic.pop(document), place, document) for place, document in labelled]


def _without_judgement(judge_id: int, topic_ids: Sequence[int]) -> Select[int, int, int]:
    """Items of these topics that this judge was not given and has not judged, with topic and document."""
    given = exists().where(Assignment.pool_item_id == PoolItem.id, Assignment.judge_id == judge_id, HAS_IT)
    judged = exists().where(Judgement.pool_item_id == PoolItem.id, Judgement.judge_id == judge_id)
    return (
        select(PoolItem.id, PoolItem.topic_id, PoolItem.document_id)
        .where(PoolItem.topic_id.in_(topic_ids), ~given, ~judged)
        .order_by(PoolItem.id)
    )


def _numbers(kind: str, packed: bytes) -> "array[int]":
    """Little-endian integers."""
    numbers = array(kind)
    numbers.frombytes(packed)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
