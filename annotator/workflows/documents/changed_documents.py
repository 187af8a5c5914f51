"""Documents whose text changed since they were judged: an organiser has them judged anew, or lets the grades stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.errors import NotFoundError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.spreadsheets import csv_text
from annotator.storage import Document
from annotator.storage.collections.collection import find_collection, lock_open_collection
from annotator.storage.judging.changed_texts import OldJudgement, judgements_of_old_texts, requeue
from annotator.storage.site.bulk_insert import chunks

HEADINGS = ("topic", "document", "text_changed_at", "judge", "grade", "could_not_judge", "judged_at")


@dataclass(frozen=True)
class ChangedDocument:
    """A document with what judges said, topic by topic, of the text that it had; these grades still count."""

    docno: str
    text_changed_at: datetime
    judgements: tuple[OldJudgement, ...]


def changed_documents(session: Session, slug: str) -> list[ChangedDocument]:
    """What was judged of accepted topics and has another text now, by docno, and within it by topic."""
    rows = judgements_of_old_texts(session, find_collection(session, slug).id)
    rows.sort(key=lambda row: (row.docno, natural_order(row.topic)))
    return [
        ChangedDocument(docno, several[0].text_changed_at, tuple(several))
        for docno, of_document in groupby(rows, key=lambda row: row.docno)
        if (several := list(of_document))
    ]


def changed_csv(changed: Sequence[ChangedDocument]) -> str:
    """Comma-separated, a line a judgement."""
    rows = [
        [
            *(said.topic, one.docno, one.text_changed_at.isoformat(), said.judge),
            *(said.grade, said.cannot_judge, said.judged_at.isoformat()),
        ]
        for one in changed
        for said in one.judgements
    ]
    return csv_text([list(HEADINGS), *rows])


def requeue_changed(session: Session, slug: str, docnos: Sequence[str] | None = None, *, at: datetime) -> int:
    """Put changed documents, all or these, back into the queue, and count the documents of topics put back.

    What was said of the old text stays in the history and counts no more; the judges see the new text. Raises
    `NotFoundError` for a document that is not among them.
    """
    # What is judged meanwhile could be of either text, so that judges wait.
    collection = lock_open_collection(session, slug, against_judging=True)
    chosen = _chosen(session, collection.id, docnos)
    requeue(session, [one.id for one in chosen], at)
    return len({one.pool_item_id for one in chosen})


def let_changed_stand(session: Session, slug: str, docnos: Sequence[str] | None = None) -> int:
    """Take changed documents, all or these, off the list: what was said of the old text holds for the new one.

    Returns how many documents of topics that are; raises `NotFoundError` for one that is not among them.
    """
    collection = lock_open_collection(session, slug)
    chosen = _chosen(session, collection.id, docnos)
    for some in chunks(sorted({one.document_id for one in chosen})):
        session.execute(update(Document).where(Document.id.in_(some)).values(text_changed_at=None))
    return len({one.pool_item_id for one in chosen})


def _chosen(session: Session, collection_id: int, docnos: Sequence[str] | None) -> list[OldJudgement]:
    rows = judgements_of_old_texts(session, collection_id)
    if docnos is None:
        return rows
    for docno in docnos:
        if docno not in {row.docno for row in rows}:
            raise NotFoundError(
                "Document %(docno)s is not among those whose text has changed since they were judged.", docno=docno
            )
    return [row for row in rows if row.docno in set(docnos)]
