"""Fetching the texts of pooled documents from the sources of their collections, some at a time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import Sentence
from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.formats.source_answers import SourceError
from annotator.storage import Database, DocumentSource, SourceKind
from annotator.storage.collections.collection import lock_open_collection
from annotator.storage.documents.sources import (
    DueDocument,
    FailedFetch,
    documents_to_note,
    find_source,
    has_due,
    note_documents,
    open_sources,
    pause_source,
    put_back,
    record_failed,
    record_fetched,
    take_documents,
)
from annotator.workflows.documents.documents import import_documents
from annotator.workflows.documents.source_places import Reach, Read, SourcePlace
from annotator.workflows.documents.source_readers import open_source
from annotator.workflows.documents.sources import place_of

# Of a folder many are read in the order of its files, and stored in parts: judges wait for one that is stored.
MOST_TAKEN = {SourceKind.ADDRESS: 64, SourceKind.FOLDER: 1_000, SourceKind.DATASET: 1_000}
STORED_AT_ONCE = 64
MOST_NOTED = 10_000


@dataclass(frozen=True)
class OpenSource:
    """A source of an open collection, as it was set when its documents were taken."""

    id: int
    revision: int
    slug: str
    place: SourcePlace


def note_pooled(database: Database, *, now: datetime) -> bool:
    """Note pooled documents without text, so that they are fetched; returns whether there were any."""
    has_noted = False
    with database.reading() as session:
        found = [
            (source.id, ids)
            for source, _ in open_sources(session)
            if (ids := documents_to_note(session, source, most=MOST_NOTED))
        ]
    for source_id, ids in found:
        with database.transaction() as session:
            is_there = select(DocumentSource.id).where(DocumentSource.id == source_id).with_for_update()
            if session.scalar(is_there) is not None:
                note_documents(session, source_id, ids, at=now)
                has_noted = True
    return has_noted


def sources_with_due(session: Session, *, now: datetime) -> list[OpenSource]:
    """The sources that may be asked and have documents to fetch."""
    return [
        OpenSource(source.id, source.revision, slug, place_of(source))
        for source, slug in open_sources(session)
        if (source.paused_until is None or source.paused_until <= now)
        and (source.kind != SourceKind.FOLDER or source.index_path is not None)
        and has_due(session, source.id, now=now)
    ]


def take_due(session: Session, source: OpenSource, *, now: datetime) -> list[DueDocument]:
    """Take some documents of a source, to be fetched by the caller."""
    return take_documents(session, source.id, now=now, most=MOST_TAKEN[source.place.kind])


def read_due(source: OpenSource, due: Sequence[DueDocument], reach: Reach) -> Mapping[str, Read]:
    """Docno → what came of it; nothing is raised."""
    try:
        with open_source(source.place, reach) as reader:
            return reader.read([one.docno for one in due])
    except SourceError as error:
        return {one.docno: error for one in due[:1]}


def parts_to_store(due: Sequence[DueDocument], read: Mapping[str, Read]) -> Iterator[list[DueDocument]]:
    """Split documents, so that few texts are stored at once; all that failed are in the first part."""
    texts = [one for one in due if isinstance(read.get(one.docno), ParsedDocument)]
    others = [one for one in due if not isinstance(read.get(one.docno), ParsedDocument)]
    yield [*others, *texts[:STORED_AT_ONCE]]
    for start in range(STORED_AT_ONCE, len(texts), STORED_AT_ONCE):
        yield texts[start : start + STORED_AT_ONCE]


def record(
    session: Session, source: OpenSource, due: Sequence[DueDocument], read: Mapping[str, Read], *, at: datetime
) -> None:
    """Store the texts that came, as an import does, and note what failed and when it is tried again.

    Nothing is stored when the source was set again or removed meanwhile. Raises `ConflictError` and `NotFoundError`
    when the collection was closed or deleted.
    """
    # Locked in the order in which a source is set.
    collection = lock_open_collection(session, source.slug)
    row = find_source(session, collection.id)
    if row is None or row.id != source.id or row.revision != source.revision:
        return
    texts = {one: found for one in due if isinstance(found := read.get(one.docno), ParsedDocument)}
    if texts:
        import_documents(session, source.slug, list(texts.values()), at=at)
        record_fetched(session, source.id, list(texts), at=at)
    errors = [(one, error) for one in due if isinstance(error := read.get(one.docno), SourceError)]
    of_source = [error for _, error in errors if error.is_of_source]
    gave_nothing = bool(of_source) and not texts and len(of_source) == len(errors)
    _note_state(row, of_source[-1] if gave_nothing else None, at)
    if any(error.is_outdated for error in of_source) and row.index_path == source.place.index_path:
        row.index_path = None
    failed = [FailedFetch(one, *_kept(error.sentence), counts=not error.is_of_source) for one, error in errors]
    record_failed(session, source.id, failed, paused_until=row.paused_until, at=at)
    put_back(session, source.id, [one for one in due if read.get(one.docno) is None], at=at)


def _note_state(row: DocumentSource, error: SourceError | None, at: datetime) -> None:
    if error is None:
        row.failures, row.problem, row.problem_values, row.paused_until = 0, "", {}, None
        return
    pause_source(row, error.sentence, error.retry_after, at=at)


def _kept(sentence: Sentence) -> tuple[str, dict[str, object]]:
    return sentence.template, dict(sentence.values)
