"""The documents of a collection; a document that was only named by a run has a row without text."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Collection as SizedIterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Integer,
    Row,
    Select,
    String,
    Subquery,
    case,
    cast,
    false,
    func,
    insert,
    literal,
    select,
)
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks, fetch_rows, ids_as_rows, next_ids
from annotator.storage.tables.documents import DOCUMENTS, Document
from annotator.storage.tables.judging import QualifyingItem
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

ROWS_AT_ONCE = 10_000
TEXTS_AT_ONCE = 1_000


def document_ids(session: Session, collection_id: int, docnos: SizedIterable[str]) -> dict[str, int]:
    """Docno → row id, for those of `docnos` that have a row."""
    wanted = set(docnos)
    rows = _rows_of(session, collection_id, len(wanted), [sorted(wanted)], select(Document.docno, Document.id))
    return {docno: id_ for several in rows for docno, id_ in several if docno in wanted}


def stored_documents(
    session: Session, collection_id: int, count: int, docnos: Iterable[list[str]], *, with_text: bool
) -> Iterator[Sequence[tuple[str, int, bool]]]:
    """Batches of docno, row id and whether there is a text; may include documents other than the `count` requested.

    Without `with_text` the flag is always False, and the query is far quicker.
    """
    has_text = Document.body.is_not(None) if with_text else false()
    statement = select(Document.docno, Document.id, has_text)
    for rows in _rows_of(session, collection_id, count, docnos, statement):
        yield [(docno, id_, bool(has_it)) for docno, id_, has_it in rows]


def greatest_document(session: Session) -> int:
    """The greatest row id of a document on this site, 0 without any."""
    return session.scalar(select(func.max(Document.id))) or 0


def count_with_text(session: Session, collection_id: int) -> int:
    """Count the documents with a text."""
    return session.scalars(select(func.count(Document.body)).where(Document.collection_id == collection_id)).one()


def count_corpus(session: Session, collection_id: int) -> int:
    """The number of documents of a collection, with or without text."""
    return session.scalars(select(func.count()).where(Document.collection_id == collection_id)).one()


def documents_after(session: Session, collection_id: int, greatest: int) -> list[tuple[str, int, bool]]:
    """Docno, row id and False, as of `stored_documents`, of the documents whose ids are greater.

    On SQLite, which has one writer, these are the documents that were added since `greatest` was the greatest.
    """
    later = select(Document.docno, Document.id).where(Document.id > greatest, Document.collection_id == collection_id)
    return [(docno, id_, False) for docno, id_ in fetch_rows(session, later)]


def has_texts(session: Session, collection_id: int) -> bool:
    """Whether the corpus is loaded: some document has a text."""
    one = select(Document.id).where(Document.collection_id == collection_id, Document.body.is_not(None)).limit(1)
    return session.scalar(one) is not None


class Text(NamedTuple):
    """A document that has a text."""

    docno: str
    title: str
    body: str
    url: str | None
    language: str | None


def corpus(session: Session, collection_id: int, docnos: SizedIterable[str] | None = None) -> Iterator[Text]:
    """Every document with a text, or those of `docnos`, with `TEXTS_AT_ONCE` in memory.

    All are in the order in which they were added, some in that of their docnos.
    """
    statement = select(Document.docno, Document.title, Document.body, Document.url, Document.language).where(
        Document.collection_id == collection_id, Document.body.is_not(None)
    )
    if docnos is None:
        statements = [statement.order_by(Document.id).execution_options(yield_per=TEXTS_AT_ONCE)]
    else:
        wanted = sorted(docnos)
        statements = [
            statement.where(Document.docno.in_(wanted[start : start + TEXTS_AT_ONCE])).order_by(Document.docno)
            for start in range(0, len(wanted), TEXTS_AT_ONCE)
        ]
    for one in statements:
        for row in session.execute(one):
            yield Text._make(row)


def _rows_of(
    session: Session,
    collection_id: int,
    count: int,
    docnos: Iterable[list[str]],
    statement: Select[*tuple[Any, ...]],
) -> Iterator[Sequence[Row[*tuple[Any, ...]]]]:
    several = select(Document.id).where(Document.collection_id == collection_id).limit(count * 4).subquery()
    statement = statement.where(Document.collection_id == collection_id)
    if session.scalars(select(func.count()).select_from(several)).one() < count * 4:
        # For a large part of the corpus, one scan is quicker than many look-ups.
        yield from session.execute(statement.execution_options(yield_per=ROWS_AT_ONCE)).partitions()
        return
    for part in docnos:
        for chunk in chunks(part):
            yield session.execute(statement.where(Document.docno.in_(chunk))).all()


def find_or_add_documents(session: Session, collection_id: int, docnos: SizedIterable[str]) -> dict[str, int]:
    """Docno → row id for all of `docnos`; missing rows are created without text."""
    known = document_ids(session, collection_id, docnos)
    missing = sorted(set(docnos) - known.keys())
    return known | dict(zip(missing, add_documents(session, collection_id, missing), strict=True))


def add_documents(session: Session, collection_id: int, docnos: Sequence[str]) -> Sequence[int]:
    """Insert rows without text for new docnos, and return their ids in the same order."""
    # Assigning ids beforehand saves reading a million of them back after the insert.
    ids = next_ids(session, DOCUMENTS, len(docnos))
    for start in range(0, len(docnos), ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        # One statement for many rows takes a third of the time of one execution per row.
        rows = _unfolded(session, ids[some], docnos[some])
        values = select(rows.c.id, literal(collection_id), rows.c.docno, literal(""))
        session.execute(insert(DOCUMENTS).from_select(["id", "collection_id", "docno", "title"], values))
    return ids


def _unfolded(session: Session, ids: Sequence[int], docnos: Sequence[str]) -> Subquery:
    """Pairs of id and docno as rows, passed as one or two bound values; on SQLite ids must be consecutive."""
    if _is_postgresql(session):
        both = func.unnest(cast(list(ids), ARRAY(Integer)), cast(list(docnos), ARRAY(String)))
        return select(both.table_valued("id", "docno").render_derived()).subquery()
    docno = func.json_each(json.dumps(docnos, ensure_ascii=False)).table_valued("key", "value")
    return select((docno.c.key + ids[0]).label("id"), docno.c.value.label("docno")).subquery()


def _is_postgresql(session: Session) -> bool:
    return session.get_bind().dialect.name == "postgresql"


def docnos_of(session: Session, ids: SizedIterable[int]) -> dict[int, str]:
    """Row id → docno."""
    if not ids:
        return {}
    wanted = Document.id.in_(ids_as_rows(session, sorted(ids)))
    return dict(fetch_rows(session, select(Document.id, Document.docno).where(wanted)))


class HashedText(NamedTuple):
    """A document that has a text, without the text."""

    id: int
    docno: str
    text_hash: str | None


def hashes_of_texts(session: Session, ids: SizedIterable[int]) -> list[HashedText]:
    """Those of these documents that have a text."""
    columns = select(Document.id, Document.docno, Document.text_hash).where(Document.body.is_not(None))
    wanted = Document.id.in_(ids_as_rows(session, sorted(ids)))
    return [HashedText._make(row) for row in fetch_rows(session, columns.where(wanted))] if ids else []


def hashes_of_corpus(session: Session, collection_id: int, *, up_to: int) -> list[HashedText]:
    """The documents of a collection that have a text, except those with an id above `up_to`."""
    columns = select(Document.id, Document.docno, Document.text_hash)
    wanted = (Document.collection_id == collection_id, Document.body.is_not(None), Document.id <= up_to)
    return [HashedText._make(row) for row in fetch_rows(session, columns.where(*wanted))]


def whole_texts(session: Session, ids: Sequence[int]) -> Iterator[str]:
    """Title and text of these documents, in this order; empty for those without a text."""
    columns = select(Document.id, Document.title, Document.body)
    for some in chunks(list(ids)):
        found = {
            id_: f"{title}\n{body or ''}"
            for id_, title, body in fetch_rows(session, columns.where(Document.id.in_(some)))
        }
        yield from (found.get(id_, "") for id_ in some)


@dataclass(frozen=True)
class Excerpt:
    """The title of a document and the beginning of its text; None when no text was imported."""

    title: str
    beginning: str | None
    language: str | None


EXCERPT = 2_000  # characters


def excerpts_of(session: Session, ids: SizedIterable[int]) -> dict[int, Excerpt]:
    """Row id → excerpt."""
    if not ids:
        return {}
    columns = (Document.id, Document.title, func.substr(Document.body, 1, EXCERPT), Document.language)
    rows = fetch_rows(session, select(*columns).where(Document.id.in_(ids_as_rows(session, sorted(ids)))))
    return {id_: Excerpt(title, beginning, language) for id_, title, beginning, language in rows}


# Topic number and docno.
Pair = tuple[str, str]

# Equal for documents with identical texts; NULL for those without text.
TEXT = case((Document.body != "", Document.text_hash))


def in_training(session: Session, collection_id: int, pairs: Collection[Pair]) -> dict[Pair, str]:
    """Pairs that are training documents, or have the same text as one of the same topic → docno of that document."""
    return _known_by(session, collection_id, pairs, _columns(QualifyingItem, collection_id))


def asked_as_test(session: Session, collection_id: int, pairs: Collection[Pair]) -> dict[Pair, str]:
    """Pairs that are gold questions, or have the same text as one of the same topic → docno of that document."""
    return _known_by(
        session, collection_id, pairs, _columns(PoolItem, collection_id, PoolItem.known_grade.is_not(None))
    )


def _columns(
    table: type[QualifyingItem] | type[PoolItem], collection_id: int, *conditions: ColumnElement[bool]
) -> Select[str, str, str | None]:
    return (
        select(Topic.number, Document.docno, TEXT)
        .select_from(table)
        .join(Topic, Topic.id == table.topic_id)
        .join(Document, Document.id == table.document_id)
        .where(Topic.collection_id == collection_id, *conditions)
    )


def _known_by(
    session: Session, collection_id: int, pairs: Collection[Pair], known: Select[str, str, str | None]
) -> dict[Pair, str]:
    themselves: set[Pair] = set()
    by_text: dict[Pair, str] = {}
    for number, docno, words in session.execute(known):
        themselves.add((number, docno))
        if words is not None:
            by_text.setdefault((number, words), docno)
    if not themselves:
        return {}
    texts = _texts(session, collection_id, {docno for _, docno in pairs})
    found = {
        (number, docno): by_text[number, texts[docno]]
        for number, docno in pairs
        if docno in texts and (number, texts[docno]) in by_text
    }
    return found | {pair: pair[1] for pair in pairs if pair in themselves}


def _texts(session: Session, collection_id: int, docnos: Collection[str]) -> dict[str, str]:
    """Docno → hash of its text, for documents with a text."""
    statement = select(Document.docno, TEXT).where(Document.collection_id == collection_id)
    return {
        docno: words
        for chunk in chunks(sorted(docnos))
        for docno, words in session.execute(statement.where(Document.docno.in_(chunk)))
        if words is not None
    }
