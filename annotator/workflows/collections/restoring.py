"""Deleted things: listing, restoring, and final removal after the retention period."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.search.search_text import indexed_words
from annotator.storage import Collection, DeletedKind, Deletion, Document, LabelFile, Membership, Role, User
from annotator.storage.collections.arrivals import finish_removals as finish_removals
from annotator.storage.collections.collection import find_collection, find_open_collection, lock_open_collection
from annotator.storage.collections.removal import SavedRows, put_back, read_saved
from annotator.storage.documents.search import index_documents
from annotator.storage.judging.changed_texts import reopen_for_text
from annotator.storage.judging.foreseen_marks import settle_as_foreseen
from annotator.storage.judging.judgement_removal import recount_taken
from annotator.storage.judging.judgements_wanted import topics_with
from annotator.storage.judging.label_removal import OF_ASSIGNMENTS, LabelReturn, prepare_return, take_places
from annotator.storage.runs.run_tops import complete_tops
from annotator.storage.runs.tasks import runs_outside_their_tasks
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.documents import DOCUMENTS
from annotator.storage.topics.revisions import raise_topics

# A finally deleted collection keeps its row for the audit log, under a short name that users cannot choose.
GONE = "%s~%d"
NAMED_RUNS = 10


@dataclass(frozen=True)
class DeletedThing:
    """A deletion that can still be undone, and until when; the name is empty if deleted by command."""

    number: int
    kind: DeletedKind
    subject: str
    counts: Mapping[str, int]
    by: str | None
    deleted_at: datetime
    until: datetime


@dataclass(frozen=True)
class DeletedCollection:
    """A deleted collection that can be restored, and until when."""

    slug: str
    title: str
    deleted_at: datetime
    until: datetime


@dataclass(frozen=True)
class LabelImport:
    """An imported file of labels, and the judge of its judgements."""

    number: int
    name: str
    judge: str
    imported_at: datetime


def list_deletions(session: Session, slug: str, *, days: int) -> list[DeletedThing]:
    """Deletions in a collection that can be undone, newest first."""
    rows = session.execute(
        select(Deletion, User.name)
        .outerjoin(User, User.id == Deletion.deleted_by_id)
        .where(
            Deletion.collection_id == find_collection(session, slug).id,
            Deletion.restored_at.is_(None),
            Deletion.removed_at.is_(None),
        )
        .order_by(Deletion.id.desc())
    )
    return [
        DeletedThing(
            one.id, DeletedKind(one.kind), one.subject, one.counts, by, one.deleted_at, _until(one.deleted_at, days)
        )
        for one, by in rows
    ]


def list_label_imports(session: Session, slug: str) -> list[LabelImport]:
    """Imported files of labels, newest first."""
    rows = session.execute(
        select(LabelFile, User.name)
        .join(User, User.id == LabelFile.judge_id)
        .where(LabelFile.collection_id == find_collection(session, slug).id)
        .order_by(LabelFile.id.desc())
    )
    return [LabelImport(file.id, file.name, judge, file.imported_at) for file, judge in rows]


def list_deleted_collections(
    session: Session, *, days: int, organised_by: int | None = None, only_id: int | None = None
) -> list[DeletedCollection]:
    """Restorable collections by slug: all, or those that the user with this id organised.

    `only_id` is the collection to which a token is restricted.
    """
    statement = select(Collection).where(_can_be_restored()).order_by(Collection.slug)
    if organised_by is not None:
        organised = select(Membership.collection_id).where(
            Membership.user_id == organised_by, Membership.role == Role.ORGANISER
        )
        statement = statement.where(Collection.id.in_(organised))
    if only_id is not None:
        statement = statement.where(Collection.id == only_id)
    return [
        DeletedCollection(one.slug, one.title, one.deleted_at, _until(one.deleted_at, days))
        for one in session.scalars(statement)
        if one.deleted_at is not None
    ]


@dataclass(frozen=True, eq=False)
class ReadDeletion:
    """What a deletion took out, and for an import of labels what else changes when it is put back."""

    saved: SavedRows
    labels: LabelReturn | None = None


def read_deletion(session: Session, slug: str, number: int) -> ReadDeletion:
    """Read what `restore_deletion` puts back, before its transaction; raises `NotFoundError` as it does."""
    collection = find_open_collection(session, slug)
    deletion = _restorable(session, collection, number)
    if deletion.kind != DeletedKind.LABELS:
        return ReadDeletion(read_saved(session, deletion.id))
    saved = read_saved(session, deletion.id, OF_ASSIGNMENTS)
    return ReadDeletion(saved, prepare_return(session, collection, saved))


def restore_deletion(
    session: Session, slug: str, number: int, *, read: ReadDeletion | None = None, at: datetime
) -> DeletedKind:
    """Undo the deletion with this number; `read` is what `read_deletion` read, without it that is read here.

    Raises `NotFoundError` when there is no such deletion (any more), and `ConflictError` when something stored since
    has taken its place, or when runs would have lists for a topic that their task does not have.
    """
    collection = lock_open_collection(session, slug, against_judging=True)
    deletion = _restorable(session, collection, number)
    saved, labels = (read.saved, read.labels) if read else (read_saved(session, deletion.id), None)
    if labels is not None and not labels.holds(session, collection.id):
        labels = None
    kind = DeletedKind(deletion.kind)
    texts = saved.changed(DOCUMENTS) if kind is DeletedKind.DOCUMENTS else []
    _refuse_new_texts(session, texts)
    try:
        with session.begin_nested():
            put_back(session, saved)
            if kind is DeletedKind.TOPIC:
                _refuse_outside_tasks(session, collection.id, saved.of_topics)
    except IntegrityError as error:
        raise ConflictError(
            "It cannot be restored now: its parent was deleted later, or newer data are in its place. Delete the "
            "newer data, or restore the parent first."
        ) from error
    deletion.restored_at = at
    session.flush()
    session.expire_all()
    if kind is DeletedKind.TOPIC:
        for topic_id in saved.of_topics:
            complete_tops(session, collection.id, topic_id)
    topics = {*saved.topics(session), *topics_with(session, texts)}
    if texts:
        _index(session, texts)
        reopen_for_text(session, texts)
    if labels is None:
        recount_taken(session, sorted(topics))
    else:
        take_places(session, labels.places, 1)
    raise_topics(session, topics)
    settle_as_foreseen(session, collection.id, sorted(topics), None if labels is None else labels.marks)
    return kind


def _restorable(session: Session, collection: Collection, number: int) -> Deletion:
    deletion = session.scalar(
        select(Deletion).where(
            Deletion.id == number,
            Deletion.collection_id == collection.id,
            Deletion.restored_at.is_(None),
            Deletion.removed_at.is_(None),
        )
    )
    if deletion is None:
        raise NotFoundError("There is no deletion %(number)d to restore.", number=number)
    return deletion


def restore_collection(
    session: Session, slug: str, *, at: datetime, organised_by: int | None = None, only_id: int | None = None
) -> None:
    """Restore a deleted collection; `NotFoundError` when there is none, or the user did not organise it."""
    found = list_deleted_collections(session, days=0, organised_by=organised_by, only_id=only_id)
    collection = session.scalar(select(Collection).where(Collection.slug == slug, _can_be_restored()).with_for_update())
    if collection is None or slug not in {one.slug for one in found}:
        raise NotFoundError("There is no deleted collection “%(slug)s”.", slug=slug)
    collection.deleted_at = None
    session.execute(
        update(Deletion)
        .where(
            Deletion.collection_id == collection.id,
            Deletion.kind == DeletedKind.COLLECTION,
            Deletion.restored_at.is_(None),
        )
        .values(restored_at=at)
    )
    session.flush()


def begin_removal(session: Session, *, before: datetime, at: datetime) -> int:
    """Mark unrestored deletions from before this time as final, and return their number.

    The rows still exist; `finish_removals` deletes them after this transaction is committed.
    """
    old = session.scalars(
        select(Deletion)
        .where(Deletion.deleted_at < before, Deletion.restored_at.is_(None), Deletion.removed_at.is_(None))
        .with_for_update()
    ).all()
    for deletion in old:
        deletion.removed_at = at
        if deletion.kind == DeletedKind.COLLECTION:
            _give_up_collection(session, deletion.collection_id, at)
    session.flush()
    return len(old)


def _give_up_collection(session: Session, collection_id: int, at: datetime) -> None:
    collection = session.get_one(Collection, collection_id)
    collection.slug = GONE % (collection.slug, collection.id)
    collection.title = collection.terms = collection.corpus = ""
    collection.being_imported = True
    others = update(Deletion).where(Deletion.collection_id == collection_id, Deletion.removed_at.is_(None))
    session.execute(others.values(removed_at=at))


def _can_be_restored() -> ColumnElement[bool]:
    removed = select(Deletion.collection_id).where(
        Deletion.kind == DeletedKind.COLLECTION, Deletion.removed_at.is_not(None)
    )
    return Collection.deleted_at.is_not(None) & Collection.id.not_in(removed)


def _refuse_new_texts(session: Session, documents: list[int]) -> None:
    for some in chunks(documents):
        has_text = select(func.min(Document.docno)).where(Document.id.in_(some), Document.body.is_not(None))
        docno = session.scalar(has_text)
        if docno is not None:
            raise ConflictError("Document “%(docno)s” has a text now.", docno=docno)


def _refuse_outside_tasks(session: Session, collection_id: int, topics: frozenset[int]) -> None:
    """Raise `ConflictError` when runs that changed their task, or whose task changed, do not fit with these topics."""
    runs = runs_outside_their_tasks(session, collection_id, topics)
    if runs:
        named = ", ".join(f"{tag} ({key})" for tag, key in runs[:NAMED_RUNS])
        raise ConflictError(
            "It cannot be restored now: runs would have lists for a topic that their task does not have. Let the task "
            "have every topic until it is restored, or give the runs a task that has it. Runs, each with its task: "
            "%(runs)s.",
            runs=named + (" …" if len(runs) > NAMED_RUNS else ""),
        )


def _index(session: Session, documents: list[int]) -> None:
    for some in chunks(documents):
        texts = session.execute(select(Document.id, Document.title, Document.body).where(Document.id.in_(some)))
        index_documents(session, [(id_, indexed_words(title, body or "")) for id_, title, body in texts])


def _until(deleted_at: datetime, days: int) -> datetime:
    return deleted_at + timedelta(days=days)
