"""Notes and evidence of the judges of disputed items for adjudicators, without names and in an order by lot."""

from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from annotator.storage.agreement.adjudication_queue import Repeated
from annotator.storage.judging.judge_history import JudgeNote, evidence_passages
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.judging import CURRENT, JUDGES, OF_PEOPLE, Assignment, Judgement


def judges_notes(session: Session, item_ids: Sequence[int], *, with_grades: bool) -> dict[int, tuple[JudgeNote, ...]]:
    """Item id → the notes and evidence of its judges (people, not adjudicators), only of those who left any.

    A judgement carried over from a document with the same text has those of its original.
    """
    source = func.coalesce(Repeated.id, Judgement.id)
    note = func.coalesce(Repeated.note, Judgement.note).label("note")
    rows = session.execute(
        select(
            *(Judgement.pool_item_id, source.label("source"), Judgement.client_id, note),
            *(Judgement.grade, Judgement.cannot_judge, Judgement.seconds),
        )
        .outerjoin(Repeated, Repeated.id == Judgement.carried_from_id)
        .join(Assignment, Assignment.id == func.coalesce(Repeated.assignment_id, Judgement.assignment_id))
        .where(Judgement.pool_item_id.in_(item_ids), CURRENT, OF_PEOPLE, JUDGES)
    ).all()
    evidence = evidence_passages(session, [row.source for row in rows])
    found: dict[int, list[JudgeNote]] = defaultdict(list)
    for row in sorted(rows, key=_lot):
        passages = tuple(evidence.get(row.source, ()))
        if row.note or passages:
            decision = Decision.of(row) if with_grades else None
            found[row.pool_item_id].append(JudgeNote(row.note, passages, decision))
    return {item_id: tuple(notes) for item_id, notes in found.items()}


def _lot(row: Row[*tuple[Any, ...]]) -> bytes:
    """Return the sorting key of an item's notes: a hash, which does not depend on who judged first.

    Only the server knows the ids of others' judgements, which browsers draw at random.
    """
    return sha256(f"{row.pool_item_id} {row.client_id}".encode()).digest()
