"""Documents whose text changed after they were judged: finding their judgements, and requeueing the documents."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Select, and_, func, or_, select, update
from sqlalchemy.orm import Session

from annotator.storage.judging.duplicates import SHOWN, forget_loaded
from annotator.storage.judging.leases import give_back
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import (
    HELD,
    LEASE,
    Assignment,
    AssignmentState,
    CannotJudge,
    Judgement,
    takes_place,
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
    """A current judgement of an earlier text; `cannot_judge` is the reason for a missing grade."""

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
    """Current judgements of outdated texts in accepted topics, by topic id and docno, in order of storage.

    The assignment has the hash of the text that was shown. A judge who revises a judgement may have reread the
    document, so a revision later than one lease after the change counts as of the new text. Without a hash (imported
    labels) times decide: judged before the change, or drawn before it and judged within one lease after it, when the
    old text may still have been displayed. Carried judgements follow their original.
    """
    since = Document.text_changed_at
    # The two databases add intervals to times differently, so the last lease is checked in Python.
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
                # A late judgement, stored with the assignment that the judge received afterwards.
                and_(Judgement.judged_at < since, Assignment.drawn_at >= since),
                and_(Assignment.text_hash.is_(None), or_(Judgement.judged_at < since, Assignment.drawn_at < since)),
            ),
        )
        .order_by(Topic.id, Document.docno, Judgement.id)
    )
    return [OldJudgement._make(row) for *row, is_of_text_shown in rows if is_of_text_shown or row[-2] < row[-1] + LEASE]


def requeue(session: Session, judgement_ids: Sequence[int], at: datetime) -> None:
    """Make judgements, and those carried over from them, not current, and requeue their items.

    They remain in the history.
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
        # Locks are taken in the same order as by judges.
        raise_revisions(session, {row.pool_item_id for row in rows})
        _retire(session, [row.id for row in rows], [row.assignment_id for row in rows])
        machines = set(session.scalars(MACHINES))
        for row in rows:
            _put_back(
                session, row.pool_item_id, at, takes_place=takes_place(row.purpose) and row.judge_id not in machines
            )
    forget_loaded(session)


def note_new_texts(session: Session, document_ids: Sequence[int], at: datetime | None) -> None:
    """Set `text_changed_at` of documents: to `at`, or just after the last draw if that is later; None does nothing.

    The caller has locked the collection against judging. Everything drawn so far showed the old text, even if drawn
    after `at`, which was taken before waiting for the lock.
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
    # Few rows were drawn since; filtering by these documents would scan the whole pool for each chunk of them.
    concerned = set(document_ids)
    for document_id, drawn_at in session.execute(drawn_since).all() if concerned else ():
        if document_id in concerned:
            changed_at = drawn_at + timedelta(microseconds=1)
            session.execute(update(Document).where(Document.id == document_id).values(text_changed_at=changed_at))


def reopen_for_text(session: Session, document_ids: Sequence[int]) -> None:
    """Requeue documents that could not be judged because they had no text; the judgements remain in the history.

    Assignments held without the text are returned too, so that later holders have seen it.
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
    """Make judgements that were carried over from these to duplicates not current; their items want judging again."""
    repeats = select(Judgement.id, Judgement.assignment_id).where(
        Judgement.current, Judgement.carried_from_id.in_(judgement_ids)
    )
    carried = session.execute(repeats).all()
    _retire(session, [row.id for row in carried], [row.assignment_id for row in carried])


def _take_back(session: Session, document_ids: set[int]) -> None:
    """Return the held assignments of these documents to the queue."""
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
    """Requeue the items of these judgements, whose assignments are locked; return the items' ids."""
    machines = set(session.scalars(MACHINES))
    reopened: list[int] = []
    # Reread after locking: the judges may have judged again meanwhile.
    for judgement in session.scalars(concerned, execution_options={"populate_existing": True}).all():
        assignment = session.get_one(Assignment, judgement.assignment_id, populate_existing=True)
        judgement.current = False
        assignment.state = AssignmentState.RETURNED
        if takes_place(assignment.purpose) and judgement.judge_id not in machines:
            # An update in the database: other transactions change `taken` of the same item concurrently.
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


def _put_back(session: Session, item_id: int, at: datetime, *, takes_place: bool) -> None:
    values = {"requeued_at": at, "taken": PoolItem.taken - 1} if takes_place else {"requeued_at": at}
    session.execute(update(PoolItem).where(PoolItem.id == item_id).values(values))
