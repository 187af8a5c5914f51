"""The documents of a collection; a row may exist with no text yet, because a run named it."""

from collections.abc import Collection as SizedIterable
from collections.abc import Iterator
from typing import TypeVar, cast

from sqlalchemy import ForeignKey, Table, UniqueConstraint, func, insert, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from annotator.storage.columns import Base, ByteOrdered

Value = TypeVar("Value")

CHUNK = 500  # bound values a statement; old SQLite builds allow 999


class Document(Base):
    __tablename__ = "document"
    # This index alone answers docno → id, so that a look-up of a corpus never reads its texts.
    __table_args__ = (UniqueConstraint("collection_id", "docno"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collection.id"))
    docno: Mapped[str] = mapped_column(ByteOrdered)
    title: Mapped[str] = mapped_column(default="")
    body: Mapped[str | None]
    url: Mapped[str | None]
    language: Mapped[str | None]
    text_hash: Mapped[str | None]


# Many rows go in through the table itself: the mapped class costs ten times as much a row.
DOCUMENTS = cast("Table", Document.__table__)


def document_ids(session: Session, collection_id: int, docnos: SizedIterable[str]) -> dict[str, int]:
    """Docno → row id, for those of `docnos` that have a row."""
    statement = select(Document.docno, Document.id).where(Document.collection_id == collection_id)
    stored = session.scalar(select(func.count()).select_from(Document).where(Document.collection_id == collection_id))
    if len(docnos) * 4 > (stored or 0):
        # Asking for a good part of the corpus: one scan of the index is quicker than many look-ups.
        wanted = set(docnos)
        return {docno: id_ for docno, id_ in session.execute(statement) if docno in wanted}
    return {
        docno: id_
        for chunk in chunks(sorted(docnos))
        for docno, id_ in session.execute(statement.where(Document.docno.in_(chunk)))
    }


def find_or_add_documents(session: Session, collection_id: int, docnos: SizedIterable[str]) -> dict[str, int]:
    """Docno → row id for all of `docnos`; rows without text are made for the new ones."""
    known = document_ids(session, collection_id, docnos)
    missing = sorted(set(docnos) - known.keys())
    if missing:
        session.execute(insert(DOCUMENTS), [{"collection_id": collection_id, "docno": docno} for docno in missing])
        known |= document_ids(session, collection_id, missing)
    return known


def chunks(values: list[Value]) -> Iterator[list[Value]]:
    """The values, `CHUNK` at a time."""
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]


def docnos_of(session: Session, ids: SizedIterable[int]) -> dict[int, str]:
    """Row id → docno."""
    statement = select(Document.id, Document.docno)
    return {
        id_: docno
        for chunk in chunks(sorted(ids))
        for id_, docno in session.execute(statement.where(Document.id.in_(chunk)))
    }
