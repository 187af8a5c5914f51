"""A judge's history: judged, adjudicated and postponed documents, for changing a judgement or resuming a document."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.storage import (
    ACCEPTED,
    Assignment,
    AssignmentState,
    Collection,
    Document,
    Evidence,
    Judgement,
    PoolItem,
    Purpose,
    Topic,
    TopicState,
    User,
)
from annotator.storage.collections.collection import find_collection, refuse_closed_judging
from annotator.storage.judging.drawing import Queue, may_still_draw, note_text_shown
from annotator.storage.judging.eligibility import free_items, take_free
from annotator.storage.judging.judge_desk import may_judge
from annotator.storage.judging.judgement_writing import Passage
from annotator.storage.judging.leases import Decision, lend
from annotator.storage.tables.judging import BESIDES
from annotator.workflows.judging.recording import record_judgement

ROWS_A_PAGE = 50
MOST_SET_ASIDE = 200
CANNOT = "cannot"


class SortKey(StrEnum):
    """What the list is sorted by."""

    ORDER = "order"  # in which the documents were first judged; unaffected by changes
    TIME = "time"
    GRADE = "grade"
    TOPIC = "topic"
    DOCUMENT = "document"


@dataclass(frozen=True)
class HistoryFilter:
    """Filter: words in docno, title or note; a grade, or `CANNOT`; a topic number; the order and the page."""

    words: str = ""
    grade: int | str | None = None
    topic: str | None = None
    page: int = 1
    sort: SortKey = SortKey.ORDER
    is_ascending: bool = False


@dataclass(frozen=True)
class EarlierJudgement:
    """A judgement that the judge has replaced since."""

    decision: Decision
    judged_at: datetime


@dataclass(frozen=True)
class JudgedRow:
    """A document this judge has judged; `earlier` are their replaced judgements, newest first.

    `decides`: judged as an adjudicator.
    """

    assignment_id: int
    topic_number: str
    topic_title: str
    docno: str
    title: str
    decision: Decision
    judged_at: datetime
    evidence: tuple[str, ...]
    earlier: tuple[EarlierJudgement, ...]
    decides: bool


@dataclass(frozen=True)
class JudgedPage:
    """One page of matching judgements; `topics` are the numbers and titles of all topics with a judgement."""

    rows: tuple[JudgedRow, ...]
    total: int
    page: int
    pages: int
    topics: tuple[tuple[str, str], ...]
    set_aside: tuple[JudgedRow, ...] = ()


def list_judged(session: Session, slug: str, judge_id: int, wanted: HistoryFilter) -> JudgedPage:
    """A page of a judge's judgements in a collection, newest first unless another order is wanted.

    `set_aside` are the latest ones that no longer count and have no successor: withdrawn, or their document requeued.
    """
    collection = find_collection(session, slug)
    own = _own(collection.id, judge_id).where(Judgement.current)
    found = _narrowed(own, wanted)
    total = session.scalars(select(func.count()).select_from(found.subquery())).one()
    pages = max(1, -(-total // ROWS_A_PAGE))
    page = min(max(wanted.page, 1), pages)
    ordered = found.order_by(*_order(wanted)).limit(ROWS_A_PAGE).offset((page - 1) * ROWS_A_PAGE)
    return JudgedPage(
        _rows(session, ordered), total, page, pages, _topics(session, own), _set_aside(session, collection.id, judge_id)
    )


def judged_row(session: Session, slug: str, judge_id: int, assignment_id: int) -> JudgedRow | None:
    """The row of the judge's last judgement with an assignment, which may be a withdrawal; None before the first."""
    own = _own(find_collection(session, slug).id, judge_id).where(Judgement.assignment_id == assignment_id)
    rows = _rows(session, own.order_by(Judgement.id.desc()).limit(1))
    return rows[0] if rows else None


def change_judgement(
    session: Session,
    slug: str,
    assignment_id: int,
    judge_id: int,
    grade: int | None,
    *,
    queues: frozenset[Queue],
    client_id: str,
    judged_at: datetime,
) -> None:
    """Append a judgement with another grade, and the note and the evidence of the current one; None withdraws that.

    Raises `NotFoundError` for an assignment that is not the judge's in one of the queues or has no judgement that
    counts, and the refusals of `record_judgement`.
    """
    collection_id = find_collection(session, slug).id
    if grade is None and _is_stored(session, client_id, assignment_id, judge_id):
        return
    current, queue = _current(session, collection_id, assignment_id, judge_id, queues)
    passages = session.scalars(select(Evidence).where(Evidence.judgement_id == current.id).order_by(Evidence.id))
    record_judgement(
        session,
        slug,
        assignment_id,
        judge_id,
        None if grade is None else Decision(grade, None, current.note, None),
        client_id=client_id,
        judged_at=judged_at,
        withdraws=current.client_id if grade is None else None,
        evidence=[Passage(one.start, one.end, one.text) for one in passages],
        queue=queue,
    )


def _is_stored(session: Session, client_id: str, assignment_id: int, judge_id: int) -> bool:
    """Whether a withdrawal arrives once more."""
    stored = select(Judgement.id).where(
        Judgement.client_id == client_id, Judgement.assignment_id == assignment_id, Judgement.judge_id == judge_id
    )
    return session.scalar(stored) is not None


def _current(
    session: Session, collection_id: int, assignment_id: int, judge_id: int, queues: frozenset[Queue]
) -> tuple[Judgement, Queue]:
    """The judge's current judgement that was given with an assignment, and the queue of the assignment."""
    row = session.execute(
        _own(collection_id, judge_id).where(Judgement.current, Judgement.assignment_id == assignment_id)
    ).one_or_none()
    queue = Queue.ADJUDICATION if row is not None and row.decides else Queue.JUDGING
    if row is None or queue not in queues:
        raise NotFoundError("You have no such judgement.")
    return row.Judgement, queue


def _rows(session: Session, found: Select[*tuple[Any, ...]]) -> tuple[JudgedRow, ...]:
    rows = session.execute(found).all()
    judgements = [row.Judgement for row in rows]
    earlier, evidence = _earlier(session, judgements), _evidence(session, judgements)
    return tuple(
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
    )


def _order(wanted: HistoryFilter) -> tuple[ColumnElement[Any], ...]:
    columns: dict[SortKey, Any] = {
        SortKey.ORDER: Judgement.assignment_id,
        SortKey.TIME: Judgement.judged_at,
        SortKey.GRADE: func.coalesce(Judgement.grade, -1),
        SortKey.TOPIC: Topic.id,
        SortKey.DOCUMENT: Document.docno,
    }
    column = columns[wanted.sort]
    return (column.asc() if wanted.is_ascending else column.desc(), Judgement.assignment_id.desc())


def _set_aside(session: Session, collection_id: int, judge_id: int) -> tuple[JudgedRow, ...]:
    """The judge's last judgements of documents of which none counts, newest first; second showings never count."""
    later = aliased(Judgement)
    showing = aliased(Assignment)
    successor = (
        exists()
        .where(later.pool_item_id == Judgement.pool_item_id, later.judge_id == judge_id, later.id != Judgement.id)
        .where(showing.id == later.assignment_id, showing.purpose != Purpose.RE_SHOWN)
        .where(later.current | (later.id > Judgement.id))
    )
    last = _own(collection_id, judge_id).where(~Judgement.current, Assignment.purpose != Purpose.RE_SHOWN, ~successor)
    return _rows(session, last.order_by(Judgement.id.desc()).limit(MOST_SET_ASIDE))


def _own(collection_id: int, judge_id: int) -> Select[*tuple[Any, ...]]:
    """The judge's judgements, without documents that copy another's as their text is the same."""
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
            Judgement.carried_from_id.is_(None),
            Topic.collection_id == collection_id,
        )
    )


def _narrowed(own: Select[*tuple[Any, ...]], wanted: HistoryFilter) -> Select[*tuple[Any, ...]]:
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


def _earlier(session: Session, judgements: Sequence[Judgement]) -> dict[int, list[EarlierJudgement]]:
    """Pool item → the judge's earlier judgements of it, newest first, without second showings."""
    earlier: dict[int, list[EarlierJudgement]] = defaultdict(list)
    if not judgements:
        return earlier
    rows = session.scalars(
        select(Judgement)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .where(
            Judgement.judge_id == judgements[0].judge_id,
            Judgement.pool_item_id.in_([judgement.pool_item_id for judgement in judgements]),
            ~Judgement.current,
            Judgement.id.not_in([judgement.id for judgement in judgements]),
            Assignment.purpose != Purpose.RE_SHOWN,
        )
        .order_by(Judgement.id.desc())
    )
    for row in rows:
        earlier[row.pool_item_id].append(EarlierJudgement(Decision.of(row), row.judged_at))
    return earlier


def _evidence(session: Session, judgements: Sequence[Judgement]) -> dict[int, list[str]]:
    """Judgement → the passages marked as its evidence."""
    evidence: dict[int, list[str]] = defaultdict(list)
    rows = session.scalars(
        select(Evidence)
        .where(Evidence.judgement_id.in_([judgement.id for judgement in judgements]))
        .order_by(Evidence.id)
    )
    for row in rows:
        evidence[row.judgement_id].append(row.text)
    return evidence


@dataclass(frozen=True)
class PutOffRow:
    """A document that a judge has put off; if it is no longer `held`, they can take it up again.

    `decides`: they held it as an adjudicator.
    """

    assignment_id: int
    topic_number: str
    topic_title: str
    docno: str
    title: str
    put_off_at: datetime
    held: bool
    decides: bool


def put_off_by(session: Session, slug: str, judge_id: int) -> list[PutOffRow]:
    """What a judge has put off and not judged since, in order of time.

    Documents whose lease expired are listed if the judge may still draw them; an adjudicator's are drawn again
    automatically.
    """
    collection = find_collection(session, slug)
    rows = session.execute(
        select(Assignment, PoolItem.id.label("item_id"), Topic, Document.docno, Document.title)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(Document, Document.id == PoolItem.document_id)
        .where(
            Topic.collection_id == collection.id,
            ACCEPTED,
            Assignment.judge_id == judge_id,
            Assignment.put_off_at.is_not(None),
            Assignment.state.in_((AssignmentState.LATER, AssignmentState.RETURNED)),
        )
        .order_by(Assignment.put_off_at.desc(), Assignment.id.desc())
    ).all()
    free = _still_free(session, collection, judge_id, [(row.Topic, row.item_id) for row in rows])
    listed: dict[int, PutOffRow] = {}  # pool item → the last time it was put off
    for row in rows:
        held = row.Assignment.state == AssignmentState.LATER
        decides = row.Assignment.purpose == Purpose.ADJUDICATION
        if held or (row.item_id in free and not decides):
            topic, put_off_at = row.Topic, row.Assignment.put_off_at
            listed.setdefault(
                row.item_id,
                PutOffRow(
                    row.Assignment.id, topic.number, topic.title, row.docno, row.title, put_off_at, held, decides
                ),
            )
    return sorted(listed.values(), key=lambda one: (one.put_off_at, one.assignment_id))


def take_up(session: Session, slug: str, assignment_id: int, judge_id: int, *, now: datetime) -> int:
    """Lease a document that was put off to the judge again, and return the assignment.

    Raises `NotFoundError` for an assignment of another judge, and `ConflictError` when another judge has the document
    by now, or the judge gets no documents: judging has ended, or the guidelines or the training come first.
    """
    collection = find_collection(session, slug)
    refuse_closed_judging(session, collection.id)
    session.execute(select(User.id).where(User.id == judge_id).with_for_update(key_share=True))
    assignment, topic = _own_assignment(session, collection.id, assignment_id, judge_id)
    if assignment.state != AssignmentState.RETURNED:
        note_text_shown(session, [assignment.id])
        return assignment.id
    if assignment.purpose in BESIDES:
        # The draw creates a new showing; the first one would show the judgement of that time.
        raise _not_waiting()
    held = session.scalar(_has(judge_id, assignment.pool_item_id))
    if held is not None:
        return held
    if may_judge(session, collection, judge_id) is not None:
        raise ConflictError("Accept the guidelines and pass the training first.")
    item = None
    if topic.state == TopicState.ACCEPTED and may_still_draw(session, collection, judge_id):
        item = take_free(session, judge_id, topic, collection.judging_mode, assignment.pool_item_id)
    if item is None:
        raise _not_waiting()
    lend(session, [item.id], judge_id, now, {item.id: item.purpose})
    return session.scalars(_has(judge_id, item.id)).one()


def _still_free(
    session: Session, collection: Collection, judge_id: int, items: Sequence[tuple[Topic, int]]
) -> set[int]:
    """Those of the pool items that this judge may draw."""
    of_topic: dict[int, tuple[Topic, list[int]]] = {}
    for topic, item_id in items:
        of_topic.setdefault(topic.id, (topic, []))[1].append(item_id)
    return {
        item_id
        for topic, ids in of_topic.values()
        for item_id in session.scalars(free_items(judge_id, topic, collection.judging_mode).where(PoolItem.id.in_(ids)))
    }


def _own_assignment(
    session: Session, collection_id: int, assignment_id: int, judge_id: int
) -> tuple[Assignment, Topic]:
    row = session.execute(
        select(Assignment, Topic)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Assignment.id == assignment_id, Assignment.judge_id == judge_id, Topic.collection_id == collection_id)
    ).one_or_none()
    if row is None:
        raise NotFoundError("You have no such assignment.")
    return row.Assignment, row.Topic


def _not_waiting() -> ConflictError:
    return ConflictError(
        "This document is no longer waiting for you: another judge has it, or it has enough judgements."
    )


def _has(judge_id: int, item_id: int) -> Select[int]:
    """Select the judge's assignment of an item, held or done."""
    return select(Assignment.id).where(
        Assignment.judge_id == judge_id,
        Assignment.pool_item_id == item_id,
        Assignment.state != AssignmentState.RETURNED,
        Assignment.purpose != Purpose.RE_SHOWN,
    )
