"""Full-text index of documents: FTS5 on SQLite, a tsvector on PostgreSQL, or on either an index in a folder."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    Column,
    ColumnElement,
    FromClause,
    Integer,
    MetaData,
    String,
    Table,
    delete,
    event,
    exists,
    func,
    insert,
    literal_column,
    select,
    text,
)
from sqlalchemy.orm import Session

from annotator.errors import NotAllowedError
from annotator.storage.documents.documents import ROWS_AT_ONCE, TEXTS_AT_ONCE
from annotator.storage.documents.index_repair import index_needed
from annotator.storage.documents.search_conditions import (
    VECTOR,
    HasAny,
    SearchCondition,
    has_any,
    matches_words,
    tsquery_value,
)
from annotator.storage.documents.searchable import (
    folder_of,
    forget_searchable,
    has_searchable,
    mark_searchable,
    searchable_among,
)
from annotator.storage.site.bulk_insert import chunks, fetch_rows, ids_as_rows, insert_rows
from annotator.storage.tables.collections import AuditEvent
from annotator.storage.tables.documents import SEARCHABLE, WORDS, Document, _make_index
from annotator.storage.tables.pools import PoolItem

if TYPE_CHECKING:
    from annotator.storage.documents.search_folder import SearchFolder

event.listen(WORDS, "after_create", _make_index)

# FTS5 takes commands as values of a column that has the table's name, and their arguments as `rank`.
COMMAND, RANK = "document_words_index", "rank"
FTS5 = Table(
    "document_words_index",
    MetaData(),
    Column("rowid", Integer),
    Column("words", String),
    Column(COMMAND, String),
    Column(RANK, Integer),
)
ITSELF: ColumnElement[str] = literal_column("document_words_index")  # FTS5 uses the table's name for the whole row

# So many documents are looked up in SQLite's index one by one, in less time than all matches of a common word are read.
FEW_IDS = 100

# Normalises by document length; see the documentation of ts_rank.
DIVIDED_BY_LENGTH = 1


@dataclass(frozen=True)
class FoundText:
    """A search result."""

    id: int
    docno: str
    title: str
    body: str
    language: str | None


@dataclass(frozen=True)
class FoundTexts:
    """Some of the matching documents, and the number of all; `more` when there are more than this number."""

    total: int
    texts: Sequence[FoundText]
    more: bool = False


# Ranking reads every match. Ten thousand take a few hundredths of a second; of five million documents, half have “the”.
MOST_RANKED = 10_000


@index_needed()
def find_words(session: Session, collection_id: int, wanted: SearchCondition, *, first: int, most: int) -> FoundTexts:
    """Up to `most` of the matching documents from offset `first` on, ordered by rank and docno.

    Of more than `MOST_RANKED` matches, as many are chosen, and ordered: of a query joined by OR those with its rarest
    parts, ranked by these parts; of any other query those imported first, in that order. An index in a folder
    ranks all.
    """
    folder = folder_of(session)
    if folder is not None:
        if not has_searchable(session):
            return FoundTexts(0, ())
        return _found_in_folder(session, folder, collection_id, wanted, first, most)
    total = _count_up_to(session, collection_id, wanted, MOST_RANKED + 1)
    if total <= MOST_RANKED:
        return FoundTexts(total, _ranked(session, collection_id, wanted, first, most))
    rarest = _rarest_parts(session, collection_id, wanted)
    if rarest is not None:
        texts = _ranked(session, collection_id, rarest, first, most)
        return FoundTexts(_count_up_to(session, collection_id, rarest, MOST_RANKED), texts, more=True)
    source, condition, _ = _search(session, collection_id, wanted)
    # SQLite's index returns documents in the order of its ids, and so need not read all of them.
    by_import = FTS5.c.rowid if session.get_bind().dialect.name == "sqlite" else Document.id
    ids = select(Document.id).select_from(source).where(condition).order_by(by_import)
    chosen = session.scalars(ids.limit(max(min(most, MOST_RANKED - first), 0)).offset(first)).all()
    return FoundTexts(MOST_RANKED, _texts(session, chosen), more=True)


def _found_in_folder(
    session: Session, folder: "SearchFolder", collection_id: int, wanted: SearchCondition, first: int, most: int
) -> FoundTexts:
    """Search the index in a folder, without hits of texts that were replaced or deleted since they were indexed."""
    total, ids = folder.find(collection_id, wanted.wanted, first=first, most=most)
    present = searchable_among(session, ids)
    texts = _texts(session, [id_ for id_ in ids if id_ in present])
    return FoundTexts(total - (len(ids) - len(present)), texts)


def _count_up_to(session: Session, collection_id: int, wanted: SearchCondition, most: int) -> int:
    source, condition, _ = _search(session, collection_id, wanted)
    some = select(Document.id).select_from(source).where(condition).limit(most).subquery()
    return session.scalars(select(func.count()).select_from(some)).one()


def _ranked(
    session: Session, collection_id: int, wanted: SearchCondition, first: int, most: int
) -> Sequence[FoundText]:
    source, condition, order = _search(session, collection_id, wanted)
    ids = select(Document.id).select_from(source).where(condition).order_by(order, Document.docno)
    return _texts(session, session.scalars(ids.offset(first).limit(most)).all())


def _rarest_parts(session: Session, collection_id: int, wanted: SearchCondition) -> SearchCondition | None:
    """The rarest parts of a query joined by OR that together have at most `MOST_RANKED` matches; None without any.

    What the frequent parts add to the rank of a document is little: by BM25 a word of half of the documents adds none.
    """
    counted = [(_count_up_to(session, collection_id, part, MOST_RANKED + 1), part) for part in wanted.any_of]
    rarest: list[SearchCondition] = []
    room = MOST_RANKED
    for count, part in sorted(counted, key=lambda one: one[0]):
        room -= count
        if room < 0:
            break
        if count:
            rarest.append(part)
    if not rarest:
        return None
    return SearchCondition(
        "(" + " OR ".join(part.fts5 for part in rarest) + ")",
        "(" + " | ".join(part.tsquery for part in rarest) + ")",
        has_any([part.exact for part in rarest]),
        HasAny([part.wanted for part in rarest]),
    )


@index_needed()
def found_among(session: Session, collection_id: int, wanted: SearchCondition, ids: Iterable[int]) -> set[int]:
    """The ids among `ids` that match the query."""
    folder = folder_of(session)
    if folder is not None:
        if not has_searchable(session):
            return set()
        return searchable_among(session, list(folder.among(collection_id, wanted.wanted, sorted(set(ids)))))
    source, condition, _ = _search(session, collection_id, wanted)
    statement = select(Document.id).select_from(source).where(condition)
    wanted_ids = sorted(set(ids))
    if session.get_bind().dialect.name == "sqlite" and len(wanted_ids) <= FEW_IDS:
        # The index goes to each document directly, however many others match.
        each = (session.scalar(statement.where(FTS5.c.rowid == id_)) for id_ in wanted_ids)
        return {id_ for id_ in each if id_ is not None}
    # `+ 0` keeps the primary key index from being used, for the reason given in `_search`.
    return {
        id_ for chunk in chunks(wanted_ids) for id_ in session.scalars(statement.where((Document.id + 0).in_(chunk)))
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
    rank = func.ts_rank(VECTOR, tsquery_value(wanted.tsquery), DIVIDED_BY_LENGTH)
    return source, condition & matches_words(wanted.tsquery) & wanted.exact, rank.desc()


def _texts(session: Session, ids: Sequence[int]) -> list[FoundText]:
    """Titles and bodies of the documents on the page only: sorting all matches with their texts reads too much."""
    statement = select(Document.id, Document.docno, Document.title, Document.body, Document.language)
    rows = session.execute(statement.where(Document.id.in_(ids)))
    texts = {id_: FoundText(id_, docno, title, body or "", language) for id_, docno, title, body, language in rows}
    return [texts[id_] for id_ in ids]


@index_needed()
def index_documents(session: Session, words: Iterable[tuple[int, str]]) -> int:
    """Add documents that are not indexed to the index, each with its words; return their number.

    Without an effect where the index is in a folder, to which a worker writes.
    """
    if folder_of(session) is not None:
        return sum(1 for _ in words)
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


@index_needed()
def forget_documents(session: Session, document_ids: Sequence[int]) -> None:
    """Remove documents from the index; those that are not indexed are ignored."""
    forget_searchable(session, document_ids)
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


# A LIMIT keeps SQLite from joining the rows of documents before most of them are excluded.
ALL: ColumnElement[int] = literal_column("9223372036854775807")


@dataclass(frozen=True)
class UnindexedText:
    """A document to be indexed; by the hash a text that changes before it is indexed is recognised."""

    id: int
    collection_id: int
    title: str
    body: str
    text_hash: str | None


@dataclass(frozen=True)
class WordsToIndex:
    """The words to index for a document, computed from the text with this hash."""

    document_id: int
    collection_id: int
    text_hash: str | None
    words: str


TEXT_COLUMNS = (Document.id, Document.collection_id, Document.title, Document.body, Document.text_hash)


def unindexed_texts(session: Session, *, after: int, most: int, most_characters: int) -> list[UnindexedText]:
    """Up to `most` unindexed documents of any collection with ids greater than `after`, ordered by id.

    The last one is the first with which they have `most_characters` or more.
    """
    # Ids first: PostgreSQL may sort or hash all candidates, which is expensive with their texts.
    wanted = select(Document.id).where(Document.id > after, Document.body.is_not(None), _lacks_words(session))
    ids = session.scalars(wanted.order_by(Document.id).limit(most)).all()
    columns = select(*TEXT_COLUMNS).order_by(Document.id)
    texts = []
    for start in range(0, len(ids), TEXTS_AT_ONCE):
        some = ids_as_rows(session, ids[start : start + TEXTS_AT_ONCE])
        for id_, collection_id, title, body, text_hash in fetch_rows(session, columns.where(Document.id.in_(some))):
            texts.append(UnindexedText(id_, collection_id, title, body or "", text_hash))
            most_characters -= len(title) + len(body or "")
            if most_characters <= 0:
                return texts
    return texts


def texts_of(session: Session, collection_id: int, *, after: int, most: int) -> list[UnindexedText]:
    """Up to `most` documents of a collection with a text and ids greater than `after`, indexed or not, by id."""
    rows = session.execute(
        select(*TEXT_COLUMNS)
        .where(Document.collection_id == collection_id, Document.body.is_not(None), Document.id > after)
        .order_by(Document.id)
        .limit(most)
    )
    return [UnindexedText(id_, of, title, body or "", text_hash) for id_, of, title, body, text_hash in rows]


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


# How FTS5 merges its segments: with the usual values each document is rewritten about once for each fourfold growth
# of the index, now for each sixteenfold growth. In memory words of `hashsize` bytes are collected before a segment is
# written.
FTS5_OPTIONS = {"automerge": 16, "crisismerge": 64, "hashsize": 1 << 25}
# Pages of SQLite that a step of merging writes at most, in about a twentieth of a second.
PAGES_AT_ONCE = 500


def tune_index(session: Session) -> None:
    """Let SQLite's index grow with fewer merges, from now on and in every process; nothing on PostgreSQL."""
    if _has_fts5(session):
        rows = session.execute(text("SELECT k, v FROM document_words_index_config"))
        known: dict[str, object] = {option: value for option, value in rows}
        for option, value in FTS5_OPTIONS.items():
            if known.get(option) != value:
                session.execute(insert(FTS5).values({COMMAND: option, RANK: value}))


def merge_index(session: Session) -> bool:
    """Merge some of the segments of SQLite's index, so that queries read fewer; False when nothing is left to do."""
    if not _has_fts5(session):
        return False
    driver: Any = session.connection().connection.dbapi_connection
    before = driver.total_changes
    session.execute(insert(FTS5).values({COMMAND: "merge", RANK: PAGES_AT_ONCE}))
    # FTS5's documentation: a merge that changed fewer than two rows had nothing to do.
    return bool(driver.total_changes - before > 1)


def write_to_folder(session: Session, several: Sequence[WordsToIndex]) -> bool:
    """Add documents to the index in a folder; False where the site has none, and `index_some` is to be called instead.

    `record_written` then records them: this one is outside of a transaction, since it takes as long as to read the
    texts. Raises `BusyError` when the folder cannot be written, as while another process writes to it.
    """
    folder = folder_of(session)
    if folder is None:
        return False
    folder.write((one.document_id, one.collection_id, one.words) for one in several)
    return True


def record_written(session: Session, several: Sequence[WordsToIndex]) -> int:
    """Record written documents as indexed, and return how many; those whose texts changed since are left out."""
    ours = lock_unindexed(session, {one.document_id: one.text_hash for one in several})
    mark_searchable(session, sorted(ours))
    return len(ours)


def index_some(session: Session, several: Sequence[WordsToIndex]) -> int:
    """Add documents to the search index, and return how many were added.

    Documents whose text has changed since, or that another process has indexed or is indexing, are skipped.
    """
    ours = lock_unindexed(session, {one.document_id: one.text_hash for one in several})
    return index_documents(session, ((one.document_id, one.words) for one in several if one.document_id in ours))


# Of all collections, with texts and without: SQLite counts two small tables, and compares no ids.
ARE_ALL_INDEXED = "SELECT (SELECT count(*) FROM document) = (SELECT count(*) FROM document_words_index_docsize)"


@index_needed()
def count_unindexed(session: Session, collection_id: int) -> int:
    """Number of a collection's documents that have a text and are not indexed."""
    if _has_fts5(session) and session.scalar(text(ARE_ALL_INDEXED)):
        return 0
    lacks = _lacks_words(session)
    lacking = select(Document.id).where(Document.collection_id == collection_id, lacks).limit(ALL).subquery()
    having_text = select(func.count()).select_from(lacking).join(Document, Document.id == lacking.c.id)
    return session.scalars(having_text.where(Document.body.is_not(None))).one()


# Texts come into a collection by what has one of these entries in the audit log; by the first they may be unindexed.
IMPORT = "documents.import"
IMPORTS = (IMPORT, "collections.import", "collections.copy")


def latest_import(session: Session, collection_id: int) -> tuple[int, int, int] | None:
    """What changes with every import of texts of a collection, and when the index is built again.

    The entry of the last import, the greatest document and the greatest one that is indexed; None when the audit log
    has no import. It reads three indexes; to count the documents takes a second for a few million.
    """
    entries = select(func.max(AuditEvent.id)).where(AuditEvent.collection_id == collection_id)
    entry = session.scalar(entries.where(AuditEvent.action.in_(IMPORTS)))
    if entry is None:
        return None
    greatest = session.scalar(select(func.max(Document.id))), session.scalar(select(func.max(_indexed_ids(session))))
    return entry, greatest[0] or 0, greatest[1] or 0


def import_after(session: Session, entry: int) -> int | None:
    """The entry of the last import into any collection, if it is behind this one."""
    return session.scalar(select(func.max(AuditEvent.id)).where(AuditEvent.id > entry, AuditEvent.action == IMPORT))


def _lacks_words(session: Session) -> ColumnElement[bool]:
    return ~exists().where(_indexed_ids(session) == Document.id)


def _indexed_ids(session: Session) -> Column[Any]:
    """The column with the ids of the indexed documents."""
    return WORDS.c.document_id if folder_of(session) is None else SEARCHABLE.c.document_id


def _has_fts5(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite" and folder_of(session) is None


def _indexed_among(session: Session, ids: Sequence[int]) -> Sequence[int]:
    indexed = _indexed_ids(session)
    return session.scalars(select(indexed).where(indexed.in_(ids))).all()
