"""Export of all judgements: judge, grade, document, time, version of the guidelines, evidence."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session, aliased

from annotator.evaluation.outputs.judgement_outputs import JudgementRow, Passage, evidence_json
from annotator.spreadsheets import csv_text
from annotator.storage import Assignment, Document, Evidence, GuidelineVersion, Judgement, PoolItem, Topic, User
from annotator.storage.collections.collection import find_collection
from annotator.storage.site.bulk_insert import ids_as_rows

ROWS_AT_ONCE = 2_000
MOST_MOMENTS = 10_000  # the number of timestamps whose text is cached


def export_judgements(session: Session, slug: str) -> Iterator[JudgementRow]:
    """Yield every judgement of a collection in storage order, with `ROWS_AT_ONCE` in memory.

    Must be consumed within the transaction; `NotFoundError` for an unknown collection is raised by the first `next`.
    """
    collection_id = find_collection(session, slug).id
    moments: dict[datetime, str] = {}
    together = {"yield_per": ROWS_AT_ONCE}
    for rows in session.execute(_judgements(collection_id), execution_options=together).partitions():
        evidence = _evidence(session, [row.id for row in rows])
        for row in rows:
            yield _row(row, moments, tuple(evidence.get(row.id, ())))
        if len(moments) > MOST_MOMENTS:
            moments.clear()


def judgements_csv(rows: Iterable[JudgementRow]) -> Iterator[bytes]:
    """CSV with a header line, in chunks; the evidence is a JSON list."""
    yield csv_text([JudgementRow._fields]).encode()
    several = iter(rows)
    while some := list(islice(several, ROWS_AT_ONCE)):
        yield csv_text([(*row[:-1], evidence_json(row)) for row in some]).encode()


def _judgements(collection_id: int) -> Select[*tuple[object, ...]]:
    source, source_item, source_document = aliased(Judgement), aliased(PoolItem), aliased(Document)
    return (
        select(
            # Columns only: mapped rows, kept in the session, take far longer.
            *(Judgement.id, Judgement.judged_at, Judgement.received_at),
            *(Topic.number, Document.docno, User.name),
            *(Judgement.grade, Judgement.cannot_judge, Judgement.note, Judgement.seconds),
            *(GuidelineVersion.number.label("guidelines"), Judgement.late, Judgement.current),
            *(Judgement.tab, Judgement.sequence, Assignment.purpose, source_document.docno.label("carried_from")),
        )
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .join(User, User.id == Judgement.judge_id)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .outerjoin(GuidelineVersion, GuidelineVersion.id == Judgement.guideline_version_id)
        .outerjoin(source, source.id == Judgement.carried_from_id)
        .outerjoin(source_item, source_item.id == source.pool_item_id)
        .outerjoin(source_document, source_document.id == source_item.document_id)
        .where(Topic.collection_id == collection_id)
        .order_by(Judgement.id)
    )


def _evidence(session: Session, judgements: Sequence[int]) -> dict[int, list[Passage]]:
    """Judgement → its passages, in the order in which they were stored."""
    rows = session.execute(
        select(Evidence.judgement_id, Evidence.start, Evidence.end, Evidence.text)
        .where(Evidence.judgement_id.in_(ids_as_rows(session, judgements)))
        .order_by(Evidence.id)
    )
    evidence: dict[int, list[Passage]] = defaultdict(list)
    for judgement_id, start, end, text in rows:
        evidence[judgement_id].append(Passage(start, end, text))
    return evidence


def _row(row: Row[*tuple[Any, ...]], moments: dict[datetime, str], evidence: tuple[Passage, ...]) -> JudgementRow:
    """Build the exported row; `moments` caches the text of timestamps, as files repeat one."""
    _, judged_at, received_at, *facts = row
    for moment in (judged_at, received_at):
        if moment not in moments:
            moments[moment] = moment.isoformat()
    ordered = (*facts[:7], moments[judged_at], *facts[7:10], moments[received_at], *facts[10:], evidence)
    return JudgementRow._make(ordered)
