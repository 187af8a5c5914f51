"""A judge looks back: what they judged or decided, with all they said of it before."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from annotator.evaluation.formats.identifiers import natural_order
from annotator.storage import Assignment, Document, Evidence, Judgement, PoolItem, Purpose, Topic
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.judging import Decision

ROWS_A_PAGE = 50
CANNOT = "cannot"


@dataclass(frozen=True)
class Wanted:
    """What to look for: words in docno, title or note; a grade, or `CANNOT`; the number of a topic; which page."""

    words: str = ""
    grade: int | str | None = None
    topic: str | None = None
    page: int = 1


@dataclass(frozen=True)
class EarlierWord:
    """What a judge said of a document before they changed their mind."""

    decision: Decision
    judged_at: datetime


@dataclass(frozen=True)
class JudgedRow:
    """A document this judge has judged, for looking it up and changing their mind; `earlier` words newest first.

    `decides`: they said it as an adjudicator.
    """

    assignment_id: int
    topic_number: str
    topic_title: str
    docno: str
    title: str
    decision: Decision
    judged_at: datetime
    evidence: tuple[str, ...]
    earlier: tuple[EarlierWord, ...]
    decides: bool


@dataclass(frozen=True)
class JudgedPage:
    """One page of what was found; `topics` are the numbers and titles of all in which something was judged."""

    rows: tuple[JudgedRow, ...]
    total: int
    page: int
    pages: int
    topics: tuple[tuple[str, str], ...]


def list_judged(session: Session, slug: str, judge_id: int, wanted: Wanted) -> JudgedPage:
    """What a judge has judged in a collection, newest first, as many as fit on a page."""
    own = _own(find_collection(session, slug).id, judge_id)
    found = _narrowed(own, wanted)
    total = session.scalars(select(func.count()).select_from(found.subquery())).one()
    pages = max(1, -(-total // ROWS_A_PAGE))
    page = min(max(wanted.page, 1), pages)
    rows = session.execute(
        found.order_by(Judgement.id.desc()).limit(ROWS_A_PAGE).offset((page - 1) * ROWS_A_PAGE)
    ).all()
    judgements = [row.Judgement for row in rows]
    earlier, evidence = _earlier(session, judgements), _evidence(session, judgements)
    return JudgedPage(
        tuple(
            JudgedRow(
                row.Judgement.assignment_id,
                row.number,
                row.topic_title,
                row.docno,
                row.title,
                Decision.of(row.Judgement),
                row.Judgement.judged_at,
                tuple(evidence[row.Judgement.id]),
                tuple(earlier[row.Judgement.pool_item_id]),
                bool(row.decides),
            )
            for row in rows
        ),
        total,
        page,
        pages,
        _topics(session, own),
    )


def _own(collection_id: int, judge_id: int) -> Select[*tuple[Any, ...]]:
    """The judge's last words; not of documents that nobody was shown, whose text is another's."""
    return (
        select(
            *(Judgement, Topic.number, Topic.title.label("topic_title"), Document.docno, Document.title),
            (Assignment.purpose == Purpose.ADJUDICATION).label("decides"),
        )
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(
            Judgement.judge_id == judge_id,
            Judgement.current,
            Judgement.carried_from_id.is_(None),
            Topic.collection_id == collection_id,
        )
    )


def _narrowed(own: Select[*tuple[Any, ...]], wanted: Wanted) -> Select[*tuple[Any, ...]]:
    if wanted.words.strip():
        own = own.where(_has_words(wanted.words.strip()))
    if wanted.grade == CANNOT:
        own = own.where(Judgement.cannot_judge.is_not(None))
    elif wanted.grade is not None:
        own = own.where(Judgement.grade == wanted.grade)
    return own.where(Topic.number == wanted.topic) if wanted.topic is not None else own


def _has_words(words: str) -> ColumnElement[bool]:
    return or_(
        *(column.icontains(words, autoescape=True) for column in (Document.docno, Document.title, Judgement.note))
    )


def _topics(session: Session, own: Select[*tuple[Any, ...]]) -> tuple[tuple[str, str], ...]:
    rows = session.execute(own.with_only_columns(Topic.number, Topic.title).distinct())
    return tuple(sorted(((number, title) for number, title in rows), key=lambda topic: natural_order(topic[0])))


def _earlier(session: Session, judgements: Sequence[Judgement]) -> dict[int, list[EarlierWord]]:
    """Pool item → what the judge said of it before, newest first; second showings left out."""
    earlier: dict[int, list[EarlierWord]] = defaultdict(list)
    if not judgements:
        return earlier
    rows = session.scalars(
        select(Judgement)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .where(
            Judgement.judge_id == judgements[0].judge_id,
            Judgement.pool_item_id.in_([judgement.pool_item_id for judgement in judgements]),
            ~Judgement.current,
            Assignment.purpose != Purpose.RE_SHOWN,
        )
        .order_by(Judgement.id.desc())
    )
    for row in rows:
        earlier[row.pool_item_id].append(EarlierWord(Decision.of(row), row.judged_at))
    return earlier


def _evidence(session: Session, judgements: Sequence[Judgement]) -> dict[int, list[str]]:
    """Judgement → the passages it was made for."""
    evidence: dict[int, list[str]] = defaultdict(list)
    rows = session.scalars(
        select(Evidence)
        .where(Evidence.judgement_id.in_([judgement.id for judgement in judgements]))
        .order_by(Evidence.id)
    )
    for row in rows:
        evidence[row.judgement_id].append(row.text)
    return evidence
