"""Searching the source of a collection where it offers that, and taking the texts of what was found."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.formats.source_answers import SourceError, SourceHits
from annotator.storage import Database, Document
from annotator.storage.collections.collection import find_collection
from annotator.storage.documents.documents import document_ids
from annotator.storage.documents.sources import find_source, take_fetched
from annotator.workflows.documents import search
from annotator.workflows.documents.documents import import_documents
from annotator.workflows.documents.search import OpenedDocument
from annotator.workflows.documents.source_addresses import search_source
from annotator.workflows.documents.source_places import Reach, SourcePlace
from annotator.workflows.documents.source_readers import open_source
from annotator.workflows.documents.sources import place_of

MOST_FETCHED = 50  # while a person waits


def ask_source(database: Database, slug: str, query: str, *, reach: Reach, first: int, most: int) -> SourceHits | None:
    """What the search of the source finds; None when the source has none, and the texts here are searched.

    Raises `ConflictError` when it gives nothing, without the reason, which may name the source: judges read it.
    """
    place = database.read(_searched, slug)
    if place is None or not query.strip():
        return None
    try:
        return search_source(place, reach, query.strip(), first=first, most=most)
    except SourceError as error:
        raise ConflictError("The search of the corpus gives nothing now. Try again later.") from error


def fetch_found(database: Database, slug: str, docnos: Sequence[str], *, reach: Reach, at: datetime) -> frozenset[str]:
    """Take the texts of documents that the source has found, as an import does; returns those that have one now.

    None without a source that offers search. Raises as `import_documents`.
    """
    place = database.read(_searched, slug)
    if place is None:
        return frozenset()
    wanted = list(dict.fromkeys(docnos))[:MOST_FETCHED]
    with_text = database.read(_with_text, slug, wanted)
    missing = [docno for docno in wanted if docno not in with_text]
    texts = _read(place, reach, missing)
    if texts:
        database.attempt(lambda session: _store(session, slug, texts, at))
    return with_text | {document.docno for document in texts}


def open_document(database: Database, slug: str, docno: str, *, reach: Reach) -> OpenedDocument:
    """One document with a text, from the source where it offers search and the text is not here.

    Raises `NotFoundError`.
    """
    try:
        return database.read(search.open_document, slug, docno)
    except NotFoundError:
        place = database.read(_searched, slug)
        texts = [] if place is None else _read(place, reach, [docno])
        if not texts:
            raise
        [found] = texts
        return OpenedDocument(found.docno, found.title, found.body, found.url, found.language)


def _read(place: SourcePlace, reach: Reach, docnos: Sequence[str]) -> list[ParsedDocument]:
    if not docnos:
        return []
    try:
        with open_source(place, reach) as reader:
            read = reader.read(docnos)
    except SourceError:
        return []
    return [found for found in read.values() if isinstance(found, ParsedDocument)]


def _store(session: Session, slug: str, texts: Sequence[ParsedDocument], at: datetime) -> None:
    import_documents(session, slug, texts, at=at)
    take_fetched(session, find_collection(session, slug).id, [document.docno for document in texts], at=at)


def _searched(session: Session, slug: str) -> SourcePlace | None:
    """Where the source of a collection is, if it offers search."""
    source = find_source(session, find_collection(session, slug).id)
    place = None if source is None else place_of(source)
    return place if place is not None and place.options.search else None


def _with_text(session: Session, slug: str, docnos: Sequence[str]) -> frozenset[str]:
    ids = document_ids(session, find_collection(session, slug).id, docnos)
    rows = select(Document.docno).where(Document.id.in_(ids.values()), Document.body.is_not(None))
    return frozenset(session.scalars(rows))
