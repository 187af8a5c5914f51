"""Index documents after they were imported, some at a time, so that nobody who writes waits for long."""

from collections.abc import Iterator
from functools import partial

from sqlalchemy.orm import Session

from annotator.evaluation.search.search_text import indexed_words
from annotator.storage import Database
from annotator.storage.collections.collection import find_collection
from annotator.storage.documents.search import WordsToIndex, count_unindexed, unindexed_texts
from annotator.storage.documents.search import index_some as index_some

INDEXED_AT_ONCE = 300


def words_to_index(session: Session, *, after: int = 0, most: int = INDEXED_AT_ONCE) -> list[WordsToIndex]:
    """The next `most` documents, of any collection, that have a text and are not indexed; none when all are.

    By id, from behind the id `after` on. A session that only reads is enough: nobody waits while words are found.
    """
    texts = unindexed_texts(session, after=after, most=most)
    return [WordsToIndex(text.id, text.text_hash, indexed_words(text.title, text.body)) for text in texts]


def index_rest(database: Database) -> Iterator[int]:
    """Index whatever is not indexed, in transactions of its own; tells after each how many documents came in."""
    after = 0
    while several := _words_after(database, after):
        yield database.attempt(partial(index_some, several=several))
        after = several[-1].document_id


def count_not_indexed(session: Session, slug: str) -> int:
    """How many documents of a collection have a text that no search finds yet."""
    return count_unindexed(session, find_collection(session, slug).id)


def _words_after(database: Database, after: int) -> list[WordsToIndex]:
    with database.reading() as session:
        return words_to_index(session, after=after)
