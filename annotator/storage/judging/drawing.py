"""Drawing assignments: a judge gets a few items of a topic; also the order of held and deferred ones."""

from collections.abc import Collection as SizedIterable
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, cast

from sqlalchemy import Table, and_, bindparam, select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from annotator.errors import BusyError
from annotator.storage.judging.eligibility import due_again, next_free
from annotator.storage.judging.leases import lend
from annotator.storage.site.database import has_one_writer
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import HELD, Assignment, AssignmentState, Purpose
from annotator.storage.tables.people import Membership, Role, User
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

# At most one in this many documents shown is a second showing.
ONE_IN = 4


class Queue(StrEnum):
    """A person's two separate queues: as a judge and as an adjudicator."""

    JUDGING = "judging"
    ADJUDICATION = "adjudication"


# The role that a queue requires.
ROLES = {Queue.JUDGING: Role.JUDGE.value, Queue.ADJUDICATION: Role.ADJUDICATOR.value}
# Core tables and prebuilt statements: one judgement in two runs them.
_ITEMS = cast("Table", PoolItem.__table__)
_ASSIGNMENTS = cast("Table", Assignment.__table__)
_DOCUMENTS = cast("Table", Document.__table__)
_MEMBERS = cast("Table", Membership.__table__).c
_HAS_ROLE = select(_MEMBERS.id).where(
    _MEMBERS.collection_id == bindparam("collection_id"),
    _MEMBERS.user_id == bindparam("judge_id"),
    _MEMBERS.role == bindparam("role"),
)
_IN_HAND = (
    select(_ASSIGNMENTS.c.id, _ASSIGNMENTS.c.put_off_at)
    .join(_ITEMS, _ITEMS.c.id == _ASSIGNMENTS.c.pool_item_id)
    .where(
        _ASSIGNMENTS.c.judge_id == bindparam("judge_id"),
        _ASSIGNMENTS.c.state == bindparam("state"),
        _ITEMS.c.topic_id == bindparam("topic_id"),
    )
)
IN_HAND = {
    Queue.JUDGING: _IN_HAND.where(_ASSIGNMENTS.c.purpose != Purpose.ADJUDICATION.value),
    Queue.ADJUDICATION: _IN_HAND.where(_ASSIGNMENTS.c.purpose == Purpose.ADJUDICATION.value),
}
DOCUMENTS = (
    select(
        _ASSIGNMENTS.c.id,
        _ASSIGNMENTS.c.pool_item_id,
        _ASSIGNMENTS.c.purpose == Purpose.RE_SHOWN.value,
        _DOCUMENTS.c.id,
        _DOCUMENTS.c.docno,
        _DOCUMENTS.c.title,
        _DOCUMENTS.c.body,
        _DOCUMENTS.c.url,
        _DOCUMENTS.c.language,
        _DOCUMENTS.c.text_hash,
        and_(
            _ASSIGNMENTS.c.state.in_([state.value for state in HELD]),
            _ASSIGNMENTS.c.text_hash.is_distinct_from(_DOCUMENTS.c.text_hash),
        ),
    )
    .join(_ITEMS, _ITEMS.c.id == _ASSIGNMENTS.c.pool_item_id)
    .join(_DOCUMENTS, _DOCUMENTS.c.id == _ITEMS.c.document_id)
    .where(_ASSIGNMENTS.c.id.in_(bindparam("assignment_ids", expanding=True)))
)


class HeldDocument(NamedTuple):
    """A document that a judge holds or has judged."""

    assignment_id: int
    pool_item_id: int
    is_shown_again: bool
    document_id: int
    docno: str
    title: str
    body: str | None
    url: str | None
    language: str | None
    text_hash: str | None
    has_new_text: bool  # held, and the text differs from the one noted when it was shown


def wait_for_other_tabs(session: Session, judge_id: int) -> None:
    """Serialise draws of one judge in several tabs by a lock on their account. SQLite has one writer anyway."""
    if not has_one_writer(session):
        session.execute(select(User.id).where(User.id == judge_id).with_for_update(key_share=True))


def may_still_draw(session: Session, collection: Collection, judge_id: int, queue: Queue = Queue.JUDGING) -> bool:
    """Whether the user still has the role for the queue; call it after locking against changes of roles."""
    session.flush()
    wanted = {"collection_id": collection.id, "judge_id": judge_id, "role": ROLES[queue]}
    return session.connection().execute(_HAS_ROLE, wanted).first() is not None


@contextmanager
def drawing_apart(session: Session) -> Iterator[None]:
    """Isolate drawing, so that its failure does not roll back what the transaction stored before.

    SQLite needs nothing: it has one writer, and refusals come before any draw. On PostgreSQL a concurrent draw may
    interfere, which raises `BusyError`.
    """
    if has_one_writer(session):
        yield
        return
    try:
        with session.begin_nested():
            yield
    except OperationalError as error:
        raise BusyError(
            "Another judge drew documents at this moment. Your judgements are stored: try again."
        ) from error


def done_among(session: Session, judge_id: int, assignment_ids: SizedIterable[int]) -> list[int]:
    """Those assignments of a judge that are done."""
    done = select(Assignment.id).where(
        Assignment.id.in_(assignment_ids), Assignment.judge_id == judge_id, Assignment.state == AssignmentState.DONE
    )
    return list(session.scalars(done.order_by(Assignment.id)))


def held_in_topic(
    session: Session, topic_id: int, judge_id: int, state: AssignmentState, queue: Queue = Queue.JUDGING
) -> list[int]:
    """Ids of the judge's live or deferred assignments of a topic; those that were ever deferred come last."""
    wanted = {"judge_id": judge_id, "state": state.value, "topic_id": topic_id}
    rows = session.connection().execute(IN_HAND[queue], wanted).all()
    return [id_ for id_, put_off_at in sorted(rows, key=lambda row: (row[1] is not None, row[1] or 0, row[0]))]


def take_up_again(session: Session, assignment_ids: Sequence[int]) -> list[int]:
    """Make deferred assignments live; return, in their order, those that were not returned to the queue meanwhile."""
    if not assignment_ids:
        return []
    taken_up = session.scalars(
        update(Assignment)
        # Checked again after waiting for a concurrent return: the place may be another judge's.
        .where(Assignment.id.in_(assignment_ids), Assignment.state == AssignmentState.LATER)
        .values(state=AssignmentState.LIVE)
        .returning(Assignment.id)
    )
    live = set(taken_up)
    return [id_ for id_ in assignment_ids if id_ in live]


def draw(session: Session, collection: Collection, topic: Topic, judge_id: int, count: int, now: datetime) -> bool:
    """Assign up to `count` items to the judge, some as second showings; return whether there were any."""
    free = next_free(session, judge_id, topic, collection.judging_mode, count, skip_locked=True)
    if not free and not has_one_writer(session):
        # An item locked by another draw may still need this judge: wait for it only if no other is free.
        free = next_free(session, judge_id, topic, collection.judging_mode, count, skip_locked=False)
    again = due_again(session, topic.id, judge_id, collection.reshow_share, now)[:count]
    purposes = {item.id: item.purpose for item in free} | dict.fromkeys(again, Purpose.RE_SHOWN)
    items = shown_among([item.id for item in free], _lots_of(session, again), count)
    if items:
        lend(session, items, judge_id, now, purposes)
    return bool(items)


def shown_among(fresh: Sequence[int], again: Sequence[tuple[int, int]], count: int) -> list[int]:
    """At most `count` items in order of showing: `fresh` ones, and one in four from `again`, pairs of (item, lot).

    The position of a second showing follows from its lot, so that the order does not reveal it. Too few fresh ones are
    filled up with second showings.
    """
    most = max(count // ONE_IN, count - len(fresh))
    chosen = again[:most]
    shown = list(fresh[: count - len(chosen)])
    for item, lot in chosen:
        shown.insert(lot % (len(shown) + 1), item)
    return shown


def _lots_of(session: Session, item_ids: Sequence[int]) -> list[tuple[int, int]]:
    """The items with their lots, in the given order."""
    if not item_ids:
        return []
    rows = session.execute(select(PoolItem.id, PoolItem.lot).where(PoolItem.id.in_(item_ids)))
    lots = {id_: lot for id_, lot in rows}
    return [(id_, lots[id_]) for id_ in item_ids]


def held_documents(session: Session, assignment_ids: Sequence[int]) -> list[HeldDocument]:
    """The documents of assignments, in the given order."""
    rows = session.connection().execute(DOCUMENTS, {"assignment_ids": list(assignment_ids)})
    found = {row[0]: HeldDocument(*row) for row in rows}
    return [found[id_] for id_ in assignment_ids]


def documents_to_show(session: Session, assignment_ids: Sequence[int]) -> list[HeldDocument]:
    """The documents of assignments, in the given order; the texts are noted as shown to the judge."""
    documents = held_documents(session, assignment_ids)
    note_text_shown(session, [one.assignment_id for one in documents if one.has_new_text])
    return documents


def note_text_shown(session: Session, assignment_ids: Sequence[int]) -> None:
    """Store the hash of the current text in held assignments, as the text shown to the judge."""
    if assignment_ids:
        text_now = (
            select(Document.text_hash)
            .join(PoolItem, PoolItem.document_id == Document.id)
            .where(PoolItem.id == Assignment.pool_item_id)
            .scalar_subquery()
        )
        held = update(Assignment).where(Assignment.id.in_(assignment_ids), Assignment.state.in_(HELD))
        session.execute(held.values(text_hash=text_now))
