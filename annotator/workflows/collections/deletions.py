"""Deletion of things stored by mistake: previewed with counts, restorable for a while, then final."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import Select, Table, func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import (
    KEPT,
    Collection,
    DeletedKind,
    Deletion,
    Document,
    Judgement,
    LabelFile,
    Pool,
    PoolItem,
    QrelsGrade,
    QrelsVersion,
    Topic,
)
from annotator.storage.collections.audit import Actor, record_in
from annotator.storage.collections.collection import (
    find_collection,
    find_open_collection,
    find_topic,
    lock_collection,
    lock_open_collection,
)
from annotator.storage.collections.removal import NONE_KEPT, Removal
from annotator.storage.documents.documents import document_ids
from annotator.storage.documents.search import forget_documents
from annotator.storage.documents.sources import hold_back
from annotator.storage.judging.duplicates import carry_over_all
from annotator.storage.judging.foreseen_marks import MarksThen, settle_as_foreseen
from annotator.storage.judging.judgement_removal import (
    count_in_hand,
    count_rows,
    counts_of_items,
    held_items_since,
    items_of,
    refuse_in_hand,
)
from annotator.storage.judging.label_removal import (
    ImportedLabels,
    LabelRelease,
    imported_labels,
    prepare_release,
    release_labels,
)
from annotator.storage.pools.pool_removal import KeptPool, keep_pool
from annotator.storage.pools.pools import latest_pool
from annotator.storage.qrels.qrels_versions import MOST_DIGITS
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.documents import DOCUMENTS
from annotator.storage.tables.pools import Besides
from annotator.storage.topics.revisions import raise_topics

# Grace period for judgements that were sent late, for want of a network, after their lease expired.
UNDERWAY = timedelta(days=1)
TEXTS = ("title", "body", "url", "language", "text_hash", "text_changed_at")
NAMED_AT_ONCE = 20

POOLS, ITEMS, TOPICS = (cast("Table", model.__table__) for model in (Pool, PoolItem, Topic))


Prepared = LabelRelease | KeptPool  # what a removal takes out, read before its transaction


@dataclass(frozen=True)
class Foreseen:
    """The preview of a deletion: what it removes, and the text to type as confirmation, "" if none."""

    kind: DeletedKind
    subject: str
    counts: Mapping[str, int]
    to_type: str = ""


@dataclass(frozen=True)
class _Work:
    """A checked deletion: what it removes, and how."""

    foreseen: Foreseen
    take: Callable[[Removal], None]
    topics: tuple[int, ...] = ()
    marks: MarksThen | None = None  # of these topics, after it


def foresee_deletion(
    session: Session, slug: str, kind: DeletedKind, subjects: Sequence[str], *, at: datetime
) -> Foreseen:
    """Preview a deletion; changes and locks nothing, and raises as `delete_it`."""
    find = find_collection if kind is DeletedKind.COLLECTION else find_open_collection
    collection = find(session, slug)
    if kind is DeletedKind.COLLECTION:
        return _foresee_collection(session, collection, at)
    if kind is DeletedKind.LABELS:
        return _foresee_labels(session, collection, subjects, at)
    return _checked(session, collection, kind, subjects, at).foreseen


def prepare_deletion(session: Session, slug: str, kind: DeletedKind, subjects: Sequence[str]) -> Prepared | None:
    """Read what `delete_it` takes out, where that may take long; stores and locks nothing, and raises as `delete_it`.

    None for what is read within the transaction.
    """
    if kind is DeletedKind.LABELS:
        return prepare_release(session, _label_file(session, find_open_collection(session, slug), subjects))
    if kind is DeletedKind.POOL:
        return keep_pool(session, _pool_version(session, find_open_collection(session, slug), subjects))
    return None


def delete_it(
    session: Session,
    slug: str,
    kind: DeletedKind,
    subjects: Sequence[str],
    *,
    typed: str | None,
    actor: Actor,
    at: datetime,
    foreseen: Foreseen | None = None,
    prepared: Prepared | None = None,
) -> tuple[int, Foreseen]:
    """Delete a topic, a pool version, a label import, documents or the collection; returns the deletion's number.

    `subjects` are docnos for documents, otherwise one number. If judgements are deleted too, `typed` must be the
    topic's number or the collection's short name. Raises `ConflictError` for what somebody has judged or holds, or a
    kept version of the qrels contains, `InvalidValueError` if `typed` differs, and `NotFoundError`. `actor` is named in
    the audit log. Of a collection the counts of `foreseen` are recorded, if given: counting a million judgements here
    would hold up every writer. So would reading many labels, without what `prepare_deletion` read.
    """
    if kind is DeletedKind.COLLECTION:
        work = _collection(session, lock_collection(session, slug, against_judging=True), at, foreseen)
    else:
        collection = lock_open_collection(session, slug, against_judging=True)
        work = _checked(session, collection, kind, subjects, at, prepared)
    foreseen = work.foreseen
    if foreseen.to_type and typed != foreseen.to_type:
        raise InvalidValueError("To confirm, type “%(wanted)s”. Nothing was deleted.", wanted=foreseen.to_type)
    # Must precede the deletion of the collection.
    details = {"kind": kind.value, **foreseen.counts}
    record_in(session, actor, "deletions.add", slug, at=at, subject=foreseen.subject, details=details)
    collection = lock_collection(session, slug)
    deletion = _recorded(session, collection, foreseen, actor, at)
    work.take(Removal(session, deletion))
    session.expire_all()
    if work.topics:
        raise_topics(session, work.topics)
        settle_as_foreseen(session, collection.id, work.topics, work.marks)
    if kind is DeletedKind.COLLECTION:
        session.execute(update(Collection).where(Collection.id == deletion.collection_id).values(deleted_at=at))
    return deletion.id, foreseen


def _recorded(session: Session, collection: Collection, foreseen: Foreseen, actor: Actor, at: datetime) -> Deletion:
    deletion = Deletion(
        collection_id=collection.id,
        kind=foreseen.kind.value,
        subject=foreseen.subject,
        counts=dict(foreseen.counts),
        deleted_by_id=actor.user_id,
        deleted_at=at,
    )
    session.add(deletion)
    session.flush()
    return deletion


def _checked(
    session: Session,
    collection: Collection,
    kind: DeletedKind,
    subjects: Sequence[str],
    at: datetime,
    prepared: Prepared | None = None,
) -> _Work:
    if kind is DeletedKind.DOCUMENTS:
        return _documents(session, collection, subjects, at)
    if kind is DeletedKind.LABELS:
        return _labels(session, collection, _label_file(session, collection, subjects), at, prepared)
    if kind is DeletedKind.POOL:
        return _pool(session, _pool_version(session, collection, subjects), at, prepared)
    return _topic(session, collection, _only_one(subjects), at)


def _only_one(subjects: Sequence[str]) -> str:
    if len(subjects) != 1:
        raise InvalidValueError("Name one thing to delete.")
    return subjects[0]


def _collection(session: Session, collection: Collection, at: datetime, foreseen: Foreseen | None) -> _Work:
    refuse_in_hand(session, items_of(Topic.collection_id == collection.id), at)
    return _Work(foreseen or _foresee_collection(session, collection, at), lambda _: None)


def _foresee_collection(session: Session, collection: Collection, at: datetime) -> Foreseen:
    items = items_of(Topic.collection_id == collection.id)
    refuse_in_hand(session, items, at)
    counts = {
        "topics": count_rows(session, select(Topic.id).where(Topic.collection_id == collection.id)),
        **counts_of_items(session, items),
    }
    return Foreseen(DeletedKind.COLLECTION, "", counts, collection.slug)


def _topic(session: Session, collection: Collection, number: str, at: datetime) -> _Work:
    topic = find_topic(session, collection.id, number)
    kept = session.scalar(
        select(func.max(QrelsVersion.number))
        .join(QrelsGrade, QrelsGrade.qrels_version_id == QrelsVersion.id)
        .where(QrelsVersion.collection_id == collection.id, QrelsGrade.topic_id == topic.id)
    )
    if kept is not None and kept < 0:
        raise ConflictError("Qrels with topic %(number)s are being kept. Try again when that is done.", number=number)
    if kept is not None:
        raise ConflictError(
            "Topic %(number)s is in version %(version)d of the qrels, which is kept as it is: drop the topic instead.",
            number=number,
            version=kept,
        )
    items = items_of(PoolItem.topic_id == topic.id)
    refuse_in_hand(session, items, at)
    counts = counts_of_items(session, items)
    to_type = number if counts["judgements"] else ""

    def take(removal: Removal) -> None:
        removal.take_out({TOPICS: TOPICS.c.id == topic.id})

    return _Work(Foreseen(DeletedKind.TOPIC, number, counts, to_type), take)


def _pool_version(session: Session, collection: Collection, subjects: Sequence[str]) -> Pool:
    number = _only_one(subjects)
    pool = session.scalar(
        select(Pool).where(Pool.collection_id == collection.id, Pool.version == _whole_number(number))
    )
    if pool is None:
        raise NotFoundError("There is no version %(number)s of the pool.", number=number)
    return pool


def _pool(session: Session, pool: Pool, at: datetime, prepared: Prepared | None) -> _Work:
    _refuse_built_on(session, pool)
    _refuse_kept_from(session, pool)
    items = _items_since(pool)
    counts = counts_of_items(session, items)
    if counts["judgements"]:
        raise ConflictError(
            "Judgements of documents that came with version %(number)d of the pool: %(count)d. It stays.",
            number=pool.version,
            count=counts["judgements"],
        )
    refuse_in_hand(session, items, at - UNDERWAY)
    topics = tuple(session.scalars(select(PoolItem.topic_id).where(PoolItem.id.in_(items)).distinct()))

    kept = prepared.kept if isinstance(prepared, KeptPool) and prepared.holds(session, pool) else NONE_KEPT

    def take(removal: Removal) -> None:
        removal.take_out({POOLS: POOLS.c.id == pool.id}, kept)

    return _Work(Foreseen(DeletedKind.POOL, str(pool.version), {"documents": counts["documents"]}), take, topics)


def _items_since(pool: Pool) -> Select[int]:
    """The items that came with a version; with their topics, too, SQLite would read every item of the collection."""
    return select(PoolItem.id).where(PoolItem.first_pool_id == pool.id)


def _refuse_built_on(session: Session, pool: Pool) -> None:
    latest = latest_pool(session, pool.collection_id)
    if latest is not None and latest.version != pool.version:
        raise ConflictError(
            "Version %(latest)d of the pool was made after version %(number)d: delete the newest one first.",
            latest=latest.version,
            number=pool.version,
        )


def _refuse_kept_from(session: Session, pool: Pool) -> None:
    """Refuse a pool from which a kept version of the qrels was created: its scores depend on the pool's sample."""
    for version in session.scalars(select(QrelsVersion).where(QrelsVersion.collection_id == pool.collection_id, KEPT)):
        if version.pool_version == pool.version:
            raise ConflictError(
                "Version %(number)d of the qrels, which is kept, was made from version %(pool)d of the pool: that "
                "stays, too.",
                number=version.number,
                pool=pool.version,
            )


def _label_file(session: Session, collection: Collection, subjects: Sequence[str]) -> LabelFile:
    number = _only_one(subjects)
    file = session.scalar(
        select(LabelFile).where(LabelFile.collection_id == collection.id, LabelFile.id == _whole_number(number))
    )
    if file is None:
        raise NotFoundError("There is no import of labels %(number)s.", number=number)
    return file


def _foresee_labels(session: Session, collection: Collection, subjects: Sequence[str], at: datetime) -> Foreseen:
    file = _label_file(session, collection, subjects)
    labels = imported_labels(session, file)
    return _foreseen_of(session, file, labels, _pool_of_import(session, collection, file, labels, at))


def _foreseen_of(session: Session, file: LabelFile, labels: ImportedLabels, pool: Pool | None) -> Foreseen:
    documents = 0 if pool is None else count_rows(session, _items_since(pool))
    return Foreseen(DeletedKind.LABELS, str(file.id), {"judgements": len(labels.own), "documents": documents})


def _labels(
    session: Session, collection: Collection, file: LabelFile, at: datetime, prepared: Prepared | None
) -> _Work:
    if isinstance(prepared, LabelRelease) and prepared.file_id == file.id and prepared.holds(session):
        release = prepared
    else:
        release = prepare_release(session, file)
    labels, judge_id = release.labels, file.judge_id
    pool = _pool_of_import(session, collection, file, labels, at)

    def take(removal: Removal) -> None:
        release_labels(session, removal, release)
        carry_over_all(session, judge_id, labels.topics)
        if pool is not None:
            removal.take_out({POOLS: POOLS.c.id == pool.id})

    # With a version of the pool items go that the marks were computed with.
    marks = release.marks if pool is None else None
    return _Work(_foreseen_of(session, file, labels, pool), take, labels.topics, marks)


def _pool_of_import(
    session: Session, collection: Collection, file: LabelFile, labels: ImportedLabels, at: datetime
) -> Pool | None:
    """The pool version that an import created, if it is the latest and nobody else judged its documents."""
    pool = latest_pool(session, collection.id)
    if pool is None or pool.strategy != Besides.IMPORT or pool.parameters.get("checksum") != file.checksum:
        return None
    items = _items_since(pool)
    judged = set(session.scalars(select(Judgement.id).where(Judgement.pool_item_id.in_(items))))
    is_free = judged <= labels.all_ids and not count_in_hand(session, items, at - UNDERWAY)
    return pool if is_free else None


def _documents(session: Session, collection: Collection, docnos: Sequence[str], at: datetime) -> _Work:
    ids = document_ids(session, collection.id, docnos)
    unknown = sorted(set(docnos) - ids.keys())
    if not docnos or unknown:
        raise NotFoundError("There is no document “%(docno)s”.", docno=unknown[0] if unknown else "")
    judged, with_text, topics = _state_of_documents(session, ids, at)
    if judged:
        raise ConflictError(
            "Documents that were judged or are held by judges: %(count)d: %(docnos)s. Nothing was deleted.",
            count=len(judged),
            docnos=", ".join(judged[:NAMED_AT_ONCE]),
        )

    def take(removal: Removal) -> None:
        for some in chunks(with_text):
            for name in TEXTS:
                removal.change(DOCUMENTS.c[name], DOCUMENTS.c.id.in_(some), "" if name == "title" else None)
        forget_documents(session, with_text)
        hold_back(session, collection.id, with_text)

    subject = docnos[0] if len(docnos) == 1 else str(len(docnos))
    return _Work(Foreseen(DeletedKind.DOCUMENTS, subject, {"documents": len(with_text)}), take, topics)


def _state_of_documents(
    session: Session, ids: Mapping[str, int], at: datetime
) -> tuple[list[str], list[int], tuple[int, ...]]:
    """The docnos that cannot be deleted, the ids with a text, and the topics whose pool has any of them."""
    judged: list[str] = []
    with_text: list[int] = []
    topics: set[int] = set()
    docnos = {id_: docno for docno, id_ in ids.items()}
    for some in chunks(sorted(docnos)):
        items = items_of(PoolItem.document_id.in_(some))
        busy = select(PoolItem.document_id).where(
            PoolItem.id.in_(items),
            PoolItem.id.in_(select(Judgement.pool_item_id)) | PoolItem.id.in_(held_items_since(at - UNDERWAY)),
        )
        judged += [docnos[id_] for id_ in session.scalars(busy.distinct())]
        with_text += session.scalars(select(Document.id).where(Document.id.in_(some), Document.body.is_not(None)))
        topics |= set(session.scalars(select(PoolItem.topic_id).where(PoolItem.id.in_(items)).distinct()))
    return sorted(judged), with_text, tuple(sorted(topics))


def _whole_number(written: str) -> int:
    return int(written) if written.isascii() and written.isdecimal() and len(written) <= MOST_DIGITS else 0
