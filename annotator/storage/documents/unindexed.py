"""Documents that have a text and are not in the search index yet: which they are, how many, and who may index them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, exists, func, literal_column, select
from sqlalchemy.orm import Session

from annotator.storage.documents.search import index_documents
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.documents import WORDS, Document

# SQLite looks into the rows of documents last only when what leaves most of them out is kept apart by a LIMIT.
ALL: ColumnElement[int] = literal_column("9223372036854775807")


@dataclass(frozen=True)
class UnindexedText:
    """A document that no search finds yet; the hash tells whether it has another text by the time it is indexed."""

    id: int
    title: str
    body: str
    text_hash: str | None


@dataclass(frozen=True)
class WordsToIndex:
    """A document with the words that its text, which has this hash, is found by."""

    document_id: int
    text_hash: str | None
    words: str


def unindexed_texts(session: Session, *, after: int, most: int) -> list[UnindexedText]:
    """Up to `most` documents of any collection that are not indexed, by id, from behind the id `after` on."""
    # By their ids first: PostgreSQL may sort or hash all that there are, which would be much with their texts.
    wanted = select(Document.id).where(Document.id > after, Document.body.is_not(None), _lacks_words())
    ids = session.scalars(wanted.order_by(Document.id).limit(most)).all()
    columns = select(Document.id, Document.title, Document.body, Document.text_hash).order_by(Document.id)
    texts = (row for chunk in chunks(list(ids)) for row in session.execute(columns.where(Document.id.in_(chunk))))
    return [UnindexedText(id_, title, body or "", text_hash) for id_, title, body, text_hash in texts]


def texts_of(session: Session, collection_id: int, *, after: int, most: int) -> list[UnindexedText]:
    """Up to `most` documents of one collection that have a text, indexed or not, by id, from behind the id `after`."""
    rows = session.execute(
        select(Document.id, Document.title, Document.body, Document.text_hash)
        .where(Document.collection_id == collection_id, Document.body.is_not(None), Document.id > after)
        .order_by(Document.id)
        .limit(most)
    )
    return [UnindexedText(id_, title, body or "", text_hash) for id_, title, body, text_hash in rows]


def lock_unindexed(session: Session, hashes: Mapping[int, str | None]) -> set[int]:
    """Those of documents, by id with the hashes of their texts, that still have the text and are still not indexed.

    On PostgreSQL they are this transaction's to index; those that somebody else changes or indexes are left out.
    """
    ours: set[int] = set()
    for chunk in chunks(list(hashes)):
        locked = session.execute(
            select(Document.id, Document.text_hash)
            .where(Document.id.in_(chunk))
            .with_for_update(key_share=True, skip_locked=True)
        )
        unchanged = {id_ for id_, hash_ in locked if hash_ == hashes[id_]}
        # A statement of its own, which sees what was indexed until the locks were ours.
        ours |= unchanged.difference(_indexed_among(session, chunk))
    return ours


def index_some(session: Session, several: Sequence[WordsToIndex]) -> int:
    """Put documents into the search index, and count them.

    Left out are those that have another text by now or that somebody else has indexed or is indexing.
    """
    ours = lock_unindexed(session, {one.document_id: one.text_hash for one in several})
    return index_documents(session, ((one.document_id, one.words) for one in several if one.document_id in ours))


def count_unindexed(session: Session, collection_id: int) -> int:
    """How many documents of a collection have a text and are not in the search index."""
    lacking = select(Document.id).where(Document.collection_id == collection_id, _lacks_words()).limit(ALL).subquery()
    having_text = select(func.count()).select_from(lacking).join(Document, Document.id == lacking.c.id)
    return session.scalars(having_text.where(Document.body.is_not(None))).one()


def _lacks_words() -> ColumnElement[bool]:
    return ~exists().where(WORDS.c.document_id == Document.id)


def _indexed_among(session: Session, ids: Sequence[int]) -> Sequence[int]:
    return session.scalars(select(WORDS.c.document_id).where(WORDS.c.document_id.in_(ids))).all()
