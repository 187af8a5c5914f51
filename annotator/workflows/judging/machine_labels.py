"""Labels of machines: stored packed by topic, also for documents outside the pool, and read again.

Labels of pooled documents are judgements, too, from which qrels, agreement and histories are made.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.qrels.machine_labels import (
    NOTHING_OUTSIDE,
    Given,
    Judged,
    PackedLabels,
    changes_of,
    is_damaged,
    labels_at,
    pack_labels,
    unpack_labels,
)
from annotator.storage import Collection as CollectionRow
from annotator.storage import LabelFile, Topic, User, UserKind
from annotator.storage.collections.checking import Finding
from annotator.storage.collections.collection import lock_open_collection
from annotator.storage.judging.imported_judgements import OUTSIDE_SCALE, NewLabel, append_labels, current_labels
from annotator.storage.judging.machine_labels import (
    LabelsOfTopic,
    append_machine_labels,
    client_ids_of,
    items_of_topic,
    judged_by_machine,
    stored_labels,
    stored_rows,
    unjudged_labels,
)
from annotator.storage.topics.revisions import raise_topics


@dataclass(frozen=True)
class StoredLabels:
    """How many labels were added, changed or known before, and how many of all are of documents outside the pool."""

    added: int
    changed: int
    known: int
    outside_pool: int


def add_labels(
    session: Session,
    judge_id: int,
    topic_id: int,
    document_ids: Given,
    grades: Given,
    *,
    confidences: Given | None = None,
    probabilities: Given | None = None,
    outside: Mapping[int, str] = NOTHING_OUTSIDE,
    at: datetime,
) -> StoredLabels:
    """Add labels of a machine for documents (row ids) of one topic, in or outside the pool; the newest ones count.

    `confidences` has a number from 0 to 1 for each document, `probabilities` a row with one for each grade of the
    scale. `outside` maps further documents to labels that are not grades. Raises `InvalidValueError` for arrays that do
    not fit together, and `ConflictError` for a judge that is no machine and a closed collection.
    """
    packed = pack_labels(document_ids, grades, confidences=confidences, probabilities=probabilities, outside=outside)
    judge = session.get_one(User, judge_id)
    if judge.kind != UserKind.MACHINE:
        raise ConflictError("“%(name)s” is a person: labels like these are of a machine.", name=judge.name)
    topic = session.get_one(Topic, topic_id)
    slug = session.get_one(CollectionRow, topic.collection_id).slug
    collection = lock_open_collection(session, slug, against_judging=True)
    return store_parts(session, collection.id, judge_id, [LabelsOfTopic(topic_id, *packed)], None, at)


def machine_labels(session: Session, judge_id: int, topic_ids: Collection[int]) -> dict[int, PackedLabels]:
    """Topic id → the labels of a machine that count, for topics with any; of pooled documents its judgements count."""
    parts = stored_labels(session, judge_id, topic_ids)
    judged = judged_by_machine(session, judge_id, topic_ids)
    return {
        topic_id: unpack_labels(parts.get(topic_id, ()), [Judged(*one) for one in judged.get(topic_id, ())])
        for topic_id in sorted(parts.keys() | judged.keys())
    }


def store_parts(
    session: Session,
    collection_id: int,
    judge_id: int,
    parts: Iterable[LabelsOfTopic],
    file: LabelFile | None,
    at: datetime,
) -> StoredLabels:
    """Store packed labels of a machine; the caller has locked the collection against judging.

    Those of pooled documents that differ from the machine's judgement become one.
    """
    labels: dict[int, NewLabel] = {}
    added = changed = known = count = 0
    topics = []
    file_id = None if file is None else file.id
    for part in parts:
        of_topic = items_of_topic(session, part.topic_id)
        before = stored_labels(session, judge_id, [part.topic_id]).get(part.topic_id, ())
        [row_id] = append_machine_labels(session, judge_id, [part], label_file_id=file_id, at=at)
        changes = changes_of(before, part, of_topic.keys())
        begin = client_ids_of(collection_id, judge_id, file.checksum if file else f"labels{row_id}")
        for one in labels_at(part, changes.pooled):
            client_id = f"{begin}-{part.topic_id}.{one.document_id}"
            note = "" if one.grade is not None else f"{OUTSIDE_SCALE}{one.label}"
            labels[of_topic[one.document_id]] = NewLabel(client_id, one.grade, note)
        added, changed, known = added + changes.added, changed + changes.changed, known + changes.known
        topics.append(part.topic_id)
    count = added + changed + known
    raise_topics(session, topics)
    current = current_labels(session, collection_id, judge_id, topics)
    new = {item: label for item, label in labels.items() if item not in current or not current[item].is_own(label)}
    if new:
        append_labels(session, collection_id, judge_id, new, current, at, topics=topics, takes_place=False)
    replaced = sum(item in current and not current[item].is_carried for item in new)
    return StoredLabels(added + len(new) - replaced, changed + replaced, known + len(labels) - len(new), count)


def check_labels(session: Session) -> Finding:
    """Find packed labels that cannot be read, and labels of pooled documents that are no judgements."""
    damaged = sum(map(is_damaged, stored_rows(session)))
    if damaged:
        return Finding("Labels of machines that cannot be read", damaged)
    return Finding("Labels of machines for pooled documents that are no judgements", unjudged_labels(session))
