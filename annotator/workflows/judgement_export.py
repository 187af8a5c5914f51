"""Everything that was said goes out: who gave which grade to what, when, under which guidelines."""

import json
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, fields

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.spreadsheets import csv_text
from annotator.storage import Document, GuidelineVersion, Judgement, PoolItem, Topic, User
from annotator.storage.collection import find_collection


@dataclass(frozen=True)
class JudgementRow:
    """One judgement as it goes out; replaced ones are there too, marked as not current. `judged_at` is ISO 8601."""

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


def export_judgements(session: Session, slug: str) -> list[JudgementRow]:
    """Every judgement of a collection in the order in which they were stored."""
    rows = session.execute(
        select(Judgement, Topic.number, Document.docno, User.name, GuidelineVersion.number.label("guidelines"))
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .join(User, User.id == Judgement.judge_id)
        .outerjoin(GuidelineVersion, GuidelineVersion.id == Judgement.guideline_version_id)
        .where(Topic.collection_id == find_collection(session, slug).id)
        .order_by(Judgement.id)
    )
    return [
        JudgementRow(
            topic=row.number,
            docno=row.docno,
            judge=row.name,
            grade=row.Judgement.grade,
            cannot_judge=row.Judgement.cannot_judge,
            note=row.Judgement.note,
            seconds=row.Judgement.seconds,
            judged_at=row.Judgement.judged_at.isoformat(),
            guidelines=row.guidelines,
            late=row.Judgement.late,
            current=row.Judgement.current,
        )
        for row in rows
    ]


def judgements_csv(rows: Sequence[JudgementRow]) -> str:
    """Comma-separated with a header line."""
    return csv_text([[field.name for field in fields(JudgementRow)], *map(astuple, rows)])


def judgements_jsonl(rows: Sequence[JudgementRow]) -> str:
    """One JSON object a line."""
    return "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)
