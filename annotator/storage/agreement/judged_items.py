"""Details of pool items that several people have judged, for organisers; machines are left out."""

from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.storage.judging.duplicates import SHOWN
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import OF_PEOPLE, Evidence, Judgement
from annotator.storage.tables.people import User
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic


class ItemRow(NamedTuple):
    """A pool item as a list shows it; `known_grade` is the correct grade of a gold question."""

    docno: str
    title: str
    has_text: bool
    known_grade: int | None


class ItemText(NamedTuple):
    """The text of a pool item, or its beginning where `is_cut`, and its language, empty if unknown."""

    body: str
    language: str
    is_cut: bool


class JudgementRow(NamedTuple):
    """A person's current judgement of a pool item; `is_carried` when carried over from one with the same text."""

    judgement_id: int
    judge: str
    grade: int | None
    cannot_judge: str | None
    note: str
    judged_at: datetime
    is_carried: bool


def items_by_id(session: Session, item_ids: Sequence[int]) -> dict[int, ItemRow]:
    """Item id → row of a list; `item_ids` must fit into one statement."""
    rows = session.execute(
        select(PoolItem.id, Document.docno, Document.title, Document.body.is_not(None), PoolItem.known_grade)
        .join(Document, Document.id == PoolItem.document_id)
        .where(PoolItem.id.in_(item_ids))
    )
    return {id_: ItemRow._make(row) for id_, *row in rows}


def titles_of_topics(session: Session, topic_ids: AbstractSet[int]) -> dict[int, str]:
    """Topic id → its title; the ids must fit into one statement."""
    return {id_: title for id_, title in session.execute(select(Topic.id, Topic.title).where(Topic.id.in_(topic_ids)))}


def texts_of(session: Session, item_ids: Sequence[int], most: int) -> dict[int, ItemText]:
    """Item id → its text, for items with one; `item_ids` must fit into one statement."""
    rows = session.execute(
        select(PoolItem.id, func.substr(Document.body, 1, most), Document.language, func.length(Document.body) > most)
        .join(Document, Document.id == PoolItem.document_id)
        .where(PoolItem.id.in_(item_ids), Document.body.is_not(None))
    )
    return {id_: ItemText(body, language or "", bool(is_cut)) for id_, body, language, is_cut in rows}


def judgements_on(session: Session, item_ids: Sequence[int]) -> dict[int, list[JudgementRow]]:
    """Item id → people's current judgements of it, oldest first; `item_ids` must fit into one statement."""
    rows = session.execute(
        select(
            *(Judgement.pool_item_id, Judgement.id, User.name, Judgement.grade, Judgement.cannot_judge),
            *(Judgement.note, Judgement.judged_at, ~SHOWN),
        )
        .join(User, User.id == Judgement.judge_id)
        .where(Judgement.pool_item_id.in_(item_ids), Judgement.current, OF_PEOPLE)
        .order_by(Judgement.id)
    )
    words: dict[int, list[JudgementRow]] = defaultdict(list)
    for item_id, *row in rows:
        words[item_id].append(JudgementRow._make(row))
    return words


def evidence_of(session: Session, item_ids: Sequence[int]) -> dict[int, list[str]]:
    """Judgement id → its evidence passages in text order, for the judgements of these items."""
    rows = session.execute(
        select(Evidence.judgement_id, Evidence.text)
        .join(Judgement, Judgement.id == Evidence.judgement_id)
        .where(Judgement.pool_item_id.in_(item_ids))
        .order_by(Evidence.judgement_id, Evidence.start, Evidence.id)
    )
    evidence: dict[int, list[str]] = defaultdict(list)
    for judgement_id, marked in rows:
        evidence[judgement_id].append(marked)
    return evidence
