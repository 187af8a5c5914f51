"""Documents: parse files, store texts, list pooled documents without a text."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError, Problems
from annotator.evaluation.formats.document_formats import ParsedDocument, parse_documents
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.formats.unpacking import unpack_into
from annotator.evaluation.search.search_text import indexed_words
from annotator.files import InputFile
from annotator.spreadsheets import csv_text
from annotator.storage import ACCEPTED, Document, PoolItem, Topic
from annotator.storage.collections.collection import find_collection, lock_collection, lock_open_collection
from annotator.storage.documents.documents import ROWS_AT_ONCE, count_with_text, document_ids
from annotator.storage.documents.index_repair import mend_index
from annotator.storage.documents.search import forget_documents, index_documents
from annotator.storage.judging.changed_texts import (
    OldJudgement,
    judgements_of_old_texts,
    note_new_texts,
    reopen_for_text,
    requeue,
)
from annotator.storage.judging.judgements_wanted import settle_documents
from annotator.storage.site.bulk_insert import chunks, insert_rows
from annotator.storage.tables.documents import DOCUMENTS

TEXT_COLUMNS = ("title", "body", "url", "language", "text_hash")
LOOKED_UP = 1_000  # documents that are looked up one by one
FIELDS = ("docno", "title", "body", "url", "language")


@dataclass(frozen=True)
class DocumentImport:
    """Result of a document import; `filled` had a row without text, `changed` had another text."""

    added: int
    filled: int
    changed: int
    unchanged: int


@dataclass(frozen=True)
class MissingDocument:
    """A pooled document without a text, with the topics whose pool has it."""

    docno: str
    topics: tuple[str, ...]


def parse_fields(mappings: Sequence[str]) -> dict[str, str]:
    """Parse `OURS=THEIRS` mappings of JSONL keys, such as `body=text`, into {ours: theirs}."""
    fields: dict[str, str] = {}
    for mapping in mappings:
        ours, separator, theirs = mapping.partition("=")
        if ours not in FIELDS or not separator or not theirs:
            raise InvalidValueError(
                "“%(mapping)s” is not a field mapping: write OURS=THEIRS, where ours is one of %(fields)s.",
                mapping=mapping,
                fields=", ".join(FIELDS),
            )
        fields[ours] = theirs
    return fields


# The columns that a document's text sets.
_Row = dict[str, str | None]


class _Stored(NamedTuple):
    """The stored columns that show whether an imported document has changed."""

    text_hash: str | None
    url: str | None
    language: str | None


def read_documents(
    files: Sequence[InputFile], *, fields: Mapping[str, str], unpacked_limit: int
) -> list[ParsedDocument]:
    """Parse files of documents; `FileRefusedError` lists every problem of any of them."""
    problems = Problems()
    documents: dict[str, ParsedDocument] = {}
    for file in files:
        text = unpack_into(problems, file.name, file.content, unpacked_limit)
        if text is None:
            continue
        parsed = parse_documents(file.name, text, problems, fields=fields, input_format=file.input_format)
        for document in parsed or ():
            if documents.setdefault(document.docno, document) is not document:
                problems.add(file.name, document.line, "Document %(docno)s is given twice.", docno=document.docno)
    problems.refuse_if_any()
    return list(documents.values())


def import_documents(
    session: Session,
    slug: str,
    documents: Sequence[ParsedDocument],
    *,
    at: datetime | None = None,
    index_at_once: bool = True,
) -> DocumentImport:
    """Store texts; an existing document gets the new text.

    Documents judged “no text” are requeued for those judges, and identical texts in the pool are detected again. `at`
    (or a later time if the document was drawn with its old text since) is stored with each changed text, so that
    judgements of the old text can be found. Without `index_at_once`, new texts are not searchable until the caller or a
    worker has indexed them; see `search`.
    """
    # Before the first statement, which takes the lock.
    words = _words(documents) if index_at_once else {}
    collection = lock_open_collection(session, slug)
    known = document_ids(session, collection.id, [document.docno for document in documents])
    stored = _stored_documents(session, collection.id, list(known.values()))
    new, replaced, unchanged = _sort_out(documents, known, stored)
    for docno in unchanged:
        words.pop(docno, None)
    rows = [(collection.id, docno, *row.values()) for docno, row in new.items()]
    insert_rows(session, DOCUMENTS, ("collection_id", "docno", *TEXT_COLUMNS), rows, at_once=ROWS_AT_ONCE)
    if replaced:
        session.execute(update(Document), [{"id": id_, **row} for id_, row in replaced.items()])
    forget_documents(session, list(replaced))
    if words:
        ids = document_ids(session, collection.id, words)
        index_documents(session, ((ids[docno], its_words) for docno, its_words in words.items()))
    filled = [id_ for id_ in replaced if stored[id_].text_hash is None]
    rewritten = [id_ for id_ in replaced if stored[id_].text_hash not in {None, replaced[id_]["text_hash"]}]
    if filled or rewritten:
        # Judges continued with the old texts until here; now they wait for the lock.
        lock_collection(session, slug, against_judging=True)
        note_new_texts(session, rewritten, at)
        reopen_for_text(session, filled)
    settle_documents(session, collection.id, list(replaced))
    return DocumentImport(len(new), len(filled), len(replaced) - len(filled), len(unchanged))


def _sort_out(
    documents: Sequence[ParsedDocument], known: Mapping[str, int], stored: Mapping[int, _Stored]
) -> tuple[dict[str, _Row], dict[int, _Row], list[str]]:
    """Split documents into rows to insert by docno, rows to update by id, and docnos of unchanged ones."""
    new: dict[str, _Row] = {}
    replaced: dict[int, _Row] = {}
    unchanged: list[str] = []
    for document in documents:
        row = _row(document)
        id_ = known.get(document.docno)
        if id_ is None:
            new[document.docno] = row
        elif stored[id_] == (row["text_hash"], row["url"], row["language"]):
            unchanged.append(document.docno)
        else:
            replaced[id_] = row
    return new, replaced, unchanged


def index_collection(session: Session, slug: str) -> int:
    """Rebuild the search index of every document with a text, and return their number.

    Imports keep the index up to date; a newer Python may classify more characters as letters. An index that cannot be
    read is built anew; the worker then indexes the documents of other collections.
    """
    collection = lock_collection(session, slug)
    mend_index(session)
    has_text = (Document.collection_id == collection.id) & Document.body.is_not(None)
    # Indexing of new documents takes the same lock.
    locked = select(Document.id).where(has_text).with_for_update(key_share=True)
    forget_documents(session, list(session.scalars(locked)))
    texts = session.execute(
        select(Document.id, Document.title, Document.body)
        .where(has_text)
        .order_by(Document.id)
        .execution_options(yield_per=ROWS_AT_ONCE)
    )
    return index_documents(session, ((id_, indexed_words(title, body or "")) for id_, title, body in texts))


def missing_documents(session: Session, slug: str) -> list[MissingDocument]:
    """The documents without text that are pooled for accepted topics, by docno."""
    topics: dict[str, list[str]] = {}
    for docno, number in session.execute(
        _without_text(find_collection(session, slug).id, Document.docno, Topic.number)
    ):
        topics.setdefault(docno, []).append(number)
    return [MissingDocument(docno, tuple(sorted(topics[docno], key=natural_order))) for docno in sorted(topics)]


def count_texts(session: Session, slug: str) -> int:
    """The number of documents with a text."""
    return count_with_text(session, find_collection(session, slug).id)


def count_missing_documents(session: Session, slug: str) -> int:
    """The number of documents that `missing_documents` lists."""
    without_text = _without_text(find_collection(session, slug).id, Document.id).distinct().subquery()
    return session.scalar(select(func.count()).select_from(without_text)) or 0


def _without_text(collection_id: int, *columns: Any) -> Select[Any]:  # noqa: ANN401 - SQLAlchemy's columns
    """Select documents without text with their pool items of accepted topics.

    From topic to pool item to document: a condition on the document's collection, or an order, would make SQLite scan
    all documents of the collection, and for each all topics.
    """
    return (
        select(*columns)
        .select_from(Topic)
        .join(PoolItem, PoolItem.topic_id == Topic.id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(Topic.collection_id == collection_id, ACCEPTED, Document.body.is_(None))
    )


def _words(documents: Sequence[ParsedDocument]) -> dict[str, str]:
    """Docno → the text to index."""
    return {document.docno: indexed_words(document.title, document.body) for document in documents}


def _stored_documents(session: Session, collection_id: int, ids: list[int]) -> dict[int, _Stored]:
    """What is stored of documents, by id; of many, of all documents of the collection, which one scan gives sooner."""
    columns = (Document.id, Document.text_hash, Document.url, Document.language)
    statement = select(*columns).where(Document.collection_id == collection_id)
    statements = [statement]
    if len(ids) <= LOOKED_UP:
        statements = [select(*columns).where(Document.id.in_(some)) for some in chunks(ids)]
    return {
        id_: _Stored(text_hash, url, language)
        for one in statements
        for id_, text_hash, url, language in session.execute(one)
    }


def _row(document: ParsedDocument) -> _Row:
    """The `TEXT_COLUMNS` of a document with text; the hash depends on title and body only."""
    text_hash = hashlib.sha256(f"{document.title}\0{document.body}".encode()).hexdigest()
    values = (document.title, document.body, document.url, document.language, text_hash)
    return dict(zip(TEXT_COLUMNS, values, strict=True))


HEADINGS = ("topic", "document", "text_changed_at", "judge", "grade", "could_not_judge", "judged_at")


@dataclass(frozen=True)
class ChangedDocument:
    """A document with the judgements of its earlier text, by topic; these grades still count."""

    docno: str
    text_changed_at: datetime
    judgements: tuple[OldJudgement, ...]


def changed_documents(session: Session, slug: str) -> list[ChangedDocument]:
    """Documents of accepted topics whose text changed after a judgement, by docno, then by topic."""
    rows = judgements_of_old_texts(session, find_collection(session, slug).id)
    rows.sort(key=lambda row: (row.docno, natural_order(row.topic)))
    return [
        ChangedDocument(docno, several[0].text_changed_at, tuple(several))
        for docno, of_document in groupby(rows, key=lambda row: row.docno)
        if (several := list(of_document))
    ]


def changed_csv(changed: Sequence[ChangedDocument]) -> str:
    """CSV with one line per judgement."""
    rows = [
        [
            *(said.topic, one.docno, one.text_changed_at.isoformat(), said.judge),
            *(said.grade, said.cannot_judge, said.judged_at.isoformat()),
        ]
        for one in changed
        for said in one.judgements
    ]
    return csv_text([list(HEADINGS), *rows])


def requeue_changed(session: Session, slug: str, docnos: Sequence[str] | None = None, *, at: datetime) -> int:
    """Requeue changed documents, all or these, and return the number of (topic, document) pairs.

    Judgements of the old text stay in the history but no longer count; the judges see the new text. Raises
    `NotFoundError` for a document that is not among them.
    """
    # Judgements arriving meanwhile could be of either text, so judges wait.
    collection = lock_open_collection(session, slug, against_judging=True)
    chosen = _chosen(session, collection.id, docnos)
    requeue(session, [one.id for one in chosen], at)
    return len({one.pool_item_id for one in chosen})


def let_changed_stand(session: Session, slug: str, docnos: Sequence[str] | None = None) -> int:
    """Accept the judgements of changed documents, all or these, for the new text.

    Returns the number of (topic, document) pairs; raises `NotFoundError` for a document that is not among them.
    """
    collection = lock_open_collection(session, slug)
    chosen = _chosen(session, collection.id, docnos)
    for some in chunks(sorted({one.document_id for one in chosen})):
        session.execute(update(Document).where(Document.id.in_(some)).values(text_changed_at=None))
    return len({one.pool_item_id for one in chosen})


def _chosen(session: Session, collection_id: int, docnos: Sequence[str] | None) -> list[OldJudgement]:
    rows = judgements_of_old_texts(session, collection_id)
    if docnos is None:
        return rows
    for docno in docnos:
        if docno not in {row.docno for row in rows}:
            raise NotFoundError(
                "Document %(docno)s is not among those whose text has changed since they were judged.", docno=docno
            )
    return [row for row in rows if row.docno in set(docnos)]
