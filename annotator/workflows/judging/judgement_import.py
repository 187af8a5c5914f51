"""Import of external labels (assessors, a crowd, a machine) as the judgements of one judge."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import Problem, Problems
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.pooling.ordering import judging_order
from annotator.evaluation.qrels.label_columns import LabelFileColumns, columns_of_rows, packed_topic, read_labels
from annotator.evaluation.qrels.label_refusals import (
    note_decided,
    note_drafts,
    note_kept_apart,
    note_lost_grades,
    note_outside_pool,
    note_outside_pool_of_dropped,
)
from annotator.evaluation.qrels.qrels_format import UNJUDGED, QrelsRow, readable_rows
from annotator.evaluation.qrels.scale import note_outside_scale
from annotator.evaluation.runs.run_intake import DocumentIds
from annotator.files import InputFile
from annotator.storage import (
    ACCEPTED,
    DROPPED,
    Collection,
    LabelFile,
    Topic,
    TopicState,
    User,
    UserKind,
)
from annotator.storage.agreement.machines import MachineFacts, find_or_add_labeller
from annotator.storage.collections.collection import (
    find_open_collection,
    lock_open_collection,
    scale_of,
    topic_ids,
)
from annotator.storage.documents.documents import document_ids, find_or_add_documents
from annotator.storage.judging.imported_judgements import (
    NewLabel,
    PooledLabel,
    PreparedLabels,
    append_labels,
    append_prepared,
    current_labels,
    given_to_decide,
    prepare_labels,
)
from annotator.storage.judging.machine_labels import LabelsOfTopic
from annotator.storage.people.accounts import refuse_person_elsewhere
from annotator.storage.pools.pool_items import add_pool_items, insert_imported
from annotator.storage.pools.pools import PoolState, next_pool, next_seed, pool_item_ids, pool_state
from annotator.storage.tables.judging import OF_A_FILE
from annotator.storage.tables.pools import Besides
from annotator.workflows.judging.machine_labels import store_parts
from annotator.workflows.runs.run_documents import add_missing_documents
from annotator.workflows.topics.topics import numbers_by_query


@dataclass(frozen=True)
class SeenPool:
    """The documents of labels and the pool, read when the labels were checked, and valid while `state` is the same.

    Docno → id, without documents that have no row; (topic id, document id) → pool item id.
    """

    state: PoolState
    documents: Mapping[str, int]
    items: Mapping[tuple[int, int], int]


NOTHING_SEEN = SeenPool(PoolState((), ()), {}, {})  # for labels that need not be in the pool


@dataclass(frozen=True)
class CheckedJudgements:
    """A valid file of labels; machine labels outside the scale are kept apart."""

    name: str
    checksum: str
    rows: tuple[QrelsRow, ...]
    seen: SeenPool = field(repr=False, compare=False)
    outside: tuple[QrelsRow, ...] = ()
    columns: LabelFileColumns | None = None  # all labels, of a machine; there are no rows then
    adds_to_pool: bool = False
    prepared: PreparedLabels | None = field(default=None, repr=False, compare=False)  # valid with `seen`

    @property
    def unjudged(self) -> int:
        """The number of rows with -1."""
        return sum(row.grade == UNJUDGED for row in self.rows) if self.columns is None else self.columns.unjudged

    @property
    def count(self) -> int:
        """The number of labels, without those that are -1."""
        return len(self.rows) - self.unjudged if self.columns is None else self.columns.count

    def problems_outside(self) -> tuple[Problem, ...]:
        """The labels outside the scale, at most a hundred, with their lines."""
        problems = Problems()
        note_kept_apart(self.name, self.outside, problems)
        return problems.by_file()


@dataclass(frozen=True)
class JudgementImport:
    """Result of an import of labels.

    `known` rows change nothing, `unjudged` are -1, `pooled` joined the pool; `outside` are not grades of the scale,
    `outside_pool` labels of a machine for documents that are not in the pool.
    """

    added: int
    changed: int
    known: int
    unjudged: int
    pooled: int
    outside: int = 0
    outside_pool: int = 0


def check_judgements(
    session: Session,
    slug: str,
    file: InputFile,
    *,
    add_to_pool: bool = False,
    by_machine: bool = False,
    unpacked_limit: int,
) -> CheckedJudgements:
    """Read and validate a file of qrels or labels in any format; stores nothing.

    Raises `FileRefusedError` with every problem: the format, its topics, grades outside the scale, and documents
    outside the pool, unless they are to be added; those of a dropped topic never are. A machine's labels outside the
    scale or the pool are not a problem.
    """
    collection = find_open_collection(session, slug)
    if by_machine:
        return _check_labels(session, collection.id, file, add_to_pool=add_to_pool, unpacked_limit=unpacked_limit)
    topics = topic_ids(session, collection.id)
    grades = [grade.value for grade in scale_of(session, collection.id)]
    problems = Problems()
    text = unpack_into(problems, file.name, file.content, unpacked_limit)
    rows = []
    if text is not None:
        rows = readable_rows(
            file.name,
            text,
            problems,
            topics=topics,
            grades=grades,
            input_format=file.input_format,
            titles=numbers_by_query(session, collection.id),
        )
    note_drafts(file.name, rows, topic_ids(session, collection.id, Topic.state == TopicState.DRAFT), problems)
    dropped = topic_ids(session, collection.id, DROPPED)
    accepted = {} if add_to_pool else topic_ids(session, collection.id, ACCEPTED)
    seen = _see_pool(session, collection.id, rows)
    outside_pool = _outside_pool(seen, dropped | accepted, rows)
    note_outside_pool_of_dropped(file.name, (row for row in outside_pool if row.topic in dropped), problems)
    note_outside_pool(file.name, (row for row in outside_pool if row.topic in accepted), problems)
    problems.refuse_if_any()
    checksum, prepared = hashlib.sha256(file.content).hexdigest(), _prepared(session, topics, seen, rows)
    return CheckedJudgements(file.name, checksum, tuple(rows), seen, adds_to_pool=add_to_pool, prepared=prepared)


def _prepared(
    session: Session, topics: Mapping[str, int], seen: SeenPool, rows: Sequence[QrelsRow]
) -> PreparedLabels | None:
    """The labels as rows to insert, if all their documents are in the pool."""
    items = [seen.items.get((topics[row.topic], seen.documents.get(row.docno, 0))) for row in rows]
    pooled = [(row, item) for row, item in zip(rows, items, strict=True) if item is not None]
    if len(pooled) < len(rows):
        return None
    graded = [(row, item) for row, item in pooled if row.grade != UNJUDGED]
    labels = [PooledLabel(row.line, item, row.grade) for row, item in graded]
    return prepare_labels(session, labels, {topics[row.topic] for row, _ in graded})


def _check_labels(
    session: Session, collection_id: int, file: InputFile, *, add_to_pool: bool, unpacked_limit: int
) -> CheckedJudgements:
    """Read and validate the labels of a machine."""
    problems = Problems()
    topics = topic_ids(session, collection_id)
    drafts = topic_ids(session, collection_id, Topic.state == TopicState.DRAFT)
    columns = read_labels(
        file,
        problems,
        topics=topics.keys() - drafts.keys(),
        drafts=drafts.keys(),
        grades=[grade.value for grade in scale_of(session, collection_id)],
        unpacked_limit=unpacked_limit,
        titles=numbers_by_query(session, collection_id),
    )
    problems.refuse_if_any()
    checksum = hashlib.sha256(file.content).hexdigest()
    outside = () if columns is None else tuple(columns.outside)
    return CheckedJudgements(file.name, checksum, (), NOTHING_SEEN, outside, columns, adds_to_pool=add_to_pool)


def store_judgements(
    session: Session,
    slug: str,
    checked: CheckedJudgements,
    *,
    judge: str,
    machine: MachineFacts | None = None,
    added_at: datetime,
) -> JudgementImport:
    """Store valid labels as the judgements of `judge`; a new judge gets an account that cannot sign in.

    Pairs outside the pool join it, with this import as their contribution; those of a machine are stored without
    joining it, unless they are to be added. A label that differs from the judge's current one replaces it; importing
    the same file again changes nothing. Documents with the same text get the label too, unless the judge has given them
    another. With `machine` the judge is a machine: its labels do not count towards
    the judgements wanted, and those outside the scale are stored as “cannot judge”. Raises `ConflictError` when the
    judge is of another kind or a person who is no member, and `FileRefusedError` for documents on which that judge
    decides as an adjudicator.
    """
    collection = lock_open_collection(session, slug, against_judging=True)
    checked = _with_pool_now(session, collection.id, checked)
    _check_still_fitting(session, collection.id, checked)
    user = find_or_add_labeller(session, judge, machine, added_at)
    refuse_person_elsewhere(session, collection.id, user)
    label_file = _new_file(session, collection.id, user.id, checked, added_at)
    if label_file is None:
        return JudgementImport(0, 0, checked.count, checked.unjudged, pooled=0, outside=len(checked.outside))
    if user.kind == UserKind.MACHINE:
        return _store_labels(session, collection, user, checked, label_file)
    return _store_of_person(session, collection, user, checked, added_at)


def _store_of_person(
    session: Session, collection: Collection, user: User, checked: CheckedJudgements, added_at: datetime
) -> JudgementImport:
    """Store the labels of a person as judgements, and pool the documents that are not in the pool."""
    client_ids = f"{OF_A_FILE}{collection.id}-{user.id}-{checked.checksum[:24]}-"
    made = checked.prepared
    if made is not None and append_prepared(session, user.id, made, added_at, client_ids=client_ids):
        return JudgementImport(len(made.items), 0, 0, checked.unjudged, pooled=0, outside=len(checked.outside))
    pairs = _pairs(session, collection.id, checked)
    _refuse_decided(session, collection.id, user, checked, pairs)
    items = checked.seen.items
    strangers = sorted(set(pairs) - items.keys())
    if strangers:
        items = {**items, **_pool(session, collection, strangers, checked, user.name, added_at)}
    labels = _labels(client_ids, checked, [items[one] for one in pairs])
    topic_of = {items[pair]: pair[0] for pair in pairs}
    added, changed = _append(session, collection.id, user, labels, topic_of, added_at)
    return JudgementImport(
        added=added,
        changed=changed,
        known=len(labels) - added - changed,
        unjudged=checked.unjudged,
        pooled=len(strangers),
        outside=len(checked.outside),
    )


def _store_labels(
    session: Session, collection: Collection, judge: User, checked: CheckedJudgements, file: LabelFile
) -> JudgementImport:
    """Store the labels of a machine: packed, and those of pooled documents as judgements, too."""
    columns = checked.columns or columns_of_rows(checked.rows)
    topics = topic_ids(session, collection.id)
    documents = DocumentIds(columns.documents, corpus_is_loaded=False)
    documents = add_missing_documents(session, collection.id, documents)
    pooled = 0
    if checked.adds_to_pool:
        accepted = topic_ids(session, collection.id, ACCEPTED)
        pairs = {
            (topics[one.topic], document)
            for one in columns.of_topics()
            if one.topic in accepted
            for document in documents.ids_of(one.documents).tolist()
        }
        strangers = sorted(pairs - pool_item_ids(session, collection.id).keys())
        pooled = len(strangers)
        if strangers:
            _pool(session, collection, strangers, checked, judge.name, file.imported_at)
    parts = (
        LabelsOfTopic(topics[one.topic], *packed_topic(one, documents.ids_of(one.documents)))
        for one in columns.of_topics()
    )
    stored = store_parts(session, collection.id, judge.id, parts, file, file.imported_at)
    return JudgementImport(
        stored.added,
        stored.changed,
        stored.known,
        columns.unjudged,
        pooled,
        outside=len(columns.outside),
        outside_pool=stored.outside_pool,
    )


def is_new_judge(session: Session, name: str) -> bool:
    """Whether importing labels of this judge would create an account."""
    return session.scalar(select(User.id).where(User.name == name)) is None


def _labels(prefix: str, checked: CheckedJudgements, items: Sequence[int]) -> dict[int, NewLabel]:
    """Pool item → its label in the file, if any; `items` are parallel to the labels."""
    return {
        item: NewLabel(f"{prefix}{row.line}", row.grade)
        for item, row in zip(items, checked.rows, strict=True)
        if row.grade != UNJUDGED
    }


def _append(
    session: Session,
    collection_id: int,
    judge: User,
    labels: Mapping[int, NewLabel],
    topic_of: Mapping[int, int],
    added_at: datetime,
) -> tuple[int, int]:
    """Append the labels that differ from current ones; returns how many are new and how many changed."""
    current = current_labels(session, collection_id, judge.id)
    new = {item: label for item, label in labels.items() if item not in current or not current[item].is_own(label)}
    topics = {topic_of[item] for item in new}
    append_labels(session, collection_id, judge.id, new, current, added_at, topics=topics)
    changed = sum(item in current and not current[item].is_carried for item in new)
    return len(new) - changed, changed


def _check_still_fitting(session: Session, collection_id: int, checked: CheckedJudgements) -> None:
    """Refuse labels no longer valid since the check: a grade removed from the scale, a dropped topic."""
    problems = Problems()
    scale = {grade.value for grade in scale_of(session, collection_id)}
    note_lost_grades(checked.name, checked.rows, scale, problems)
    if checked.columns is not None:
        for grade in [grade for grade in checked.columns.grades() if grade not in scale]:
            note_outside_scale(checked.name, None, grade, scale, problems)
        for topic in sorted(checked.columns.pieces.keys() - topic_ids(session, collection_id).keys()):
            problems.add(checked.name, None, "The collection has no topic %(topic)s.", topic=topic)
    dropped = topic_ids(session, collection_id, DROPPED)
    outside = _outside_pool(checked.seen, dropped, checked.rows)
    note_outside_pool_of_dropped(checked.name, outside, problems)
    problems.refuse_if_any()


def _refuse_decided(
    session: Session, collection_id: int, judge: User, checked: CheckedJudgements, pairs: Sequence[tuple[int, int]]
) -> None:
    """Refuse labels of documents the judge was given as an adjudicator; `pairs` are parallel to the labels."""
    decided = given_to_decide(session, collection_id, judge.id)
    problems = Problems()
    rows = [row for row, pair in zip(checked.rows, pairs, strict=True) if pair in decided]
    note_decided(checked.name, rows, judge.name, problems)
    problems.refuse_if_any()


def _new_file(
    session: Session, collection_id: int, judge_id: int, checked: CheckedJudgements, imported_at: datetime
) -> LabelFile | None:
    """Record that this judge's labels of this file are imported now; None when they were before."""
    same = select(LabelFile.id).where(
        LabelFile.collection_id == collection_id,
        LabelFile.judge_id == judge_id,
        LabelFile.checksum == checked.checksum,
    )
    if session.scalar(same) is not None:
        return None
    file = LabelFile(
        collection_id=collection_id,
        judge_id=judge_id,
        name=checked.name,
        checksum=checked.checksum,
        imported_at=imported_at,
    )
    session.add(file)
    session.flush()
    return file


def _see_pool(session: Session, collection_id: int, rows: Sequence[QrelsRow]) -> SeenPool:
    return SeenPool(
        pool_state(session, collection_id),
        document_ids(session, collection_id, {row.docno for row in rows}),
        pool_item_ids(session, collection_id),
    )


def _with_pool_now(session: Session, collection_id: int, checked: CheckedJudgements) -> CheckedJudgements:
    """The labels with the pool as it is: read again, which takes long for a large one, only if it has changed."""
    if not checked.rows or pool_state(session, collection_id) == checked.seen.state:
        return checked
    return replace(checked, seen=_see_pool(session, collection_id, checked.rows), prepared=None)


def _outside_pool(seen: SeenPool, topics: Mapping[str, int], rows: Sequence[QrelsRow]) -> list[QrelsRow]:
    """Rows of these topics (number → id) whose document is not in the pool."""
    return [
        row
        for row in rows
        if row.topic in topics and (topics[row.topic], seen.documents.get(row.docno)) not in seen.items
    ]


def _pairs(session: Session, collection_id: int, checked: CheckedJudgements) -> list[tuple[int, int]]:
    """(Topic id, document id) of each label; missing documents are added, without text."""
    topics, known = topic_ids(session, collection_id), checked.seen.documents
    missing = {row.docno for row in checked.rows if row.docno not in known}
    documents = {**known, **find_or_add_documents(session, collection_id, missing)} if missing else known
    return [(topics[row.topic], documents[row.docno]) for row in checked.rows]


def _pool(
    session: Session,
    collection: Collection,
    outside: Sequence[tuple[int, int]],
    checked: CheckedJudgements,
    judge: str,
    added_at: datetime,
) -> dict[tuple[int, int], int]:
    """Add the pairs to the pool as a new version, and return the ids of their items."""
    pool = next_pool(
        session,
        collection.id,
        strategy=Besides.IMPORT,
        parameters={"file": checked.name, "checksum": checked.checksum, "judge": judge},
        seed=next_seed(session, collection.id),
        built_by_id=None,
        built_at=added_at,
    )
    items = add_pool_items(session, pool, outside, judgements_wanted=collection.judgements_wanted, order=judging_order)
    insert_imported(session, pool, (items[pair] for pair in outside), checked.name)
    return items
