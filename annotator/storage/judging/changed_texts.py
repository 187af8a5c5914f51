"""Documents whose text changed since they were judged: which they are, and how they are judged again."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Select, and_, func, or_, select, update
from sqlalchemy.orm import Session

from annotator.storage.judging.duplicates import SHOWN, forget_loaded
from annotator.storage.judging.judging import give_back
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import (
    BESIDES,
    HELD,
    LEASE,
    Assignment,
    AssignmentState,
    CannotJudge,
    Judgement,
    Purpose,
)
from annotator.storage.tables.people import MACHINES, User
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import ACCEPTED, Topic
from annotator.storage.topics.revisions import raise_revisions

_WITHOUT_TEXT = (
    select(Judgement)
    .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
    .where(Judgement.current, Judgement.cannot_judge == CannotJudge.NO_TEXT)
    .order_by(Judgement.pool_item_id, Judgement.id)
)


class OldJudgement(NamedTuple):
    """A judgement that counts and was made of a text that is another now; the reason is why there is no grade."""

    id: int
    pool_item_id: int
    document_id: int
    topic: str
    docno: str
    judge: str
    grade: int | None
    cannot_judge: str | None
    judged_at: datetime
    text_changed_at: datetime


def judgements_of_old_texts(session: Session, collection_id: int) -> list[OldJudgement]:
    """Those of accepted topics, by topic id and docno, in the order in which they were made.

    The assignment has the hash of the text that the judge was shown. A judge who changes their mind may have looked at
    the document again, so that a lease after the change this is of the new text. Where no hash is known, as in labels
    of files, moments decide: what was judged before the change is among them, and what was drawn before it and judged
    within a lease after it, when the old text may still have been on the screen. What was carried over goes with the
    judgement that it repeats.
    """
    since = Document.text_changed_at
    # No database adds to a moment as the other one does, so the last half hour is looked at here.
    rows = session.execute(
        select(
            *(Judgement.id, Judgement.pool_item_id, Document.id, Topic.number, Document.docno, User.name),
            *(Judgement.grade, Judgement.cannot_judge, Judgement.judged_at, since),
            and_(Assignment.text_hash.is_not(None), Judgement.replaces_id.is_(None)),
        )
        .join(PoolItem, PoolItem.id == Judgement.pool_item_id)
        .join(Document, Document.id == PoolItem.document_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .join(User, User.id == Judgement.judge_id)
        .join(Assignment, Assignment.id == Judgement.assignment_id)
        .where(
            *(Topic.collection_id == collection_id, since.is_not(None), ACCEPTED, Judgement.current, SHOWN),
            or_(
                and_(Assignment.text_hash.is_not(None), Assignment.text_hash.is_distinct_from(Document.text_hash)),
                # It came late, and was stored as of the document that the judge has in hand again.
                and_(Judgement.judged_at < since, Assignment.drawn_at >= since),
                and_(Assignment.text_hash.is_(None), or_(Judgement.judged_at < since, Assignment.drawn_at < since)),
            ),
        )
        .order_by(Topic.id, Document.docno, Judgement.id)
    )
    return [OldJudgement._make(row) for *row, is_of_text_shown in rows if is_of_text_shown or row[-2] < row[-1] + LEASE]


def requeue(session: Session, judgement_ids: Sequence[int], at: datetime) -> None:
    """Let these judgements, and what was carried over from them, count no more, and their items be drawn again.

    They stay in the history.
    """
    for some in chunks(list(judgement_ids)):
        concerned = and_(Judgement.current, or_(Judgement.id.in_(some), Judgement.carried_from_id.in_(some)))
        rows = session.execute(
            select(
                Judgement.id, Judgement.assignment_id, Judgement.pool_item_id, Judgement.judge_id, Assignment.purpose
            )
            .join(Assignment, Assignment.id == Judgement.assignment_id)
            .where(concerned)
            .order_by(Judgement.pool_item_id)
        ).all()
        # In one order for everybody, as those who judge.
        raise_revisions(session, {row.pool_item_id for row in rows})
        _retire(session, [row.id for row in rows], [row.assignment_id for row in rows])
        machines = set(session.scalars(MACHINES))
        for row in rows:
            _put_back(session, row.pool_item_id, at, takes_place=_takes_place(row.purpose, row.judge_id, machines))
    forget_loaded(session)


def note_new_texts(session: Session, document_ids: Sequence[int], at: datetime | None) -> None:
    """Note when the texts of documents changed: at that moment, or just after somebody last drew them if that is later.

    The caller has locked the collection against judging: whatever was drawn by now has the old text, though `at` was
    taken before the caller began to wait for that lock. None notes nothing.
    """
    if at is None:
        return
    for some in chunks(list(document_ids)):
        session.execute(update(Document).where(Document.id.in_(some)).values(text_changed_at=at))
    drawn_since = (
        select(PoolItem.document_id, func.max(Assignment.drawn_at))
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .where(Assignment.drawn_at >= at)
        .group_by(PoolItem.document_id)
    )
    # Few were drawn in that time; to ask for these documents would be to look at the whole pool for each part of them.
    concerned = set(document_ids)
    for document_id, drawn_at in session.execute(drawn_since).all() if concerned else ():
        if document_id in concerned:
            changed_at = drawn_at + timedelta(microseconds=1)
            session.execute(update(Document).where(Document.id == document_id).values(text_changed_at=changed_at))


def reopen_for_text(session: Session, document_ids: Sequence[int]) -> None:
    """Put back into the queue what could not be judged for want of a text; the judgements stay in the history.

    So is what judges have in hand without the text: who holds one of these documents afterwards has seen it.
    """
    _take_back(session, set(document_ids))
    reopened: list[int] = []
    for chunk in chunks(list(document_ids)):
        concerned = _WITHOUT_TEXT.where(PoolItem.document_id.in_(chunk))
        _lock_assignments(session, [one.assignment_id for one in session.scalars(concerned)])
        reopened += _reopen(session, concerned)
    if reopened:
        raise_revisions(session, reopened)


def retire_repeats(session: Session, judgement_ids: Sequence[int]) -> None:
    """Let what repeats these judgements in documents with the same text count no more; its items are to be judged."""
    repeats = select(Judgement.id, Judgement.assignment_id).where(
        Judgement.current, Judgement.carried_from_id.in_(judgement_ids)
    )
    carried = session.execute(repeats).all()
    _retire(session, [row.id for row in carried], [row.assignment_id for row in carried])


def _take_back(session: Session, document_ids: set[int]) -> None:
    """Give what judges hold of these documents back to the queue."""
    held = (
        select(Assignment.id, PoolItem.document_id)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .where(Assignment.state.in_(HELD))
        .order_by(PoolItem.id, Assignment.id)
    )
    concerned = [id_ for id_, document_id in session.execute(held) if document_id in document_ids]
    for some in chunks(concerned):
        give_back(session, Assignment.id.in_(some))


def _reopen(session: Session, concerned: Select[Judgement]) -> list[int]:
    """Put back the items of these judgements, whose assignments are locked; the items."""
    machines = set(session.scalars(MACHINES))
    reopened: list[int] = []
    # Behind the locks: their judges may have judged them again meanwhile.
    for judgement in session.scalars(concerned, execution_options={"populate_existing": True}).all():
        assignment = session.get_one(Assignment, judgement.assignment_id, populate_existing=True)
        judgement.current = False
        assignment.state = AssignmentState.RETURNED
        if _takes_place(assignment.purpose, judgement.judge_id, machines):
            # In the database, as others take places of the same item meanwhile.
            item = PoolItem.id == judgement.pool_item_id
            session.execute(update(PoolItem).where(item).values(taken=PoolItem.taken - 1))
        reopened.append(judgement.pool_item_id)
    if reopened:
        forget_loaded(session)
    return reopened


def _lock_assignments(session: Session, assignment_ids: Sequence[int]) -> None:
    in_order = select(Assignment.id).order_by(Assignment.pool_item_id, Assignment.id)
    session.execute(in_order.where(Assignment.id.in_(assignment_ids)).with_for_update()).all()


def _retire(session: Session, judgements: Sequence[int], assignments: Sequence[int]) -> None:
    for some in chunks(list(judgements)):
        session.execute(update(Judgement).where(Judgement.id.in_(some)).values(current=False))
    for some in chunks(list(assignments)):
        session.execute(update(Assignment).where(Assignment.id.in_(some)).values(state=AssignmentState.RETURNED))


def _takes_place(purpose: str, judge_id: int, machines: set[int]) -> bool:
    """Whether it was one of the judgements that its item wants."""
    return purpose not in {*BESIDES, Purpose.CARRIED} and judge_id not in machines


def _put_back(session: Session, item_id: int, at: datetime, *, takes_place: bool) -> None:
    values = {"requeued_at": at, "taken": PoolItem.taken - 1} if takes_place else {"requeued_at": at}
    session.execute(update(PoolItem).where(PoolItem.id == item_id).values(values))
