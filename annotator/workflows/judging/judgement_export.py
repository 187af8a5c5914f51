"""Everything that was said goes out: who gave which grade to what, when, under which guidelines, and by which words."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session, aliased

from annotator.spreadsheets import csv_text
from annotator.storage import Assignment, Document, Evidence, GuidelineVersion, Judgement, PoolItem, Topic, User
from annotator.storage.collections.collection import find_collection


@dataclass(frozen=True)
class Passage:
    """Words of the document as shown that a judgement was made for; the places count characters, from 0."""

    start: int
    end: int
    text: str


class JudgementRow(NamedTuple):
    """One judgement as it goes out; replaced ones are there too, marked as not current. Moments are ISO 8601.

    `purpose` says why the judge had the document; of one that repeats the judgement of a document with the same text,
    `carried_from` is the docno of that one. Within a `tab` of a browser `sequence` is the order of what was said.
    """

    topic: str
    docno: str
    judge: str
    grade: int | None
    cannot_judge: str | None
    note: str
    seconds: float | None
    judged_at: str
    guidelines: int | None
    late: bool
    current: bool
    received_at: str
    tab: str
    sequence: int | None
    purpose: str
    carried_from: str | None
    evidence: tuple[Passage, ...]


def export_judgements(session: Session, slug: str) -> list[JudgementRow]:
    """Every judgement of a collection in the order in which they were stored."""
    collection_id = find_collection(session, slug).id
    evidence = _evidence(session, collection_id)
    moments: dict[datetime, str] = {}
    rows = session.execute(_judgements(collection_id))
    return [_row(row, moments, tuple(evidence.get(row.id, ()))) for row in rows]


def judgements_csv(rows: Sequence[JudgementRow]) -> str:
    """Comma-separated with a header line; the evidence is a JSON list."""
    lines = [(*row[:-1], _evidence_json(row)) for row in rows]
    return csv_text([JudgementRow._fields, *lines])


def judgements_jsonl(rows: Sequence[JudgementRow]) -> str:
    """One JSON object a line."""
    return "".join(
        json.dumps({**row._asdict(), "evidence": [vars(passage) for passage in row.evidence]}, ensure_ascii=False)
        + "\n"
        for row in rows
    )


def _judgements(collection_id: int) -> Select[*tuple[object, ...]]:
    source, source_item, source_document = aliased(Judgement), aliased(PoolItem), aliased(Document)
    return (
        select(
            # By column: whole rows, kept in the session, take far longer.
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


def _evidence(session: Session, collection_id: int) -> dict[int, list[Passage]]:
    """Judgement → its passages, in the order in which they were kept."""
    rows = session.execute(
        select(Evidence.judgement_id, Evidence.start, Evidence.end, Evidence.text)
        .join(Judgement, Judgement.id == Evidence.judgement_id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection_id)
        .order_by(Evidence.id)
    )
    evidence: dict[int, list[Passage]] = defaultdict(list)
    for judgement_id, start, end, text in rows:
        evidence[judgement_id].append(Passage(start, end, text))
    return evidence


def _row(row: Row[*tuple[Any, ...]], moments: dict[datetime, str], evidence: tuple[Passage, ...]) -> JudgementRow:
    """Put a row in the order of its fields; `moments` remembers how they are written: files repeat one."""
    _, judged_at, received_at, *facts = row
    for moment in (judged_at, received_at):
        if moment not in moments:
            moments[moment] = moment.isoformat()
    ordered = (*facts[:7], moments[judged_at], *facts[7:10], moments[received_at], *facts[10:], evidence)
    return JudgementRow._make(ordered)


def _evidence_json(row: JudgementRow) -> str:
    if not row.evidence:  # as of most judgements
        return "[]"
    return json.dumps([vars(passage) for passage in row.evidence], ensure_ascii=False)
