"""Documents whose right grade is known: a test question asks for it, and the training tells it, so none may be both."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, Select, case, select
from sqlalchemy.orm import Session

from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import QualifyingItem
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

# A topic's number and a docno.
Pair = tuple[str, str]

# What identical documents have in common; those without a text have nothing.
TEXT = case((Document.body != "", Document.text_hash))


def in_training(session: Session, collection_id: int, pairs: Collection[Pair]) -> dict[Pair, str]:
    """Those that are in the training, or have the text of one that is for the same topic, each with its docno."""
    return _known_by(session, collection_id, pairs, _columns(QualifyingItem, collection_id))


def asked_as_test(session: Session, collection_id: int, pairs: Collection[Pair]) -> dict[Pair, str]:
    """Those that are test questions, or have the text of one of the same topic, each with its docno."""
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
    for number, docno, text in session.execute(known):
        themselves.add((number, docno))
        if text is not None:
            by_text.setdefault((number, text), docno)
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
    """Docno → what is the same for identical texts, for those that have one."""
    statement = select(Document.docno, TEXT).where(Document.collection_id == collection_id)
    return {
        docno: text
        for chunk in chunks(sorted(docnos))
        for docno, text in session.execute(statement.where(Document.docno.in_(chunk)))
        if text is not None
    }
