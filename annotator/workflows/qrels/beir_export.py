"""Export of a collection as BEIR lays collections out: topics, documents that have a text, and the settled grades."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO
from zipfile import ZipFile

from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.archives.bundle_format import entry_of
from annotator.evaluation.formats.document_formats import ParsedDocument
from annotator.evaluation.formats.topic_formats import ParsedTopic
from annotator.evaluation.outputs import beir_folder
from annotator.evaluation.outputs.qrels_outputs import lines_of
from annotator.storage import TopicState
from annotator.storage.collections.collection import find_collection
from annotator.storage.documents.documents import corpus, has_texts
from annotator.workflows.qrels.qrels import export_qrels
from annotator.workflows.topics.topics import list_topics

NO_LINE = 0


@dataclass(frozen=True)
class BeirCounts:
    """What was written; `without_text` counts the judged documents that the corpus lacks."""

    topics: int
    documents: int
    grades: int
    without_text: int


def write_beir(session: Session, slug: str, stream: BinaryIO, *, made_at: datetime) -> BeirCounts:
    """Write a zip archive with the folder SLUG, as the data sets of BEIR are given out.

    The grades are settled by the collection's policy; the topics are the accepted ones, also those without a grade.
    Raises `ConflictError` when no document has a text or nothing is judged, and as `export_qrels`.
    """
    collection = find_collection(session, slug)
    if not has_texts(session, collection.id):
        raise ConflictError(
            "No document of the collection has a text, and BEIR needs texts: import the documents first."
        )
    rows = lines_of(export_qrels(session, slug, made_at=made_at).qrels)
    if not rows:
        raise ConflictError("Nothing is judged yet, so there are no qrels.")
    topics = [
        ParsedTopic(row.number, row.title, row.description, row.narrative, row.language, NO_LINE)
        for row in list_topics(session, slug)
        if row.state == TopicState.ACCEPTED
    ]
    written: set[str] = set()

    def documents() -> Iterator[bytes]:
        for row in corpus(session, collection.id):
            written.add(row.docno)
            yield beir_folder.corpus_line(ParsedDocument(*row, NO_LINE))

    with ZipFile(stream, "w") as archive:
        _add(archive, f"{slug}/{beir_folder.CORPUS}", documents())
        _add(archive, f"{slug}/{beir_folder.QUERIES}", map(beir_folder.query_line, topics))
        _add(archive, f"{slug}/{beir_folder.QRELS}", iter([beir_folder.qrels_table(rows)]))
    return BeirCounts(len(topics), len(written), len(rows), len({docno for _, docno, _ in rows} - written))


def _add(archive: ZipFile, name: str, pieces: Iterator[bytes]) -> None:
    with archive.open(entry_of(name), "w", force_zip64=True) as part:
        for piece in pieces:
            part.write(piece)
