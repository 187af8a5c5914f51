"""Search of the corpus, with results for organisers and for judges."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.evaluation.formats.source_answers import SourceHits
from annotator.evaluation.search.search_query import AnyOf, Query, asked_in, folded, fts5_of, parse_query, tsquery_of
from annotator.evaluation.search.search_query import any_word_of as any_word_of
from annotator.evaluation.search.search_snippets import SnippetPart, mark, snippet
from annotator.evaluation.search.search_text import Phrase, indexed_words, plain_text
from annotator.storage import ACCEPTED, Database, Document, Judgement, PoolItem
from annotator.storage.collections.collection import find_collection, find_topic
from annotator.storage.documents.documents import document_ids
from annotator.storage.documents.index_repair import has_usable_index as has_usable_index
from annotator.storage.documents.index_repair import mend_index as mend_index
from annotator.storage.documents.search import (
    FoundText,
    WordsToIndex,
    count_unindexed,
    find_words,
    latest_import,
    pooled_items,
    record_written,
    unindexed_texts,
    write_to_folder,
)
from annotator.storage.documents.search import import_after as import_after
from annotator.storage.documents.search import index_some as index_some
from annotator.storage.documents.search import merge_index as merge_index
from annotator.storage.documents.search import refuse_judges_unless as refuse_judges_unless
from annotator.storage.documents.search import tune_index as tune_index
from annotator.storage.documents.search_conditions import (
    HasAll,
    HasAny,
    HasPhrase,
    SearchCondition,
    Wanted,
    has_all,
    has_any,
    has_phrase,
)
from annotator.storage.documents.searchable import folder_of as folder_of
from annotator.storage.judging.leases import Decision
from annotator.storage.site.epoch import current_epoch


@dataclass(frozen=True)
class FoundDocument:
    """A search result for an organiser; `pooled`: for the topic of the search."""

    docno: str
    title: tuple[SnippetPart, ...]
    snippet: tuple[SnippetPart, ...]
    language: str | None
    pooled: bool


@dataclass(frozen=True)
class SearchPage:
    """One page of results, best first, and their total number; `more`: this many are ordered, and others match."""

    total: int
    hits: tuple[FoundDocument, ...]
    more: bool = False


@dataclass(frozen=True)
class FoundToJudge:
    """A search result for a judge, without information on the pool, the runs or other judges.

    `decision` and `assignment_id` are the judge's own if they have judged it for the topic.
    """

    docno: str
    title: tuple[SnippetPart, ...]
    snippet: tuple[SnippetPart, ...]
    language: str | None
    decision: Decision | None
    assignment_id: int | None


@dataclass(frozen=True)
class JudgesSearchPage:
    """One page of a judge's results, as `SearchPage`."""

    total: int
    hits: tuple[FoundToJudge, ...]
    more: bool = False


@dataclass(frozen=True)
class OpenedDocument:
    """One document of the corpus, for display."""

    docno: str
    title: str
    body: str
    url: str | None
    language: str | None


@dataclass(frozen=True)
class _Found:
    total: int
    texts: Sequence[FoundText]
    more: bool
    phrases: tuple[Phrase, ...]

    @property
    def ids(self) -> list[int]:
        """The ids of the documents."""
        return [text.id for text in self.texts]

    def parts(self, text: FoundText) -> tuple[tuple[SnippetPart, ...], tuple[SnippetPart, ...]]:
        """Title and snippet, split into highlighted and other parts."""
        return mark(text.title, self.phrases), snippet(plain_text(text.body), self.phrases)


def find_documents(
    session: Session,
    slug: str,
    query: str,
    *,
    topic: str | None = None,
    first: int = 0,
    most: int = 20,
    from_source: SourceHits | None = None,
) -> SearchPage:
    """Up to `most` results of an organiser's query, from rank `first` (from 0) on, or those that a source has found.

    Raises `InvalidValueError` for an invalid query, `NotFoundError` for an unknown topic.
    """
    collection = find_collection(session, slug)
    topic_id = find_topic(session, collection.id, topic).id if topic is not None else None
    found = _found(session, collection.id, query, first, most, from_source)
    pooled = pooled_items(session, topic_id, found.ids) if topic_id is not None else {}
    hits = (FoundDocument(text.docno, *found.parts(text), text.language, text.id in pooled) for text in found.texts)
    return SearchPage(found.total, tuple(hits), found.more)


def find_to_judge(
    session: Session,
    slug: str,
    query: str,
    *,
    topic: str,
    judge_id: int,
    first: int = 0,
    most: int = 20,
    from_source: SourceHits | None = None,
) -> JudgesSearchPage:
    """Results for a judge, as `find_documents`; `NotAllowedError` unless the organiser lets judges search."""
    collection = find_collection(session, slug)
    refuse_judges_unless(judges_search=collection.judges_search)
    topic_id = find_topic(session, collection.id, topic, ACCEPTED).id
    found = _found(session, collection.id, query, first, most, from_source)
    own = _own_judgements(session, topic_id, judge_id, found.ids)
    hits = tuple(_to_judge(found, text, own.get(text.id)) for text in found.texts)
    return JudgesSearchPage(found.total, hits, found.more)


def judges_may_search(session: Session, slug: str) -> bool:
    """Whether the organiser lets judges search the corpus."""
    return find_collection(session, slug).judges_search


def open_document(session: Session, slug: str, docno: str) -> OpenedDocument:
    """One document with a text; raises `NotFoundError`."""
    document = session.scalar(
        select(Document).where(
            Document.collection_id == find_collection(session, slug).id,
            Document.docno == docno,
            Document.body.is_not(None),
        )
    )
    if document is None:
        raise NotFoundError("There is no document “%(docno)s” with a text in this collection.", docno=docno)
    return OpenedDocument(document.docno, document.title, document.body or "", document.url, document.language)


def _found(
    session: Session, collection_id: int, query: str, first: int, most: int, from_source: SourceHits | None
) -> _Found:
    """What is found in the texts here, or what a source has found, whose queries need not be ours."""
    if from_source is None:
        return _find(session, collection_id, query, first, most)
    ids = document_ids(session, collection_id, [hit.docno for hit in from_source.hits])
    texts = [FoundText(ids.get(hit.docno, 0), hit.docno, hit.title, hit.snippet, None) for hit in from_source.hits]
    try:
        phrases = tuple(asked.phrase for asked in asked_in(parse_query(query), also_without=False))
    except InvalidValueError:
        phrases = ()
    return _Found(from_source.total, texts, more=False, phrases=phrases)


def _find(session: Session, collection_id: int, text: str, first: int, most: int) -> _Found:
    query = parse_query(text)
    found = find_words(session, collection_id, condition_of(query), first=first, most=most)
    phrases = tuple(asked.phrase for asked in asked_in(query, also_without=False))
    return _Found(found.total, found.texts, found.more, phrases)


# The query for an index in a folder, which may be of any of these kinds.
IN_FOLDER: tuple[
    Callable[[Sequence[str], bool], Wanted],
    Callable[[Sequence[Wanted], Sequence[Wanted]], Wanted],
    Callable[[Sequence[Wanted]], Wanted],
] = (HasPhrase, HasAll, HasAny)


def condition_of(query: Query) -> SearchCondition:
    """The query in the syntax of the databases."""
    any_of = tuple(map(condition_of, query.parts)) if isinstance(query, AnyOf) else ()
    exact = folded(query, has_phrase, has_all, has_any)
    wanted = folded(query, *IN_FOLDER)
    return SearchCondition(fts5_of(query), tsquery_of(query), exact, wanted, any_of)


def _to_judge(found: _Found, text: FoundText, own: Judgement | None) -> FoundToJudge:
    decision, assignment_id = (Decision.of(own), own.assignment_id) if own is not None else (None, None)
    return FoundToJudge(text.docno, *found.parts(text), text.language, decision, assignment_id)


def _own_judgements(
    session: Session, topic_id: int, judge_id: int, document_ids: Sequence[int]
) -> dict[int, Judgement]:
    """Document id → this judge's current judgement of it for the topic."""
    rows = session.execute(
        select(PoolItem.document_id, Judgement)
        .join(Judgement, Judgement.pool_item_id == PoolItem.id)
        .where(
            PoolItem.topic_id == topic_id,
            PoolItem.document_id.in_(document_ids),
            Judgement.judge_id == judge_id,
            Judgement.current,
        )
    )
    return {document_id: judgement for document_id, judgement in rows}


# A request indexes so few documents itself.
INDEXED_AT_ONCE = 300
# A batch holds SQLite's lock for about a twentieth of a second: 1,250 passages, or 150 articles.
BATCH, CHARACTERS_OF_A_BATCH = 2_000, 500_000
# A folder is written without that lock, and each batch makes a segment that is merged later: fewer are faster.
FOLDER_BATCH, CHARACTERS_OF_A_FOLDER_BATCH = 50_000, 30_000_000


def words_to_index(session: Session, *, after: int = 0, most: int | None = None) -> list[WordsToIndex]:
    """The next documents, of any collection, that have a text and are not indexed; empty when all are.

    By id, after the id `after`; fewer if they are long. A read-only session suffices: tokenising blocks nobody.
    """
    is_small = folder_of(session) is None
    usual, characters = (BATCH, CHARACTERS_OF_A_BATCH) if is_small else (FOLDER_BATCH, CHARACTERS_OF_A_FOLDER_BATCH)
    texts = unindexed_texts(session, after=after, most=most or usual, most_characters=characters)
    return [
        WordsToIndex(text.id, text.collection_id, text.text_hash, indexed_words(text.title, text.body))
        for text in texts
    ]


def index_rest(database: Database) -> Iterator[int]:
    """Index all documents not indexed yet, each batch in its own transaction; yields the size of each batch."""
    database.attempt(mend_index)
    database.attempt(tune_index)
    after = 0
    while words := next_words(database, after):
        several, index = words
        yield database.attempt(index)
        after = several[-1].document_id
    while database.attempt(merge_index):
        pass


# Of each engine: epoch and collection → the latest import when all of its documents were indexed.
_all_indexed: WeakKeyDictionary[object, dict[tuple[str, int], tuple[int, int, int]]] = WeakKeyDictionary()
MOST_REMEMBERED = 1_000


def count_not_indexed(session: Session, slug: str) -> int:
    """The number of documents of a collection that have a text and are not searchable yet.

    Counting reads every document: once all are indexed, they are counted again after the next import only.
    """
    collection_id = find_collection(session, slug).id
    place, latest = (current_epoch(session), collection_id), latest_import(session, collection_id)
    remembered = _all_indexed.setdefault(session.get_bind(), {})
    if latest is not None and remembered.get(place) == latest:
        return 0
    count = count_unindexed(session, collection_id)
    if not count and latest is not None:
        if len(remembered) >= MOST_REMEMBERED:
            remembered.clear()
        remembered[place] = latest
    return count


def next_words(database: Database, after: int) -> tuple[list[WordsToIndex], Callable[[Session], int]] | None:
    """The next documents to index after an id, and what does it in a transaction; None when all are indexed.

    Where the index is in a folder, that has them already. Raises `BusyError` when it cannot be written.
    """
    with database.reading() as session:
        several = words_to_index(session, after=after)
        if not several:
            return None
        index = record_written if write_to_folder(session, several) else index_some
        return several, partial(index, several=several)
