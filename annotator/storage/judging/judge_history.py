"""A judge's own judgements of documents that they see again, by assignment: for undo, and for changing a grade."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from sqlalchemy import Select, Table, and_, bindparam, exists, or_, select, text
from sqlalchemy.orm import Session, aliased

from annotator.storage.judging.drawing import HeldDocument, Queue
from annotator.storage.judging.judgement_writing import Passage
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import Assignment, CannotJudge, Evidence, Judgement, Purpose
from annotator.storage.tables.pools import PoolItem


@dataclass(frozen=True)
class ShownDocument:
    """A document as a judge sees it, with their own judgement of it.

    `given` has the distinct grades by others, shown to adjudicators only.
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
    given: tuple[int, ...] = ()


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
    )
    .where(
        _JUDGEMENTS.pool_item_id.in_(bindparam("items", expanding=True)), _JUDGEMENTS.judge_id == bindparam("judge_id")
    )
    .order_by(_JUDGEMENTS.id)
)
# Text exactly as in the partial index: SQLAlchemy would compare with a value, and the index would not be used.
CURRENT = ALL.where(text("judgement.current"))


def shown(
    session: Session,
    documents: Sequence[HeldDocument],
    judge_id: int,
    given: Mapping[int, tuple[int, ...]] | None = None,
) -> list[ShownDocument]:
    """The documents with this judge's judgements; `given` maps pool item id to grades for adjudicators."""
    judgements = own_judgements(session, documents, judge_id)
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
            given.get(one.pool_item_id, ()) if given else (),
        )
        for one in documents
    ]


def own_judgements(session: Session, documents: Sequence[HeldDocument], judge_id: int) -> dict[int, OwnJudgement]:
    """Assignment id → this judge's judgement of its document.

    A second showing has no judgement until it is judged again.
    """
    again = {one.assignment_id: one.pool_item_id for one in documents if one.is_shown_again}
    by_item = {one.pool_item_id: one.assignment_id for one in documents if not one.is_shown_again}
    wanted = {"judge_id": judge_id, "items": list(by_item)}
    session.flush()
    connection = session.connection()
    judgements = list(connection.execute(CURRENT, wanted)) if by_item else []
    if again:
        wanted = {"judge_id": judge_id, "items": list(again.values())}
        judgements += [one for one in connection.execute(ALL, wanted) if one.assignment_id in again]
    # The last judgement of a second showing counts, unless it was withdrawn.
    latest = {one.assignment_id if one.assignment_id in again else by_item[one.pool_item_id]: one for one in judgements}
    latest = {id_: one for id_, one in latest.items() if one.cannot_judge != CannotJudge.WITHDRAWN}
    evidence = _evidence(session, [one.id for one in latest.values()])
    return {
        assignment_id: OwnJudgement(
            one.id, one.assignment_id, Decision.of(one), tuple(evidence.get(one.id, ())), one.client_id
        )
        for assignment_id, one in latest.items()
    }


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


def _evidence(session: Session, judgement_ids: Sequence[int]) -> dict[int, list[Passage]]:
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
