"""Which documents the index in a folder has, where the site uses one in place of the index of its database.

A document counts as indexed by its row in `searchable_document`, which is deleted with its text and written after the
folder has the new one: a hit without such a row is of an old text. The folder of a database is named by its epoch, so
that after a restore none of another state is read. Whatever is missing is built again by the worker.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from annotator.storage.documents.documents import ROWS_AT_ONCE
from annotator.storage.site.bulk_insert import chunks, insert_rows
from annotator.storage.site.database import SEARCH_FOLDER
from annotator.storage.site.epoch import current_epoch
from annotator.storage.tables.documents import SEARCHABLE, SearchableDocument

if TYPE_CHECKING:
    from annotator.storage.documents.search_folder import SearchFolder


def folder_of(session: Session) -> "SearchFolder | None":
    """The index in a folder that this site uses; None where it uses the index of its database."""
    parent: Path | None = session.info.get(SEARCH_FOLDER)
    if parent is None:
        return None
    # It needs an extra, which most sites have not.
    module = import_module("annotator.storage.documents.search_folder")
    folder: SearchFolder = module.SearchFolder(parent / current_epoch(session))
    return folder


def searchable_among(session: Session, ids: Sequence[int]) -> set[int]:
    """The documents among `ids` whose present text the folder has."""
    ours = SearchableDocument.document_id
    return {id_ for chunk in chunks(list(ids)) for id_ in session.scalars(select(ours).where(ours.in_(chunk)))}


def mark_searchable(session: Session, ids: Sequence[int]) -> None:
    """Record that the folder has the present texts of documents that had no record."""
    insert_rows(session, SEARCHABLE, ("document_id",), [(id_,) for id_ in ids], at_once=ROWS_AT_ONCE)


def forget_searchable(session: Session, ids: Sequence[int] | None = None) -> None:
    """Record that the folder has not the present texts of these documents, or of any."""
    if ids is None:
        session.execute(delete(SearchableDocument))
        return
    for chunk in chunks(list(ids)):
        session.execute(delete(SearchableDocument).where(SearchableDocument.document_id.in_(chunk)))


def has_searchable(session: Session) -> bool:
    """Whether the folder has the present text of any document."""
    return session.scalar(select(SearchableDocument.document_id).limit(1)) is not None
