"""The list of valid docnos of a collection, by which runs are checked, whether or not its documents are stored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.evaluation.runs.docno_lists import ReadDocnos, lines_of
from annotator.evaluation.runs.docno_lists import read_docnos as read_docnos
from annotator.storage.collections.collection import find_collection, lock_open_collection
from annotator.storage.documents.docno_lists import StoredList, delete_list, packed_parts, store_list, stored_list


@dataclass(frozen=True)
class DocnosImport:
    """Result of an import: the number of distinct docnos, and of lines that repeated one."""

    docnos: int
    repeated: int


def import_docnos(session: Session, slug: str, read: ReadDocnos, *, files: Sequence[str], at: datetime) -> DocnosImport:
    """Store the list of a collection, in place of an earlier one; `files` are the names of its files."""
    collection = lock_open_collection(session, slug)
    parts = [(part.count, part.lines) for part in read.parts]
    store_list(session, collection.id, parts, files=", ".join(files), at=at)
    return DocnosImport(read.count, read.repeated)


def docno_list(session: Session, slug: str) -> StoredList | None:
    """What is known of the list of a collection; None when it has none."""
    return stored_list(session, find_collection(session, slug).id)


def show_docno_list(session: Session, slug: str) -> StoredList:
    """What is known of the list of a collection; `NotFoundError` when it has none."""
    found = docno_list(session, slug)
    if found is None:
        raise NotFoundError("The collection has no list of docnos.")
    return found


def export_docnos(session: Session, slug: str) -> Iterator[bytes]:
    """The list of a collection as lines, in the order of the files that were imported; raises as `show_docno_list`."""
    show_docno_list(session, slug)
    return map(lines_of, packed_parts(session, find_collection(session, slug).id))


def remove_docnos(session: Session, slug: str) -> StoredList:
    """Remove the list of a collection, and return what was known of it; raises as `show_docno_list`.

    Warnings about earlier runs stay as they are.
    """
    collection = lock_open_collection(session, slug)
    found = show_docno_list(session, slug)
    delete_list(session, collection.id)
    return found
