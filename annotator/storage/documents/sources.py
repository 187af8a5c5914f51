"""Sources of texts, and the documents that are fetched from them: find, take, and record what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import delete, exists, func, insert, select, update
from sqlalchemy.orm import Session

from annotator.errors import Sentence
from annotator.storage.documents.documents import document_ids
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.collections import SHOWN, Collection, CollectionState
from annotator.storage.tables.documents import Document, DocumentFetch, DocumentSource
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic

# An attempt whose worker was lost is made again after this time.
LONGEST_ATTEMPT = timedelta(minutes=5)
# Between the attempts at a document that the source does not give, after the last of which it is given up.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (60, 600, 3_600, 21_600, 86_400))
# A text that was imported in another way is no failure of its source.
HAS_FAILED = (DocumentFetch.problem != "") & (Document.body.is_(None) | DocumentFetch.fetched_at.is_not(None))
# While a source gives nothing at all; the last one is repeated.
SOURCE_PAUSES = tuple(timedelta(seconds=seconds) for seconds in (10, 30, 120, 600))
DELETED = Sentence("The text was deleted here.")


class DueDocument(NamedTuple):
    """A document to fetch, with the number of this attempt."""

    document_id: int
    docno: str
    attempt: int


@dataclass(frozen=True)
class FailedFetch:
    """A document that was not fetched, and why, as a template in English with its values.

    `counts` is False when it says nothing about the document, as when the source cannot be reached.
    """

    due: DueDocument
    problem: str
    values: Mapping[str, Any]
    counts: bool


@dataclass(frozen=True)
class FetchCounts:
    """How many documents of a source wait, were fetched, will be tried again, and were given up."""

    waiting: int
    fetched: int
    failing: int
    given_up: int


def find_source(session: Session, collection_id: int) -> DocumentSource | None:
    """The source of a collection; None when it has none."""
    return session.scalar(select(DocumentSource).where(DocumentSource.collection_id == collection_id))


def delete_source(session: Session, collection_id: int) -> None:
    """Delete the source of a collection, if it has one, and what is known of its documents."""
    ids = select(DocumentSource.id).where(DocumentSource.collection_id == collection_id)
    session.execute(delete(DocumentFetch).where(DocumentFetch.source_id.in_(ids)))
    session.execute(delete(DocumentSource).where(DocumentSource.collection_id == collection_id))


def copy_source(session: Session, old_id: int, new_id: int, *, at: datetime) -> None:
    """Copy the source of a collection, if it has one, to another that has none."""
    old = find_source(session, old_id)
    if old is None:
        return
    names = ("kind", "location", "options", "by_command", "set_by_id")
    session.add(DocumentSource(collection_id=new_id, set_at=at, **{name: getattr(old, name) for name in names}))


def pause_source(source: DocumentSource, problem: Sentence, seconds: int | None, *, at: datetime) -> None:
    """Leave a source alone that gave nothing: for longer each time, and as long as it asked for."""
    pause = SOURCE_PAUSES[min(source.failures, len(SOURCE_PAUSES) - 1)]
    source.paused_until = at + max(pause, timedelta(seconds=seconds or 0))
    source.failures += 1
    source.problem, source.problem_values = problem.template, dict(problem.values)


def open_sources(session: Session) -> list[tuple[DocumentSource, str]]:
    """The sources of collections that are open, each with the collection's slug, by id."""
    rows = session.execute(
        select(DocumentSource, Collection.slug)
        .join(Collection, Collection.id == DocumentSource.collection_id)
        .where(SHOWN, Collection.state != CollectionState.CLOSED)
        .order_by(DocumentSource.id)
    )
    return [(source, slug) for source, slug in rows]


def documents_to_note(session: Session, source: DocumentSource, *, most: int) -> list[int]:
    """The ids of pooled documents of accepted topics that have no text and are not known to the source yet.

    In the order of their topics, as storing a text settles the whole topics that have it.
    """
    unknown = ~exists().where(DocumentFetch.document_id == Document.id)
    return list(
        session.scalars(
            select(Document.id)
            .select_from(Topic)
            .join(PoolItem, PoolItem.topic_id == Topic.id)
            .join(Document, Document.id == PoolItem.document_id)
            .where(Topic.collection_id == source.collection_id, ACCEPTED, Document.body.is_(None), unknown)
            .group_by(Document.id)
            .order_by(func.min(Topic.id), Document.id)
            .limit(most)
        )
    )


def note_documents(session: Session, source_id: int, document_ids: Sequence[int], *, at: datetime) -> None:
    """Let documents be fetched in this order; those that another worker has noted meanwhile stay as they are."""
    moments = {id_: at - timedelta(microseconds=place) for place, id_ in enumerate(reversed(document_ids))}
    for some in chunks(list(document_ids)):
        known = set(session.scalars(select(DocumentFetch.document_id).where(DocumentFetch.document_id.in_(some))))
        rows = [
            {"document_id": id_, "source_id": source_id, "attempts": 0, "next_at": moments[id_]}
            | {"problem": "", "problem_values": {}}
            for id_ in some
            if id_ not in known
        ]
        if rows:
            session.execute(insert(DocumentFetch), rows)


def has_due(session: Session, source_id: int, *, now: datetime) -> bool:
    """Whether a document of a source is due; takes no lock."""
    due = (DocumentFetch.source_id == source_id, DocumentFetch.next_at <= now)
    return session.scalar(select(DocumentFetch.document_id).where(*due).limit(1)) is not None


def take_documents(session: Session, source_id: int, *, now: datetime, most: int) -> list[DueDocument]:
    """Take the documents that are due longest; no other worker takes them until an attempt would be over.

    One that has got a text in another way is dropped, unless it was fetched before.
    """
    rows = session.execute(
        select(DocumentFetch, Document.docno, Document.body.is_not(None))
        .join(Document, Document.id == DocumentFetch.document_id)
        .where(DocumentFetch.source_id == source_id, DocumentFetch.next_at <= now)
        .order_by(DocumentFetch.next_at, DocumentFetch.document_id)
        .limit(most)
        .with_for_update(of=DocumentFetch, skip_locked=True)
    ).all()
    taken: list[DueDocument] = []
    for row, docno, has_text in rows:
        if has_text and row.fetched_at is None:
            session.delete(row)
            continue
        row.attempts, row.next_at, row.tried_at = row.attempts + 1, now + LONGEST_ATTEMPT, now
        taken.append(DueDocument(row.document_id, docno, row.attempts))
    return taken


def record_fetched(session: Session, source_id: int, fetched: Sequence[DueDocument], *, at: datetime) -> None:
    """Record documents whose texts were stored."""
    for some in chunks([due.document_id for due in fetched]):
        session.execute(
            update(DocumentFetch)
            .where(DocumentFetch.source_id == source_id, DocumentFetch.document_id.in_(some))
            .values(next_at=None, fetched_at=at, problem="", problem_values={})
        )


def take_fetched(session: Session, collection_id: int, docnos: Sequence[str], *, at: datetime) -> None:
    """Record documents that were fetched for a person, so that their texts can be fetched again."""
    source = find_source(session, collection_id)
    if source is not None:
        ids = list(document_ids(session, collection_id, docnos).values())
        note_documents(session, source.id, ids, at=at)
        record_fetched(session, source.id, [DueDocument(id_, "", 1) for id_ in ids], at=at)


def record_failed(
    session: Session, source_id: int, failed: Sequence[FailedFetch], *, paused_until: datetime | None, at: datetime
) -> None:
    """Record attempts that failed, and when the documents are tried again."""
    for one in failed:
        pauses = PAUSES[one.due.attempt - 1 : one.due.attempt]
        next_at = (at + pauses[0] if pauses else None) if one.counts else paused_until or at + PAUSES[0]
        session.execute(
            update(DocumentFetch)
            .where(DocumentFetch.source_id == source_id, DocumentFetch.document_id == one.due.document_id)
            .values(next_at=next_at, problem=one.problem, problem_values=dict(one.values))
        )


def put_back(session: Session, source_id: int, untried: Sequence[DueDocument], *, at: datetime) -> None:
    """Let documents be tried that were taken and were not, after a source had given nothing."""
    for some in chunks([due.document_id for due in untried]):
        session.execute(
            update(DocumentFetch)
            .where(DocumentFetch.source_id == source_id, DocumentFetch.document_id.in_(some))
            .values(next_at=at, attempts=DocumentFetch.attempts - 1)
        )


def make_due(session: Session, source: DocumentSource, *, again: bool, at: datetime) -> int:
    """Let the documents that wait or were given up be tried now, with `again` also those that were fetched.

    Returns their number.
    """
    source.paused_until, source.failures = None, 0
    wanted = DocumentFetch.source_id == source.id
    if not again:
        wanted &= DocumentFetch.fetched_at.is_(None) | (DocumentFetch.problem != "")
    count = session.scalars(select(func.count()).select_from(DocumentFetch).where(wanted)).one()
    session.execute(update(DocumentFetch).where(wanted).values(next_at=at, attempts=0))
    return count


def hold_back(session: Session, collection_id: int, document_ids: Sequence[int]) -> None:
    """Let documents whose texts are deleted not be fetched until somebody asks for it."""
    source = find_source(session, collection_id)
    if source is None:
        return
    note_documents(session, source.id, document_ids, at=source.set_at)
    for some in chunks(list(document_ids)):
        session.execute(
            update(DocumentFetch)
            .where(DocumentFetch.document_id.in_(some))
            .values(next_at=None, fetched_at=None, problem=DELETED.template, problem_values={})
        )


def count_fetches(session: Session, source_id: int) -> FetchCounts:
    """Count the documents of a source."""
    is_due = DocumentFetch.next_at.is_not(None)
    row = session.execute(
        select(
            func.count().filter(is_due, DocumentFetch.problem == ""),
            func.count().filter(DocumentFetch.fetched_at.is_not(None)),
            func.count().filter(is_due, HAS_FAILED),
            func.count().filter(~is_due, HAS_FAILED),
        )
        .select_from(DocumentFetch)
        .join(Document, Document.id == DocumentFetch.document_id)
        .where(DocumentFetch.source_id == source_id)
    ).one()
    return FetchCounts(*row)


def failed_fetches(session: Session, source_id: int) -> list[tuple[DocumentFetch, str]]:
    """The documents of a source whose last attempt failed, with their docnos, by docno."""
    rows = session.execute(
        select(DocumentFetch, Document.docno)
        .join(Document, Document.id == DocumentFetch.document_id)
        .where(DocumentFetch.source_id == source_id, HAS_FAILED)
        .order_by(Document.docno)
    )
    return [(row, docno) for row, docno in rows]
