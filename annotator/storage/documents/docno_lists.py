"""The list of a collection's valid docnos, stored in packed parts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, literal, select
from sqlalchemy.orm import Session

from annotator.storage.tables.documents import DOCNO_LIST_PARTS, DocnoList, DocnoListPart

PARTS_AT_ONCE = 10


@dataclass(frozen=True)
class StoredList:
    """What is known of a list: how many docnos it has, from which files, and when they were imported."""

    docnos: int
    files: str
    imported_at: datetime


def stored_list(session: Session, collection_id: int) -> StoredList | None:
    """What is known of the list of a collection; None when it has none."""
    row = session.execute(
        select(func.sum(DocnoListPart.count), DocnoList.files, DocnoList.imported_at)
        .join(DocnoListPart, DocnoListPart.docno_list_id == DocnoList.id)
        .where(DocnoList.collection_id == collection_id)
        .group_by(DocnoList.id)
    ).one_or_none()
    return None if row is None else StoredList(*row)


def packed_parts(session: Session, collection_id: int) -> Iterator[bytes]:
    """The packed lines of a list, in its order."""
    return iter(
        session.scalars(
            select(DocnoListPart.lines)
            .join(DocnoList, DocnoListPart.docno_list_id == DocnoList.id)
            .where(DocnoList.collection_id == collection_id)
            .order_by(DocnoListPart.number),
            execution_options={"yield_per": PARTS_AT_ONCE},
        )
    )


def store_list(
    session: Session, collection_id: int, parts: Sequence[tuple[int, bytes]], *, files: str, at: datetime
) -> None:
    """Store the list of a collection, counts and packed lines of its parts, in place of an earlier one."""
    delete_list(session, collection_id)
    new = DocnoList(collection_id=collection_id, files=files, imported_at=at)
    session.add(new)
    session.flush()
    for number, (count, lines) in enumerate(parts):
        row = {"docno_list_id": new.id, "number": number, "count": count, "lines": lines}
        session.execute(insert(DOCNO_LIST_PARTS), [row])


def delete_list(session: Session, collection_id: int) -> None:
    """Delete the list of a collection, if it has one."""
    ids = select(DocnoList.id).where(DocnoList.collection_id == collection_id)
    session.execute(delete(DOCNO_LIST_PARTS).where(DOCNO_LIST_PARTS.c.docno_list_id.in_(ids)))
    session.execute(delete(DocnoList).where(DocnoList.collection_id == collection_id))


def copy_list(session: Session, old_id: int, new_id: int) -> None:
    """Copy the list of a collection, if it has one, to another that has none."""
    old = session.scalar(select(DocnoList).where(DocnoList.collection_id == old_id))
    if old is None:
        return
    new = DocnoList(collection_id=new_id, files=old.files, imported_at=old.imported_at)
    session.add(new)
    session.flush()
    columns = [DOCNO_LIST_PARTS.c[name] for name in ("number", "count", "lines")]
    parts = select(literal(new.id), *columns).where(DOCNO_LIST_PARTS.c.docno_list_id == old.id)
    names = ["docno_list_id", *(column.name for column in columns)]
    session.execute(insert(DOCNO_LIST_PARTS).from_select(names, parts))
