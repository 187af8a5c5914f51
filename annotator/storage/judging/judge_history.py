"""A judge's own judgements of documents that they see again, by assignment: for undo, and for changing a grade."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, cast

from sqlalchemy import Row, Select, Table, and_, bindparam, exists, or_, select
from sqlalchemy.orm import Session, aliased

from annotator.storage.judging.drawing import HeldDocument, Queue
from annotator.storage.judging.judgement_writing import Passage
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import ASSIGNMENTS, Assignment, CannotJudge, Evidence, Judgement, Purpose
from annotator.storage.tables.pools import PoolItem


class AskedAgain(StrEnum):
    """Why a document that a judge had judged is to be judged again; a second showing is never explained."""

    TEXT_CHANGED = "text-changed"
    # The judge could not judge it without a text.
    TEXT_CAME = "text-came"


class JudgeNote(NamedTuple):
    """A judge's note and evidence for the adjudicators, without a name; `decision` only where grades are shown."""

    note: str
    evidence: tuple[Passage, ...]
    decision: Decision | None


@dataclass(frozen=True)
class ShownDocument:
    """A document as a judge sees it, with their own judgement of it.

    `given` and `notes` have the distinct grades and the notes by others, shown to adjudicators only.
    """

    assignment_id: int
    document_id: int
    docno: str
    title: str
    body: str | None
    url: str | None
    language: str | None
    text_hash: str | None
    judgement: "OwnJudgement | None"
    asked_again: AskedAgain | None = None
    given: tuple[int, ...] = ()
    notes: tuple[JudgeNote, ...] = ()


@dataclass(frozen=True)
class OwnJudgement:
    """A judge's judgement of a document, with its evidence passages."""

    judgement_id: int
    assignment_id: int
    decision: Decision
    evidence: tuple[Passage, ...]
    client_id: str


# A prebuilt statement on the core table: one judgement in two runs it.
_JUDGEMENTS = cast("Table", Judgement.__table__).c
ALL = (
    select(
        _JUDGEMENTS.id,
        _JUDGEMENTS.assignment_id,
        _JUDGEMENTS.pool_item_id,
        _JUDGEMENTS.grade,
        _JUDGEMENTS.cannot_judge,
        _JUDGEMENTS.note,
        _JUDGEMENTS.seconds,
        _JUDGEMENTS.client_id,
        _JUDGEMENTS.current,
        _JUDGEMENTS.carried_from_id,
        (ASSIGNMENTS.c.purpose == Purpose.RE_SHOWN.value).label("is_second"),
    )
    .join(ASSIGNMENTS, ASSIGNMENTS.c.id == _JUDGEMENTS.assignment_id)
    .where(
        _JUDGEMENTS.pool_item_id.in_(bindparam("items", expanding=True)), _JUDGEMENTS.judge_id == bindparam("judge_id")
    )
    .order_by(_JUDGEMENTS.id)
)


def shown(
    session: Session,
    documents: Sequence[HeldDocument],
    judge_id: int,
    given: Mapping[int, tuple[int, ...]] | None = None,
    notes: Mapping[int, tuple[JudgeNote, ...]] | None = None,
) -> list[ShownDocument]:
    """The documents with this judge's judgements; `given` and `notes` are by pool item id, for adjudicators."""
    rows = _own_rows(session, documents, judge_id)
    judgements = _own_judgements(session, documents, rows)
    return [
        ShownDocument(
            one.assignment_id,
            one.document_id,
            one.docno,
            one.title,
            one.body,
            one.url,
            one.language,
            one.text_hash,
            judgements.get(one.assignment_id),
            _asked_again(one, rows),
            given.get(one.pool_item_id, ()) if given else (),
            notes.get(one.pool_item_id, ()) if notes else (),
        )
        for one in documents
    ]


def _own_rows(session: Session, documents: Sequence[HeldDocument], judge_id: int) -> Sequence[Row[*tuple[Any, ...]]]:
    """All judgements of these documents by this judge, earliest first."""
    session.flush()
    items = {one.pool_item_id for one in documents}
    return session.connection().execute(ALL, {"judge_id": judge_id, "items": list(items)}).all() if items else ()


def _own_judgements(
    session: Session, documents: Sequence[HeldDocument], rows: Sequence[Row[*tuple[Any, ...]]]
) -> dict[int, OwnJudgement]:
    """Assignment id → this judge's judgement of its document.

    A second showing has no judgement until it is judged again.
    """
    again = {one.assignment_id for one in documents if one.is_shown_again}
    by_item = {one.pool_item_id: one.assignment_id for one in documents if not one.is_shown_again}
    # The last judgement of a second showing counts, unless it was withdrawn.
    latest = {one.assignment_id: one for one in rows if one.assignment_id in again}
    latest |= {by_item[one.pool_item_id]: one for one in rows if one.current and one.pool_item_id in by_item}
    latest = {id_: one for id_, one in latest.items() if one.cannot_judge != CannotJudge.WITHDRAWN}
    evidence = evidence_passages(session, [one.id for one in latest.values()])
    return {
        assignment_id: OwnJudgement(
            one.id, one.assignment_id, Decision.of(one), tuple(evidence.get(one.id, ())), one.client_id
        )
        for assignment_id, one in latest.items()
    }


def _asked_again(document: HeldDocument, rows: Sequence[Row[*tuple[Any, ...]]]) -> AskedAgain | None:
    """Why the judge sees a document again that they had judged: their last judgement no longer counts.

    None after a withdrawal, and for second showings: with a reason they could be told apart from other documents.
    """
    own = [one for one in rows if one.pool_item_id == document.pool_item_id and not one.is_second]
    if document.is_shown_again or not own or any(one.current for one in own):
        return None
    last = own[-1]
    if last.cannot_judge == CannotJudge.WITHDRAWN or last.carried_from_id is not None:
        return None
    return AskedAgain.TEXT_CAME if last.cannot_judge == CannotJudge.NO_TEXT else AskedAgain.TEXT_CHANGED


class RecentJudgement(NamedTuple):
    """One of a judge's last judgements of a topic, to be listed without the document's text."""

    assignment_id: int
    docno: str
    title: str
    client_id: str
    grade: int | None
    cannot_judge: str | None
    note: str


def previous_assignment(
    session: Session, topic_id: int, judge_id: int, present: OwnJudgement | None, queue: Queue = Queue.JUDGING
) -> int | None:
    """The assignment that the judge judged before `present`, or last of all when `present` is None."""
    statement = _in_order(select(Judgement.assignment_id), topic_id, judge_id, queue).limit(1)
    if present is not None:
        statement = statement.where(
            Judgement.id < present.judgement_id, Judgement.assignment_id != present.assignment_id
        )
    previous: int | None = session.scalar(statement)
    return previous


def recent_judgements(
    session: Session, topic_id: int, judge_id: int, queue: Queue = Queue.JUDGING, *, most: int
) -> list[RecentJudgement]:
    """The judge's last judgements of a topic in one queue that count, the latest one last."""
    columns = (
        *(Judgement.assignment_id, Document.docno, Document.title, Judgement.client_id),
        *(Judgement.grade, Judgement.cannot_judge, Judgement.note),
    )
    statement = _in_order(select(*columns), topic_id, judge_id, queue).limit(most)
    rows = session.execute(statement.join(Document, Document.id == PoolItem.document_id)).all()
    return [RecentJudgement(*row) for row in reversed(rows)]


def _in_order(
    statement: Select[*tuple[Any, ...]], topic_id: int, judge_id: int, queue: Queue
) -> Select[*tuple[Any, ...]]:
    """Restrict a query of judgements to those of a judge, topic and queue that count, the latest one first."""
    later = aliased(Judgement)
    decides = Assignment.purpose == Purpose.ADJUDICATION
    return (
        statement.select_from(Judgement)
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .where(
            PoolItem.topic_id == topic_id,
            Judgement.judge_id == judge_id,
            Judgement.cannot_judge.is_distinct_from(CannotJudge.WITHDRAWN),
            decides if queue == Queue.ADJUDICATION else ~decides,
            or_(
                Judgement.current,
                # Judgements of a second showing are never current: the last one counts.
                and_(
                    Assignment.purpose == Purpose.RE_SHOWN,
                    ~exists().where(
                        later.pool_item_id == Judgement.pool_item_id,
                        later.judge_id == judge_id,
                        later.assignment_id == Judgement.assignment_id,
                        later.id > Judgement.id,
                    ),
                ),
            ),
            Judgement.carried_from_id.is_(None),
        )
        .order_by(Judgement.id.desc())
    )


def evidence_passages(session: Session, judgement_ids: Sequence[int]) -> dict[int, list[Passage]]:
    """Judgement id → its evidence passages, in the order in which they were kept."""
    found: dict[int, list[Passage]] = {}
    if judgement_ids:
        rows = session.execute(
            select(Evidence.judgement_id, Evidence.start, Evidence.end, Evidence.text)
            .where(Evidence.judgement_id.in_(judgement_ids))
            .order_by(Evidence.id)
        )
        for judgement_id, start, end, words in rows:
            found.setdefault(judgement_id, []).append(Passage(start, end, words))
    return found
