"""The source of a collection's texts: set, show, remove and check it, list failures, and ask for texts."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError, Sentence
from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.formats.source_answers import SourceError, SourceOptions
from annotator.spreadsheets import csv_text
from annotator.storage import ACCEPTED, Database, Document, DocumentSource, PoolItem, SourceKind, Topic, User
from annotator.storage.collections.collection import find_collection, lock_open_collection
from annotator.storage.documents.sources import (
    FetchCounts,
    count_fetches,
    delete_source,
    failed_fetches,
    find_source,
    make_due,
)
from annotator.workflows.documents.source_addresses import search_source
from annotator.workflows.documents.source_places import Reach, SourcePlace, check_place, kind_of
from annotator.workflows.documents.source_readers import open_source

# What paths lead to.
PATHS = tuple(field.name for field in fields(SourceOptions) if field.name != "search")
CHECKED = 5  # documents
MOST_CHECKED = 20
CHECKED_QUERY = "test"
CHECKED_HITS = 5


@dataclass(frozen=True)
class IndexView:
    """The index of a folder: how much of the files was read for it in per cent, and what it has once it is complete."""

    percent: int
    indexed_at: datetime | None
    documents: int | None
    skipped: int
    first_skipped: str


@dataclass(frozen=True)
class SourceView:
    """A source with how far fetching has come; `problem` is why it gave nothing the last time.

    `index` is that of a folder.
    """

    kind: SourceKind
    location: str
    options: SourceOptions
    set_by: str | None
    set_at: datetime
    problem: Sentence | None
    paused_until: datetime | None
    counts: FetchCounts
    index: IndexView | None = None


@dataclass(frozen=True)
class FailedDocument:
    """A document that could not be fetched; `next_at` is None when it is not tried again by itself."""

    docno: str
    reason: Sentence
    attempts: int
    tried_at: datetime | None
    next_at: datetime | None


@dataclass(frozen=True)
class CheckedDocument:
    """What a source gave for a document: its title and the length of its text, or why it gave nothing."""

    docno: str
    title: str
    characters: int
    problem: Sentence | None


@dataclass(frozen=True)
class SourceCheck:
    """What came when a source was tried; `problem` when it gave nothing at all, `hits` when it has a search."""

    documents: tuple[CheckedDocument, ...]
    problem: Sentence | None = None
    hits: int | None = None
    search_problem: Sentence | None = None


def parse_options(mappings: Sequence[str], search: str = "") -> SourceOptions:
    """Parse `OURS=PATH` mappings, such as `body=_source.text`, and take the template of the address of a search.

    Raises `InvalidValueError` for an unknown name and for a malformed path.
    """
    values: dict[str, str] = {}
    for mapping in mappings:
        ours, separator, path = (part.strip() for part in mapping.partition("="))
        if ours not in PATHS or not separator or not path:
            raise InvalidValueError(
                "“%(mapping)s” is not a path: write OURS=PATH, where ours is one of %(names)s.",
                mapping=mapping,
                names=", ".join(PATHS),
            )
        values[ours] = path
    options = SourceOptions(**values, search=search)
    options.check()
    return options


def written_paths(options: SourceOptions) -> list[str]:
    """The paths of options as `OURS=PATH`."""
    return [f"{name}={path}" for name, path in options.stored().items() if name in PATHS]


def set_source(
    session: Session,
    slug: str,
    location: str,
    options: SourceOptions,
    *,
    reach: Reach,
    by_id: int | None,
    by_command: bool,
    at: datetime,
) -> SourceKind:
    """Set the source of a collection, in place of an earlier one, and have texts that are missing fetched.

    Texts that were fetched stay; a folder is indexed first, also when it was before. Raises as
    `check_place`.
    """
    kind = kind_of(location)
    check_place(SourcePlace(kind, location, options, by_command), reach)
    collection = lock_open_collection(session, slug)
    source = find_source(session, collection.id)
    if source is None:
        source = DocumentSource(collection_id=collection.id, revision=0)
        session.add(source)
    source.revision += 1
    source.kind, source.location, source.options = kind.value, location, options.stored()
    source.by_command, source.set_by_id, source.set_at = by_command, by_id, at
    source.problem, source.problem_values = "", {}
    source.index_path, source.index_documents, source.indexed_at, source.taken_until = None, None, None, None
    session.flush()
    make_due(session, source, again=False, at=at)
    return kind


def find_view(session: Session, slug: str) -> SourceView | None:
    """The source of a collection with its progress; None when it has none."""
    source = find_source(session, find_collection(session, slug).id)
    if source is None:
        return None
    return SourceView(
        SourceKind(source.kind),
        source.location,
        SourceOptions.from_stored(source.options),
        session.scalar(select(User.name).where(User.id == source.set_by_id)),
        source.set_at,
        Sentence(source.problem, source.problem_values) if source.problem else None,
        source.paused_until,
        count_fetches(session, source.id),
        _index_of(source) if source.kind == SourceKind.FOLDER else None,
    )


def show_source(session: Session, slug: str) -> SourceView:
    """The source of a collection with its progress; `NotFoundError` when it has none."""
    view = find_view(session, slug)
    if view is None:
        raise _without_source()
    return view


def remove_source(session: Session, slug: str) -> None:
    """Remove the source of a collection; texts that were fetched stay. Raises `NotFoundError`."""
    collection = lock_open_collection(session, slug)
    _found(session, collection.id)
    delete_source(session, collection.id)


def fetch_now(session: Session, slug: str, *, again: bool, at: datetime) -> int:
    """Have documents without text tried now, also those that were given up; returns how many are known to be such.

    With `again`, texts that were fetched are fetched again. Raises `NotFoundError`.
    """
    collection = lock_open_collection(session, slug)
    return make_due(session, _found(session, collection.id), again=again, at=at)


def list_failures(session: Session, slug: str) -> list[FailedDocument]:
    """The documents whose last attempt failed, by docno. Raises `NotFoundError`."""
    source = _found(session, find_collection(session, slug).id)
    return [
        FailedDocument(docno, Sentence(row.problem, row.problem_values), row.attempts, row.tried_at, row.next_at)
        for row, docno in failed_fetches(session, source.id)
    ]


def failures_csv(failures: Sequence[FailedDocument]) -> str:
    """CSV with one line per document, in English."""
    rows = [
        [
            one.docno,
            str(one.reason),
            one.attempts,
            *(at.isoformat() if at else "" for at in (one.tried_at, one.next_at)),
        ]
        for one in failures
    ]
    return csv_text([["document", "reason", "tries", "last", "next"], *rows])


def check_source(database: Database, slug: str, docnos: Sequence[str] = (), *, reach: Reach) -> SourceCheck:
    """Try the source with some pooled documents, or with these, and its search if it has one; stores nothing.

    Raises `NotFoundError` without a source and `InvalidValueError` for many docnos, or for none when nothing is pooled.
    """
    if len(docnos) > MOST_CHECKED:
        raise InvalidValueError("At most %(most)d documents are tried at once.", most=MOST_CHECKED)
    with database.reading() as session:
        collection_id = find_collection(session, slug).id
        place = place_of(_found(session, collection_id))
        wanted = list(dict.fromkeys(docnos)) or _some_pooled(session, collection_id)
    if not wanted:
        raise InvalidValueError("No document is pooled yet: name some to try.")
    try:
        with open_source(place, reach) as reader:
            found = reader.read(wanted)
    except SourceError as error:
        return SourceCheck((), error.sentence)
    documents = tuple(_checked(docno, found[docno]) for docno in wanted)
    if not place.options.search:
        return SourceCheck(documents)
    try:
        hits = search_source(place, reach, CHECKED_QUERY, first=0, most=CHECKED_HITS)
    except SourceError as error:
        return SourceCheck(documents, search_problem=error.sentence)
    return SourceCheck(documents, hits=len(hits.hits))


def place_of(source: DocumentSource) -> SourcePlace:
    """Where a source is, to open it."""
    options = SourceOptions.from_stored(source.options)
    return SourcePlace(SourceKind(source.kind), source.location, options, source.by_command, source.index_path)


def _checked(docno: str, found: ParsedDocument | SourceError | None) -> CheckedDocument:
    match found:
        case ParsedDocument():
            return CheckedDocument(docno, found.title, len(found.body), None)
        case SourceError():
            return CheckedDocument(docno, "", 0, found.sentence)
    return CheckedDocument(docno, "", 0, Sentence("It was not tried, as the source gave nothing for the others."))


def _index_of(source: DocumentSource) -> IndexView:
    if source.index_path is None:
        return IndexView(100 * source.bytes_read // max(source.bytes_total, 1), None, None, 0, "")
    return IndexView(100, source.indexed_at, source.index_documents, source.lines_skipped, source.first_skipped)


def _some_pooled(session: Session, collection_id: int) -> list[str]:
    """A few pooled documents, those without a text first."""
    rows = session.execute(
        select(Document.docno, Document.body.is_not(None))
        .select_from(Topic)
        .join(PoolItem, PoolItem.topic_id == Topic.id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Topic.collection_id == collection_id, ACCEPTED)
        .distinct()
        .order_by(Document.body.is_not(None), Document.docno)
        .limit(CHECKED)
    )
    return [docno for docno, _ in rows]


def _found(session: Session, collection_id: int) -> DocumentSource:
    source = find_source(session, collection_id)
    if source is None:
        raise _without_source()
    return source


def _without_source() -> NotFoundError:
    return NotFoundError("The collection has no source of documents.")
