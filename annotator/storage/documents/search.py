"""Full-text index of documents: FTS5 on SQLite, a tsvector on PostgreSQL."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import (
    Column,
    ColumnElement,
    FromClause,
    Integer,
    MetaData,
    String,
    Table,
    and_,
    delete,
    event,
    exists,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR
from sqlalchemy.orm import Session

from annotator.errors import NotAllowedError
from annotator.storage.documents.documents import ROWS_AT_ONCE
from annotator.storage.site.bulk_insert import chunks, insert_rows
from annotator.storage.tables.documents import WORDS, Document, DocumentWords, _make_index
from annotator.storage.tables.pools import PoolItem

event.listen(WORDS, "after_create", _make_index)

FTS5 = Table("document_words_index", MetaData(), Column("rowid", Integer), Column("words", String))
ITSELF: ColumnElement[str] = literal_column("document_words_index")  # FTS5 uses the table's name for the whole row
VECTOR = literal_column("document_words.vector", TSVECTOR)

# Normalises by document length; see the documentation of ts_rank.
DIVIDED_BY_LENGTH = 1


@dataclass(frozen=True)
class SearchCondition:
    """A query in the syntax of each database.

    `tsquery` has the words that a document must contain, for PostgreSQL's index look-up; `exact` is the full condition.
    """

    fts5: str
    tsquery: str
    exact: ColumnElement[bool]


@dataclass(frozen=True)
class FoundText:
    """A search result."""

    id: int
    docno: str
    title: str
    body: str
    language: str | None


def has_phrase(words: Sequence[str], opens: bool) -> ColumnElement[bool]:  # noqa: FBT001 - one of several conditions
    """PostgreSQL condition: the words occur as a phrase; with `opens` the last one is a prefix.

    A tsvector keeps no positions above 16,383 and at most 256 per word, so phrases are matched in the text.
    """
    text = " ".join(words)
    if len(words) == 1:
        return _matches(f"'{text}'" + (":*" if opens else ""))
    padded = literal(" ") + DocumentWords.words + literal(" ")
    return func.strpos(padded, f" {text}" if opens else f" {text} ") > 0


def has_all(parts: Sequence[ColumnElement[bool]], without: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
    """PostgreSQL condition: all of `parts` and none of `without`."""
    return and_(*parts, *map(not_, without))


def has_any(parts: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
    """PostgreSQL condition: any of `parts`."""
    return or_(*parts)


def find_words(
    session: Session, collection_id: int, wanted: SearchCondition, *, first: int, most: int
) -> tuple[int, list[FoundText]]:
    """Number of matching documents, and `most` of them from offset `first`, ordered by rank and docno."""
    source, condition, order = _search(session, collection_id, wanted)
    total = session.scalar(select(func.count()).select_from(source).where(condition)) or 0
    ids = select(Document.id).select_from(source).where(condition).order_by(order, Document.docno)
    return total, _texts(session, session.scalars(ids.offset(first).limit(most)).all())


def found_among(session: Session, collection_id: int, wanted: SearchCondition, ids: Iterable[int]) -> set[int]:
    """The ids among `ids` that match the query."""
    source, condition, _ = _search(session, collection_id, wanted)
    statement = select(Document.id).select_from(source).where(condition)
    # `+ 0` keeps the primary key index from being used, for the reason given in `_search`.
    return {
        id_ for chunk in chunks(list(ids)) for id_ in session.scalars(statement.where((Document.id + 0).in_(chunk)))
    }


def _search(
    session: Session, collection_id: int, wanted: SearchCondition
) -> tuple[FromClause, ColumnElement[bool], ColumnElement[float]]:
    """The tables to search, the condition that matches, and the ordering by rank."""
    # `+ 0` prevents the index on collections: SQLite would start with it and query FTS5 once per document.
    condition: ColumnElement[bool] = Document.collection_id + 0 == collection_id
    if session.get_bind().dialect.name == "sqlite":
        source = FTS5.join(Document, Document.id == FTS5.c.rowid)
        matches = ITSELF.op("MATCH", is_comparison=True)(wanted.fts5)
        return source, condition & matches, func.bm25(ITSELF)
    source = WORDS.join(Document, Document.id == WORDS.c.document_id)
    rank = func.ts_rank(VECTOR, _tsquery(wanted.tsquery), DIVIDED_BY_LENGTH)
    return source, condition & _matches(wanted.tsquery) & wanted.exact, rank.desc()


def _texts(session: Session, ids: Sequence[int]) -> list[FoundText]:
    """Titles and bodies of the documents on the page only: sorting all matches with their texts reads too much."""
    statement = select(Document.id, Document.docno, Document.title, Document.body, Document.language)
    rows = session.execute(statement.where(Document.id.in_(ids)))
    texts = {id_: FoundText(id_, docno, title, body or "", language) for id_, docno, title, body, language in rows}
    return [texts[id_] for id_ in ids]


def index_documents(session: Session, words: Iterable[tuple[int, str]]) -> int:
    """Add documents that are not indexed to the index, each with its words; return their number."""
    tables = [(WORDS, ("document_id", "words"))]
    if session.get_bind().dialect.name == "sqlite":
        tables.append((FTS5, ("rowid", "words")))
    count = 0
    several = iter(words)
    while batch := list(islice(several, ROWS_AT_ONCE)):
        for table, columns in tables:
            insert_rows(session, table, columns, batch, at_once=ROWS_AT_ONCE)
        count += len(batch)
    return count


def forget_documents(session: Session, document_ids: Sequence[int]) -> None:
    """Remove documents from the index; those that are not indexed are ignored."""
    for chunk in chunks(list(document_ids)):
        session.execute(delete(WORDS).where(WORDS.c.document_id.in_(chunk)))


def refuse_judges_unless(*, judges_search: bool) -> None:
    """Raise `NotAllowedError` when the organiser does not allow judges to search."""
    if not judges_search:
        raise NotAllowedError("Judges of this collection judge what is pooled; the organiser has not let them search.")


def pooled_items(session: Session, topic_id: int, document_ids: Sequence[int]) -> dict[int, int]:
    """Document id → pool item id, for those of the documents that are pooled for the topic."""
    statement = select(PoolItem.document_id, PoolItem.id).where(PoolItem.topic_id == topic_id)
    return {
        document_id: item_id
        for chunk in chunks(list(document_ids))
        for document_id, item_id in session.execute(statement.where(PoolItem.document_id.in_(chunk)))
    }


def _matches(tsquery: str) -> ColumnElement[bool]:
    return VECTOR.op("@@", is_comparison=True)(_tsquery(tsquery))


def _tsquery(text: str) -> ColumnElement[str]:
    return literal(text).cast(TSQUERY)


# A LIMIT keeps SQLite from joining the rows of documents before most of them are excluded.
ALL: ColumnElement[int] = literal_column("9223372036854775807")


@dataclass(frozen=True)
class UnindexedText:
    """A document to be indexed; by the hash a text that changes before it is indexed is recognised."""

    id: int
    title: str
    body: str
    text_hash: str | None


@dataclass(frozen=True)
class WordsToIndex:
    """The words to index for a document, computed from the text with this hash."""

    document_id: int
    text_hash: str | None
    words: str


def unindexed_texts(session: Session, *, after: int, most: int) -> list[UnindexedText]:
    """Up to `most` unindexed documents of any collection with ids greater than `after`, ordered by id."""
    # Ids first: PostgreSQL may sort or hash all candidates, which is expensive with their texts.
    wanted = select(Document.id).where(Document.id > after, Document.body.is_not(None), _lacks_words())
    ids = session.scalars(wanted.order_by(Document.id).limit(most)).all()
    columns = select(Document.id, Document.title, Document.body, Document.text_hash).order_by(Document.id)
    texts = (row for chunk in chunks(list(ids)) for row in session.execute(columns.where(Document.id.in_(chunk))))
    return [UnindexedText(id_, title, body or "", text_hash) for id_, title, body, text_hash in texts]


def texts_of(session: Session, collection_id: int, *, after: int, most: int) -> list[UnindexedText]:
    """Up to `most` documents of a collection with a text and ids greater than `after`, indexed or not, by id."""
    rows = session.execute(
        select(Document.id, Document.title, Document.body, Document.text_hash)
        .where(Document.collection_id == collection_id, Document.body.is_not(None), Document.id > after)
        .order_by(Document.id)
        .limit(most)
    )
    return [UnindexedText(id_, title, body or "", text_hash) for id_, title, body, text_hash in rows]


def lock_unindexed(session: Session, hashes: Mapping[int, str | None]) -> set[int]:
    """Those of the documents (id → hash of the text) that still have that text and are still unindexed.

    On PostgreSQL they are locked for this transaction; those locked by another one are left out.
    """
    ours: set[int] = set()
    for chunk in chunks(list(hashes)):
        locked = session.execute(
            select(Document.id, Document.text_hash)
            .where(Document.id.in_(chunk))
            .with_for_update(key_share=True, skip_locked=True)
        )
        unchanged = {id_ for id_, hash_ in locked if hash_ == hashes[id_]}
        # A separate statement, which sees what was indexed before the locks were acquired.
        ours |= unchanged.difference(_indexed_among(session, chunk))
    return ours


def index_some(session: Session, several: Sequence[WordsToIndex]) -> int:
    """Add documents to the search index, and return how many were added.

    Documents whose text has changed since, or that another process has indexed or is indexing, are skipped.
    """
    ours = lock_unindexed(session, {one.document_id: one.text_hash for one in several})
    return index_documents(session, ((one.document_id, one.words) for one in several if one.document_id in ours))


def count_unindexed(session: Session, collection_id: int) -> int:
    """Number of a collection's documents that have a text and are not indexed."""
    lacking = select(Document.id).where(Document.collection_id == collection_id, _lacks_words()).limit(ALL).subquery()
    having_text = select(func.count()).select_from(lacking).join(Document, Document.id == lacking.c.id)
    return session.scalars(having_text.where(Document.body.is_not(None))).one()


def _lacks_words() -> ColumnElement[bool]:
    return ~exists().where(WORDS.c.document_id == Document.id)


def _indexed_among(session: Session, ids: Sequence[int]) -> Sequence[int]:
    return session.scalars(select(WORDS.c.document_id).where(WORDS.c.document_id.in_(ids))).all()
