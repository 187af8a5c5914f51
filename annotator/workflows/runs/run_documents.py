"""The documents of runs that are checked and stored: compared with the corpus, and added where they have no row."""

from collections.abc import Iterable

from sqlalchemy.orm import Session

from annotator.evaluation.runs.docno_lists import ReadDocnos
from annotator.evaluation.runs.run_intake import DocumentIds, RunIntake
from annotator.storage.documents import documents as document_rows
from annotator.storage.documents.docno_lists import packed_parts, stored_list
from annotator.storage.documents.documents import add_documents, has_texts, stored_documents
from annotator.storage.documents.sources import find_source
from annotator.storage.site.database import has_one_writer
from annotator.workflows.documents.source_folders import index_of


def documents_of(session: Session, collection_id: int, intake: RunIntake, docnos: ReadDocnos | None) -> DocumentIds:
    """The documents of the runs, compared with these docnos, else with the list of the collection if it has one.

    Else with the index of its source if that is a folder, and last with the texts.
    """
    listed: Iterable[bytes] | None = None if docnos is None else docnos.packed_lines
    if listed is None and stored_list(session, collection_id) is not None:
        listed = packed_parts(session, collection_id)
    source = find_source(session, collection_id)
    index = index_of(source) if listed is None else None
    documents = DocumentIds(
        intake.documents,
        # From a source only the texts of pooled documents come.
        corpus_is_loaded=source is None and has_texts(session, collection_id),
        list_parts=listed,
        index=None if index is None else index.has,
    )
    find_documents(session, collection_id, documents)
    return documents


def find_documents(session: Session, collection_id: int, documents: DocumentIds) -> None:
    """Look up the ids of documents that have a row."""
    count, docnos = documents.missing_count, (docnos for _, docnos in documents.missing())
    for rows in stored_documents(session, collection_id, count, docnos, with_text=documents.corpus_is_loaded):
        documents.take(rows)


def add_missing_documents(
    session: Session, collection_id: int, checked: DocumentIds, greatest: int | None = None
) -> DocumentIds:
    """Insert rows for documents without one; the checked mapping is not modified, in case of a rollback.

    `greatest` was the greatest id of a document when they were looked up, if that is known.
    """
    documents = checked.copy()
    if greatest is not None and has_one_writer(session):
        # Looking all of them up again would hold up other writers.
        documents.take(document_rows.documents_after(session, collection_id, greatest))
    else:
        find_documents(session, collection_id, documents)
    for numbers, docnos in documents.missing():
        documents.give(numbers, add_documents(session, collection_id, docnos))
    return documents
